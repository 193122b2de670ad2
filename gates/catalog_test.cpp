// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <promtact/gates/gate.hpp>

#include "test_paths.hpp"

namespace promtact::gates {
namespace {

TEST(GateCatalog, NamesEachGateOnceAndAfterWhatItRequires) {
    std::set<std::string_view> earlier;
    for (const GateEntry& entry : catalog()) {
        for (const std::string_view needed : entry.info->requires_gates)
            EXPECT_TRUE(earlier.contains(needed)) << entry.info->id << " requires " << needed;
        EXPECT_TRUE(earlier.insert(entry.info->id).second) << entry.info->id;
    }
    EXPECT_GE(earlier.size(), 9U);
}

TEST(GateCatalog, LeavesNoTextOutAndNoGateWithoutAControl) {
    for (const GateEntry& entry : catalog()) {
        const GateInfo& info = *entry.info;
        for (const std::string_view text :
             {info.title, info.establishes, info.does_not_establish, info.control,
              info.control_breaks, info.remedy})
            EXPECT_FALSE(text.empty()) << info.id;
        EXPECT_FALSE(info.qualifies.empty()) << info.id;
        EXPECT_GE(info.revision, 1U) << info.id;
        for (const Need& need : info.needs)
            EXPECT_FALSE(need.remedy.empty()) << info.id << " needs " << need.name;
    }
}

// A folder that is not there never changes: the answer would stay current for ever.
TEST(GateCatalog, QualifiesFoldersThatExist) {
    for (const GateEntry& entry : catalog()) {
        for (const std::string_view folder : entry.info->qualifies) {
            EXPECT_TRUE(std::filesystem::is_directory(test_source_path(folder)))
                << entry.info->id << " qualifies " << folder;
        }
    }
}

// However slow the host: bodies and controls that all use up their budgets end a quick campaign
// within ten minutes; what it takes when nothing hangs is asserted by running it.
TEST(GateCatalog, BoundsAQuickCampaign) {
    std::chrono::milliseconds total{0};
    for (const GateEntry& entry : catalog()) {
        EXPECT_GT(entry.info->budget.count(), 0) << entry.info->id;
        if (entry.info->gate_class == GateClass::quick) total += 2 * entry.info->budget;
    }
    EXPECT_LE(total, std::chrono::minutes{10});
}

} // namespace
} // namespace promtact::gates

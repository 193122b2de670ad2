// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/features.hpp>
#include <promtact/uring/ring.hpp>

#include <temporary_directory.hpp>
#include <test_paths.hpp>

namespace promtact::uring {
namespace {

// "setup IOPOLL", as the table in README.md names a feature.
std::string table_name(const Feature& feature) {
    const auto without = [&feature](std::string_view prefix) {
        return feature.name.substr(feature.name.starts_with(prefix) ? prefix.size() : 0);
    };
    switch (feature.group) {
    case FeatureGroup::setup:
        return "setup " + without("IORING_SETUP_");
    case FeatureGroup::mask:
        return "mask " + without("IORING_FEAT_");
    case FeatureGroup::opcode:
        return "opcode " + without("IORING_OP_");
    case FeatureGroup::registration:
        return "registration " + feature.name;
    case FeatureGroup::operation:
        return "operation " + feature.name;
    }
    return "of no group";
}

// The table is the first fenced block below its heading: release, group, names.
std::multiset<std::string> names_in_table(const std::string& readme) {
    std::istringstream rest(readme.substr(std::min(readme.find("## Which kernel"), readme.size())));
    std::multiset<std::string> names;
    bool inside = false;
    for (std::string line; std::getline(rest, line);) {
        if (line.starts_with("```")) {
            if (inside) break;
            inside = true;
            continue;
        }
        std::istringstream words(line);
        std::string release;
        std::string group;
        words >> release >> group;
        for (std::string name; inside && words >> name;)
            names.insert(group + " " + name);
    }
    return names;
}

std::string read_readme() {
    std::ifstream file(test_source_path("uring/README.md"));
    return {std::istreambuf_iterator<char>(file), {}};
}

class FeaturesTest : public ::testing::Test {
  protected:
    void SetUp() override {
        report = probe_features(directory.path());
        if (report.io_uring != Support::yes) GTEST_SKIP() << "needs io_uring: " << report.reason;
    }
    test_support::TemporaryDirectory directory;
    FeatureReport report;
};

TEST_F(FeaturesTest, EveryEntryIsNamedOnceAndEveryNoHasAReason) {
    std::set<std::string> names;
    for (const Feature& feature : report.features) {
        SCOPED_TRACE(feature.name);
        EXPECT_TRUE(names.insert(feature.name).second);
        EXPECT_EQ(feature.support == Support::yes, feature.reason.empty());
        EXPECT_FALSE(feature.support == Support::yes && feature.sys_errno != 0);
    }
    EXPECT_GE(names.size(), 21U + 18U + 65U + 3U + 7U);
}

TEST_F(FeaturesTest, TableInTheReadmeNamesEachProbedFeatureOnceAndNoOther) {
    std::multiset<std::string> probed;
    for (const Feature& feature : report.features)
        probed.insert(table_name(feature));
    EXPECT_EQ(names_in_table(read_readme()), probed);
}

TEST(FeatureTable, MissesTheFeatureThatIsTakenOutOfIt) {
    std::string readme = read_readme();
    const auto whole = names_in_table(readme);
    EXPECT_EQ(whole.count("setup DEFER_TASKRUN"), 1U);
    const std::string row = "DEFER_TASKRUN\n6.1  opcode";
    ASSERT_NE(readme.find(row), std::string::npos);
    readme.erase(readme.find(row), std::string("DEFER_TASKRUN").size());
    const auto shorter = names_in_table(readme);
    EXPECT_EQ(shorter.count("setup DEFER_TASKRUN"), 0U);
    EXPECT_EQ(shorter.size() + 1, whole.size());
}

TEST_F(FeaturesTest, AgreesWithWhatTheRingTakes) {
    const bool deferred = report.has("IORING_SETUP_DEFER_TASKRUN");
    EXPECT_EQ(deferred, Ring::open({.only = RingMode::deferred}).has_value());
    EXPECT_TRUE(report.has("IORING_OP_WRITE_FIXED"));
    EXPECT_TRUE(report.has("IORING_OP_FSYNC"));
    EXPECT_TRUE(report.has("ext_arg_timeout"));
    EXPECT_TRUE(report.has("registered_buffers"));
    EXPECT_TRUE(report.has("registered_files"));
    EXPECT_EQ(report.find("no such feature"), nullptr);
    EXPECT_FALSE(report.has("no such feature"));
}

TEST_F(FeaturesTest, DirectoryThatCannotBeWrittenIsUnknownNotNo) {
    const FeatureReport elsewhere = probe_features("/proc");
    for (const char* name : {"fixed_write", "RWF_DSYNC", "RWF_ATOMIC", "linked_write_fsync"}) {
        const Feature* feature = elsewhere.find(name);
        ASSERT_NE(feature, nullptr);
        EXPECT_EQ(feature->support, Support::unknown);
        EXPECT_NE(feature->reason.find("/proc"), std::string::npos) << feature->reason;
    }
}

TEST_F(FeaturesTest, LeavesNothingBehind) {
    const auto descriptors = [] {
        std::size_t count = 0;
        for (int fd = 0; fd < 512; ++fd)
            count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
        return count;
    };
    const std::size_t before = descriptors();
    // Registered rings live in a table of 16 per thread: the 20th probe would not find a place.
    for (int i = 0; i < 20; ++i) {
        const FeatureReport again = probe_features(directory.path());
        EXPECT_EQ(again.has("registered_ring"), report.has("registered_ring"));
        EXPECT_EQ(
            again.has("IORING_SETUP_REGISTERED_FD_ONLY"),
            report.has("IORING_SETUP_REGISTERED_FD_ONLY"));
    }
    EXPECT_EQ(descriptors(), before);
    EXPECT_TRUE(directory.names().empty());
}

TEST_F(FeaturesTest, ReportsWhatItFound) {
    for (const Feature& feature : report.features) {
        if (feature.support == Support::yes) continue;
        std::printf(
            "%s %s: %s\n", feature.name.c_str(), std::string(to_string(feature.support)).c_str(),
            feature.reason.c_str());
    }
    std::printf(
        "features mask 0x%x, last opcode %u, on %s\n", report.features_mask, report.last_opcode,
        report.filesystem.c_str());
    EXPECT_NE(report.features_mask, 0U);
}

} // namespace
} // namespace promtact::uring

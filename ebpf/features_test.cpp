// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/ebpf/features.hpp>

namespace promtact::ebpf {
namespace {

const Feature* find(const std::vector<Feature>& features, std::string_view name) {
    for (const Feature& feature : features)
        if (feature.name == name) return &feature;
    return nullptr;
}

TEST(EbpfFeatures, EveryAnswerButYesCarriesARemedyAndNamesAreUnique) {
    std::set<std::string_view> names;
    for (const Feature& feature : probe_features()) {
        EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
        const bool helped = feature.answer == Answer::yes || !feature.remedy.empty();
        EXPECT_TRUE(helped) << feature.name;
        EXPECT_EQ(feature.answer == Answer::yes ? feature.sys_errno : 0, 0) << feature.name;
    }
    EXPECT_GE(names.size(), 12U);
}

TEST(EbpfFeatures, RootSeesThatProgramsLoadAndLink) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_BPF, CAP_NET_ADMIN)";
    const std::vector<Feature> features = probe_features();

    for (const char* name : {"program_xdp", "program_tc", "test_run", "cap_bpf"}) {
        const Feature* feature = find(features, name);
        ASSERT_NE(feature, nullptr) << name;
        EXPECT_EQ(feature->answer, Answer::yes) << name << ": errno " << feature->sys_errno;
    }
}

TEST(EbpfFeatures, AnUnprivilegedUserGetsUnknownAndNotNo) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
        const std::vector<Feature> features = probe_features();
        const Feature* program = find(features, "program_tc");
        const Feature* capability = find(features, "cap_bpf");
        const bool honest = program != nullptr && program->answer == Answer::unknown &&
                            capability != nullptr && capability->answer == Answer::no;
        ::_exit(honest ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace promtact::ebpf

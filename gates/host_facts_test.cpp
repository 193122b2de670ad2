// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/host_facts.hpp>

#include "host_text_internal.hpp"

namespace promtact::gates {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string read(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(HostFacts, SurviveTheirOwnText) {
    const HostFacts facts = collect_host_facts("test-host", "/tmp");
    const std::string text = to_json(facts);
    const Result<HostFacts> back = host_facts_from_json(text, "host.json");
    ASSERT_TRUE(back) << back.error().context;
    EXPECT_EQ(to_json(*back), text);
}

TEST(HostFacts, FillEveryTextWithAnAnswerOrUnknown) {
    const std::string text = to_json(collect_host_facts("", "/tmp"));
    EXPECT_THAT(text, Not(HasSubstr("\": \"\"")));
}

TEST(HostFacts, NeverNameTheMachine) {
    const std::string text = to_json(collect_host_facts("test-host", "/"));
    std::array<char, 256> name{};
    ASSERT_EQ(::gethostname(name.data(), name.size()), 0);
    for (std::string secret :
         {std::string(name.data()), read("/etc/machine-id"),
          read("/proc/sys/kernel/random/boot_id"), read("/sys/class/dmi/id/product_serial")}) {
        while (!secret.empty() && secret.back() == '\n')
            secret.pop_back();
        if (secret.size() < 8) continue; // too short to tell from ordinary words
        EXPECT_THAT(text, Not(HasSubstr(secret)));
    }
}

TEST(HostFacts, DescribeTheKernelThatRuns) {
    const HostFacts facts = collect_host_facts("x", "/tmp");
    std::string release = read("/proc/sys/kernel/osrelease");
    release.pop_back();
    EXPECT_EQ(facts.kernel.release, release);
    EXPECT_GE(facts.machine.cpus, 1U);
    EXPECT_GT(facts.machine.memory_bytes, 1U << 20);
}

TEST(HostFacts, SeeThatAMemoryFilesystemHasNoDevice) {
    const StorageFacts facts = collect_storage_facts("/dev/shm");
    if (facts.filesystem != "tmpfs") GTEST_SKIP() << "needs a tmpfs at /dev/shm";
    EXPECT_EQ(facts.device, "none");
    EXPECT_EQ(facts.journal, "no");
}

TEST(HostFacts, DescribeTheNearestExistingFolder) {
    EXPECT_EQ(
        collect_storage_facts("/tmp/promtact-does-not-exist/below").filesystem,
        collect_storage_facts("/tmp").filesystem);
}

TEST(HostText, TakesTheWordInBrackets) {
    EXPECT_EQ(chosen_word("none [mq-deadline] kyber"), "mq-deadline");
    EXPECT_EQ(chosen_word("write back"), "write back");
}

TEST(HostText, FindsWholeKeysOnly) {
    const std::string text = "CONFIG_HZ_250=y\nCONFIG_HZ=250\nNAME=\"quoted text\"\n";
    EXPECT_EQ(line_value(text, "CONFIG_HZ", '='), "250");
    EXPECT_EQ(line_value(text, "NAME", '='), "quoted text");
    EXPECT_FALSE(line_value(text, "CONFIG", '=').has_value());
}

TEST(HostName, AcceptsSlugsOnly) {
    for (const std::string_view good : {"a", "vm-amd-epyc-2cpu", "host1"})
        EXPECT_TRUE(check_host_name(good)) << good;
    for (const std::string_view bad :
         {"", "-a", "a-", "a--b", "A", "a_b", "a/b", "..", "a b", "h\xC3\xA9"})
        EXPECT_FALSE(check_host_name(bad)) << bad;
    EXPECT_FALSE(check_host_name(std::string(64, 'a')));
}

TEST(HostName, DefaultIsMadeOfVirtualisationAndProcessor) {
    MachineFacts machine;
    machine.container = "none";
    machine.hypervisor = "kvm";
    machine.cpu_model = "AMD EPYC";
    machine.cpus = 2;
    EXPECT_EQ(default_host_name(machine), "vm-amd-epyc-2cpu");
    machine.hypervisor = "none";
    machine.cpu_model = "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz";
    machine.cpus = 16;
    EXPECT_EQ(default_host_name(machine), "metal-intel-xeon-e5-2670-0-16cpu");
    machine.cpu_model = "---";
    EXPECT_TRUE(check_host_name(default_host_name(machine)));
}

} // namespace
} // namespace promtact::gates

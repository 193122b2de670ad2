// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/ebpf/attach_target.hpp>

namespace promtact::ebpf {
namespace {

class EbpfAttachTarget : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_SYS_ADMIN)";
    }
    static UniqueFd open_namespace(const char* path) {
        return UniqueFd{::open(path, O_RDONLY | O_CLOEXEC)};
    }
    static UniqueFd fresh_namespace() {
        UniqueFd fd;
        std::thread maker{[&] {
            if (::unshare(CLONE_NEWNET) == 0) fd = open_namespace("/proc/thread-self/ns/net");
        }};
        maker.join();
        return fd;
    }
};

TEST_F(EbpfAttachTarget, RefusesTheNamespaceOfTheHostWhateverTheInterface) {
    int refused = 0;
    for (const char* path : {"/proc/1/ns/net", "/proc/self/ns/net"}) {
        const UniqueFd host = open_namespace(path);
        if (!host) continue; // process 1 may be hidden from us
        for (const std::uint32_t index : {1U, 2U, 3U, 4U}) {
            const auto target = AttachTarget::verify(host.get(), index);
            ASSERT_FALSE(target) << path;
            EXPECT_EQ(target.error().code, Errc::refused) << describe(target.error());
            ++refused;
        }
    }
    EXPECT_GE(refused, 4);
}

TEST_F(EbpfAttachTarget, RefusesAnInterfaceThatIsNotCalledOurs) {
    const UniqueFd fresh = fresh_namespace();
    ASSERT_TRUE(fresh);

    const auto loopback = AttachTarget::verify(fresh.get(), 1);

    ASSERT_FALSE(loopback);
    EXPECT_EQ(loopback.error().code, Errc::refused) << describe(loopback.error());
    EXPECT_NE(loopback.error().context.find("lo is not ours"), std::string::npos);
}

TEST_F(EbpfAttachTarget, RefusesDescriptorsThatAreNoNetworkNamespace) {
    const UniqueFd file = open_namespace("/dev/null");
    const UniqueFd other_kind = open_namespace("/proc/self/ns/uts");

    EXPECT_EQ(AttachTarget::verify(file.get(), 1).error().code, Errc::refused);
    EXPECT_EQ(AttachTarget::verify(other_kind.get(), 1).error().code, Errc::refused);
    EXPECT_FALSE(AttachTarget::verify(-1, 1));
}

TEST_F(EbpfAttachTarget, NamesAnInterfaceThatDoesNotExist) {
    const UniqueFd fresh = fresh_namespace();
    ASSERT_TRUE(fresh);

    const auto target = AttachTarget::verify(fresh.get(), 4242);

    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().code, Errc::not_found);
    EXPECT_NE(target.error().context.find("4242"), std::string::npos);
}

} // namespace
} // namespace promtact::ebpf

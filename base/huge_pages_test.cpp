// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/huge_pages.hpp>

namespace promtact {
namespace {

/// The flags of the mapping that holds this address ("hg": huge pages were asked for).
std::string flags_of(const void* address) {
    std::ifstream maps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
            inside = begin <= wanted && wanted < end;
        if (inside && line.starts_with("VmFlags:")) return line;
    }
    return {};
}

TEST(HugePages, AreAskedForWhereTheyFit) {
    const std::align_val_t alignment{huge_page_bytes};
    const std::size_t bytes = 2 * huge_page_bytes + 4096;
    auto* memory = static_cast<std::byte*>(::operator new(bytes, alignment));
    prefer_huge_pages({memory, bytes});
    const std::string flags = flags_of(memory);
    ::operator delete(memory, alignment);
    if (flags.empty()) GTEST_SKIP() << "/proc/self/smaps tells no flags";
    EXPECT_NE(flags.find(" hg"), std::string::npos) << flags;
}

TEST(HugePages, SmallMemoryIsLeftAlone) {
    std::byte memory[64] = {};
    prefer_huge_pages(memory);
    prefer_huge_pages({});
}

} // namespace
} // namespace promtact

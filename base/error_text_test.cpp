// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>

namespace promtact {
namespace {

TEST(ErrorText, NamesErrnoBySymbolAndUnknownByNumber) {
    EXPECT_EQ(errno_name(ENOSPC), "ENOSPC");
    EXPECT_EQ(errno_name(4095), "errno 4095");
    EXPECT_EQ(describe(Error::from_errno(ENOSPC, "write /x")), "write /x: no space left (ENOSPC)");
    EXPECT_EQ(describe(Error{Errc::corrupt, 0, ""}), "corrupt");
}

TEST(ErrorText, EveryCodeHasASentenceOfItsOwn) {
    std::set<std::string_view> seen;
    for (int code = 0; code <= static_cast<int>(Errc::system); ++code)
        EXPECT_TRUE(seen.insert(to_string(static_cast<Errc>(code))).second) << code;
    EXPECT_EQ(seen.count("unknown error"), 0U);
}

TEST(ErrorText, ErrnosMapToTheCodeACallerActsOn) {
    EXPECT_EQ(errc_from_errno(ENOENT), Errc::not_found);
    EXPECT_EQ(errc_from_errno(EEXIST), Errc::exists);
    EXPECT_EQ(errc_from_errno(ENOSYS), Errc::unsupported);
    EXPECT_EQ(errc_from_errno(EPERM), Errc::denied);
    EXPECT_EQ(errc_from_errno(EAGAIN), Errc::busy);
    EXPECT_EQ(errc_from_errno(EDQUOT), Errc::no_space);
    EXPECT_EQ(errc_from_errno(ECANCELED), Errc::cancelled);
    EXPECT_EQ(errc_from_errno(EMFILE), Errc::system);
}

} // namespace
} // namespace promtact

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/sha256.hpp>

#include "testing/fail_nth_call.hpp"
#include "testing/temporary_directory.hpp"

namespace promtact {
namespace {

// FIPS 180-4 examples.
constexpr std::string_view of_nothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view of_abc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view of_million_a =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, Fips180Vectors) {
    EXPECT_EQ(to_hex(sha256("")), of_nothing);
    EXPECT_EQ(to_hex(sha256("abc")), of_abc);
    EXPECT_EQ(
        to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))), of_million_a);
}

TEST(Sha256, PiecesEqualTheWhole) {
    Sha256 hash;
    for (int i = 0; i < 1000; ++i)
        hash.update(bytes_of(std::string(1000, 'a')));

    EXPECT_EQ(to_hex(hash.finish()), of_million_a);
}

TEST(Sha256, FilesLargerThanOneReadAreHashedWhole) {
    const test_support::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "million";
    ASSERT_TRUE(write_file_atomic(path, std::string(1'000'000, 'a')));

    EXPECT_EQ(to_hex(*sha256_file(path)), of_million_a);
    EXPECT_EQ(sha256_file(directory / "absent").error().code, Errc::not_found);
}

TEST(Sha256, AFailedReadIsAnErrorNotAHash) {
    const test_support::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "file";
    ASSERT_TRUE(write_file_atomic(path, "abc"));
    for (std::uint64_t n = 1;; ++n) {
        const test_support::FailNthCall fault(n, EIO);
        const Result<Sha256Digest> digest = sha256_file(path);
        if (!fault.fired()) break;
        ASSERT_FALSE(digest) << n;
        EXPECT_EQ(digest.error().code, Errc::io);
    }
    const test_support::FailNthCall interrupted(2, EINTR);
    EXPECT_EQ(to_hex(*sha256_file(path)), of_abc);
}

TEST(Sha256, DigestsRoundTripAsText) {
    EXPECT_EQ(to_hex(*parse_sha256(of_abc)), of_abc);
    EXPECT_FALSE(parse_sha256(of_abc.substr(1)));
    std::string text(of_abc);
    text.push_back('0');
    EXPECT_FALSE(parse_sha256(text));
    text.pop_back();
    text.front() = 'z';
    EXPECT_FALSE(parse_sha256(text));
}

TEST(Sha256, UseAfterFinishAborts) {
    Sha256 hash;
    static_cast<void>(hash.finish());
    EXPECT_DEATH(hash.update({}), "assertion failed: state_");
}

} // namespace
} // namespace promtact

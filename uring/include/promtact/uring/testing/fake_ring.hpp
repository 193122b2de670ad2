// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A ring whose kernel is a script: every completion error, loss, repetition and refusal a test
// wants, in the order it wants.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <promtact/uring/backend.hpp>

namespace promtact::uring::testing {

/// How the scripted kernel treats one operation. The default completes it in full.
struct Reply {
    enum class Kind : std::uint8_t {
        complete, // all bytes, or 0 for a sync or nop
        result,   // `value` as the completion's result: bytes, or -errno
        lost,     // never answered
        twice,    // answered in full, then answered again
        unknown,  // answered in full, preceded by a completion nobody asked for
        late,     // answered in full after the next operation was answered
    };
    Kind kind = Kind::complete;
    std::int32_t value = 0;
};
inline Reply fails(int sys_errno) {
    return {Reply::Kind::result, -sys_errno};
}
inline Reply moves(std::int32_t bytes) {
    return {Reply::Kind::result, bytes};
}
inline Reply lost() {
    return {Reply::Kind::lost, 0};
}
inline Reply twice() {
    return {Reply::Kind::twice, 0};
}
inline Reply unknown() {
    return {Reply::Kind::unknown, 0};
}
inline Reply late() {
    return {Reply::Kind::late, 0};
}

/// An operation the scripted kernel consumed, with a copy of the bytes it would have written.
struct Seen {
    Operation operation{};
    std::uint64_t user_data = 0;
    std::vector<std::byte> bytes{};
};

/// The script and the record of one FakeRing, kept by the test, which looks at it while a Ring owns
/// the backend.
struct FakeKernel {
    std::uint32_t submission_capacity = 8;
    std::uint32_t completion_capacity = 16;
    std::deque<Reply> replies{};     // one per operation, in submission order; then: complete
    std::deque<int> enter_results{}; // -errno or a limit of entries to consume, one per enter();
                                     // then: everything
    std::deque<int> data_sync_results{};
    int register_buffers_result = 0;
    int register_files_result = 0;
    int update_file_result = 0;
    std::uint32_t dropped = 0;
    std::uint32_t overflowed = 0;
    bool chains = true; // a linked operation that does not complete in full cancels the next

    std::vector<Seen> seen{}; // in the order consumed
    std::uint64_t enters = 0;
    std::uint64_t data_syncs = 0;
    std::vector<std::byte> file{}; // what fixed and plain writes left behind

    /// Called for each operation when consumed, before it is answered.
    std::function<void(const Operation&)> on_consume{};
};

/// A backend that obeys the script. Lifetime: kernel outlives the backend.
std::unique_ptr<RingBackend> make_fake_ring(FakeKernel& kernel);

} // namespace promtact::uring::testing

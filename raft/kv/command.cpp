// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/kv/command.hpp>

namespace promtact::kv {
namespace {

constexpr std::uint8_t expected_flag = 1;

struct Layout {
    static constexpr std::size_t version = 0;
    static constexpr std::size_t operation = 1;
    static constexpr std::size_t flags = 2;
    static constexpr std::size_t zero = 3;
    static constexpr std::size_t key_bytes = 4;
    static constexpr std::size_t value_bytes = 8;
    static constexpr std::size_t expected_bytes = 12;
    static constexpr std::size_t time = 16;
    static constexpr std::size_t session = 24;
    static constexpr std::size_t number = 32;
    static constexpr std::size_t first_unanswered = 40;
};
static_assert(Layout::first_unanswered + 8 == command_head_bytes);

constexpr std::size_t limits_bytes = 32; // four words in the order of Limits

/// What an operation carries beside its time.
struct Uses {
    bool key = false;
    bool value = false;
    bool expected = false;
    bool limits = false;
    bool numbered = false; // may be guarded by a session
    bool session = false;  // is about a session
};

Uses uses_of(Operation operation) noexcept {
    switch (operation) {
    case Operation::put:
        return {.key = true, .value = true, .numbered = true};
    case Operation::remove:
        return {.key = true, .numbered = true};
    case Operation::compare_and_set:
        return {.key = true, .value = true, .expected = true, .numbered = true};
    case Operation::open_session:
        return {};
    case Operation::close_session:
    case Operation::keep_alive:
        return {.session = true};
    case Operation::set_limits:
        return {.limits = true};
    }
    PROMTACT_ASSERT(false);
    return {};
}

Error invalid(std::string why) {
    return {Errc::invalid_argument, 0, "command: " + std::move(why)};
}

Result<void> validate_request(const Command& command, const Uses& uses) {
    const Request& request = command.request;
    if (uses.numbered && request.session == 0 && (request.number | request.first_unanswered) != 0)
        return invalid("a request number without a session");
    if (uses.numbered && request.session != 0) {
        if (request.number == 0 || request.number == ~std::uint64_t{0})
            return invalid("request number " + std::to_string(request.number));
        if (request.first_unanswered == 0 || request.first_unanswered > request.number) {
            return invalid(
                "first unanswered request " + std::to_string(request.first_unanswered) +
                " of request " + std::to_string(request.number));
        }
    }
    if (uses.session && request.session == 0) return invalid("no session");
    return {};
}

Result<void> validate_sizes(const Command& command, const Uses& uses) {
    if (uses.key && command.key.empty()) return invalid("an empty key");
    if (uses.key && command.key.size() > key_bytes_max)
        return invalid("a key of " + std::to_string(command.key.size()) + " bytes");
    const std::size_t expected =
        uses.expected && command.expected.has_value() ? command.expected->size() : 0;
    const std::size_t longest = std::max(uses.value ? command.value.size() : 0, expected);
    if (longest > value_bytes_max)
        return invalid("a value of " + std::to_string(longest) + " bytes");
    return {};
}

Error corrupt(std::string what) {
    return {Errc::corrupt, 0, "command: " + std::move(what)};
}

Error newer(const char* what, unsigned value) {
    return {
        Errc::format, 0,
        std::string("command: ") + what + " " + std::to_string(value) + " is not known here"};
}

Limits decode_limits(std::span<const std::byte> bytes) {
    PROMTACT_ASSERT(bytes.size() == limits_bytes);
    return {
        .sessions_max = load_le<std::uint64_t>(bytes, 0),
        .outstanding_max = load_le<std::uint64_t>(bytes, 8),
        .answer_bytes_max = load_le<std::uint64_t>(bytes, 16),
        .session_timeout = load_le<std::uint64_t>(bytes, 24)};
}

/// The lengths of key, value and expected.
using Lengths = std::array<std::size_t, 3>;

/// Checks the head, but for the request.
Result<Lengths> decode_head(std::span<const std::byte> bytes) {
    if (bytes.empty()) return corrupt("nothing there");
    if (const auto version = load_le<std::uint8_t>(bytes, Layout::version);
        version != command_version)
        return newer("version", version);
    if (bytes.size() < command_head_bytes)
        return corrupt(std::to_string(bytes.size()) + " bytes are too few");
    const auto operation = load_le<std::uint8_t>(bytes, Layout::operation);
    if (operation == 0 || operation > static_cast<std::uint8_t>(Operation::set_limits))
        return newer("operation", operation);
    const auto flags = load_le<std::uint8_t>(bytes, Layout::flags);
    if (flags > expected_flag) return newer("flags", flags);
    if (load_le<std::uint8_t>(bytes, Layout::zero) != 0)
        return corrupt("the reserved byte is not zero");
    const Lengths lengths{
        load_le<std::uint32_t>(bytes, Layout::key_bytes),
        load_le<std::uint32_t>(bytes, Layout::value_bytes),
        load_le<std::uint32_t>(bytes, Layout::expected_bytes)};
    const std::size_t whole = command_head_bytes + lengths[0] + lengths[1] + lengths[2];
    if (bytes.size() != whole) {
        return corrupt(std::to_string(bytes.size()) + " bytes instead of " + std::to_string(whole));
    }
    return lengths;
}

/// Whether everything that the operation does not use is zero.
bool is_canonical(const Command& command, const Uses& uses, bool expected, const Lengths& lengths) {
    const bool key = uses.key || lengths[0] == 0;
    const bool value = uses.limits ? lengths[1] == limits_bytes : uses.value || lengths[1] == 0;
    const bool wanted = expected ? uses.expected : lengths[2] == 0;
    const Request& request = command.request;
    const bool session = uses.numbered || uses.session || request.session == 0;
    const bool number = uses.numbered || request.number == 0;
    const bool answered = uses.numbered || uses.session || request.first_unanswered == 0;
    const bool closing =
        command.operation == Operation::close_session && request.first_unanswered != 0;
    return key && value && wanted && session && number && answered && !closing;
}

} // namespace

Result<void> validate(const Command& command) {
    const Uses uses = uses_of(command.operation);
    PROMTACT_TRY(validate_sizes(command, uses));
    PROMTACT_TRY(validate_request(command, uses));
    if (uses.limits) return validate(command.limits);
    return {};
}

void encode(const Command& command, std::vector<std::byte>& out) {
    PROMTACT_ASSERT(validate(command).has_value());
    const Uses uses = uses_of(command.operation);
    const bool expected = uses.expected && command.expected.has_value();
    std::array<std::byte, limits_bytes> limits{};
    store_le<std::uint64_t>(limits, 0, command.limits.sessions_max);
    store_le<std::uint64_t>(limits, 8, command.limits.outstanding_max);
    store_le<std::uint64_t>(limits, 16, command.limits.answer_bytes_max);
    store_le<std::uint64_t>(limits, 24, command.limits.session_timeout);
    const std::string_view key = uses.key ? command.key : std::string_view();
    const std::string_view value = uses.limits  ? text_of(limits)
                                   : uses.value ? command.value
                                                : std::string_view();
    const std::string_view wanted = expected ? *command.expected : std::string_view();

    std::array<std::byte, command_head_bytes> head{};
    store_le<std::uint8_t>(head, Layout::version, command_version);
    store_le<std::uint8_t>(head, Layout::operation, static_cast<std::uint8_t>(command.operation));
    store_le<std::uint8_t>(head, Layout::flags, expected ? expected_flag : 0);
    store_le<std::uint32_t>(head, Layout::key_bytes, static_cast<std::uint32_t>(key.size()));
    store_le<std::uint32_t>(head, Layout::value_bytes, static_cast<std::uint32_t>(value.size()));
    store_le<std::uint32_t>(
        head, Layout::expected_bytes, static_cast<std::uint32_t>(wanted.size()));
    store_le<std::uint64_t>(head, Layout::time, command.time);
    const Request none;
    const Request& request = uses.numbered || uses.session ? command.request : none;
    const bool answered = uses.numbered || command.operation == Operation::keep_alive;
    store_le<std::uint64_t>(head, Layout::session, request.session);
    store_le<std::uint64_t>(head, Layout::number, uses.numbered ? request.number : 0);
    store_le<std::uint64_t>(
        head, Layout::first_unanswered, answered ? request.first_unanswered : 0);
    out.reserve(out.size() + head.size() + key.size() + value.size() + wanted.size());
    out.insert(out.end(), head.begin(), head.end());
    for (const std::string_view part : {key, value, wanted}) {
        const auto bytes = bytes_of(part);
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
}

Result<Command> decode_command(std::span<const std::byte> bytes) {
    PROMTACT_TRY_ASSIGN(const Lengths lengths, decode_head(bytes));
    Command command;
    command.operation = static_cast<Operation>(load_le<std::uint8_t>(bytes, Layout::operation));
    command.time = load_le<std::uint64_t>(bytes, Layout::time);
    command.request.session = load_le<std::uint64_t>(bytes, Layout::session);
    command.request.number = load_le<std::uint64_t>(bytes, Layout::number);
    command.request.first_unanswered = load_le<std::uint64_t>(bytes, Layout::first_unanswered);
    const Uses uses = uses_of(command.operation);
    const bool expected = load_le<std::uint8_t>(bytes, Layout::flags) == expected_flag;
    if (!is_canonical(command, uses, expected, lengths))
        return corrupt("a field that its operation does not use is not zero");
    const auto body = bytes.subspan(command_head_bytes);
    command.key = text_of(body.first(lengths[0]));
    const auto value = body.subspan(lengths[0], lengths[1]);
    if (uses.limits) {
        command.limits = decode_limits(value);
    } else {
        command.value = text_of(value);
    }
    if (expected) command.expected = text_of(body.last(lengths[2]));
    if (auto valid = validate(command); !valid)
        return Error{Errc::corrupt, 0, std::move(valid).error().context};
    return command;
}

} // namespace promtact::kv

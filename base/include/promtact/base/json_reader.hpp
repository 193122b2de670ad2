// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Strict JSON: what a lenient reader would silently accept (duplicate keys, unknown fields, 2^64
// as a float, text after the document) is an error with line and column. All problems are
// collected, so that a person mends a file in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact {

/// Units: lines and columns from 1; a column is one code point.
struct JsonPosition {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    friend bool operator==(const JsonPosition&, const JsonPosition&) = default;
};

/// What a value is. real: a number with a fraction or exponent, or outside 64 bits.
enum class JsonKind : std::uint8_t { null, boolean, integer, real, text, array, object };
std::string_view to_string(JsonKind kind) noexcept;

/// One value and where it stands. Plain data: only the members of its kind mean something.
struct JsonValue {
    JsonKind kind = JsonKind::null;
    JsonPosition at{};
    std::string name{};                // of a member of an object
    JsonPosition name_at{};            // where that name stands
    std::string text{};                // text; for real the digits as written
    std::uint64_t integer{};           // integer: the absolute value
    bool negative = false;             // integer
    bool truth = false;                // boolean
    std::vector<JsonValue> children{}; // array, object (in file order, names unique)

    /// The member of that name, or nullptr; also nullptr when this is no object.
    [[nodiscard]] const JsonValue* find(std::string_view member) const noexcept;
};

/// One thing that is wrong, and where.
struct JsonProblem {
    JsonPosition at{};
    std::string message{};
    friend bool operator==(const JsonProblem&, const JsonProblem&) = default;
};

/// What is wrong with one document, in the order found. Bounded: after `capacity` problems only
/// their number grows.
class JsonProblems {
  public:
    static constexpr std::size_t capacity = 100;

    void add(JsonPosition at, std::string message);
    [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
    [[nodiscard]] std::size_t total() const noexcept { return total_; }
    [[nodiscard]] const std::vector<JsonProblem>& list() const noexcept { return list_; }
    /// One Error (Errc::format) whose context holds one line "source:line:column: message" each.
    /// Requires: !empty()
    [[nodiscard]] Error to_error(std::string_view source) const;

  private:
    std::vector<JsonProblem> list_{};
    std::size_t total_ = 0;
};

/// What a document may cost; a larger one is refused before it is stored.
struct JsonLimits {
    std::size_t bytes_max = std::size_t{16} << 20;
    std::uint32_t depth_max = 64;
};

/// Reads one document. nullopt when the text is no JSON at all or exceeds a limit; a value with
/// problems when it is JSON that breaks a rule (duplicate key), so that the caller can go on and
/// report its own findings too. Callers must not act on the value unless problems.empty().
std::optional<JsonValue>
parse_json(std::string_view text, JsonProblems& problems, const JsonLimits& limits = {});

/// parse_json with every problem as one Error. Errors: format, naming source, line and column.
Result<JsonValue>
read_json(std::string_view text, std::string_view source, const JsonLimits& limits = {});

/// Notes every text and name with control characters other than line breaks and tabs: shown on a
/// terminal they would act on it.
void require_printable(const JsonValue& value, JsonProblems& problems);

/// Typed, strict access to the members of one object: each accessor notes a problem and returns an
/// empty value when the member is missing or of the wrong type; finish() notes every member that
/// nobody asked for. Lifetime: value and problems must outlive the reader.
class ObjectReader {
  public:
    ObjectReader(const JsonValue& value, JsonProblems& problems);
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;
    ~ObjectReader() = default;

    std::uint64_t
    require_u64(std::string_view name, std::uint64_t min = 0, std::uint64_t max = UINT64_MAX);
    std::int64_t
    require_i64(std::string_view name, std::int64_t min = INT64_MIN, std::int64_t max = INT64_MAX);
    bool require_bool(std::string_view name);
    std::string require_string(std::string_view name);
    /// The member must be there, but may be null.
    std::optional<std::string> require_string_or_null(std::string_view name);
    const JsonValue* require_array(std::string_view name);
    const JsonValue* require_object(std::string_view name);

    std::optional<std::uint64_t>
    optional_u64(std::string_view name, std::uint64_t min = 0, std::uint64_t max = UINT64_MAX);
    std::optional<std::int64_t>
    optional_i64(std::string_view name, std::int64_t min = INT64_MIN, std::int64_t max = INT64_MAX);
    std::optional<bool> optional_bool(std::string_view name);
    std::optional<std::string> optional_string(std::string_view name);
    const JsonValue* optional_array(std::string_view name);
    const JsonValue* optional_object(std::string_view name);

    /// A member of any kind, or nullptr without a problem; counts as asked for.
    const JsonValue* any(std::string_view name);
    /// Notes a problem at a member (or at the object when it is missing).
    void complain(std::string_view name, std::string_view message);
    /// Notes a problem for each member not asked for. Call once, last.
    void finish();

  private:
    const JsonValue* take(std::string_view name, JsonKind kind, bool required);
    std::optional<std::uint64_t>
    unsigned_of(const JsonValue& value, std::uint64_t min, std::uint64_t max);
    std::optional<std::int64_t>
    signed_of(const JsonValue& value, std::int64_t min, std::int64_t max);

    const JsonValue& value_;
    JsonProblems& problems_;
    std::vector<bool> asked_;
    std::vector<std::string> known_{}; // names asked for, listed when an unknown one turns up
};

/// The integers of an array; notes a problem for every item that is none. Requires: array.kind is
/// array
std::vector<std::uint64_t> unsigned_items(const JsonValue& array, JsonProblems& problems);
/// The strings of an array. Requires: array.kind is array
std::vector<std::string> string_items(const JsonValue& array, JsonProblems& problems);

} // namespace promtact

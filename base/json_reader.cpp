// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// nlohmann is used through its SAX interface: its DOM keeps the last of two equal keys and turns
// 2^64 into a double, both without a word.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <promtact/base/json_reader.hpp>

namespace promtact {
namespace {

// Follows the text byte by byte and remembers where the latest token began. The parser looks at
// most one byte past a number, and that byte is structure, so scalars and structure are kept apart.
class Cursor {
  public:
    void advance(char byte) noexcept {
        const auto code = static_cast<unsigned char>(byte);
        const bool continuation = (code & 0xC0U) == 0x80U;
        if (!continuation) ++here_.column;
        note(byte);
        if (byte == '\n') {
            ++here_.line;
            here_.column = 0;
        }
    }
    [[nodiscard]] JsonPosition here() const noexcept {
        return {here_.line, std::max<std::uint32_t>(here_.column, 1)};
    }
    [[nodiscard]] JsonPosition scalar() const noexcept { return scalar_; }
    [[nodiscard]] JsonPosition structure() const noexcept { return structure_; }

  private:
    void note(char byte) noexcept {
        if (in_string_) {
            if (escaped_) {
                escaped_ = false;
            } else if (byte == '\\') {
                escaped_ = true;
            } else if (byte == '"') {
                in_string_ = false;
            }
            return;
        }
        constexpr std::string_view structural = "{}[]:,";
        constexpr std::string_view space = " \t\r\n";
        if (byte == '"') {
            scalar_ = here_;
            in_string_ = true;
            in_word_ = false;
        } else if (structural.find(byte) != std::string_view::npos) {
            structure_ = here_;
            in_word_ = false;
        } else if (space.find(byte) != std::string_view::npos) {
            in_word_ = false;
        } else if (!in_word_) {
            scalar_ = here_;
            in_word_ = true;
        }
    }

    JsonPosition here_{1, 0}; // the byte last read
    JsonPosition scalar_{};
    JsonPosition structure_{};
    bool in_string_ = false;
    bool in_word_ = false;
    bool escaped_ = false;
};

// Input iterator that tells the cursor about each byte as the parser passes it.
class CountingIterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, Cursor* cursor) : at_(at), cursor_(cursor) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        cursor_->advance(*at_);
        ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
        return a.at_ == b.at_;
    }

  private:
    const char* at_;
    Cursor* cursor_;
};

// Builds the tree. Open containers wait on a stack, so nothing points into a growing vector.
class TreeBuilder {
  public:
    TreeBuilder(const Cursor& cursor, JsonProblems& problems, const JsonLimits& limits)
        : cursor_(cursor), problems_(problems), limits_(limits) {}

    bool null() {
        return scalar(JsonKind::null, [](JsonValue&) {});
    }
    bool boolean(bool truth) {
        return scalar(JsonKind::boolean, [&](JsonValue& value) { value.truth = truth; });
    }
    bool number_integer(std::int64_t number) {
        return scalar(JsonKind::integer, [&](JsonValue& value) {
            value.negative = number < 0;
            value.integer = number < 0 ? ~static_cast<std::uint64_t>(number) + 1
                                       : static_cast<std::uint64_t>(number);
        });
    }
    bool number_unsigned(std::uint64_t number) {
        return scalar(JsonKind::integer, [&](JsonValue& value) { value.integer = number; });
    }
    bool number_float(double, const std::string& digits) {
        return scalar(JsonKind::real, [&](JsonValue& value) { value.text = digits; });
    }
    bool string(std::string& text) {
        return scalar(JsonKind::text, [&](JsonValue& value) { value.text = std::move(text); });
    }
    bool binary(nlohmann::json::binary_t&) { return false; }

    bool start_object(std::size_t) { return open(JsonKind::object); }
    bool start_array(std::size_t) { return open(JsonKind::array); }
    bool end_object() {
        keys_.pop_back();
        return close();
    }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        PROMTACT_ASSERT(!keys_.empty());
        if (!keys_.back().insert(name).second)
            problems_.add(cursor_.scalar(), "duplicate field \"" + name + "\"");
        name_ = std::move(name);
        name_at_ = cursor_.scalar();
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …": the
        // position there counts bytes; ours is added by the cursor.
        std::string_view what = error.what();
        if (const auto end = what.find("] "); end != std::string_view::npos)
            what.remove_prefix(end + 2);
        if (what.starts_with("parse error at")) {
            if (const auto colon = what.find(": "); colon != std::string_view::npos)
                what.remove_prefix(colon + 2);
        }
        // The offending bytes are quoted at the end; only text may reach a terminal.
        const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
        if (!std::all_of(what.begin(), what.end(), printable))
            what = what.substr(0, what.find(';'));
        problems_.add(cursor_.here(), std::string(what));
        return false;
    }

    std::optional<JsonValue> take() {
        PROMTACT_ASSERT(open_.empty());
        return std::move(root_);
    }

  private:
    template <class Fill>
    bool scalar(JsonKind kind, Fill fill) {
        JsonValue value = start(kind, cursor_.scalar());
        fill(value);
        attach(std::move(value));
        return true;
    }
    JsonValue start(JsonKind kind, JsonPosition at) {
        JsonValue value;
        value.kind = kind;
        value.at = at;
        value.name = std::exchange(name_, {});
        value.name_at = name_at_;
        return value;
    }
    bool open(JsonKind kind) {
        if (open_.size() >= limits_.depth_max) {
            problems_.add(
                cursor_.structure(),
                "nested deeper than " + std::to_string(limits_.depth_max) + " levels");
            return false;
        }
        if (kind == JsonKind::object) keys_.emplace_back();
        open_.push_back(start(kind, cursor_.structure()));
        return true;
    }
    bool close() {
        PROMTACT_ASSERT(!open_.empty());
        JsonValue done = std::move(open_.back());
        open_.pop_back();
        attach(std::move(done));
        return true;
    }
    void attach(JsonValue value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else {
            open_.back().children.push_back(std::move(value));
        }
    }

    const Cursor& cursor_;
    JsonProblems& problems_;
    JsonLimits limits_;
    std::vector<JsonValue> open_{};
    std::vector<std::set<std::string>> keys_{};
    std::string name_{};
    JsonPosition name_at_{};
    std::optional<JsonValue> root_{};
};

JsonPosition position_of(std::string_view text, std::size_t offset) {
    PROMTACT_ASSERT(offset < text.size());
    Cursor cursor;
    for (std::size_t i = 0; i <= offset; ++i)
        cursor.advance(text[i]);
    return cursor.here();
}

// What the parser would let through before it sees a token.
bool acceptable(std::string_view text, JsonProblems& problems, const JsonLimits& limits) {
    if (text.size() > limits.bytes_max) {
        problems.add({}, "larger than the limit of " + std::to_string(limits.bytes_max) + " bytes");
        return false;
    }
    if (text.starts_with("\xEF\xBB\xBF")) {
        problems.add({}, "starts with a byte order mark");
        return false;
    }
    // The lexer takes a zero byte for the end of the input and would ignore what follows.
    if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
        problems.add(position_of(text, zero), "contains a zero byte");
        return false;
    }
    return true;
}

} // namespace

std::string_view to_string(JsonKind kind) noexcept {
    switch (kind) {
    case JsonKind::null:
        return "null";
    case JsonKind::boolean:
        return "true or false";
    case JsonKind::integer:
        return "an integer";
    case JsonKind::real:
        return "a fraction";
    case JsonKind::text:
        return "a string";
    case JsonKind::array:
        return "an array";
    case JsonKind::object:
        return "an object";
    }
    return "nothing";
}

const JsonValue* JsonValue::find(std::string_view member) const noexcept {
    if (kind != JsonKind::object) return nullptr;
    for (const JsonValue& child : children)
        if (child.name == member) return &child;
    return nullptr;
}

void JsonProblems::add(JsonPosition at, std::string message) {
    ++total_;
    if (list_.size() < capacity) list_.push_back({at, std::move(message)});
}

Error JsonProblems::to_error(std::string_view source) const {
    PROMTACT_ASSERT(!empty());
    std::string context;
    for (const JsonProblem& problem : list_) {
        if (!context.empty()) context += '\n';
        context += std::string(source) + ':' + std::to_string(problem.at.line) + ':' +
                   std::to_string(problem.at.column) + ": " + problem.message;
    }
    if (total_ > list_.size()) {
        context += "\n" + std::string(source) + ": and " + std::to_string(total_ - list_.size()) +
                   " more problems";
    }
    return Error{Errc::format, 0, std::move(context)};
}

std::optional<JsonValue>
parse_json(std::string_view text, JsonProblems& problems, const JsonLimits& limits) {
    if (!acceptable(text, problems, limits)) return std::nullopt;
    Cursor cursor;
    TreeBuilder builder(cursor, problems, limits);
    const CountingIterator begin(text.data(), &cursor);
    const CountingIterator end(text.data() + text.size(), &cursor);
    try {
        if (!nlohmann::json::sax_parse(begin, end, &builder)) {
            PROMTACT_ASSERT(!problems.empty());
            return std::nullopt;
        }
    } catch (const nlohmann::json::exception& error) {
        problems.add(cursor.here(), error.what());
        return std::nullopt;
    }
    return builder.take();
}

Result<JsonValue>
read_json(std::string_view text, std::string_view source, const JsonLimits& limits) {
    JsonProblems problems;
    std::optional<JsonValue> value = parse_json(text, problems, limits);
    if (!problems.empty()) return problems.to_error(source);
    PROMTACT_ASSERT(value.has_value());
    return std::move(*value);
}

} // namespace promtact

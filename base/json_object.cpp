// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// ObjectReader: typed access that notes every problem instead of stopping at the first.
#include <algorithm>

#include <promtact/base/json_reader.hpp>

namespace promtact {
namespace {

std::string quoted(std::string_view name) {
    return '"' + std::string(name) + '"';
}

// Digits without point or exponent: a whole number that 64 bits cannot hold.
bool is_whole(std::string_view digits) noexcept {
    return digits.find_first_of(".eE") == std::string_view::npos;
}

constexpr std::uint64_t int64_magnitude = std::uint64_t{1} << 63;

// C0, DEL, and C1 in UTF-8.
bool acts_on_terminals(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return true;
        const bool two = byte == 0xc2 && i + 1 < text.size();
        if (two && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
    }
    return false;
}

} // namespace

void require_printable(const JsonValue& value, JsonProblems& problems) {
    if (acts_on_terminals(value.name))
        problems.add(value.name_at, "a name holds control characters");
    if (value.kind == JsonKind::text && acts_on_terminals(value.text))
        problems.add(value.at, "the text holds control characters");
    for (const JsonValue& child : value.children)
        require_printable(child, problems);
}

ObjectReader::ObjectReader(const JsonValue& value, JsonProblems& problems)
    : value_(value), problems_(problems), asked_(value.children.size(), false) {
    if (value.kind != JsonKind::object) {
        problems.add(
            value.at, "must be an object, not " + std::string(promtact::to_string(value.kind)));
    }
}

const JsonValue* ObjectReader::any(std::string_view name) {
    known_.emplace_back(name);
    if (value_.kind != JsonKind::object) return nullptr;
    const JsonValue* found = nullptr;
    for (std::size_t i = 0; i < value_.children.size(); ++i) {
        if (value_.children[i].name != name) continue;
        asked_[i] = true;
        if (found == nullptr) found = &value_.children[i];
    }
    return found;
}

const JsonValue* ObjectReader::take(std::string_view name, JsonKind kind, bool required) {
    const JsonValue* value = any(name);
    if (value == nullptr) {
        if (required && value_.kind == JsonKind::object)
            problems_.add(value_.at, "field " + quoted(name) + " is missing");
        return nullptr;
    }
    const bool too_big =
        kind == JsonKind::integer && value->kind == JsonKind::real && is_whole(value->text);
    if (too_big) {
        problems_.add(
            value->at, "field " + quoted(name) + ": " + value->text + " does not fit in 64 bits");
        return nullptr;
    }
    if (value->kind != kind) {
        problems_.add(
            value->at, "field " + quoted(name) + " must be " +
                           std::string(promtact::to_string(kind)) + ", not " +
                           std::string(promtact::to_string(value->kind)));
        return nullptr;
    }
    return value;
}

std::optional<std::uint64_t>
ObjectReader::unsigned_of(const JsonValue& value, std::uint64_t min, std::uint64_t max) {
    PROMTACT_ASSERT(min <= max);
    const bool inside =
        (!value.negative || value.integer == 0) && value.integer >= min && value.integer <= max;
    if (inside) return value.integer;
    problems_.add(
        value.at, "field " + quoted(value.name) + " must be between " + std::to_string(min) +
                      " and " + std::to_string(max));
    return std::nullopt;
}

std::optional<std::int64_t>
ObjectReader::signed_of(const JsonValue& value, std::int64_t min, std::int64_t max) {
    PROMTACT_ASSERT(min <= max);
    const bool fits =
        value.negative ? value.integer <= int64_magnitude : value.integer < int64_magnitude;
    if (fits) {
        const auto number =
            static_cast<std::int64_t>(value.negative ? ~value.integer + 1 : value.integer);
        if (number >= min && number <= max) return number;
    }
    problems_.add(
        value.at, "field " + quoted(value.name) + " must be between " + std::to_string(min) +
                      " and " + std::to_string(max));
    return std::nullopt;
}

std::uint64_t
ObjectReader::require_u64(std::string_view name, std::uint64_t min, std::uint64_t max) {
    const JsonValue* value = take(name, JsonKind::integer, true);
    return value == nullptr ? 0 : unsigned_of(*value, min, max).value_or(0);
}

std::int64_t ObjectReader::require_i64(std::string_view name, std::int64_t min, std::int64_t max) {
    const JsonValue* value = take(name, JsonKind::integer, true);
    return value == nullptr ? 0 : signed_of(*value, min, max).value_or(0);
}

bool ObjectReader::require_bool(std::string_view name) {
    const JsonValue* value = take(name, JsonKind::boolean, true);
    return value != nullptr && value->truth;
}

std::string ObjectReader::require_string(std::string_view name) {
    const JsonValue* value = take(name, JsonKind::text, true);
    return value == nullptr ? std::string{} : value->text;
}

std::optional<std::string> ObjectReader::require_string_or_null(std::string_view name) {
    const JsonValue* value = any(name);
    if (value != nullptr && value->kind == JsonKind::null) return std::nullopt;
    value = take(name, JsonKind::text, true);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value->text);
}

const JsonValue* ObjectReader::require_array(std::string_view name) {
    return take(name, JsonKind::array, true);
}

const JsonValue* ObjectReader::require_object(std::string_view name) {
    return take(name, JsonKind::object, true);
}

std::optional<std::uint64_t>
ObjectReader::optional_u64(std::string_view name, std::uint64_t min, std::uint64_t max) {
    const JsonValue* value = take(name, JsonKind::integer, false);
    return value == nullptr ? std::nullopt : unsigned_of(*value, min, max);
}

std::optional<std::int64_t>
ObjectReader::optional_i64(std::string_view name, std::int64_t min, std::int64_t max) {
    const JsonValue* value = take(name, JsonKind::integer, false);
    return value == nullptr ? std::nullopt : signed_of(*value, min, max);
}

std::optional<bool> ObjectReader::optional_bool(std::string_view name) {
    const JsonValue* value = take(name, JsonKind::boolean, false);
    return value == nullptr ? std::nullopt : std::optional<bool>(value->truth);
}

std::optional<std::string> ObjectReader::optional_string(std::string_view name) {
    const JsonValue* value = take(name, JsonKind::text, false);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value->text);
}

const JsonValue* ObjectReader::optional_array(std::string_view name) {
    return take(name, JsonKind::array, false);
}

const JsonValue* ObjectReader::optional_object(std::string_view name) {
    return take(name, JsonKind::object, false);
}

void ObjectReader::complain(std::string_view name, std::string_view message) {
    const JsonValue* value = value_.find(name);
    problems_.add(
        value == nullptr ? value_.at : value->at,
        "field " + quoted(name) + " " + std::string(message));
}

void ObjectReader::finish() {
    if (value_.kind != JsonKind::object) return;
    std::sort(known_.begin(), known_.end());
    known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
    std::string allowed;
    for (const std::string& name : known_)
        allowed += (allowed.empty() ? "" : ", ") + name;
    for (std::size_t i = 0; i < value_.children.size(); ++i) {
        if (asked_[i]) continue;
        const JsonValue& child = value_.children[i];
        problems_.add(
            child.name_at, "unknown field " + quoted(child.name) + " (allowed: " + allowed + ")");
    }
}

std::vector<std::uint64_t> unsigned_items(const JsonValue& array, JsonProblems& problems) {
    PROMTACT_ASSERT(array.kind == JsonKind::array);
    std::vector<std::uint64_t> items;
    for (const JsonValue& item : array.children) {
        if (item.kind == JsonKind::integer && !item.negative) {
            items.push_back(item.integer);
        } else if (item.kind == JsonKind::real && is_whole(item.text)) {
            problems.add(item.at, item.text + " does not fit in 64 bits");
        } else {
            problems.add(
                item.at, "must be an unsigned integer, not " +
                             (item.negative ? std::string("a negative one")
                                            : std::string(promtact::to_string(item.kind))));
        }
    }
    return items;
}

std::vector<std::string> string_items(const JsonValue& array, JsonProblems& problems) {
    PROMTACT_ASSERT(array.kind == JsonKind::array);
    std::vector<std::string> items;
    for (const JsonValue& item : array.children) {
        if (item.kind == JsonKind::text) {
            items.push_back(item.text);
        } else {
            problems.add(
                item.at, "must be a string, not " + std::string(promtact::to_string(item.kind)));
        }
    }
    return items;
}

} // namespace promtact

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <nlohmann/json.hpp>

#include <promtact/base/assert.hpp>
#include <promtact/base/json_writer.hpp>

namespace promtact {
namespace {

std::string quoted(std::string_view text) {
    return nlohmann::ordered_json(text).dump(
        -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string list(std::span<const std::uint64_t> items) {
    std::string text = "[";
    for (const std::uint64_t item : items)
        text += (text.size() == 1 ? "" : ", ") + std::to_string(item);
    return text + "]";
}

template <class Items>
std::string quoted_list(const Items& items) {
    std::string text = "[";
    for (const std::string_view item : items)
        text += (text.size() == 1 ? "" : ", ") + quoted(item);
    return text + "]";
}

} // namespace

JsonWriter::JsonWriter() : text_("{") {
    levels_.push_back({.array = false, .empty = true});
}

void JsonWriter::next() {
    PROMTACT_ASSERT(!levels_.empty());
    if (!levels_.back().empty) text_ += ',';
    levels_.back().empty = false;
    text_ += '\n';
    text_.append(levels_.size() * 2, ' ');
}

void JsonWriter::name(std::string_view name) {
    PROMTACT_ASSERT(!levels_.back().array);
    next();
    text_ += quoted(name) + ": ";
}

void JsonWriter::object(std::string_view member) {
    name(member);
    text_ += '{';
    levels_.push_back({.array = false, .empty = true});
}

void JsonWriter::array(std::string_view member) {
    name(member);
    text_ += '[';
    levels_.push_back({.array = true, .empty = true});
}

void JsonWriter::object_item() {
    PROMTACT_ASSERT(levels_.back().array);
    next();
    text_ += '{';
    levels_.push_back({.array = false, .empty = true});
}

void JsonWriter::end() {
    PROMTACT_ASSERT(levels_.size() > 1);
    const Level level = levels_.back();
    levels_.pop_back();
    if (!level.empty) {
        text_ += '\n';
        text_.append(levels_.size() * 2, ' ');
    }
    text_ += level.array ? ']' : '}';
}

void JsonWriter::field(std::string_view member, std::uint64_t value) {
    name(member);
    text_ += std::to_string(value);
}

void JsonWriter::field_signed(std::string_view member, std::int64_t value) {
    name(member);
    text_ += std::to_string(value);
}

void JsonWriter::field(std::string_view member, std::string_view value) {
    name(member);
    text_ += quoted(value);
}

void JsonWriter::field_bool(std::string_view member, bool value) {
    name(member);
    text_ += value ? "true" : "false";
}

void JsonWriter::field_null(std::string_view member) {
    name(member);
    text_ += "null";
}

void JsonWriter::strings(std::string_view member, std::span<const std::string> items) {
    name(member);
    text_ += quoted_list(items);
}

void JsonWriter::strings(std::string_view member, std::span<const std::string_view> items) {
    name(member);
    text_ += quoted_list(items);
}

void JsonWriter::numbers(std::string_view member, std::span<const std::uint64_t> items) {
    name(member);
    text_ += list(items);
}

void JsonWriter::numbers_item(std::span<const std::uint64_t> items) {
    PROMTACT_ASSERT(levels_.back().array);
    next();
    text_ += list(items);
}

std::string JsonWriter::finish() {
    PROMTACT_ASSERT(levels_.size() == 1);
    text_ += levels_.back().empty ? "}\n" : "\n}\n";
    levels_.clear();
    return std::move(text_);
}

} // namespace promtact

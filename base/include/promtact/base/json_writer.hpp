// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// JSON text whose bytes depend on nothing but what was written: fields in the order given, two
// spaces of indentation, integers only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace promtact {

/// Writes one document. The root is opened by the constructor as an object. Invalid UTF-8 becomes
/// U+FFFD. Requires: every name is unique within its object (the strict reader would refuse it).
class JsonWriter {
  public:
    JsonWriter();

    void object(std::string_view name);
    void array(std::string_view name);
    /// An object as the next item of the open array.
    void object_item();
    /// Closes what was opened last.
    void end();

    void field(std::string_view name, std::uint64_t value);
    void field_signed(std::string_view name, std::int64_t value);
    void field(std::string_view name, std::string_view value);
    void field(std::string_view name, const char* value) { field(name, std::string_view(value)); }
    void field_bool(std::string_view name, bool value);
    void field_null(std::string_view name);

    void strings(std::string_view name, std::span<const std::string> items);
    void strings(std::string_view name, std::span<const std::string_view> items);
    /// An array of numbers on one line.
    void numbers(std::string_view name, std::span<const std::uint64_t> items);
    /// [1, 2, 3] on a line of its own as the next item of the open array.
    void numbers_item(std::span<const std::uint64_t> items);

    /// Closes the root and returns the text, ending in a newline. Requires: all else is closed
    std::string finish();

  private:
    struct Level {
        bool array = false;
        bool empty = true;
    };
    void next();
    void name(std::string_view name);

    std::string text_{};
    std::vector<Level> levels_{};
};

} // namespace promtact

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "argv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <promtact/base/assert.hpp>

#include "word.hpp"

namespace promtact::harness {

namespace {

/// A word that is a flag, taken apart: "-steps=5" is {spelled "-steps", name "steps", value "5"}.
struct FlagWord {
    std::string_view spelled{};
    std::string_view name{};
    std::optional<std::string_view> value{};
};

bool is_flag_word(std::string_view word) noexcept {
    return word.size() >= 2 && word.front() == '-';
}

FlagWord take_apart(std::string_view word) {
    PROMTACT_ASSERT(is_flag_word(word));
    FlagWord flag;
    const std::size_t equals = word.find('=');
    flag.spelled = word.substr(0, equals);
    flag.name = flag.spelled.substr(word[1] == '-' ? 2 : 1);
    if (equals != std::string_view::npos) flag.value = word.substr(equals + 1);
    return flag;
}

bool is_help(std::string_view name) noexcept {
    return name == "h" || name == "help";
}

class Splitter {
  public:
    Splitter(std::span<const std::string> words, std::span<const FlagName> names)
        : words_(words), names_(names) {}

    ParsedArgv run() {
        while (next_ < words_.size() && !parsed_.problem && !parsed_.help)
            take_word(words_[next_++]);
        return std::move(parsed_);
    }

  private:
    const FlagName* find(std::string_view name) const {
        const auto at = std::ranges::find(names_, name, &FlagName::name);
        return at == names_.end() ? nullptr : &*at;
    }

    void take_word(const std::string& word) {
        if (const std::string_view why = unfit(word); !why.empty()) return fail(word, why);
        if (only_positionals_ || !is_flag_word(word)) {
            if (word.empty()) return fail(word, "is an empty word; remove it or give a value");
            parsed_.positionals.push_back(word);
        } else if (word == "--") {
            only_positionals_ = true;
        } else {
            take_flag(take_apart(word));
        }
    }

    void take_flag(const FlagWord& word) {
        if (word.name.empty() || word.name.front() == '-')
            return fail(word.spelled, "is not a flag: write -name or --name");
        const FlagName* known = find(word.name);
        if (known == nullptr) {
            if (is_help(word.name) && !word.value) {
                parsed_.help = true;
                return;
            }
            return fail_unknown(word);
        }
        const auto repeated =
            std::ranges::find(parsed_.assignments, known->flag, &Assignment::flag);
        if (repeated != parsed_.assignments.end())
            return fail(word.spelled, "is given twice; keep one");
        take_value(word, *known);
    }

    void take_value(const FlagWord& word, const FlagName& known) {
        if (word.value && word.value->empty())
            return fail(word.spelled, "has an empty value; leave the flag out for its default");
        if (word.value) return assign(word, known, *word.value);
        if (known.boolean) return assign(word, known, "true");
        if (next_ >= words_.size()) return fail(word.spelled, "needs a value");
        const std::string& value = words_[next_++];
        if (value.empty())
            return fail(word.spelled, "has an empty value; leave the flag out for its default");
        if (const std::string_view why = unfit(value); !why.empty()) return fail(value, why);
        if (names_a_flag(value)) {
            parsed_.problem = fmt::format(
                "flag {0} needs a value, but the flag {1} follows; write {2}={3} if that is its "
                "value",
                shown(word.spelled), shown(take_apart(value).spelled), word.spelled,
                take_apart(value).spelled);
            return;
        }
        assign(word, known, value);
    }

    bool names_a_flag(std::string_view value) const {
        if (value == "--") return true;
        if (!is_flag_word(value)) return false;
        const FlagWord word = take_apart(value);
        return find(word.name) != nullptr || is_help(word.name);
    }

    void assign(const FlagWord& word, const FlagName& known, std::string_view value) {
        PROMTACT_ASSERT(!value.empty());
        parsed_.assignments.push_back({known.flag, std::string(word.spelled), std::string(value)});
    }

    void fail(std::string_view word, std::string_view complaint) {
        const std::string_view kind = is_flag_word(word) && !only_positionals_ ? "flag" : "word";
        parsed_.problem = fmt::format("{} {} {}", kind, shown(word), complaint);
    }

    void fail_unknown(const FlagWord& word) {
        std::vector<std::string_view> candidates;
        for (const FlagName& known : names_)
            candidates.push_back(known.name);
        const auto meant = nearest(word.name, candidates);
        parsed_.problem = fmt::format("unknown flag {}", shown(word.spelled));
        if (meant) *parsed_.problem += fmt::format("; did you mean -{}?", *meant);
    }

    std::span<const std::string> words_;
    std::span<const FlagName> names_;
    std::size_t next_ = 0;
    bool only_positionals_ = false;
    ParsedArgv parsed_;
};

} // namespace

ParsedArgv parse_argv(std::span<const std::string> words, std::span<const FlagName> names) {
    for (const FlagName& known : names) {
        PROMTACT_ASSERT(!known.name.empty());
        PROMTACT_ASSERT(known.name.front() != '-');
        PROMTACT_ASSERT(known.name.find('=') == std::string_view::npos);
    }
    return Splitter(words, names).run();
}

} // namespace promtact::harness

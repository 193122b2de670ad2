// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Anti-vacuity: marks in rare code and goals a campaign must reach. A mark that nothing ever
// passed is listed as missed, so "the test ran" cannot be mistaken for "the test got there".
//
// How the unhit ones come to be listed: each site is a static member of a class template whose
// arguments are its sentence and place, registered by that member's dynamic initialiser before
// main. The initialiser lives in the object file that contains the code, so a static library
// cannot lose a site without losing the code it marks; uncalled functions and discarded branches
// are listed too. A section array filled by the linker was rejected: g++ refuses or misplaces a
// section attribute on variables of templates and inline functions, which is where the engine's
// sites are, and it needs the GNU linker. Code that no translation unit instantiates, and objects
// the linker left out, are not listed: this program cannot reach them.
//
// Marks are the one thing that the threads of a sweep share. Pure units are kept free of <atomic>
// on purpose, so the three atomic accesses here are the compilers' builtins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <promtact/base/assert.hpp>

namespace promtact {

enum class ProbeKind : std::uint8_t {
    probe,     // PROMTACT_PROBE: a rare path, to be passed by some run of some campaign
    reachable, // PROMTACT_REACHABLE: a goal, reached when this line runs
    sometimes, // PROMTACT_SOMETIMES: a goal, reached when its condition was true once
};

constexpr std::string_view to_string(ProbeKind kind) noexcept {
    switch (kind) {
    case ProbeKind::probe:
        return "probe";
    case ProbeKind::reachable:
        return "reachable";
    case ProbeKind::sometimes:
        return "sometimes";
    }
    return "unknown";
}

namespace detail {

template <std::size_t N>
struct FixedText {
    char text[N]{};
    consteval FixedText(const char (&literal)[N]) {
        for (std::size_t i = 0; i < N; ++i)
            text[i] = literal[i];
    }
};

/// One place in the code. Shared by threads; marks are monotonic flags, so relaxed order is enough.
class ProbeSite {
  public:
    ProbeSite(ProbeKind kind, const char* sentence, const char* file, std::uint32_t line) noexcept;
    ProbeSite(const ProbeSite&) = delete;
    ProbeSite& operator=(const ProbeSite&) = delete;

    /// Reads before it writes: after the first time no cache line moves between threads.
    void mark(bool hit) noexcept {
        set(passed_);
        if (hit) set(hit_);
    }
    void reset() noexcept {
        __atomic_store_n(&passed_, false, __ATOMIC_RELAXED);
        __atomic_store_n(&hit_, false, __ATOMIC_RELAXED);
    }

    [[nodiscard]] bool passed() const noexcept { return get(passed_); }
    [[nodiscard]] bool hit() const noexcept { return get(hit_); }
    [[nodiscard]] ProbeKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::string_view sentence() const noexcept { return sentence_; }
    /// The path as the compiler saw it, without leading "./" and "../": build directories differ.
    [[nodiscard]] std::string_view file() const noexcept {
        std::string_view path = file_;
        while (path.starts_with("../") || path.starts_with("./"))
            path.remove_prefix(path.find('/') + 1);
        return path;
    }
    [[nodiscard]] std::uint32_t line() const noexcept { return line_; }
    [[nodiscard]] ProbeSite* next() const noexcept { return next_; }

  private:
    static bool get(const bool& flag) noexcept { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }
    static void set(bool& flag) noexcept {
        if (!get(flag)) __atomic_store_n(&flag, true, __ATOMIC_RELAXED);
    }

    const char* sentence_;
    const char* file_;
    ProbeSite* next_ = nullptr;
    std::uint32_t line_;
    ProbeKind kind_;
    bool passed_ = false;
    bool hit_ = false;
};

// Constant initialisation: ready before any site registers.
inline constinit ProbeSite* probe_sites = nullptr;

inline ProbeSite::ProbeSite(
    ProbeKind kind, const char* sentence, const char* file, std::uint32_t line) noexcept
    : sentence_(sentence), file_(file), line_(line), kind_(kind) {
    PROMTACT_ASSERT(sentence[0] != '\0');
    PROMTACT_ASSERT(line > 0);
    // Initialisers of one library run in one thread, those of two loaded at once need not.
    next_ = __atomic_load_n(&probe_sites, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        &probe_sites, &next_, this, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

inline ProbeSite* first_probe_site() noexcept {
    return __atomic_load_n(&probe_sites, __ATOMIC_ACQUIRE);
}

template <ProbeKind Kind, FixedText Sentence, FixedText File, std::uint32_t Line>
struct ProbeHolder {
    static inline ProbeSite site{Kind, Sentence.text, File.text, Line};
};

} // namespace detail

/// What one site has seen since the start or the last reset_probes().
struct ProbeState {
    ProbeKind kind = ProbeKind::probe;
    std::string_view sentence{};
    std::string_view file{};
    std::uint32_t line = 0;
    bool passed = false; // the line ran
    bool hit = false;    // the goal was reached; differs from passed for sometimes only

    friend auto operator<=>(const ProbeState&, const ProbeState&) = default;
};

/// All sites of this program, hit or not, ordered by file and line. A header reached by two
/// spellings of its path has a site for each; they are one here.
inline std::vector<ProbeState> probes() {
    std::vector<ProbeState> all;
    for (const detail::ProbeSite* site = detail::first_probe_site(); site != nullptr;
         site = site->next()) {
        all.push_back(
            {.kind = site->kind(),
             .sentence = site->sentence(),
             .file = site->file(),
             .line = site->line(),
             .passed = site->passed(),
             .hit = site->hit()});
    }
    const auto place = [](const ProbeState& s) {
        return std::tie(s.file, s.line, s.sentence, s.kind);
    };
    std::sort(all.begin(), all.end(), [&place](const ProbeState& a, const ProbeState& b) {
        return place(a) < place(b);
    });
    std::vector<ProbeState> merged;
    for (const ProbeState& state : all) {
        if (merged.empty() || place(merged.back()) != place(state)) {
            merged.push_back(state);
            continue;
        }
        merged.back().passed = merged.back().passed || state.passed;
        merged.back().hit = merged.back().hit || state.hit;
    }
    return merged;
}

/// Forgets all hits: the start of a campaign. Requires: no other thread passes a site meanwhile,
/// or its marks may be lost.
inline void reset_probes() noexcept {
    for (detail::ProbeSite* site = detail::first_probe_site(); site != nullptr; site = site->next())
        site->reset();
}

} // namespace promtact

#define PROMTACT_PROBE_SITE(kind, sentence)                                                        \
    ::promtact::detail::ProbeHolder<::promtact::ProbeKind::kind, sentence, __FILE__, __LINE__>::site

/// Marks a rare path: PROMTACT_PROBE("vote arrives after the election is over");
#define PROMTACT_PROBE(sentence) PROMTACT_PROBE_SITE(probe, sentence).mark(true)

/// A goal: some run of the campaign must come here.
#define PROMTACT_REACHABLE(sentence) PROMTACT_PROBE_SITE(reachable, sentence).mark(true)

/// A goal: the condition must be true here in some run. The condition is evaluated exactly once.
#define PROMTACT_SOMETIMES(condition, sentence)                                                    \
    PROMTACT_PROBE_SITE(sometimes, sentence).mark(static_cast<bool>(condition))

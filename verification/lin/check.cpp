// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <promtact/base/trace_hash.hpp>
#include <promtact/lin/check.hpp>

namespace promtact::lin {
namespace {

using Value = std::optional<std::string>;

/// Applies the operation where its answer allows it.
bool apply(const Operation& operation, const Value& before, Value& after) {
    after = before;
    switch (operation.kind) {
    case OperationKind::read:
        return !operation.answered || operation.value == before;
    case OperationKind::write:
        after = operation.argument;
        return true;
    case OperationKind::erase:
        after = std::nullopt;
        return true;
    case OperationKind::compare_and_set: {
        const bool fits = before == operation.expected;
        if (operation.answered && operation.succeeded != fits) return false;
        if (fits) after = operation.argument;
        return true;
    }
    }
    return false;
}

/// The search over one key's operations.
class Search {
  public:
    Search(std::vector<Operation> operations, std::uint64_t budget)
        : operations_(std::move(operations)), budget_(budget),
          done_((operations_.size() + 63) / 64) {
        std::sort(operations_.begin(), operations_.end(), [](const auto& a, const auto& b) {
            return a.begin < b.begin;
        });
        for (const Operation& operation : operations_)
            answered_ += operation.answered ? 1 : 0;
    }

    /// Depth first, without recursion: a history may be long.
    Verdict run() {
        push({}, 0);
        while (!stack_.empty()) {
            if (answered_done_ == answered_) return Verdict::linearizable;
            if (states_ > budget_) return Verdict::budget_exhausted;
            if (!advance()) pop();
        }
        return Verdict::violation;
    }

    [[nodiscard]] std::uint64_t states() const noexcept { return states_; }
    [[nodiscard]] const std::vector<std::size_t>& longest() const noexcept { return longest_; }
    [[nodiscard]] const std::vector<Operation>& operations() const noexcept { return operations_; }
    /// What could come after the longest order.
    [[nodiscard]] std::vector<std::size_t> blocked() const {
        std::vector<bool> in(operations_.size(), false);
        for (const std::size_t index : longest_)
            in[index] = true;
        std::uint64_t first_end = ~std::uint64_t{0};
        for (std::size_t i = 0; i < operations_.size(); ++i)
            if (!in[i]) first_end = std::min(first_end, operations_[i].end);
        std::vector<std::size_t> next;
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            const bool may_come = !in[i] && operations_[i].begin < first_end;
            if (may_come && operations_[i].answered) next.push_back(i);
        }
        return next;
    }

  private:
    struct Level {
        Value value{};
        std::size_t chosen = 0; // the operation that led here; unused for the first
        std::size_t next = 0;   // where to go on looking
        std::size_t first_open = 0;
    };

    [[nodiscard]] bool is_done(std::size_t index) const noexcept {
        return (done_[index / 64] >> (index % 64) & 1) != 0;
    }
    void flip(std::size_t index) noexcept { done_[index / 64] ^= std::uint64_t{1} << (index % 64); }

    void push(Value value, std::size_t chosen) {
        std::size_t open = stack_.empty() ? 0 : stack_.back().first_open;
        while (open < operations_.size() && is_done(open))
            ++open;
        stack_.push_back(
            {.value = std::move(value), .chosen = chosen, .next = open, .first_open = open});
    }
    /// Takes the next operation that may come first among those left; false when none is left to
    /// try.
    bool advance() {
        Level& level = stack_.back();
        // Nothing may come before what ended before it began.
        std::uint64_t first_end = ~std::uint64_t{0};
        for (std::size_t i = level.first_open; i < operations_.size(); ++i) {
            if (operations_[i].begin > first_end) break;
            if (!is_done(i)) first_end = std::min(first_end, operations_[i].end);
        }
        for (std::size_t i = level.next; i < operations_.size(); ++i) {
            if (operations_[i].begin > first_end) break;
            if (is_done(i)) continue;
            Value after;
            if (!apply(operations_[i], level.value, after)) continue;
            flip(i);
            if (!visited_.insert(fingerprint(after)).second) {
                flip(i);
                continue;
            }
            ++states_;
            level.next = i + 1;
            answered_done_ += operations_[i].answered ? 1 : 0;
            order_.push_back(i);
            if (order_.size() > longest_.size()) longest_ = order_;
            push(std::move(after), i);
            return true;
        }
        return false;
    }
    void pop() {
        const std::size_t chosen = stack_.back().chosen;
        stack_.pop_back();
        if (stack_.empty()) return;
        flip(chosen);
        answered_done_ -= operations_[chosen].answered ? 1 : 0;
        order_.pop_back();
    }
    [[nodiscard]] Digest128 fingerprint(const Value& value) const {
        TraceHash hash;
        hash.add(std::as_bytes(std::span(done_)));
        hash.add<1>({{value ? 1U : 0U}});
        if (value) hash.add(std::as_bytes(std::span(*value)));
        return hash.value();
    }

    std::vector<Operation> operations_;
    std::uint64_t budget_;
    std::vector<std::uint64_t> done_;
    std::size_t answered_ = 0;
    std::size_t answered_done_ = 0;
    std::uint64_t states_ = 0;
    std::vector<Level> stack_{};
    std::vector<std::size_t> order_{};
    std::vector<std::size_t> longest_{};
    std::set<Digest128> visited_{};
};

void explain(const Search& search, const std::string& key, Verdict verdict, CheckReport& report) {
    report.verdict = verdict;
    report.key = key;
    for (const std::size_t index : search.longest())
        report.longest.push_back(search.operations()[index]);
    for (const std::size_t index : search.blocked())
        report.impossible.push_back(search.operations()[index]);
    const std::string orders = "after the longest order of " +
                               std::to_string(report.longest.size()) + " operations on key " + key;
    report.text = verdict == Verdict::violation
                      ? orders + ", none of the " + std::to_string(report.impossible.size()) +
                            " that could come next fits its answer"
                      : "the search on key " + key + " ended at its limit of states";
}

} // namespace

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::linearizable:
        return "linearizable";
    case Verdict::violation:
        return "violation";
    case Verdict::vacuous:
        return "vacuous";
    case Verdict::budget_exhausted:
        return "budget_exhausted";
    }
    return "unknown";
}

CheckReport check(std::span<const Operation> operations, const CheckOptions& options) {
    CheckReport report{.operations = operations.size()};
    std::map<std::string, std::vector<Operation>> by_key;
    std::size_t answered = 0;
    for (const Operation& operation : operations) {
        by_key[operation.key].push_back(operation);
        answered += operation.answered ? 1 : 0;
    }
    if (answered < options.answered_min) {
        report.verdict = Verdict::vacuous;
        report.text = std::to_string(answered) + " operations were answered, " +
                      std::to_string(options.answered_min) + " are needed";
        return report;
    }
    for (auto& [key, of_key] : by_key) {
        Search search(
            std::move(of_key), options.states_max - std::min(options.states_max, report.states));
        const Verdict verdict = search.run();
        report.states += search.states();
        if (verdict == Verdict::linearizable) continue;
        // A violation counts for more than a search that was cut off.
        if (report.verdict != Verdict::violation) {
            report.longest.clear();
            report.impossible.clear();
            explain(search, key, verdict, report);
        }
        if (verdict == Verdict::violation) return report;
    }
    if (report.text.empty()) report.text = "one order explains every answer";
    return report;
}

} // namespace promtact::lin

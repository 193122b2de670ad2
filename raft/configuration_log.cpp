// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/raft/configuration_log.hpp>

namespace promtact::raft {

const Configuration& ConfigurationLog::at(Index index) const noexcept {
    const auto found = std::find_if(
        history_.rbegin(), history_.rend(), [&](const Version& v) { return v.index <= index; });
    PROMTACT_ASSERT(found != history_.rend());
    return found->value;
}

void ConfigurationLog::append(Index index, Configuration configuration) {
    PROMTACT_ASSERT(index > latest_index());
    PROMTACT_ASSERT(validate(configuration).has_value());
    history_.push_back({index, std::move(configuration)});
}

bool ConfigurationLog::truncate(Index keep) {
    PROMTACT_ASSERT(keep >= history_.front().index);
    const std::size_t before = history_.size();
    while (history_.back().index > keep)
        history_.pop_back();
    return history_.size() != before;
}

void ConfigurationLog::compact(Index index) {
    while (history_.size() > 1 && history_[1].index <= index)
        history_.erase(history_.begin());
}

void ConfigurationLog::reset(Index index, Configuration base) {
    history_.clear();
    history_.push_back({index, std::move(base)});
}

void ConfigurationLog::fold(TraceHash& hash) const {
    for (const Version& version : history_) {
        const Digest128 members = digest(version.value);
        hash.add(std::array<std::uint64_t, 3>{version.index, members.high, members.low});
    }
}

} // namespace promtact::raft

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Decides the fate of every message of a run: the run's own chance first, then the faults in the
// order of the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/engine/link_fault.hpp>

namespace promtact::engine {

/// Whether faults of this kind decide about messages one by one.
constexpr bool is_link_fault(FaultKind kind) noexcept {
    switch (kind) {
    case FaultKind::loss:
    case FaultKind::burst:
    case FaultKind::delay:
    case FaultKind::reorder:
    case FaultKind::duplicate:
    case FaultKind::corrupt:
    case FaultKind::rate:
        return true;
    default:
        return false;
    }
}

/// What the run's own chance did.
struct ChanceCounts {
    std::uint64_t lost = 0;
    std::uint64_t delayed = 0;
    std::uint64_t copied = 0;
};

/// The fates of a run. Owns what its faults remember of links.
class Fates {
  public:
    Fates(const RunConfig& config, const Membership& members)
        : config_(&config), members_(&members),
          places_(std::size_t{members.size()} * members.size()) {
        for (std::size_t i = 0; i < config.faults.size(); ++i) {
            if (!is_link_fault(config.faults[i].kind)) continue;
            faults_.emplace_back(config.faults[i], config.fault_id(i), config, members);
        }
    }

    void advance(Step now) {
        active_.clear();
        for (LinkFault& fault : faults_)
            if (fault.fault().active(now)) active_.push_back(&fault);
    }

    /// The next message of a link. Requires: indices of members
    [[nodiscard]] Sending next(Step now, std::uint32_t from, std::uint32_t to) noexcept {
        PROMTACT_ASSERT(from < members_->size());
        PROMTACT_ASSERT(to < members_->size());
        Place& place = place_of(from, to);
        std::uint64_t position = 0;
        if (config_->key == DecisionKey::index) {
            position = place.count++;
        } else {
            if (place.time != now.value()) {
                place.time = now.value();
                place.count = 0;
            }
            position = ChoicePosition::at(now.value(), ordinal(place.count++)).value;
        }
        return {
            .now = now,
            .from = from,
            .to = to,
            .key = {.from = members_->id(from), .to = members_->id(to), .position = position}};
    }

    [[nodiscard]] Fate decide(const Sending& sending) {
        Place& place = place_of(sending.from, sending.to);
        if (!place.chances) place.chances.emplace(config_->seed, sending.key);
        Fate fate = by_chance(*place.chances, sending.key);
        for (LinkFault* fault : active_)
            fault->decide(sending, fate);
        if (fate.is_copied()) fate.copy_delay = copy_delay(*place.chances, sending.key);
        return fate;
    }

    [[nodiscard]] const ChanceCounts& chance() const noexcept { return chance_; }
    /// fn(id, fired)
    template <class Fn>
    void each_count(Fn fn) const {
        for (const LinkFault& fault : faults_)
            fn(fault.id(), fault.fired());
    }

  private:
    /// The run's own chance on a link.
    struct Chances {
        Chances(std::uint64_t seed, const FateKey& key) noexcept
            : loss(stream(seed, Purpose::loss, key)), delay(stream(seed, Purpose::delay, key)),
              duplicate(stream(seed, Purpose::duplicate, key)) {}
        static ChoiceStream
        stream(std::uint64_t seed, Purpose purpose, const FateKey& key) noexcept {
            return ChoiceStream::on_link(seed, purpose, key.from.value(), key.to.value());
        }
        ChoiceStream loss;
        ChoiceStream delay;
        ChoiceStream duplicate;
    };
    struct Place {
        std::uint64_t time = ~std::uint64_t{0};
        std::uint64_t count = 0;
        std::optional<Chances> chances{}; // known from the first message on
    };
    [[nodiscard]] Place& place_of(std::uint32_t from, std::uint32_t to) noexcept {
        return places_[std::size_t{from} * members_->size() + to];
    }

    static std::uint32_t ordinal(std::uint64_t count) noexcept {
        PROMTACT_ASSERT(count < 1U << 20); // the cascade limit is below
        return static_cast<std::uint32_t>(count);
    }
    Fate by_chance(const Chances& chances, const FateKey& key) {
        Fate fate;
        if (config_->drop.value > 0 && chances.loss.chance({key.position}, config_->drop)) {
            ++chance_.lost;
            fate.lost = {Cause::chance};
        }
        if (config_->max_delay.value > 0) {
            fate.delay = chances.delay.between({key.position}, 0, config_->max_delay.value);
            if (fate.delay > 0) ++chance_.delayed;
        }
        if (config_->duplicate.value > 0 &&
            chances.duplicate.chance({key.position}, config_->duplicate)) {
            ++chance_.copied;
            fate.copied = {Cause::chance};
        }
        return fate;
    }
    /// A copy travels on its own, delayed by the run's chance alone.
    [[nodiscard]] std::uint64_t copy_delay(const Chances& chances, const FateKey& key) const {
        return chances.delay.between({key.position | copy_bit}, 0, config_->max_delay.value);
    }

    const RunConfig* config_;
    const Membership* members_;
    std::vector<LinkFault> faults_{};
    std::vector<LinkFault*> active_{};
    std::vector<Place> places_;
    ChanceCounts chance_{};
};

} // namespace promtact::engine

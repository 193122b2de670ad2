// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the deliberately broken storages are made of: each passes everything on to a good one but
// for one thing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "places_internal.hpp"

namespace promtact::wal_testing {

/// What survives the storages of one place.
struct BentNotes {
    std::vector<IoOp> abandoned{};
};

/// A storage that is good until a subclass bends it.
class BentStorage : public Storage {
  public:
    BentStorage(std::unique_ptr<Storage> inner, BentNotes& notes)
        : inner_(std::move(inner)), notes_(&notes) {}

    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        IoOp bent = op;
        if (const auto answer = bend(bent)) {
            ready_.push_back({.id = op.id, .result = *answer});
            return true;
        }
        if (!inner_->submit(bent)) return false;
        follow(op);
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        return deliver(done, inner_->poll(done));
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override {
        return deliver(done, inner_->wait(done, timeout_ns));
    }
    /// What a crash does to it before it ends.
    virtual void crash() {}
    std::unique_ptr<Storage> release() {
        notes_->abandoned = std::move(in_flight_);
        return std::move(inner_);
    }

  protected:
    /// Changes a request, or answers it itself.
    virtual std::optional<std::int64_t> bend(IoOp&) { return std::nullopt; }
    virtual void bend_answer(IoDone&) {}

    [[nodiscard]] std::string name_of(std::uint32_t file) const {
        const auto found = names_.find(file);
        return found == names_.end() ? std::string{} : found->second;
    }
    /// A request of the storage's own, carried out at once.
    void perform(IoOp op) {
        op.id = ~std::uint64_t{0};
        IoDone done;
        if (inner_->submit(op)) static_cast<void>(inner_->poll(std::span(&done, 1)));
    }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }
    std::vector<IoDone>& ready() noexcept { return ready_; }
    [[nodiscard]] const std::vector<IoOp>& requests() const noexcept { return in_flight_; }

  private:
    void follow(const IoOp& op) {
        if (op.kind == IoKind::create || op.kind == IoKind::open)
            names_.insert_or_assign(op.file, std::string(op.name));
        for (auto& [file, name] : names_)
            if (op.kind == IoKind::rename && name == op.name) name = op.new_name;
        in_flight_.push_back(op);
    }
    std::size_t deliver(std::span<IoDone> done, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            bend_answer(done[i]);
            std::erase_if(in_flight_, [&](const IoOp& op) { return op.id == done[i].id; });
        }
        while (count < done.size() && !ready_.empty()) {
            done[count++] = ready_.back();
            ready_.pop_back();
        }
        return count;
    }

    std::unique_ptr<Storage> inner_;
    BentNotes* notes_;
    std::map<std::uint32_t, std::string> names_{};
    std::vector<IoOp> in_flight_{};
    std::vector<IoDone> ready_{};
};

/// A place for a bent storage on a modelled disk.
template <class Bent>
class BentPlace final : public StoragePlace {
  public:
    Result<std::unique_ptr<Storage>> open() override {
        for (const IoOp& op : std::exchange(notes_.abandoned, {}))
            Bent::reopened(op);
        PROMTACT_TRY_ASSIGN(std::unique_ptr<Storage> inner, place_.open());
        return std::unique_ptr<Storage>(std::make_unique<Bent>(std::move(inner), notes_));
    }
    void end(std::unique_ptr<Storage> storage, End how) override {
        auto* const bent = static_cast<BentStorage*>(storage.get());
        if (how == End::crashed) bent->crash();
        place_.end(bent->release(), how);
    }
    [[nodiscard]] bool models_crashes() const override { return true; }

  private:
    MemoryPlace place_{};
    BentNotes notes_{};
};

/// Runs a suite; the names of the properties that failed.
inline std::vector<std::string> failures(const std::vector<Property>& properties) {
    std::vector<std::string> names;
    for (const Property& property : properties)
        if (property.run().outcome == Finding::Outcome::failed) names.emplace_back(property.name);
    return names;
}

} // namespace promtact::wal_testing

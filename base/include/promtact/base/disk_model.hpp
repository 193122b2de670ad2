// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The one disk model of the project: what was issued, what completed, what is durable, and every
// image a crash may leave. Used by the log's tests, the simulated disk and the lab.
//
// A write is split into atoms that persist or not, each for itself; a size or directory change is
// an atom of its own. A sync makes durable what had completed when it was issued. After a failed
// sync nothing it covered is ever promised again, although it may be there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/disk_image.hpp>

namespace promtact::disk {

enum class ChangeKind : std::uint8_t { data, size, link, rename, unlink };

/// One thing that a crash keeps or loses as a whole.
struct Change {
    ChangeKind kind = ChangeKind::data;
    bool completed = false;
    bool orphaned = false; // a sync that covered it failed: no later sync vouches for it
    std::uint32_t inode = 0;
    std::uint64_t ticket = 0; // of the request it belongs to
    std::uint64_t where = 0;  // data: index of the atom; size: the size
    AtomId atom = 0;          // data
    NameId name = 0;          // directory changes
    NameId new_name = 0;      // rename
};

/// What a request of the model is called until it completes.
using Ticket = std::uint64_t;

/// Requests in, images out: what was issued, what completed, what is durable.
class DiskModel {
  public:
    /// Lifetime: pool outlives the model and every image of it.
    DiskModel(Pool& pool, const Image& start)
        : pool_(&pool), issued_(start), completed_(start), durable_(start), previous_(start) {}

    [[nodiscard]] Pool& pool() const noexcept { return *pool_; }
    [[nodiscard]] const Image& issued() const noexcept { return issued_; }
    [[nodiscard]] const Image& completed() const noexcept { return completed_; }
    [[nodiscard]] const Image& durable() const noexcept { return durable_; }
    /// Durable content before the last completed sync: what a disk that lied about it shows.
    [[nodiscard]] const Image& before_last_sync() const noexcept { return previous_; }
    /// What a crash may keep or lose, in the order it was issued.
    [[nodiscard]] std::span<const Change> pending() const noexcept { return pending_; }

    /// How many syncs completed: the durable image is the same while this is.
    [[nodiscard]] std::uint64_t syncs() const noexcept { return syncs_; }

    /// The inode of a name among what was issued, or npos.
    static constexpr std::uint32_t npos = ~std::uint32_t{0};
    [[nodiscard]] std::uint32_t lookup(std::string_view name) const {
        const Image::Link* link = issued_.find(pool_->name(name));
        return link == nullptr ? npos : link->inode;
    }

    /// Requires: inode exists
    Ticket write(std::uint32_t inode, std::uint64_t offset, std::span<const std::byte> bytes) {
        PROMTACT_ASSERT(inode < issued_.files.size());
        const Ticket ticket = ++last_ticket_;
        FileImage& file = issued_.files[inode];
        const std::uint32_t unit = pool_->atom_bytes();
        std::size_t done = 0;
        while (done < bytes.size()) {
            const std::uint64_t at = offset + done;
            const std::size_t index = static_cast<std::size_t>(at / unit);
            const std::size_t skip = static_cast<std::size_t>(at % unit);
            const std::size_t piece = std::min<std::size_t>(unit - skip, bytes.size() - done);
            std::array<std::byte, Pool::atom_bytes_max> merged;
            std::memcpy(merged.data(), pool_->bytes(file.atom(index)).data(), unit);
            std::memcpy(merged.data() + skip, bytes.data() + done, piece);
            const AtomId atom = pool_->intern(std::span(merged).first(unit));
            issue(
                {.kind = ChangeKind::data,
                 .inode = inode,
                 .ticket = ticket,
                 .where = index,
                 .atom = atom});
            done += piece;
        }
        if (offset + bytes.size() > file.size) change_size(inode, offset + bytes.size(), ticket);
        return ticket;
    }
    Ticket resize(std::uint32_t inode, std::uint64_t size) {
        PROMTACT_ASSERT(inode < issued_.files.size());
        const Ticket ticket = ++last_ticket_;
        change_size(inode, size, ticket);
        return ticket;
    }
    /// A new empty file. Requires: the name does not exist
    Ticket create(std::string_view name, std::uint32_t& inode) {
        PROMTACT_ASSERT(lookup(name) == npos);
        inode = static_cast<std::uint32_t>(issued_.files.size());
        for (Image* image : {&issued_, &completed_, &durable_, &previous_})
            image->files.resize(inode + 1);
        return directory_change(ChangeKind::link, inode, name, name);
    }
    /// Requires: the name exists
    Ticket rename(std::string_view name, std::string_view new_name) {
        PROMTACT_ASSERT(lookup(name) != npos);
        return directory_change(ChangeKind::rename, lookup(name), name, new_name);
    }
    /// Requires: the name exists
    Ticket unlink(std::string_view name) {
        PROMTACT_ASSERT(lookup(name) != npos);
        return directory_change(ChangeKind::unlink, lookup(name), name, name);
    }

    /// The request's effects are now visible to reads.
    void complete(Ticket ticket) {
        for (Change& change : pending_) {
            if (change.ticket != ticket) continue;
            PROMTACT_ASSERT(!change.completed);
            change.completed = true;
            apply(completed_, change);
        }
    }

    /// The request failed: its first `atoms` changes happened and may persist, the others never do.
    void complete_partly(Ticket ticket, std::size_t atoms) {
        std::size_t seen = 0;
        std::erase_if(pending_, [&](Change& change) {
            if (change.ticket != ticket) return false;
            PROMTACT_ASSERT(!change.completed);
            if (seen++ >= atoms) return true;
            change.completed = true;
            apply(completed_, change);
            return false;
        });
        issued_ = completed_;
        for (const Change& change : pending_)
            if (!change.completed) apply(issued_, change);
    }

    /// What a sync of this file (or of the directory, inode npos) issued now will cover.
    struct Sync {
        std::uint32_t inode = npos;
        std::vector<std::uint64_t> covered{}; // tickets
    };
    [[nodiscard]] Sync sync(std::uint32_t inode) const {
        Sync result{.inode = inode};
        for (const Change& change : pending_) {
            if (!belongs(change, inode) || !change.completed || change.orphaned) continue;
            if (result.covered.empty() || result.covered.back() != change.ticket)
                result.covered.push_back(change.ticket);
        }
        return result;
    }
    void complete(const Sync& sync, bool good) {
        ++syncs_;
        if (good) previous_ = durable_;
        std::erase_if(pending_, [&](Change& change) {
            if (!belongs(change, sync.inode) || change.orphaned) return false;
            if (std::find(sync.covered.begin(), sync.covered.end(), change.ticket) ==
                sync.covered.end()) {
                return false;
            }
            change.orphaned = !good;
            if (good) apply(durable_, change);
            return good;
        });
    }

    /// A stored bit changes by itself: in the atom that is durable, and where it stands unchanged
    /// among what completed and was issued. Requires: inode exists; bit < 8 * atom_bytes
    void decay(std::uint32_t inode, std::uint64_t index, std::uint32_t bit) {
        PROMTACT_ASSERT(inode < durable_.files.size());
        PROMTACT_ASSERT(bit < 8 * pool_->atom_bytes());
        const auto at = static_cast<std::size_t>(index);
        const AtomId good = durable_.files[inode].atom(at);
        std::array<std::byte, Pool::atom_bytes_max> bytes;
        std::memcpy(bytes.data(), pool_->bytes(good).data(), pool_->atom_bytes());
        bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        const AtomId bad = pool_->intern(std::span(bytes).first(pool_->atom_bytes()));
        for (Image* image : {&issued_, &completed_, &durable_})
            if (image->files[inode].atom(at) == good) image->files[inode].set_atom(at, bad);
    }

    /// What is left when exactly the pending changes chosen by keep(index) have persisted.
    template <class Keep>
    void crash(Image& image, Keep&& keep) const {
        image = durable_;
        for (std::size_t i = 0; i < pending_.size(); ++i)
            if (keep(i)) apply(image, pending_[i]);
        for (FileImage& file : image.files)
            file.set_size(file.size, *pool_);
    }

  private:
    static bool belongs(const Change& change, std::uint32_t inode) noexcept {
        const bool content = change.kind == ChangeKind::data || change.kind == ChangeKind::size;
        return inode == npos ? !content : content && change.inode == inode;
    }
    [[nodiscard]] bool disputed(std::uint32_t inode, std::uint64_t index) const noexcept {
        for (const Change& change : pending_) {
            if (change.inode != inode) continue;
            if (change.kind == ChangeKind::size) return true;
            if (change.kind == ChangeKind::data && change.where == index) return true;
        }
        return false;
    }
    void issue(const Change& change) {
        pending_.push_back(change);
        apply(issued_, change);
    }
    void change_size(std::uint32_t inode, std::uint64_t size, Ticket ticket) {
        issue({.kind = ChangeKind::size, .inode = inode, .ticket = ticket, .where = size});
    }
    Ticket directory_change(
        ChangeKind kind, std::uint32_t inode, std::string_view name, std::string_view new_name) {
        const Ticket ticket = ++last_ticket_;
        issue(
            {.kind = kind,
             .inode = inode,
             .ticket = ticket,
             .name = pool_->name(name),
             .new_name = pool_->name(new_name)});
        return ticket;
    }
    void apply(Image& image, const Change& change) const {
        switch (change.kind) {
        case ChangeKind::data:
            image.files[change.inode].set_atom(static_cast<std::size_t>(change.where), change.atom);
            return;
        case ChangeKind::size:
            image.files[change.inode].set_size(change.where, *pool_);
            return;
        case ChangeKind::link:
            image.set_link(change.name, change.inode);
            return;
        case ChangeKind::rename:
            if (const auto* old = image.find(change.name);
                old != nullptr && old->inode == change.inode) {
                image.remove_link(change.name);
            }
            image.set_link(change.new_name, change.inode);
            return;
        case ChangeKind::unlink:
            if (const auto* old = image.find(change.name);
                old != nullptr && old->inode == change.inode) {
                image.remove_link(change.name);
            }
            return;
        }
        PROMTACT_UNREACHABLE();
    }

    Pool* pool_;
    Image issued_;
    Image completed_;
    Image durable_;
    Image previous_;
    std::vector<Change> pending_{};
    Ticket last_ticket_ = 0;
    std::uint64_t syncs_ = 0;
};

} // namespace promtact::disk

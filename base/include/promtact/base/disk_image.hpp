// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Disk content as shared, immutable atoms: an image is a few integers per atom, so that millions of
// crash images can be made, compared and hashed. Pure; owned and driven by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact::disk {

/// An atom's number in its pool. Equal numbers mean equal content; 0 is all zero.
using AtomId = std::uint32_t;
/// A name's number in its pool.
using NameId = std::uint32_t;

/// Every atom and every name that occurs, each once. Images refer to it by number.
class Pool {
  public:
    static constexpr std::uint32_t atom_bytes_max = 4096;

    /// Requires: atom_bytes is 512 or 4096
    explicit Pool(std::uint32_t atom_bytes) : atom_bytes_(atom_bytes) {
        PROMTACT_ASSERT(atom_bytes == 512 || atom_bytes == 4096);
        const std::array<std::byte, atom_bytes_max> zero{};
        const AtomId id = intern(std::span(zero).first(atom_bytes_));
        PROMTACT_ASSERT(id == 0);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    [[nodiscard]] std::uint32_t atom_bytes() const noexcept { return atom_bytes_; }
    [[nodiscard]] std::size_t atoms() const noexcept { return digests_.size(); }

    /// Requires: bytes.size() == atom_bytes()
    AtomId intern(std::span<const std::byte> bytes) {
        PROMTACT_ASSERT(bytes.size() == atom_bytes_);
        const Digest128 digest = digest128(bytes);
        const auto [entry, fresh] = known_.try_emplace(digest, static_cast<AtomId>(atoms()));
        if (!fresh) return entry->second;
        const std::size_t slab = atoms() / slab_atoms;
        if (slab == slabs_.size()) {
            slabs_.push_back(std::vector<std::byte>(std::size_t{slab_atoms} * atom_bytes_));
        }
        std::memcpy(place(entry->second), bytes.data(), bytes.size());
        digests_.push_back(digest);
        return entry->second;
    }

    /// Lifetime: until rollback() below it. Requires: id was interned
    [[nodiscard]] std::span<const std::byte> bytes(AtomId id) const {
        PROMTACT_ASSERT(id < atoms());
        return {slabs_[id / slab_atoms].data() + offset(id), atom_bytes_};
    }
    [[nodiscard]] const Digest128& digest(AtomId id) const {
        PROMTACT_ASSERT(id < atoms());
        return digests_[id];
    }

    NameId name(std::string_view text) {
        for (NameId id = 0; id < names_.size(); ++id)
            if (names_[id] == text) return id;
        names_.push_back(std::string(text));
        return static_cast<NameId>(names_.size() - 1);
    }
    [[nodiscard]] std::string_view name(NameId id) const {
        PROMTACT_ASSERT(id < names_.size());
        return names_[id];
    }

    /// Forgets the atoms interned after there were `atoms`: what one crash image's recovery wrote.
    /// Requires: no image in use refers to them
    void rollback(std::size_t atoms_kept) {
        PROMTACT_ASSERT(atoms_kept >= 1);
        PROMTACT_ASSERT(atoms_kept <= atoms());
        while (atoms() > atoms_kept) {
            known_.erase(digests_.back());
            digests_.pop_back();
        }
    }

  private:
    static constexpr std::uint32_t slab_atoms = 256;

    [[nodiscard]] std::size_t offset(AtomId id) const noexcept {
        return std::size_t{id % slab_atoms} * atom_bytes_;
    }
    [[nodiscard]] std::byte* place(AtomId id) {
        return slabs_[id / slab_atoms].data() + offset(id);
    }

    std::uint32_t atom_bytes_;
    std::vector<std::vector<std::byte>> slabs_{};
    std::vector<Digest128> digests_{};
    std::map<Digest128, AtomId> known_{};
    std::vector<std::string> names_{};
};

/// The content of one file. Atoms beyond the vector are zero.
struct FileImage {
    std::uint64_t size = 0;
    std::vector<AtomId> atoms{};
    friend bool operator==(const FileImage&, const FileImage&) = default;

    [[nodiscard]] AtomId atom(std::size_t index) const noexcept {
        return index < atoms.size() ? atoms[index] : 0;
    }
    void set_atom(std::size_t index, AtomId id) {
        if (index >= atoms.size()) atoms.resize(index + 1, 0);
        atoms[index] = id;
    }
    /// Cuts or extends; what comes back into view later reads as zero.
    void set_size(std::uint64_t bytes, Pool& pool) {
        const std::uint64_t unit = pool.atom_bytes();
        size = bytes;
        const std::size_t used = static_cast<std::size_t>((bytes + unit - 1) / unit);
        if (atoms.size() <= used && (bytes % unit == 0 || atoms.size() < used)) return;
        if (atoms.size() > used) atoms.resize(used);
        if (bytes % unit == 0 || atoms.empty()) return;
        std::array<std::byte, Pool::atom_bytes_max> last{};
        const auto keep = pool.bytes(atoms.back()).first(static_cast<std::size_t>(bytes % unit));
        std::memcpy(last.data(), keep.data(), keep.size());
        atoms.back() = pool.intern(std::span(last).first(pool.atom_bytes()));
    }
};

/// A directory with its files: what a disk holds at one moment.
struct Image {
    struct Link {
        NameId name = 0;
        std::uint32_t inode = 0;
        friend bool operator==(const Link&, const Link&) = default;
    };
    std::vector<Link> links{};      // in order of NameId
    std::vector<FileImage> files{}; // by inode; an inode without a link is unreachable

    [[nodiscard]] const Link* find(NameId name) const noexcept {
        for (const Link& link : links)
            if (link.name == name) return &link;
        return nullptr;
    }
    void set_link(NameId name, std::uint32_t inode) {
        const auto at =
            std::lower_bound(links.begin(), links.end(), name, [](const Link& link, NameId wanted) {
                return link.name < wanted;
            });
        if (at != links.end() && at->name == name) {
            at->inode = inode;
        } else {
            links.insert(at, {name, inode});
        }
    }
    void remove_link(NameId name) {
        std::erase_if(links, [name](const Link& link) { return link.name == name; });
    }
};

/// The same for images of equal content, whichever pool holds them.
class ImageHasher {
  public:
    Digest128 operator()(const Image& image, const Pool& pool) {
        words_.clear();
        for (const Image::Link& link : image.links) {
            const std::string_view name = pool.name(link.name);
            const Digest128 digest = digest128(std::as_bytes(std::span(name.data(), name.size())));
            const FileImage& file = image.files[link.inode];
            words_.push_back(digest.low);
            words_.push_back(file.size);
            std::size_t used = file.atoms.size();
            while (used > 0 && file.atoms[used - 1] == 0)
                --used;
            words_.push_back(used);
            for (std::size_t i = 0; i < used; ++i)
                words_.push_back(pool.digest(file.atoms[i]).low);
        }
        return digest128(std::as_bytes(std::span(words_)));
    }

  private:
    std::vector<std::uint64_t> words_{};
};

} // namespace promtact::disk

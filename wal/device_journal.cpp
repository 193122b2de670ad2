// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The journal of a DeviceStorage: written, read back, judged.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/device_storage.hpp>

namespace promtact::wal {
namespace {

using Layout = JournalLayout;
static_assert(Layout::checksum + sizeof(std::uint32_t) == Layout::header_bytes);
constexpr std::uint32_t journal_magic = 0x4a544d50; // "PMTJ"
constexpr std::uint64_t size_max = std::uint64_t{1} << 62;

std::string_view text(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t checksum_of(std::span<const std::byte> entry) noexcept {
    const std::uint32_t head = crc32c(entry.first(Layout::checksum));
    return crc32c_extend(head, entry.subspan(Layout::header_bytes));
}

} // namespace

std::optional<DeviceStorage::Entry>
DeviceStorage::parse(std::span<const std::byte> journal, std::size_t at) {
    const std::span<const std::byte> rest = journal.subspan(at);
    if (rest.size() < Layout::header_bytes) return std::nullopt;
    if (load_le<std::uint32_t>(rest, Layout::magic) != journal_magic) return std::nullopt;
    Entry entry{
        .number = load_le<std::uint64_t>(rest, Layout::number),
        .durable = load_le<std::uint64_t>(rest, Layout::durable),
        .inode = load_le<std::uint32_t>(rest, Layout::inode),
        .bytes = load_le<std::uint32_t>(rest, Layout::bytes),
        .offset = load_le<std::uint64_t>(rest, Layout::offset)};
    const auto kind = load_le<std::uint8_t>(rest, Layout::kind);
    if (kind < static_cast<std::uint8_t>(JournalKind::write) ||
        kind > static_cast<std::uint8_t>(JournalKind::unlink))
        return std::nullopt;
    entry.kind = static_cast<JournalKind>(kind);
    const std::size_t name = load_le<std::uint8_t>(rest, Layout::name_bytes);
    const std::size_t new_name = load_le<std::uint8_t>(rest, Layout::new_name_bytes);
    const std::size_t payload = entry.kind == JournalKind::write ? entry.bytes : 0;
    entry.size = Layout::header_bytes + name + new_name + payload;
    if (entry.size > rest.size() || entry.offset > size_max) return std::nullopt;
    const std::span<const std::byte> whole = rest.first(entry.size);
    if (load_le<std::uint32_t>(whole, Layout::checksum) != checksum_of(whole)) return std::nullopt;
    entry.name = text(whole.subspan(Layout::header_bytes, name));
    entry.new_name = text(whole.subspan(Layout::header_bytes + name, new_name));
    entry.payload = whole.last(payload);
    return entry;
}

// An entry behind the end that knows of durable bytes beyond it proves that this is no torn tail.
Result<void> DeviceStorage::judge_tail(std::span<const std::byte> journal, std::size_t end) {
    for (std::size_t at = end + 1; at + Layout::header_bytes <= journal.size(); ++at) {
        const std::optional<Entry> entry = parse(journal, at);
        if (!entry || entry->durable <= end || entry->durable > at) continue;
        return Error{
            Errc::corrupt, 0,
            "the device's journal is damaged at byte " + std::to_string(end) + ": entry " +
                std::to_string(entry->number) + " at byte " + std::to_string(at) +
                " says that the first " + std::to_string(entry->durable) + " bytes were durable"};
    }
    return {};
}

Result<void> DeviceStorage::replay() {
    PROMTACT_TRY_ASSIGN(const std::vector<std::byte> journal, device_->durable_bytes());
    std::size_t end = 0;
    while (end < journal.size()) {
        const std::optional<Entry> entry = parse(journal, end);
        if (!entry || entry->number != last_number_ + 1) break;
        last_number_ = entry->number;
        apply(*entry);
        end += entry->size;
    }
    if (end < journal.size()) {
        PROMTACT_TRY(judge_tail(journal, end));
        PROMTACT_TRY(device_->truncate_durable(end));
        cut_bytes_ = journal.size() - end;
    }
    journal_bytes_ = end;
    durable_bytes_ = end;
    return {};
}

std::int64_t DeviceStorage::record(Entry entry) {
    PROMTACT_ASSERT(entry.name.size() <= 255);
    PROMTACT_ASSERT(entry.new_name.size() <= 255);
    if (broken_errno_ != 0) return -broken_errno_;
    entry.number = last_number_ + 1;
    entry.durable = durable_bytes_;
    entry_.assign(Layout::header_bytes, std::byte{0});
    for (const std::string_view name : {entry.name, entry.new_name}) {
        const auto bytes = std::as_bytes(std::span(name.data(), name.size()));
        entry_.insert(entry_.end(), bytes.begin(), bytes.end());
    }
    entry_.insert(entry_.end(), entry.payload.begin(), entry.payload.end());
    store_le<std::uint32_t>(entry_, Layout::magic, journal_magic);
    store_le<std::uint8_t>(entry_, Layout::kind, static_cast<std::uint8_t>(entry.kind));
    store_le<std::uint8_t>(
        entry_, Layout::name_bytes, static_cast<std::uint8_t>(entry.name.size()));
    store_le<std::uint8_t>(
        entry_, Layout::new_name_bytes, static_cast<std::uint8_t>(entry.new_name.size()));
    store_le<std::uint64_t>(entry_, Layout::number, entry.number);
    store_le<std::uint64_t>(entry_, Layout::durable, entry.durable);
    store_le<std::uint32_t>(entry_, Layout::inode, entry.inode);
    store_le<std::uint32_t>(entry_, Layout::bytes, entry.bytes);
    store_le<std::uint64_t>(entry_, Layout::offset, entry.offset);
    store_le<std::uint32_t>(entry_, Layout::checksum, checksum_of(entry_));
    if (const Result<void> added = device_->append(entry_); !added) {
        const int sys_errno = added.error().sys_errno;
        if (added.error().code == Errc::no_space) return -(sys_errno != 0 ? sys_errno : ENOSPC);
        broken_errno_ = sys_errno != 0 ? sys_errno : EIO;
        return -broken_errno_;
    }
    last_number_ = entry.number;
    journal_bytes_ += entry_.size();
    apply(entry);
    return 0;
}

void DeviceStorage::apply(const Entry& entry) {
    const auto file = files_.find(entry.inode);
    switch (entry.kind) {
    case JournalKind::write:
        if (file != files_.end()) write_pages(file->second, entry.offset, entry.payload);
        return;
    case JournalKind::zeros:
        if (file == files_.end()) return;
        zero_pages(file->second, entry.offset, entry.offset + entry.bytes);
        file->second.size = std::max(file->second.size, entry.offset + entry.bytes);
        return;
    case JournalKind::resize:
        if (file == files_.end()) return;
        zero_pages(file->second, entry.offset, ~std::uint64_t{0});
        file->second.size = entry.offset;
        return;
    case JournalKind::create:
        last_inode_ = std::max(last_inode_, entry.inode);
        files_[entry.inode] = {};
        names_.insert_or_assign(std::string(entry.name), entry.inode);
        return;
    case JournalKind::rename:
    case JournalKind::unlink:
        break;
    }
    const auto named = names_.find(entry.name);
    if (named == names_.end()) return;
    const std::uint32_t inode = named->second;
    names_.erase(named);
    if (entry.kind == JournalKind::unlink) return drop_link(inode);
    const auto [target, fresh] = names_.try_emplace(std::string(entry.new_name), inode);
    if (!fresh) drop_link(std::exchange(target->second, inode));
}

void DeviceStorage::write_pages(File& file, std::uint64_t offset, std::span<const std::byte> data) {
    for (std::size_t done = 0; done < data.size();) {
        const std::uint64_t at = offset + done;
        const auto skip = static_cast<std::size_t>(at % page_bytes);
        const std::size_t piece = std::min(page_bytes - skip, data.size() - done);
        std::memcpy(file.pages[at / page_bytes].data() + skip, data.data() + done, piece);
        done += piece;
    }
    file.size = std::max<std::uint64_t>(file.size, offset + data.size());
}

// Pages that become zero as a whole are forgotten.
void DeviceStorage::zero_pages(File& file, std::uint64_t from, std::uint64_t to) {
    PROMTACT_ASSERT(from <= to);
    auto page = file.pages.lower_bound(from / page_bytes);
    while (page != file.pages.end() && page->first * page_bytes < to) {
        const std::uint64_t begin = page->first * page_bytes;
        const std::uint64_t first = std::max(from, begin) - begin;
        const std::uint64_t last = std::min<std::uint64_t>(to - begin, page_bytes);
        if (first == 0 && last == page_bytes) {
            page = file.pages.erase(page);
            continue;
        }
        std::memset(page->second.data() + first, 0, static_cast<std::size_t>(last - first));
        ++page;
    }
}

// One name or number less for a file; without any it is gone.
void DeviceStorage::drop_link(std::uint32_t inode) {
    const bool named = std::any_of(
        names_.begin(), names_.end(), [inode](const auto& entry) { return entry.second == inode; });
    const bool opened =
        std::find(open_files_.begin(), open_files_.end(), inode) != open_files_.end();
    if (!named && !opened) files_.erase(inode);
}

} // namespace promtact::wal

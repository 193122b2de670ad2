// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The ten properties of a device of four calls.
#include <promtact/base/error_text.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

/// A device on a fresh place, and what it should hold.
class Ten {
  public:
    static Result<Ten> open(const DeviceGroundFactory& factory) {
        PROMTACT_TRY_ASSIGN(DeviceGround ground, factory());
        PROMTACT_TRY_ASSIGN(auto session, Session<wal::Device>::open(*ground.place));
        return Ten(std::move(ground), std::move(session));
    }
    [[nodiscard]] wal::Device& device() noexcept { return session_.device(); }
    [[nodiscard]] std::size_t unit() const noexcept { return ground_.unit; }
    [[nodiscard]] const Bytes& wanted() const noexcept { return wanted_; }

    Result<void> append(std::size_t units) {
        const Bytes piece = pattern(++pieces_, units * ground_.unit);
        PROMTACT_TRY(device().append(piece));
        wanted_.insert(wanted_.end(), piece.begin(), piece.end());
        return {};
    }
    Result<void> truncate(std::size_t units) {
        wanted_.resize(units * ground_.unit);
        return device().truncate_durable(wanted_.size());
    }
    Result<void> reopen(End how) { return session_.reopen(how); }

    /// The device holds what was appended, no more and no less.
    Result<void> holds() {
        PROMTACT_TRY_ASSIGN(const Bytes got, device().durable_bytes());
        return compare(got);
    }
    [[nodiscard]] Result<void> compare(const Bytes& got) const {
        if (got == wanted_) return {};
        std::size_t at = 0;
        while (at < got.size() && at < wanted_.size() && got[at] == wanted_[at])
            ++at;
        return Error{
            Errc::corrupt, 0,
            "it holds " + std::to_string(got.size()) + " bytes instead of " +
                std::to_string(wanted_.size()) + ", different from byte " + std::to_string(at) +
                " on"};
    }

  private:
    Ten(DeviceGround ground, Session<wal::Device> session)
        : ground_(std::move(ground)), session_(std::move(session)) {}
    DeviceGround ground_;
    Session<wal::Device> session_;
    Bytes wanted_{};
    std::uint64_t pieces_ = 0;
};

Finding fresh_is_empty(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding append_and_sync_are_durable(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(7));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.holds());
    PROMTACT_TRY(ten.reopen(End::crashed));
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding appends_concatenate(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    for (const std::size_t units : {3U, 1U, 4U})
        PROMTACT_TRY(ten.append(units));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding sync_is_idempotent(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.device().sync()); // of nothing
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.append(5));
    for (int i = 0; i < 3; ++i)
        PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding empty_append_is_harmless(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(4));
    PROMTACT_TRY(ten.device().append({}));
    PROMTACT_TRY(ten.append(1));
    PROMTACT_TRY(ten.device().append({}));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding returned_bytes_are_a_copy(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY_ASSIGN(Bytes first, ten.device().durable_bytes());
    PROMTACT_TRY(ten.compare(first));
    const Bytes before = first;
    first.assign(first.size(), std::byte{0xee});
    PROMTACT_TRY(ten.holds());
    first = before;
    PROMTACT_TRY(ten.append(1));
    PROMTACT_TRY(ten.device().sync());
    if (first != before) return Finding::failed("a later append changed what was handed out");
    return {};
}

Finding truncate_shortens(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(3));
    PROMTACT_TRY(ten.append(3));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.truncate(4));
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding append_continues(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(3));
    PROMTACT_TRY(ten.append(3));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.truncate(2));
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.append(1));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding truncate_to_zero_empties(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(3));
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.device().sync());
    PROMTACT_TRY(ten.truncate(0));
    PROMTACT_TRY(ten.holds());
    return {};
}

Finding truncate_out_of_range(const DeviceGroundFactory& factory) {
    PROMTACT_TRY_ASSIGN(Ten ten, Ten::open(factory));
    PROMTACT_TRY(ten.append(2));
    PROMTACT_TRY(ten.append(1));
    PROMTACT_TRY(ten.device().sync());
    const std::uint64_t size = ten.wanted().size();
    for (const std::uint64_t bytes : {size + 1, size + ten.unit(), ~std::uint64_t{0}}) {
        const Result<void> cut = ten.device().truncate_durable(bytes);
        const std::string what = "cutting " + std::to_string(size) + " bytes to " +
                                 std::to_string(bytes) + " was answered ";
        if (cut) return Finding::failed(what + "with success");
        if (cut.error().code != Errc::out_of_range)
            return Finding::failed(what + describe(cut.error()) + ", not out_of_range");
    }
    PROMTACT_TRY(ten.holds());
    return {};
}

} // namespace

void add_device_properties(std::vector<Property>& out, const DeviceGroundFactory& factory) {
    const auto add = [&](std::string_view name, std::string_view claim,
                         Finding (*property)(const DeviceGroundFactory&)) {
        out.push_back({name, claim, [factory, property] { return property(factory); }});
    };
    add("FreshDeviceIsEmpty", "a fresh device is empty", fresh_is_empty);
    add("AppendAndSyncAreDurable", "what was appended and then synced is there after a crash",
        append_and_sync_are_durable);
    add("AppendsConcatenateInOrder", "appends stand one behind the other in their order",
        appends_concatenate);
    add("SyncIsIdempotent", "a sync with nothing to do changes nothing", sync_is_idempotent);
    add("EmptyAppendIsHarmless", "appending no bytes changes nothing", empty_append_is_harmless);
    add("ReturnedBytesAreACopy", "what is read is the caller's own copy",
        returned_bytes_are_a_copy);
    add("TruncateShortens", "cutting leaves exactly the bytes in front", truncate_shortens);
    add("AppendContinuesAtTheTruncatedEnd", "appends go on at the cut, without a hole",
        append_continues);
    add("TruncateToZeroEmpties", "cutting to zero empties the device", truncate_to_zero_empties);
    add("TruncateOutOfRangeIsRefusedAndChangesNothing",
        "cutting behind the end is out_of_range and changes nothing", truncate_out_of_range);
}

} // namespace promtact::wal_testing

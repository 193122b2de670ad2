// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <optional>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/netns/shaper.hpp>

#include "message_internal.hpp"

namespace promtact::netns {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds delay_max = std::chrono::minutes{1};
constexpr std::uint32_t ppm_max = 1'000'000;
// A tick of the packet scheduler is 64 ns (PSCHED_SHIFT 6 in the kernel). Kernels since 4.15 take
// the nanoseconds of TCA_NETEM_LATENCY64 instead.
constexpr std::int64_t tick_ns = 64;
// Some handle of ours, "504d:"; the kernel would choose one otherwise.
constexpr std::uint32_t handle = link_group << 16;

/// netem counts probabilities in 2^-32.
constexpr std::uint32_t to_netem(std::uint32_t ppm) {
    return static_cast<std::uint32_t>(std::uint64_t{ppm} * 0xffffffffU / ppm_max);
}
constexpr std::uint32_t from_netem(std::uint32_t scaled) {
    return static_cast<std::uint32_t>(
        (std::uint64_t{scaled} * ppm_max + 0xffffffffU - 1) / 0xffffffffU);
}
static_assert(from_netem(to_netem(0)) == 0);
static_assert(from_netem(to_netem(1)) == 1);
static_assert(from_netem(to_netem(123'457)) == 123'457);
static_assert(from_netem(to_netem(999'999)) == 999'999);
static_assert(to_netem(ppm_max) == 0xffffffffU);

tcmsg root_of(const Link& link) {
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = static_cast<int>(link.index());
    header.tcm_parent = TC_H_ROOT;
    return header;
}

std::string attempt(const char* what, const Link& link) {
    return std::string{what} + " " + link.name().c_str();
}

Message install_message(const Link& link, const Shape& shape) {
    tcmsg header = root_of(link);
    header.tcm_handle = handle;
    Message message{RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, header};
    message.put_text(TCA_KIND, "netem");
    message.nest(TCA_OPTIONS, [&] {
        tc_netem_qopt options{};
        options.latency = static_cast<std::uint32_t>(shape.delay.count() / tick_ns);
        options.jitter = static_cast<std::uint32_t>(shape.jitter.count() / tick_ns);
        options.limit = shape.limit_packets;
        options.loss = to_netem(shape.loss_ppm);
        message.append(options);
        message.put_s64(TCA_NETEM_LATENCY64, shape.delay.count());
        message.put_s64(TCA_NETEM_JITTER64, shape.jitter.count());
    });
    return message;
}

std::int64_t nanoseconds_at(const nlattr* attribute, std::uint32_t ticks) {
    std::int64_t value = std::int64_t{ticks} * tick_ns;
    if (attribute != nullptr && nla_len(attribute) == sizeof value)
        std::memcpy(&value, nla_data(attribute), sizeof value);
    return value;
}

std::optional<Shape> parse_netem(const nlattr& options) {
    tc_netem_qopt fixed{};
    if (nla_len(&options) < static_cast<int>(sizeof fixed)) return std::nullopt;
    std::memcpy(&fixed, nla_data(&options), sizeof fixed);
    const int header_size = NLMSG_ALIGN(sizeof fixed);
    auto* first = reinterpret_cast<nlattr*>(static_cast<char*>(nla_data(&options)) + header_size);
    const int rest = nla_len(&options) - header_size;
    Shape shape;
    shape.delay =
        nanoseconds{nanoseconds_at(nla_find(first, rest, TCA_NETEM_LATENCY64), fixed.latency)};
    shape.jitter =
        nanoseconds{nanoseconds_at(nla_find(first, rest, TCA_NETEM_JITTER64), fixed.jitter)};
    shape.loss_ppm = from_netem(fixed.loss);
    shape.limit_packets = fixed.limit;
    return shape;
}

/// The kernel's dump keeps a delay in ticks when it is too old for nanoseconds.
bool same_delay(nanoseconds wanted, nanoseconds found) {
    return wanted - found < nanoseconds{tick_ns} && found <= wanted;
}

} // namespace

Result<void> check(const Shape& shape) {
    const auto wrong = [](const char* text) { return Error{Errc::invalid_argument, 0, text}; };
    if (shape.delay < nanoseconds{0} || shape.delay > delay_max)
        return wrong("delay of the link must lie between 0 and 1 minute");
    if (shape.jitter < nanoseconds{0} || shape.jitter > shape.delay)
        return wrong("jitter of the link must lie between 0 and its delay");
    if (shape.loss_ppm > ppm_max)
        return wrong("loss of the link must lie between 0 and 1000000 ppm");
    if (shape.limit_packets == 0) return wrong("queue limit of the link must be at least 1 packet");
    return {};
}

Result<Shape> Shaper::read_back(Link& link) {
    Message message{RTM_GETQDISC, 0, root_of(link)};
    std::optional<Shape> found;
    PROMTACT_TRY(
        link.socket_.dump(message.get(), attempt("read qdisc of", link), [&](nlmsghdr& header) {
            const Attributes<TCA_MAX, tcmsg> attributes{header};
            if (!attributes.valid() || attributes.header().tcm_parent != TC_H_ROOT) return;
            if (attributes.header().tcm_ifindex != static_cast<int>(link.index())) return;
            const nlattr* options = attributes.at(TCA_OPTIONS);
            if (attributes.text(TCA_KIND) == "netem" && options != nullptr)
                found = parse_netem(*options);
        }));
    if (!found) return Error{Errc::not_found, 0, attempt("no netem qdisc on", link)};
    return *found;
}

Result<Shaper> Shaper::install(Link& link, const Shape& shape) {
    PROMTACT_TRY(check(shape));
    Message message = install_message(link, shape);
    Result<void> made = link.socket_.request(message.get(), attempt("install netem on", link));
    if (!made) {
        const int sys_errno = made.error().sys_errno;
        // An unknown qdisc kind is ENOENT, also when its module cannot be loaded.
        if (sys_errno == ENOENT || sys_errno == EOPNOTSUPP) {
            return Error{
                Errc::unsupported, sys_errno,
                "delay a link: the kernel lacks netem (CONFIG_NET_SCH_NETEM)"};
        }
        return std::move(made).error();
    }
    Shaper shaper{link};
    kill_point();
    PROMTACT_TRY_ASSIGN(const Shape found, read_back(link));
    const bool equal = same_delay(shape.delay, found.delay) &&
                       same_delay(shape.jitter, found.jitter) && found.loss_ppm == shape.loss_ppm &&
                       found.limit_packets == shape.limit_packets;
    if (!equal) {
        return Error{
            Errc::corrupt, 0, attempt("the kernel kept another shape than asked on", link)};
    }
    return shaper;
}

Result<void> Shaper::probe(Link& link) {
    PROMTACT_TRY_ASSIGN(Shaper shaper, install(link, Shape{}));
    return shaper.remove();
}

Shaper::~Shaper() {
    // A qdisc that cannot be removed goes with its link.
    static_cast<void>(remove().has_value());
}

Result<void> Shaper::remove() {
    Link* link = std::exchange(link_, nullptr);
    if (link == nullptr) return {};
    tcmsg header = root_of(*link);
    header.tcm_handle = handle;
    Message message{RTM_DELQDISC, 0, header};
    Result<void> removed =
        link->socket_.request(message.get(), attempt("remove netem from", *link));
    if (!removed && removed.error().code == Errc::not_found) return {};
    return removed;
}

} // namespace promtact::netns

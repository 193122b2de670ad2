// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Network abilities, found by using them between two namespaces that end with this function.
#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/netns/link.hpp>
#include <promtact/netns/namespace.hpp>
#include <promtact/netns/shaper.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

struct Ability {
    std::string_view name{};
    std::string_view option{};
};
constexpr Ability veth{"veth", "CONFIG_VETH"};
constexpr Ability netem{"netem", "CONFIG_NET_SCH_NETEM"};

/// The kernel was not asked; its configuration may still say what root would hear.
void add_untried(Section& section, const Ability& ability, std::string_view why) {
    const std::string configured = gates::kconfig_value(ability.option);
    const std::string reason =
        fmt::format("not tried, {}; {} is {}", why, ability.option, configured);
    if (configured == "not set")
        return section.no(ability.name, reason, fmt::format("a kernel with {}", ability.option));
    section.unknown(ability.name, reason, "run as root");
}

void add_refused(Section& section, std::string_view name, const Error& error) {
    const std::string_view remedy =
        error.code == Errc::denied        ? "run as root, for example with sudo"
        : error.code == Errc::unsupported ? "a kernel with the option named, or its module loaded"
                                          : "";
    section.no(name, describe(error), remedy);
}

Result<netns::VethPair> make_pair(const netns::Namespace& left, const netns::Namespace& right) {
    static constexpr auto left_name = netns::InterfaceName::literal("promtact-probe0");
    static constexpr auto right_name = netns::InterfaceName::literal("promtact-probe1");
    return netns::VethPair::create(
        {.where = left, .name = left_name, .mac = netns::fixed_mac(1)},
        {.where = right, .name = right_name, .mac = netns::fixed_mac(2)});
}

} // namespace

void add_network(Report& report) {
    Section section(report, "network");
    const auto left = netns::Namespace::create();
    if (!left) {
        add_refused(section, "namespace", left.error());
        add_untried(section, veth, "there is no namespace of ours");
        add_untried(section, netem, "there is no namespace of ours");
        return;
    }
    const auto right = netns::Namespace::create();
    if (!right) return add_refused(section, "namespace", right.error());
    section.yes("namespace", "made, and gone when this probe ends");
    auto pair = make_pair(*left, *right);
    if (!pair) {
        add_refused(section, "veth", pair.error());
        return add_untried(section, netem, "there is no link of ours");
    }
    section.yes("veth", "a pair between two namespaces of ours");
    const Result<void> shaped = netns::Shaper::probe(pair->left());
    if (shaped) {
        section.yes("netem", "installed and removed");
    } else {
        add_refused(section, "netem", shaped.error());
    }
}

} // namespace promtact::harness::probe

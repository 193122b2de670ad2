// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a result says about the machine it came from. Never a machine id, serial number, address or
// host name: a host is known by the slug its operator chose. "unknown" is a legal answer; a guess
// is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/result.hpp>

namespace promtact::gates {

inline constexpr std::string_view host_schema = "promtact.host/1";

/// A name with its value or version, for Kconfig options, libraries and tools.
struct NamedFact {
    std::string name{};
    std::string value{};
    friend bool operator==(const NamedFact&, const NamedFact&) = default;
};

struct KernelFacts {
    std::string release{};
    std::string version{};
    std::string machine{};
    std::string preemption{}; // PREEMPT_DYNAMIC, PREEMPT, PREEMPT_VOLUNTARY, PREEMPT_NONE, unknown
    std::string clocksource{};
    std::optional<std::uint64_t> tick_hz{}; // CONFIG_HZ
    std::vector<NamedFact> kconfig{};       // y, m, a value, "not set" or "unknown"
};

struct MachineFacts {
    std::string distribution{}; // "debian 12"
    std::string cpu_model{};
    std::string cpu_vendor{};
    std::uint64_t cpus = 0; // that this process may run on
    std::string cpu_governor{};
    std::uint64_t memory_bytes = 0;
    std::string hypervisor{}; // "none", "kvm", … or "unknown vendor"
    std::string container{};  // "none", "docker", …
    std::vector<std::string> network_drivers{};
};

/// The filesystem and block device under the directory that storage gates write to.
struct StorageFacts {
    std::string filesystem{};
    std::string mount_options{};
    std::string journal{}; // yes, no, unknown
    std::string device{};  // whole disk, "vda"; "none" for memory filesystems
    std::string model{};
    std::string scheduler{};
    std::string write_cache{}; // "write back", "write through", unknown
    std::optional<std::uint64_t> rotational{};
    std::optional<std::uint64_t> fua{};
    std::optional<std::uint64_t> size_bytes{};
    std::optional<std::uint64_t> logical_block_bytes{};
    std::optional<std::uint64_t> physical_block_bytes{};
    std::optional<std::uint64_t> atomic_write_max_bytes{};
};

/// What this process was allowed when the campaign ran.
struct LimitFacts {
    std::string io_uring_disabled{};              // value of the sysctl
    std::optional<std::uint64_t> memlock_bytes{}; // soft limit; null when unlimited
    std::vector<std::string> capabilities{};      // effective
    std::string seccomp{};                        // none, strict, filter
    std::string security_modules{};               // /sys/kernel/security/lsm
    std::string lockdown{};
    std::uint64_t effective_root = 0; // 1 when the effective user id is 0
};

struct HostFacts {
    std::string name{}; // the slug
    KernelFacts kernel{};
    MachineFacts machine{};
    StorageFacts storage{};
    LimitFacts limits{};
    std::vector<NamedFact> libraries{};
    std::vector<NamedFact> tools{};
};

/// Collects everything; what cannot be read becomes "unknown". directory: where storage gates will
/// write; need not exist yet (its nearest existing parent is described).
HostFacts collect_host_facts(std::string_view name, const std::filesystem::path& directory);

/// The storage part alone, for one directory. Errors: none; unknown where it cannot see.
StorageFacts collect_storage_facts(const std::filesystem::path& directory);

/// A host name: 1..63 of a-z, 0-9 and inner single hyphens. Errors: invalid_argument, saying what
/// is allowed.
Result<void> check_host_name(std::string_view name);
/// A slug for hosts whose operator chose none, from virtualisation and processor:
/// "vm-amd-epyc-2cpu".
std::string default_host_name(const MachineFacts& machine);

/// Kernel configuration of the running kernel: "y", "m", a value, "not set", or "unknown" when
/// neither /proc/config.gz nor /boot/config-<release> can be read.
std::string kconfig_value(std::string_view option);

/// Names of the capabilities in the process's effective set, sorted by number.
std::vector<std::string> effective_capabilities();

/// The text of host.json. Byte-stable: equal facts give equal text.
std::string to_json(const HostFacts& facts);
/// Strict. Errors: format.
Result<HostFacts> host_facts_from_json(std::string_view text, std::string_view source);

} // namespace promtact::gates

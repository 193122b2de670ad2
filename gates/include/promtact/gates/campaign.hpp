// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One campaign on disk: <hosts>/<host>/<UTC>-<commit>/ with host.json, a file per result and
// SHA256SUMS. It appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/sha256.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/gates/record.hpp>
#include <promtact/gates/temp_directory.hpp>

namespace promtact::gates {

/// Writes a campaign into a hidden temporary directory that finish() renames into place.
class CampaignWriter {
  public:
    /// hosts: the folder that holds one folder per host, usually results/hosts; made when only it
    /// is missing. Removes what dead runs left in the host's folder.
    /// Errors: invalid_argument for a host name; not_found, denied, no_space, … naming the path.
    static Result<CampaignWriter> open(const std::filesystem::path& hosts, std::string_view host);

    CampaignWriter(CampaignWriter&&) noexcept = default;
    CampaignWriter& operator=(CampaignWriter&&) noexcept = delete;
    CampaignWriter(const CampaignWriter&) = delete;
    CampaignWriter& operator=(const CampaignWriter&) = delete;
    /// Without finish() nothing stays behind, not even a host folder that open() made.
    ~CampaignWriter();

    /// First of all. Requires: facts.name is the host given to open()
    Result<void> write_host(const HostFacts& facts);
    /// Adds one result as <id>.json and sets its host reference. Requires: write_host() succeeded
    /// Durable: the file, yes; the campaign only after finish()
    Result<void> add(GateRecord& record);
    /// SHA256SUMS, then the rename. started: when the campaign began; commit: 40 hex or "unknown".
    /// Returns the campaign's directory. Durable: yes.
    Result<std::filesystem::path> finish(std::int64_t started, std::string_view commit);

    /// A folder inside the hidden directory for files that gates write; gone after finish().
    Result<std::filesystem::path> work_directory();
    /// For a child process; see TempDirectory.
    void disown() noexcept { directory_.disown(); }

  private:
    /// Folders that open() made and that go again unless finish() fills them.
    struct Made {
        bool hosts = false;
        bool host = false;
    };
    CampaignWriter(std::filesystem::path hosts, std::string host, Made made, TempDirectory dir)
        : hosts_(std::move(hosts)), host_(std::move(host)), made_(made),
          directory_(std::move(dir)) {}
    static void unmake(const std::filesystem::path& hosts, std::string_view host, Made made);
    Result<void> write(const std::string& name, std::string_view text);

    std::filesystem::path hosts_;
    std::string host_;
    Made made_;
    TempDirectory directory_;
    std::string host_reference_{};
    std::string sums_{};
};

/// A campaign read back, in the order in which its results were written.
struct Campaign {
    std::string host{};
    std::string name{}; // "20261129T204820Z-0123456789ab"
    HostFacts facts{};
    std::vector<GateRecord> records{};
};

/// Reads and checks everything: names, checksums, schemas, host references, no file too many.
/// Errors: one Error whose context holds one line per problem.
Result<Campaign> load_campaign(const std::filesystem::path& directory);

/// True for "20261129T204820Z-0123456789ab" and "20261129T204820Z-unknown".
bool is_campaign_name(std::string_view name);

/// The folder name of a campaign.
/// Where a campaign lies below the hosts folder: <host>/<campaign>.
struct CampaignName {
    std::string host{};
    std::string campaign{};
    friend bool operator==(const CampaignName&, const CampaignName&) = default;
    friend auto operator<=>(const CampaignName&, const CampaignName&) = default;
};
/// What lies in the hosts folder, sorted by host and time. Empty when there is no such folder.
std::vector<CampaignName> list_campaigns(const std::filesystem::path& hosts);

/// reap_stale() for every host's folder; a host folder left empty goes too.
Result<std::vector<std::filesystem::path>> reap_campaigns(const std::filesystem::path& hosts);

} // namespace promtact::gates

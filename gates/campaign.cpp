// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reading campaigns. Everything is checked, since a reader of evidence has nothing else to go by.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include <unistd.h>

#include <promtact/base/clock.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/campaign.hpp>

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr Bytes file_bytes_max{std::uint64_t{16} << 20};

struct Sum {
    std::string digest{};
    std::string name{};
};

class Problems {
  public:
    void add(const std::string& line) { text_ += (text_.empty() ? "" : "\n") + line; }
    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] Error error() const { return Error{Errc::format, 0, text_}; }

  private:
    std::string text_{};
};

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-/") ==
               std::string_view::npos &&
           name.find("..") == std::string_view::npos && name.front() != '/';
}

// "<64 hex>  <name>" per line, as sha256sum(1) writes and checks it.
std::vector<Sum> read_sums(const fs::path& path, Problems& problems) {
    std::vector<Sum> sums;
    const Result<std::string> text = read_text_file(path, file_bytes_max);
    if (!text) {
        problems.add(describe(text.error()));
        return sums;
    }
    std::istringstream lines(*text);
    std::set<std::string> seen;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string place = path.string() + ":" + std::to_string(++number) + ": ";
        if (line.size() < 67 || line.compare(64, 2, "  ") != 0 ||
            !parse_sha256(std::string_view(line).substr(0, 64))) {
            problems.add(place + "must be 64 hexadecimal digits, two spaces and a file name");
            continue;
        }
        Sum sum{line.substr(0, 64), line.substr(66)};
        if (!is_plain_name(sum.name) || !seen.insert(sum.name).second) {
            problems.add(place + "file name is not allowed or appears twice");
        } else {
            sums.push_back(std::move(sum));
        }
    }
    return sums;
}

std::map<std::string, std::string>
read_files(const fs::path& directory, const std::vector<Sum>& sums, Problems& problems) {
    std::map<std::string, std::string> texts;
    for (const Sum& sum : sums) {
        Result<std::string> text = read_text_file(directory / sum.name, file_bytes_max);
        if (!text) {
            problems.add(describe(text.error()));
            continue;
        }
        if (to_hex(sha256(*text)) != sum.digest) {
            problems.add(
                (directory / sum.name).string() + ": checksum differs from the one in SHA256SUMS");
        } else {
            texts[sum.name] = std::move(*text);
        }
    }
    return texts;
}

void find_strangers(
    const fs::path& campaign, const fs::path& inside, const std::vector<Sum>& sums,
    Problems& problems) {
    const auto names = list_directory(campaign / inside);
    if (!names) return problems.add(describe(names.error()));
    for (const std::string& file : *names) {
        const fs::path name = inside / file;
        std::error_code ignored;
        if (fs::is_symlink(fs::symlink_status(campaign / name, ignored)) ||
            file_kind(campaign / name) != FileKind::directory) {
            const bool listed = std::any_of(sums.begin(), sums.end(), [&](const Sum& sum) {
                return sum.name == name.string();
            });
            if (!listed && name != "SHA256SUMS")
                problems.add((campaign / name).string() + ": is not listed in SHA256SUMS");
        } else {
            find_strangers(campaign, name, sums, problems);
        }
    }
}

void read_record(
    const std::string& text, const std::string& place, const std::string& stem,
    const std::string& host_reference, Campaign& campaign, Problems& problems) {
    Result<GateRecord> record = gate_record_from_json(text, place);
    if (!record) return problems.add(record.error().context);
    if (record->id != stem) problems.add(place + ": holds the result of " + record->id);
    if (record->host != host_reference)
        problems.add(place + ": was taken on another host than its host.json describes");
    campaign.records.push_back(std::move(*record));
}

/// Folders that may hold campaigns; none when that cannot be told.
std::vector<std::string> host_folders(const fs::path& hosts) {
    auto names = list_directory(hosts);
    if (!names) return {};
    std::erase_if(*names, [&](const std::string& name) {
        return !check_host_name(name) || file_kind(hosts / name) != FileKind::directory;
    });
    return std::move(*names);
}

} // namespace

bool is_campaign_name(std::string_view name) {
    const auto dash = name.find('-');
    if (dash == std::string_view::npos) return false;
    const std::string_view stamp = name.substr(0, dash);
    const std::string_view commit = name.substr(dash + 1);
    const Result<std::int64_t> time = parse_utc(stamp);
    if (!time || format_utc_compact(*time) != stamp) return false;
    return commit == "unknown" ||
           (commit.size() == 12 &&
            commit.find_first_not_of("0123456789abcdef") == std::string_view::npos);
}

Result<Campaign> load_campaign(const fs::path& directory) {
    Problems problems;
    Campaign campaign;
    const fs::path plain = fs::absolute(directory).lexically_normal();
    const fs::path folder = plain.has_filename() ? plain : plain.parent_path();
    campaign.name = folder.filename();
    campaign.host = folder.parent_path().filename();
    if (!is_campaign_name(campaign.name))
        problems.add(directory.string() + ": is not named <UTC>-<commit>");
    const std::vector<Sum> sums = read_sums(directory / "SHA256SUMS", problems);
    if (!problems.empty()) return problems.error();
    const std::map<std::string, std::string> texts = read_files(directory, sums, problems);
    find_strangers(directory, "", sums, problems);
    const auto host = texts.find("host.json");
    if (host == texts.end()) {
        problems.add(directory.string() + ": has no intact host.json");
        return problems.error();
    }
    Result<HostFacts> facts =
        host_facts_from_json(host->second, (directory / "host.json").string());
    if (!facts) problems.add(facts.error().context);
    if (facts) campaign.facts = std::move(*facts);
    if (facts && campaign.facts.name != campaign.host)
        problems.add(directory.string() + ": host.json names " + campaign.facts.name);
    const std::string reference = "host.json#sha256:" + to_hex(sha256(host->second));
    for (const Sum& sum : sums) {
        const auto text = texts.find(sum.name);
        const bool is_result = sum.name != "host.json" && sum.name.ends_with(".json") &&
                               sum.name.find('/') == std::string::npos;
        if (text == texts.end() || !is_result) continue;
        read_record(
            text->second, (directory / sum.name).string(), fs::path(sum.name).stem(), reference,
            campaign, problems);
    }
    if (!problems.empty()) return problems.error();
    return campaign;
}

std::vector<CampaignName> list_campaigns(const fs::path& hosts) {
    std::vector<CampaignName> names;
    for (const std::string& host : host_folders(hosts)) {
        const auto campaigns = list_directory(hosts / host);
        if (!campaigns) continue;
        for (const std::string& campaign : *campaigns)
            if (is_campaign_name(campaign)) names.push_back({host, campaign});
    }
    return names;
}

Result<std::vector<fs::path>> reap_campaigns(const fs::path& hosts) {
    std::vector<fs::path> removed;
    for (const std::string& host : host_folders(hosts)) {
        PROMTACT_TRY_ASSIGN(const std::vector<fs::path> here, reap_stale(hosts / host));
        removed.insert(removed.end(), here.begin(), here.end());
        // Fails, as it should, when anything else is inside.
        if (!here.empty()) static_cast<void>(::rmdir((hosts / host).c_str()));
    }
    return removed;
}

} // namespace promtact::gates

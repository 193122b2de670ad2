// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <optional>
#include <system_error>

#include <sys/utsname.h>

#include <promtact/base/env.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/qualification.hpp>

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_folder = "results/hosts";

struct Found {
    fs::path campaign{};
    std::string name{}; // of the campaign: sorts by time
    GateRecord record{};
};

// Remembers the newest of its kind.
void keep_newest(std::optional<Found>& kept, Found found) {
    if (!kept.has_value() || kept->name <= found.name) kept = std::move(found);
}

// What was found, by the first thing that does not fit.
struct Candidates {
    std::optional<Found> fitting{};
    std::optional<Found> old_revision{};
    std::optional<Found> other_device{};
    std::optional<Found> other_kernel{};
    std::string kernel_seen{};
    std::string device_seen{};
    std::size_t broken = 0;

    void consider(const QualificationQuestion& question, const Campaign& campaign, Found found) {
        const KernelFacts& kernel = campaign.facts.kernel;
        const bool same_kernel =
            kernel.release == question.kernel &&
            (question.kernel_version.empty() || kernel.version == question.kernel_version);
        const bool same_device =
            question.device.empty() || campaign.facts.storage.device == question.device;
        if (!same_kernel) {
            kernel_seen = kernel.release + " " + kernel.version;
            return keep_newest(other_kernel, std::move(found));
        }
        if (!same_device) {
            device_seen = campaign.facts.storage.device;
            return keep_newest(other_device, std::move(found));
        }
        if (found.record.revision < question.revision)
            return keep_newest(old_revision, std::move(found));
        keep_newest(fitting, std::move(found));
    }
};

Candidates search(const QualificationQuestion& question, std::span<const fs::path> folders) {
    Candidates candidates;
    for (const fs::path& folder : folders) {
        for (const CampaignName& name : list_campaigns(folder)) {
            const fs::path place = folder / name.host / name.campaign;
            std::error_code error;
            if (!fs::exists(place / (question.gate + ".json"), error)) continue;
            const Result<Campaign> campaign = load_campaign(place);
            if (!campaign) {
                ++candidates.broken;
                continue;
            }
            for (const GateRecord& record : campaign->records) {
                if (record.id == question.gate && record.kind == RecordKind::gate)
                    candidates.consider(question, *campaign, {place, name.campaign, record});
            }
        }
    }
    return candidates;
}

std::string joined(std::span<const fs::path> folders) {
    std::string text;
    for (const fs::path& folder : folders)
        text += (text.empty() ? "" : ", ") + folder.string();
    return text;
}

Qualification judge(const QualificationQuestion& question, const Found& found) {
    const GateRecord& record = found.record;
    Qualification answer;
    answer.campaign = found.campaign;
    answer.qualified = record.verdict == Verdict::pass;
    answer.reason = question.gate + " ended in " + std::string(to_string(record.verdict)) + " in " +
                    found.campaign.string();
    if (!record.reason.empty()) answer.reason += ": " + record.reason;
    if (record.run.dirty) answer.reason += " (by a build that is no commit)";
    return answer;
}

} // namespace

QualificationQuestion
qualification_question(std::string_view gate, std::uint64_t revision, const fs::path& directory) {
    QualificationQuestion question;
    question.gate = gate;
    question.revision = revision;
    struct utsname name {};
    if (::uname(&name) == 0) {
        question.kernel = name.release;
        question.kernel_version = name.version;
    }
    if (!directory.empty()) question.device = collect_storage_facts(directory).device;
    return question;
}

Qualification qualify(const QualificationQuestion& question, std::span<const fs::path> folders) {
    const Candidates found = search(question, folders);
    const std::string& gate = question.gate;
    if (found.fitting.has_value()) return judge(question, *found.fitting);
    Qualification answer;
    if (found.old_revision.has_value()) {
        answer.reason = gate + " was answered at revision " +
                        std::to_string(found.old_revision->record.revision) + ", revision " +
                        std::to_string(question.revision) + " is needed";
    } else if (found.other_device.has_value()) {
        answer.reason = gate + " was answered for device " + found.device_seen +
                        ", the data is on " + question.device;
    } else if (found.other_kernel.has_value()) {
        answer.reason = gate + " was answered under kernel " + found.kernel_seen + ", this is " +
                        question.kernel + " " + question.kernel_version;
    } else {
        answer.reason = "there is no result of " + gate + " in " + joined(folders);
    }
    if (found.broken > 0)
        answer.reason += "; " + std::to_string(found.broken) + " broken campaigns were ignored";
    answer.reason += ": run promtact gates run " + gate;
    return answer;
}

std::vector<fs::path> result_folders(std::string_view named) {
    std::string text(named);
    if (text.empty()) text = environment_value("PROMTACT_RESULTS").value_or("");
    if (text.empty()) text = default_folder;
    std::vector<fs::path> folders;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(':', at), text.size());
        const fs::path folder = text.substr(at, end - at);
        std::error_code error;
        if (end > at) {
            folders.push_back(
                fs::is_directory(folder / "hosts", error) ? folder / "hosts" : folder);
        }
        at = end + 1;
    }
    return folders;
}

} // namespace promtact::gates

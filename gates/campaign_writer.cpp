// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/gates/campaign.hpp>

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr int names_max = 60;
constexpr const char* work_name = "work";

// Makes one folder, not its parents: a mistyped path must not grow a tree.
Result<bool> make_folder(const fs::path& path) {
    if (::mkdir(path.c_str(), 0777) == 0) {
        kill_point();
        return true;
    }
    const int reason = errno;
    std::error_code error;
    if (reason == EEXIST && fs::is_directory(path, error)) return false;
    if (reason == EEXIST)
        return Error{Errc::invalid_argument, 0, path.string() + " is not a directory"};
    return Error::from_errno(reason, "create " + path.string());
}

} // namespace

void CampaignWriter::unmake(const fs::path& hosts, std::string_view host, Made made) {
    // rmdir refuses by itself when somebody else put something there meanwhile.
    if (made.host) static_cast<void>(::rmdir((hosts / host).c_str()));
    if (made.hosts) static_cast<void>(::rmdir(hosts.c_str()));
}

Result<CampaignWriter> CampaignWriter::open(const fs::path& hosts, std::string_view host) {
    PROMTACT_TRY(check_host_name(host));
    Made made;
    PROMTACT_TRY_ASSIGN(made.hosts, make_folder(hosts));
    const fs::path folder = hosts / host;
    const auto prepare = [&]() -> Result<TempDirectory> {
        PROMTACT_TRY_ASSIGN(made.host, make_folder(folder));
        PROMTACT_TRY_ASSIGN(const std::vector<fs::path> reaped, reap_stale(folder));
        static_cast<void>(reaped);
        return TempDirectory::create(folder);
    };
    Result<TempDirectory> directory = prepare();
    if (!directory) {
        unmake(hosts, host, made);
        return std::move(directory).error();
    }
    return CampaignWriter(hosts, std::string(host), made, std::move(*directory));
}

CampaignWriter::~CampaignWriter() {
    if (directory_.path().empty()) return; // moved from
    { const TempDirectory gone = std::move(directory_); }
    unmake(hosts_, host_, made_);
}

Result<void> CampaignWriter::write(const std::string& name, std::string_view text) {
    PROMTACT_TRY(write_file_atomic(directory_.path() / name, text));
    sums_ += to_hex(sha256(text)) + "  " + name + "\n";
    kill_point();
    return {};
}

Result<void> CampaignWriter::write_host(const HostFacts& facts) {
    PROMTACT_ASSERT(facts.name == host_);
    PROMTACT_ASSERT(host_reference_.empty());
    const std::string text = to_json(facts);
    PROMTACT_TRY_ASSIGN(const HostFacts back, host_facts_from_json(text, "host.json"));
    PROMTACT_ASSERT(to_json(back) == text);
    PROMTACT_TRY(write("host.json", text));
    host_reference_ = "host.json#sha256:" + to_hex(sha256(text));
    return {};
}

Result<void> CampaignWriter::add(GateRecord& record) {
    PROMTACT_ASSERT(!host_reference_.empty());
    record.host = host_reference_;
    PROMTACT_TRY_ASSIGN(const std::string text, to_json(record));
    return write(record.id + ".json", text);
}

Result<fs::path> CampaignWriter::work_directory() {
    const fs::path work = directory_.path() / work_name;
    PROMTACT_TRY(make_folder(work));
    return work;
}

Result<fs::path> CampaignWriter::finish(std::int64_t started, std::string_view commit) {
    PROMTACT_ASSERT(!host_reference_.empty());
    std::error_code error;
    fs::remove_all(directory_.path() / work_name, error);
    if (error) return Error::from_errno(error.value(), "remove " + std::string(work_name));
    PROMTACT_TRY(write_file_atomic(directory_.path() / "SHA256SUMS", std::string_view(sums_)));
    kill_point();
    PROMTACT_TRY(sync_directory(directory_.path()));
    const fs::path folder = hosts_ / host_;
    // Two campaigns of one commit in one second: the later one takes the next second.
    for (int i = 0; i < names_max; ++i) {
        const fs::path target =
            folder / (format_utc_compact(started + i) + "-" + std::string(commit.substr(0, 12)));
        if (::renameat2(
                AT_FDCWD, directory_.path().c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) !=
            0) {
            if (errno == EEXIST) continue;
            return Error::from_errno(errno, "rename to " + target.string());
        }
        directory_.release();
        made_ = {};
        kill_point();
        PROMTACT_TRY(sync_directory(folder));
        PROMTACT_TRY(sync_directory(hosts_));
        return target;
    }
    return Error{Errc::exists, 0, "too many campaigns of one minute in " + folder.string()};
}

} // namespace promtact::gates

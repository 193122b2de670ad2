// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "git_history.hpp"

#include <array>
#include <cerrno>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/unique_fd.hpp>

namespace promtact::harness {
namespace {

constexpr std::size_t output_bytes_max = std::size_t{16} << 20;

bool is_commit(std::string_view text) {
    return text.size() == 40 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 65536> chunk{};
    while (text.size() < output_bytes_max) {
        const ssize_t got = ::read(fd, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return text;
}

// stdout into the pipe, stderr and stdin nowhere.
class Redirections {
  public:
    explicit Redirections(int out) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
        ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    Redirections(const Redirections&) = delete;
    Redirections& operator=(const Redirections&) = delete;
    ~Redirections() { ::posix_spawn_file_actions_destroy(&actions_); }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

} // namespace

GitHistory::GitHistory(std::filesystem::path root) : root_(std::move(root)) {}

GitHistory::Answer GitHistory::git(std::vector<std::string> arguments) const {
    // Paths are shown as they are, and a hostile configuration may not start programs.
    std::vector<std::string> words{"git",          "-C",
                                   root_.string(), "--no-optional-locks",
                                   "-c",           "core.quotePath=false",
                                   "-c",           "core.fsmonitor=false"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const Redirections redirections(write_end.get());
    pid_t child = 0;
    if (::posix_spawnp(&child, "git", redirections.get(), nullptr, argv.data(), environ) != 0)
        return {};
    write_end.reset();
    Answer answer;
    answer.output = read_all(read_end.get());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
    return answer;
}

bool GitHistory::has_commit(std::string_view commit) {
    if (!is_commit(commit)) return false;
    const auto known = known_.find(commit);
    if (known != known_.end()) return known->second;
    const bool has = git({"cat-file", "-e", std::string(commit) + "^{commit}"}).status == 0;
    known_.emplace(commit, has);
    return has;
}

gates::Ancestry GitHistory::ancestry(std::string_view commit) {
    if (!has_commit(commit)) {
        // In a full clone a missing commit is a stranger; a shallow one cannot know.
        const Answer shallow = git({"rev-parse", "--is-shallow-repository"});
        const bool full = shallow.status == 0 && shallow.output.starts_with("false");
        return full ? gates::Ancestry::stranger : gates::Ancestry::unknown;
    }
    const Answer answer = git({"merge-base", "--is-ancestor", std::string(commit), "HEAD"});
    if (answer.status == 0) return gates::Ancestry::ancestor;
    return answer.status == 1 ? gates::Ancestry::stranger : gates::Ancestry::unknown;
}

std::optional<std::vector<std::string>>
GitHistory::changed_since(std::string_view commit, const std::vector<std::string>& folders) {
    if (!has_commit(commit)) return std::nullopt;
    std::vector<std::string> words{
        "diff", "--name-only", "--no-renames", "--relative", "-z", std::string(commit), "--"};
    words.insert(words.end(), folders.begin(), folders.end());
    const Answer changed = git(words);
    // A new file that is not added yet belongs to the working tree, too.
    std::vector<std::string> more{"ls-files", "--others", "--exclude-standard", "-z", "--"};
    more.insert(more.end(), folders.begin(), folders.end());
    const Answer added = git(more);
    if (changed.status != 0 || added.status != 0) return std::nullopt;
    std::set<std::string> paths;
    std::istringstream stream(changed.output + added.output);
    for (std::string path; std::getline(stream, path, '\0');)
        paths.insert(path);
    return std::vector<std::string>(paths.begin(), paths.end());
}

} // namespace promtact::harness

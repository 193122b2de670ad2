// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A namespace under a name in /run/netns, for people who want to look inside. A name outlives a
// killed process, so every name is claimed first, and only what the claim proves to be ours is ever
// removed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/netns/namespace.hpp>
#include <promtact/netns/safe_name.hpp>

namespace promtact::netns {

/// Where names and claims live. Both may be missing; they are made, and removed when empty.
struct NameDirectories {
    std::filesystem::path names{"/run/netns"};
    std::filesystem::path claims{"/run/promtact/claims"};
};

/// What identifies a claimed name: kept in the claim file, and the marker also in the file that the
/// namespace is mounted over.
struct Claim {
    std::string name{};
    std::string marker{}; // 32 hex digits
    std::string boot_id{};
    NamespaceId id{};
    bool made_directory = false; // the directory of names was missing before
};

/// Owns a namespace with a name, and the claim file that says whose it is.
class NamedNamespace {
  public:
    /// Makes a namespace and gives it a name.
    /// Errors: exists (the name or a claim on it is somebody else's, who is left alone), denied
    /// naming CAP_SYS_ADMIN, unsupported. Nothing remains after an error.
    static Result<NamedNamespace>
    claim(const NamespaceName& name, const NameDirectories& directories = {});

    NamedNamespace(NamedNamespace&& other) noexcept;
    NamedNamespace& operator=(NamedNamespace&&) = delete;
    NamedNamespace(const NamedNamespace&) = delete;
    ~NamedNamespace();

    const Namespace& get() const noexcept { return namespace_; }
    std::filesystem::path path() const { return directories_.names / claim_.name; }

    /// Takes the name away; the namespace itself goes when its last descriptor is closed.
    /// Errors: refused when something else now lies under the name; it is left alone.
    Result<void> release();

  private:
    NamedNamespace(Namespace made, NameDirectories directories, Claim claim)
        : namespace_(std::move(made)), directories_(std::move(directories)),
          claim_(std::move(claim)) {}
    Result<void> write_claim();
    Result<void> take_name();

    Namespace namespace_;
    NameDirectories directories_;
    Claim claim_;
    UniqueFd claim_file_;     // locked as long as we live
    bool owns_claim_ = false; // set only after the step that created it
    bool owns_name_ = false;
};

struct ReapReport {
    std::vector<std::string> removed{}; // names of dead owners
    std::vector<std::string> alive{};   // names whose owner lives
    std::vector<std::string> left{};    // what does not match its claim, with the reason
};

/// Removes the names of owners that died without releasing them. Whatever does not match its claim
/// exactly is left and listed.
Result<ReapReport> reap_dead_owners(const NameDirectories& directories = {});

} // namespace promtact::netns

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include <bpf/libbpf.h>

#include <promtact/base/assert.hpp>
#include <promtact/ebpf/verifier_log.hpp>

namespace promtact::ebpf {
namespace {

constexpr std::size_t kept_bytes = 64 * 1024;
constexpr std::size_t message_bytes_max = 32 * 1024 * 1024; // a verifier log is one message

thread_local VerifierLog* active = nullptr;
libbpf_print_fn_t previous_printer = nullptr;

__attribute__((format(printf, 2, 0))) int
print(libbpf_print_level level, const char* format, va_list arguments) {
    if (active == nullptr)
        return previous_printer == nullptr ? 0 : previous_printer(level, format, arguments);
    if (level == LIBBPF_DEBUG) return 0;
    va_list again;
    va_copy(again, arguments);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (size <= 0) return 0;
    std::string message(std::min(static_cast<std::size_t>(size) + 1, message_bytes_max), '\0');
    static_cast<void>(std::vsnprintf(message.data(), message.size(), format, arguments));
    active->append(message.data(), message.size() - 1);
    return size;
}

/// libbpf has one printer for the whole process; ours hands over what no capture wants.
void install_printer() {
    static std::once_flag once;
    std::call_once(once, [] { previous_printer = libbpf_set_print(&print); });
}

} // namespace

VerifierLog::VerifierLog() : outer_(active) {
    install_printer();
    active = this;
}

VerifierLog::~VerifierLog() {
    PROMTACT_ASSERT(active == this);
    active = outer_;
}

void VerifierLog::append(const char* message, std::size_t size) {
    text_.append(message, size);
    if (text_.size() > kept_bytes) text_.erase(0, text_.size() - kept_bytes);
}

std::string VerifierLog::refusal() const {
    const std::size_t statistics = text_.rfind("\nprocessed ");
    if (statistics == std::string::npos) return {};
    const std::size_t start = text_.rfind('\n', statistics - 1);
    const std::size_t from = start == std::string::npos ? 0 : start + 1;
    return text_.substr(from, statistics - from);
}

} // namespace promtact::ebpf

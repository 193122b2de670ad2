// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The running kernel's configuration, read once.
#include <array>

#include <sys/utsname.h>
#include <zlib.h>

#include <promtact/base/read_file.hpp>
#include <promtact/gates/host_facts.hpp>

#include "host_text_internal.hpp"

namespace promtact::gates {
namespace {

constexpr std::size_t config_bytes_max = std::size_t{4} << 20;

struct CloseGz {
    void operator()(gzFile file) const noexcept { static_cast<void>(gzclose(file)); }
};
using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGz>;

std::string read_gzip(const char* path) {
    const GzFile file(gzopen(path, "rbe"));
    std::string text;
    if (file == nullptr) return text;
    std::array<char, 16384> chunk{};
    while (text.size() < config_bytes_max) {
        const int got = gzread(file.get(), chunk.data(), chunk.size());
        if (got < 0) return {};
        if (got == 0) break;
        text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::string read_config() {
    std::string text = read_gzip("/proc/config.gz");
    if (!text.empty()) return text;
    struct utsname name {};
    if (::uname(&name) != 0) return {};
    return read_fact("/boot/config-" + std::string(name.release)).value_or("");
}

} // namespace

std::string kconfig_value(std::string_view option) {
    static const std::string config = read_config();
    if (config.empty()) return "unknown";
    return line_value(config, option, '=').value_or("not set");
}

} // namespace promtact::gates

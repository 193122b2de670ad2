// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstring>

#include <promtact/base/error_text.hpp>

namespace promtact {

std::string errno_name(int sys_errno) {
    const char* name = ::strerrorname_np(sys_errno);
    if (name == nullptr) return "errno " + std::to_string(sys_errno);
    return name;
}

std::string describe(const Error& error) {
    std::string text = error.context;
    if (!text.empty()) text += ": ";
    text += to_string(error.code);
    if (error.sys_errno != 0) text += " (" + errno_name(error.sys_errno) + ")";
    return text;
}

} // namespace promtact

// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <filesystem>
#include <vector>

#include <promtact/base/units.hpp>
#include <promtact/gates/evidence.hpp>

namespace promtact::gates {

inline constexpr const char* accepted_file = "results/accepted.json";
inline constexpr Bytes document_bytes_max{std::uint64_t{16} << 20};

/// Files in the places of generated ones that nothing renders, relative to root, sorted.
std::vector<std::filesystem::path>
stray_documents(const std::filesystem::path& root, const std::vector<Document>& documents);

} // namespace promtact::gates

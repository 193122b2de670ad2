// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log on the project's disk model: every crash image, no file.
#pragma once

#include <promtact/base/model_storage.hpp>

namespace promtact::wal {

using MemoryStorage = disk::ModelStorage;
using MemoryStorageOptions = disk::ModelStorageOptions;

} // namespace promtact::wal

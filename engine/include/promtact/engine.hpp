// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// All that a protocol of your own needs to be simulated.
#pragma once

#include <promtact/engine/engine.hpp>
#include <promtact/engine/fate_editors.hpp>
#include <promtact/engine/ledger.hpp>
#include <promtact/engine/plan.hpp>

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The kernel fault campaign: `promtact chaos run` when this build offers it. A build without the
# command says so and exits 77, which is not a pass.
set -euo pipefail
cd "$(dirname "$0")/.."
promtact=build/release/bin/promtact
if [[ ! -x $promtact ]]; then
  echo "chaos: $promtact is not built (make build PRESET=release); nothing was run"
  exit 77
fi
if ! "$promtact" help | awk '$1 == "chaos" { found = 1 } END { exit !found }'; then
  echo "chaos: this build has no chaos runner (promtact help lists no 'chaos'); nothing was run"
  echo "chaos: the kernel faults themselves are exercised by 'make gates GATE=packet_fault'"
  exit 77
fi
exec "$promtact" chaos run "$@"

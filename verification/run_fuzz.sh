#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Every libFuzzer target for FUZZ_SECONDS (default 30), or one by name: run_fuzz.sh [target].
# New inputs go to build/fuzz/found/<target>; a crash is kept there and its replay is printed.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-30}
only=${1-}

cmake --preset fuzz --log-level=WARNING >/dev/null
cmake --build --preset fuzz
list=build/fuzz/fuzz_targets.txt

status=0
count=0
while read -r name binary corpus; do
  [[ -z $only || $only == "$name" ]] || continue
  count=$((count + 1))
  found=build/fuzz/found/$name
  mkdir -p "$found"
  seeds=()
  [[ -d $corpus ]] && seeds=("$corpus")
  echo "== $name for $seconds s"
  if ! "$binary" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$found/" "$found" "${seeds[@]}" >"$found.log" 2>&1; then
    tail -n 40 "$found.log"
    echo "fuzz: $name failed; replay one of these with $binary:"
    find "$found" -name 'crash-*' -o -name 'leak-*' -o -name 'timeout-*' -o -name 'oom-*'
    status=1
  else
    awk -v name="$name" '/stat::number_of_executed_units/ { print "measure: executed_" name, $2, "count" }
      /stat::new_units_added/ { print "measure: new_inputs_" name, $2, "count" }
      / cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") coverage = $(i + 1) }
      END { if (coverage) print "measure: edges_covered_" name, coverage, "count" }' "$found.log"
  fi
done <"$list"
if ((count == 0)); then
  echo "fuzz: no target${only:+ named $only} in $list" >&2
  exit 2
fi
echo "fuzz: $count targets, $seconds s each"
exit "$status"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Micro-benchmarks of every unit with their JSON in build/bench, then, on BENCH_DIR (default:
# build/bench, so the file system of this checkout), the storage ladder with its picture and the
# commit path beside fio. The comparison may be inconclusive or unsupported: its exit code is ours.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/bench
directory=${BENCH_DIR:-$out}
mkdir -p "$out"

count=0
while IFS= read -r binary; do
  name=$(basename "$binary")
  echo "== $name"
  "$binary" --benchmark_out="$out/$name.json" --benchmark_out_format=json
  count=$((count + 1))
done < <(find build/release -type f -name '*_bench' -perm -u+x | sort)
echo "bench: $count micro-benchmark programs, JSON in $out"

promtact=build/release/bin/promtact
"$promtact" bench storage --directory "$directory" --picture "$out/storage.html"
echo "bench: picture in $out/storage.html"
"$promtact" bench compare-fio --directory "$directory"

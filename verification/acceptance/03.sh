#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Acceptance of the write-ahead log: every acceptance line (A), precision (P) and performance line (F)
# as an executable check. What takes hours is executed once and recorded: its result must be checked in
# and say what the line asks. From a clean clone it builds what it needs. ONLY=<number> runs one check.
# shellcheck source=verification/acceptance/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

promtact=build/release/bin/promtact

prepare() {
  .ci/setup
  make --no-print-directory build
  make --no-print-directory build PRESET=release
  echo "dev and release are built"
}

# The newest checked-in result of that name.
recorded() {
  local file
  file=$(git ls-files "results/hosts/*/$1.json" | sort | tail -n 1)
  [[ -n $file ]] || { echo "no result $1 is checked in"; return 1; }
  echo "$file"
}
# recorded_value NAME MEASUREMENT
recorded_value() {
  json "$(recorded "$1")" "[m['value'] for m in d['measurements'] if m['name'] == '$2'][0]"
}
recorded_pass() {
  local verdict
  verdict=$(json "$(recorded "$1")" 'd["verdict"] + " " + d["sample"]')
  [[ $verdict == "pass full" ]] || { echo "$1 is $verdict"; return 1; }
}

# --- acceptance lines ---
a1_crash_images() {
  local name images
  recorded_pass crash_images
  images=$(recorded_value crash_images images)
  ((images >= 1000000))
  for name in refused lost wrong resurrected; do
    [[ $(recorded_value crash_images "$name") == 0 ]] || { echo "$name is not 0"; return 1; }
  done
  json "$(recorded crash_images)" 'len(d["notes"]) >= 200 or 1 / 0'
  "$promtact" gates run crash_images --host acceptance --out "$acceptance_work/hosts"
  echo "$images images recovered, none refused, lost, wrong or resurrected; a line per workload"
}
a1_controls() { dev_tests -R '^(WalCrashControls|CrashImagesGate)\.'; }
a1_damage_table() { dev_tests -R '^(WalDamage|WalTail|WalFormat)\.'; }
a1_group_a() { dev_tests -R '^(WalReports|WalLogFaults)\.'; }
a1_parity() {
  python3 verification/tidy.py parity
  if grep -n -- '-> later wal' verification/parity.txt; then return 1; fi
  echo "no row of the parity list is owed by the log"
}
a2_verify() {
  dev_tests -R '^(WalDamage|WalExplain|WalDump|WalExport)\.|^fuzz-replay\.(log|export|recovery|record)_fuzz'
}
a3_conformance() {
  dev_tests -R 'Conformance\.|^Broken(Devices?|Storages?)\.|^DeviceSuite\.'
  dev_tests -R '^FourCallDevice|^consumer\.find_package'
}
a4_sanitizers() {
  make --no-print-directory build PRESET=asan
  # The campaign of a million images is for builds without sanitizers.
  ctest --test-dir build/asan --output-on-failure --no-tests=error -LE '^campaign$' \
    -R '^(Wal|Snapshot|Import|Fault|Device)'
  cmake --preset tsan --log-level=WARNING >/dev/null
  cmake --build --preset tsan --target wal_uring_kernel_tests
  ctest --test-dir build/tsan --output-on-failure --no-tests=error -L '^wal_uring$'
}
a4_fuzzing() {
  local target total=0 seconds file
  for target in log_fuzz recovery_fuzz record_fuzz export_fuzz import_fuzz snapshot_fuzz; do
    file=$(recorded "nightly_fuzz_$target")
    [[ $(json "$file" 'd["verdict"]') == pass ]] || { echo "$target: not passed"; return 1; }
    seconds=$(json "$file" 'd["run"]["duration_ns"] // 10**9')
    total=$((total + seconds))
    [[ -d wal/corpus/$target ]] || { echo "$target has no corpus"; return 1; }
  done
  ((total >= 3600))
  grep -q 'CPU-day' docs/DEVELOPERS.md # the budget: 24 CPU-hours
  echo "$total seconds of fuzzing recorded"
}

# --- precisions ---
p1_pure_core() {
  python3 verification/tidy.py layers banned
  # The core and its recovery know no thread, clock or system call.
  if grep -nE 'std::(thread|mutex|chrono)|::(pwrite|pread|open|fsync|fdatasync)\(|_clock' \
    wal/log_{core,commit,maintain,open,read}.cpp wal/scan.cpp wal/scan_verdict.cpp wal/frame*.cpp \
    wal/format.cpp; then return 1; fi
  # Tests, gates and benchmarks use the log itself.
  if grep -rnE 'class [A-Za-z]+ (final )?: public (wal::)?(Log|LogCore)\b' --include='*.?pp' .; then
    return 1
  fi
  echo "the core is step-driven, and nothing derives from it"
}
p2_four_calls() { dev_tests -R 'FourCallDevice|DeviceStorage\.|^consumer\.find_package'; }
p3_importers() { dev_tests -R '^Import|^WalMigrate\.'; }
p4_kills() {
  local kills
  recorded_pass nightly_wal_kills
  kills=$(recorded_value nightly_wal_kills kills)
  ((kills >= 10000))
  dev_tests -R 'WalKill'
  echo "$kills kills recorded, and 200 more now"
}
p5_snapshots() { dev_tests -R '^Snapshot'; }
p6_tools() { dev_tests -R '^(WalTools|WalRepair|WalMigrate|WalExport)|CliTable.*wal'; }
p7_filesystems() { dev_tests -R 'WalFilesystem'; }
p8_gates() {
  dev_tests -R '^(DirectWalGate|StorageFaultsGate|CrashImagesGate|WalThroughputGate)\.'
  recorded_pass storage_faults
  recorded_pass direct_wal
  recorded_pass wal_throughput
}

# --- performance ---
f1_appends() {
  command -v fio >/dev/null || { echo "fio is not installed"; return 77; }
  recorded_pass wal_vs_fio
  json "$(recorded wal_vs_fio)" 'd["summary"]'
}
f2_flushes() { dev_tests -R 'WalFilesystem.OneFlushPerGroup'; }
f3_memory() {
  dev_tests -R '^(WalRecoveryMemory|WalLogCore.AppendingAllocatesNothing|WalRecord.EncodingAllocates)'
}

check setup "builds from this clone" prepare
check A1 "a million crash images: none refused, none wrong, none resurrected" a1_crash_images
check A2 "the enumeration catches every broken promise" a1_controls
check A3 "the damage table's verdicts" a1_damage_table
check A4 "public faults of group A are named tests" a1_group_a
check A5 "every known weakness about storage is a named test" a1_parity
check A6 "verify never crashes, is bounded in memory, and its words are right" a2_verify
check A7 "the conformance suite on our devices and on a user's own" a3_conformance
check A8 "address, undefined-behaviour and thread sanitizers" a4_sanitizers
check A9 "an hour of fuzzing, with its corpus" a4_fuzzing
check P1 "the core is step-driven; the same code runs everywhere" p1_pure_core
check P2 "a device of four calls" p2_four_calls
check P3 "importers of what the reference left" p3_importers
check P4 "ten thousand kills lose nothing" p4_kills
check P5 "the snapshot store" p5_snapshots
check P6 "the tools" p6_tools
check P7 "small filesystems that fill up and die" p7_filesystems
check P8 "the gates of the log, with their controls" p8_gates
check F1 "appends keep their ratio to fio and to other stores" f1_appends
check F2 "one flush a group, few bytes more than its blocks" f2_flushes
check F3 "encoding allocates nothing, recovery holds one segment" f3_memory
finish

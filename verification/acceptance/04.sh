#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Acceptance of the simulation engine: every acceptance line (A), precision (P) and performance line
# (F) as an executable check. From a clean clone it builds what it needs. ONLY=<number> runs one.
# shellcheck source=verification/acceptance/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

promtact=build/release/bin/promtact
mutants=build/release/examples/paxos/paxos_mutants
scenarios=examples/scenarios

prepare() {
  .ci/setup
  make --no-print-directory build
  make --no-print-directory build PRESET=release
  echo "dev and release are built"
}

# --- acceptance lines ---
a1_simulate() {
  local part
  "$promtact" simulate -c "$scenarios/leader-partition.json" >"$acceptance_work/run"
  for part in '^scenario  leader partition' '^seed      0x4A2C' '^nodes     5' '^steps     1200' \
    '^goal      .*reached [1-9]' '^trace     [0-9a-f]{32}$' '^fault     split .*: [1-9]'; do
    grep -qE "$part" "$acceptance_work/run" || { echo "no line like $part"; return 1; }
  done
  # The control: a fault that never strikes is no pass.
  cat >"$acceptance_work/vacuous.json" <<'JSON'
{"seed": "1", "nodes": 3, "steps": 10, "faults": [{"type": "split", "a": [1], "b": [2]}]}
JSON
  if "$promtact" simulate -c "$acceptance_work/vacuous.json" >"$acceptance_work/vacuous"; then return 1; fi
  grep '^verdict   vacuous' "$acceptance_work/vacuous"
}

# mutant NAME SCENARIO MOST: found from five starts within a minute each, made small to at most MOST
# faults and fates, and the printed command shows it again.
mutant() {
  local name=$1 scenario=$2 most=$3 start from weight smallest=1000 command
  for start in 1 2 3 4 5; do
    from=0x$(git rev-parse HEAD | cut -c1-8)$start
    rm -rf "$acceptance_work/found"
    if timeout 60 "$mutants" sweep -c "$scenarios/$scenario.json" --protocol "$name" --from "$from" \
      --seeds 1000000 --corpus "$acceptance_work/found" >"$acceptance_work/swept" 2>/dev/null; then
      echo "$name from $from: nothing found"
      return 1
    fi
    command=$(sed -n 's/^again:    //p' "$acceptance_work/swept")
    [[ -n $command ]] || { echo "$name from $from: no command"; return 1; }
    bash -c "$command --html $acceptance_work/page.html" | grep -q 'the same, event by event'
    grep -q '"property": ".' "$acceptance_work/page.html"
    weight=$(json "$(find "$acceptance_work/found" -name '*.json')" \
      'len(d["scenario"].get("faults", [])) + len(d["fates"])')
    ((weight < smallest)) && smallest=$weight
  done
  ((smallest <= most)) || { echo "$name: the smallest has $smallest faults and fates"; return 1; }
  echo "$name: the smallest has $smallest faults and fates"
}
a2_mutants() {
  mutant x1 paxos-chaos 3
  mutant x2 paxos-chaos 3
  mutant x3 paxos-chaos 9
  mutant x4 paxos-chaos 3
  mutant x6 paxos-slow 60
  mutant x8 paxos-duel 12
}
a3_nondeterminism() { dev_tests -R '^Twin\.'; }
a4_tool_mutants() {
  dev_tests -R '^(Run.AFaultThatNeverStruck|Paxos.EveryMutantIsFound|Engine.ABoundIsJudged)'
  dev_tests -R '^(Fate.AFaultThatIsAdded|Twin.T5|Twin.T6|Shrink.T7|Clients.T8)'
  dev_tests -R '^(Engine.TwoEnginesInterleaved|Engine.EverySeedIsARun|Arena.T10)'
}
a5_bad_files() {
  local cases
  cases=$(grep -c '^## ' harness/scenario/testdata/bad_scenarios.txt)
  ((cases >= 60))
  dev_tests -R '^(BadScenarios|Scenario)\.|^fuzz-replay.scenario_fuzz'
  echo "$cases bad files, each with its line and column"
}
a6_interleaved() { dev_tests -R '^Engine.TwoEnginesInterleaved'; }
a7_sanitizers() {
  make --no-print-directory build PRESET=asan
  ctest --test-dir build/asan --output-on-failure --no-tests=error -L '^(engine|sim|scenario|paxos|lin)$'
}

# --- precisions ---
p1_reference_behaviour() { dev_tests -R '^(Engine|Schedule|Plan)\.'; }
p2_sim_main() {
  # No kernel library, and a program of one's own gets the commands.
  if ldd build/release/examples/paxos/paxos | grep -E 'uring|libbpf|libnl'; then return 1; fi
  build/release/examples/paxos/paxos help | grep -E '^  (simulate|sweep|replay|shrink|diff) '
}
p3_sim_and_seeds() {
  "${promtact}-sim" >/dev/null
  [[ $("${promtact}-seeds" -from 1 -to 50) == "PASS seeds=50 range=1..50 steps=2000" ]]
  dev_tests -R 'CliTable.*promtact_(sim|seeds)'
}
p4_ab_comparison() { dev_tests -R '^Fate.AFaultThatIsAddedMovesNoOtherFate'; }
p5_schema() { dev_tests -R '^Scenario.BadFilesFollowTheSchema'; }
p6_reference_shares_little() {
  python3 verification/tidy.py layers
  dev_tests -R '^EngineEquivalence\.'
}
p7_weaknesses() {
  python3 verification/tidy.py parity
  if grep -nE '^W(4[7-9]|5[0-9]|6[0-5]) -> later engine' verification/parity.txt; then return 1; fi
  echo "no known weakness about the engine is owed"
}
p8_new() { dev_tests -R '^(consumer.find_package|Skeleton\.)'; }

p9_viewer() {
  # In a browser: a skipped test would prove nothing.
  python3 harness/sim/viewer_test.py build/dev/harness/sim/sim_page_fixture
}
p10_strategies() {
  local paxos=build/release/examples/paxos/paxos
  "$paxos" sweep -c "$scenarios/paxos.json" --strategy exhaustive --bounds nodes=3,commands=2 2>/dev/null \
    | grep -E '^(states|verdict) '
  dev_tests -R '^(Explorer|Search|SearchCommands|Strategy|Guide)\.'
}

# --- performance: medians of seven, in one run ---
f1_speed() {
  build/release/engine/engine_bench --benchmark_repetitions=7 --benchmark_format=json \
    --benchmark_report_aggregates_only=true 2>/dev/null >"$acceptance_work/bench.json"
  json "$acceptance_work/bench.json" '[(b["name"], round(b.get("deliveries", b["real_time"]), 1))
    for b in d["benchmarks"] if b["aggregate_name"] == "median"]'
  [[ $(json "$acceptance_work/bench.json" '(lambda m:
    m["faulted_ring"]["deliveries"] >= 10e6 and m["loaded_ring/256/500000"]["deliveries"] >= 3e6
    and m["set_back"]["real_time"] <= 20)({b["run_name"]: b
    for b in d["benchmarks"] if b["aggregate_name"] == "median"})') == True ]]
}
f2_search() {
  local rate
  rate=$(build/release/examples/paxos/paxos sweep -c "$scenarios/paxos.json" --strategy exhaustive \
    --bounds nodes=5,commands=2,states=300000 2>/dev/null | sed -n 's/.* \([0-9]*\) states a second$/\1/p')
  echo "$rate states a second"
  ((rate >= 200000))
}
f3_allocations() { dev_tests -R '^Arena.ASteadyRunAllocatesNothing'; }

check setup "builds from this clone" prepare
check A1 "simulate prints what was asked; a fault that never struck is vacuous" a1_simulate
check A2 "each Paxos mutant: found, made small, shown again" a2_mutants
check A3 "three planted sources of nondeterminism, each at its event" a3_nondeterminism
check A4 "the tool's own mutants" a4_tool_mutants
check A5 "malformed scenario files" a5_bad_files
check A6 "two engines in one process" a6_interleaved
check A7 "address and undefined-behaviour sanitizers" a7_sanitizers
check P1 "the reference's behaviour under our names" p1_reference_behaviour
check P2 "sim_main stands without a kernel library" p2_sim_main
check P3 "sim and seeds as they were" p3_sim_and_seeds
check P4 "a fault moves no other fate" p4_ab_comparison
check P5 "the schema owns the files" p5_schema
check P6 "the second engine shares little" p6_reference_shares_little
check P7 "known weaknesses are named tests" p7_weaknesses
check P8 "promtact new builds from a clean install" p8_new
check P9 "the viewer in a browser" p9_viewer
check P10 "every order of events within bounds" p10_strategies
check F1 "deliveries, a deep queue, a run set back" f1_speed
check F2 "states a second of a search" f2_search
check F3 "a steady run allocates nothing" f3_allocations
finish

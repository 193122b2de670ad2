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
multipaxos=build/release/examples/multipaxos/multipaxos
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
# faults and fates every time, and the printed command shows it again. MOST is one and a half times
# what a hand needs: a crash and a lost message (x1), a late accept (x2), five fates (x3, x8), a crash
# (x4), a crash and a lost message twice (x9); for x6 twelve fates were the fewest anybody found.
mutant() {
  local name=$1 scenario=$2 most=$3 start from weight largest=0 command
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
    ((weight > largest)) && largest=$weight
  done
  ((largest <= most)) || { echo "$name: the largest has $largest faults and fates, not $most"; return 1; }
  echo "$name: at most $largest faults and fates"
}
a2_mutants() {
  mutant x1 paxos-chaos 3
  mutant x2 paxos-chaos 2
  mutant x3 paxos-chaos 8
  mutant x4 paxos-chaos 2
  mutant x6 paxos-slow 20
  mutant x8 paxos-duel 8
  mutant forgets paxos-chaos 2
  mutant invents paxos-chaos 2
  mutants=$multipaxos mutant x9 multipaxos 6
}
a3_nondeterminism() { dev_tests -R '^Twin\.'; }
# Each of the twelve has a test that is named after it.
a4_tool_mutants() {
  local number
  for number in {1..12}; do dev_tests -R "\\.T${number}[A-Z]"; done
  echo "twelve mistakes of the tool itself, each caught"
}
a5_bad_files() {
  local cases
  cases=$(grep -c '^## ' harness/scenario/testdata/bad_scenarios.txt)
  ((cases >= 60))
  dev_tests -R '^(BadScenarios|Scenario)\.|^fuzz-replay.scenario_fuzz'
  echo "$cases bad files, each with its line and column"
}
a6_interleaved() { dev_tests -R '^Engine.T11TwoEnginesInterleaved'; }
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
p4_ab_comparison() { dev_tests -R '^Fate.T4AFaultThatIsAddedMovesNoOtherFate'; }
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

# Faults, commands, nodes, steps and fates: each becomes less on an example that has all of them.
p13_shrinks_all() {
  "$mutants" sweep -c "$scenarios/paxos-chaos.json" --protocol x1 --from 0xabcdef01 --seeds 100000 \
    --strategy swarm --faults 4 >"$acceptance_work/swept" 2>/dev/null || true
  python3 - "$acceptance_work/swept" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
line = re.search(r"made small: .*", text).group(0)
sizes = {name: (int(a), int(b)) for name, a, b in re.findall(r"(\w+) (\d+) -> (\d+)", line)}
for name in ("faults", "commands", "nodes", "steps", "fates"):
    before, after = sizes[name]
    assert after < before, f"{name}: {before} -> {after}"
print(line)
PY
}
p11_strategies_win() { verification/strategies.py --starts 5; }
p12_first_lines() {
  local begin=$SECONDS line lines
  mapfile -t lines < <(sed -n '/^## Test your own protocol/,/^```$/p' README.md | grep -E '^(make|build)' | head -n 3)
  ((${#lines[@]} == 3))
  for line in "${lines[@]}"; do
    echo "+ $line"
    bash -c "$line" >"$acceptance_work/line" || { tail -n 20 "$acceptance_work/line"; return 1; }
  done
  echo "the first three lines took $((SECONDS - begin)) s"
  ((SECONDS - begin <= 60))
}

# --- performance: medians of seven, in one run ---
f1_figures() { verification/engine_figures.py; }
f2_allocations() { dev_tests -R '^Arena.ASteadyRunAllocatesNothing'; }

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
check P11 "each strategy has a mutant that it finds in half of random's time" p11_strategies_win
check P13 "a failure is made smaller in all five ways" p13_shrinks_all
check P12 "the first lines of README within a minute" p12_first_lines
check F1 "deliveries, a deep queue, a run set back, a search, a second core" f1_figures
check F2 "a steady run allocates nothing" f2_allocations
finish

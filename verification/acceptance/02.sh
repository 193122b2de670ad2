#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Acceptance of the foundation: every acceptance line (A), precision (P) and performance line (F) as
# an executable check. From a clean clone it builds what it needs. ONLY=<number> runs one check.
# shellcheck source=verification/acceptance/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

promtact=build/release/bin/promtact
tree=$acceptance_work/tree # a clone, so that the campaign can be accepted without touching ours
campaigns=$tree/results/hosts
required_gates="uring_probe direct_io direct_wal durable_write_file durable_write_block
  netns_lifecycle bpf_load packet_fault"

recorded() { find "$campaigns/acceptance" -mindepth 1 -maxdepth 1 -type d -name '20*' | sort; }
campaign() { recorded | tail -n 1; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

prepare() {
  .ci/setup
  make --no-print-directory build
  make --no-print-directory build PRESET=release
  git clone --quiet --no-local . "$tree"
  echo "dev and release are built"
}

# --- acceptance lines ---
a1_gates() {
  local start=$SECONDS gate verdict link_delay
  make --no-print-directory setup
  host_inventory >"$acceptance_work/before"
  make --no-print-directory gates HOST=acceptance OUT="$campaigns"
  echo "$((SECONDS - start))" >"$acceptance_work/gates_seconds"
  host_inventory >"$acceptance_work/after"
  for gate in $required_gates; do
    verdict=$(json "$(campaign)/$gate.json" 'd["verdict"]')
    [[ $verdict == pass ]] || { echo "$gate is $verdict"; return 1; }
  done
  link_delay=$(json "$(campaign)/link_delay.json" 'd["verdict"] + " " + (d["reason"] or "")')
  [[ $link_delay == pass* || $link_delay == "unsupported "?* ]] || return 1
  echo "$(find "$(campaign)" -name '*.json' ! -name host.json | wc -l) gates," \
    "link_delay: $link_delay"
}
a2_campaign_accepted() {
  local schema
  schema=$(json results/accepted.json 'd["schema"]')
  printf '{"schema": "%s", "accepted": [{"host": "acceptance", "campaign": "%s"}]}\n' \
    "$schema" "$(basename "$(campaign)")" >"$tree/results/accepted.json"
  "$promtact" evidence render --root "$tree"
  "$promtact" evidence check --root "$tree"
  (cd "$(campaign)" && sha256sum --check --quiet SHA256SUMS)
  # The control: one changed figure is noticed.
  sed -i.kept 's/"duration_ns": 1/"duration_ns": 2/; s/"duration_ns": [3-9]/"duration_ns": 1/' \
    "$(campaign)/direct_io.json"
  if "$promtact" evidence check --root "$tree"; then return 1; fi
  mv "$(campaign)/direct_io.json.kept" "$(campaign)/direct_io.json"
  git -C "$tree" checkout --quiet -- results/accepted.json
  echo "$(wc -l <"$(campaign)/SHA256SUMS") files, checksums hold"
}
a3_controls() {
  local file observed count=0
  for file in "$(campaign)"/*.json; do
    [[ $(basename "$file") == host.json ]] && continue
    [[ $(json "$file" 'd["verdict"]') == pass ]] || continue
    observed=$(json "$file" 'd["control"]["observed"]')
    [[ $observed == fail ]] || { echo "$file: control observed $observed"; return 1; }
    "$promtact" gates explain "$(basename "$file" .json)" |
      grep -q "$(json "$file" 'd["control"]["name"]')"
    count=$((count + 1))
  done
  ((count >= 8))
  echo "$count controls failed as they must, and explain names them"
}
# Every gate is killed at its kill points and at random times; link_delay is skipped without netem.
kill_tests='Gate[A-Za-z]*\.(LeavesNothing|NothingRemains)WhenKilledAt'
a4_killed() {
  local tests
  tests=$(ctest --test-dir build/dev -N -R "$kill_tests" | grep -c 'Test *#' || true)
  dev_tests -R "$kill_tests|^GateRunnerKill\."
  echo "$tests kill tests over nine gates"
  ((tests >= 18))
}
a5_unprivileged() {
  local out=$acceptance_work/nobody gate verdict
  [[ $(id -u) == 0 ]] || { echo "needs root to become an ordinary user"; return 77; }
  mkdir -p "$out"
  cp "$promtact" "$out/promtact"
  chown -R 65534:65534 "$out"
  chmod 755 "$acceptance_work"
  as_nobody "$out/promtact" gates run --host acceptance --out "$out/hosts" --directory "$out"
  out=$(find "$out/hosts" -mindepth 2 -maxdepth 2 -type d)
  for gate in uring_probe direct_io direct_wal durable_write_file; do
    verdict=$(json "$out/$gate.json" 'd["verdict"]')
    [[ $verdict == pass ]] || { echo "$gate is $verdict"; return 1; }
  done
  for gate in netns_lifecycle bpf_load packet_fault; do
    verdict=$(json "$out/$gate.json" 'd["verdict"] + " " + (d["reason"] or "")')
    [[ $verdict == denied*CAP_* ]] || { echo "$gate: $verdict"; return 1; }
  done
  echo "$verdict"
}
a6_no_io_uring() { dev_tests -R '^Confined\.'; }
a7_bad_input() {
  local rows
  rows=$(ctest --test-dir build/dev -N -R 'CliTable\.' | grep -c 'Test *#' || true)
  dev_tests -R 'CliTable'
  echo "$rows rows"
  ((rows >= 40))
}
a8_green() {
  make --no-print-directory lint
  make --no-print-directory evidence-check
  make --no-print-directory test
  echo "lint, evidence-check and test are green"
}
a9_consumers() { dev_tests -L consumer; }
a10_pure() {
  bash -c 'source <(sed -n "/^pure_preset() {/,/^}/p" .ci/run); set -e; work=$1; pure_preset' \
    pure "$acceptance_work"
  echo "the pure preset builds and passes without liburing, libbpf and libnl"
}
a11_untouched() {
  [[ -s $acceptance_work/before ]] || { echo "A1 did not run"; return 1; }
  diff "$acceptance_work/before" "$acceptance_work/after"
  echo "$(wc -l <"$acceptance_work/before") inventory lines, byte-identical"
}

# --- precisions ---
p1_front_end() { dev_tests -R '^(Argv|Flags|Umbrella|Word|Help)'; }
p2_exit_codes() { dev_tests -R 'CliTable|^Help\.'; }
p3_classes() {
  local seconds code=0
  seconds=$(cat "$acceptance_work/gates_seconds")
  ((seconds <= 180)) || { echo "the quick campaign took $seconds s"; return 1; }
  [[ $(json "$(campaign)/direct_wal.json" 'd["sample"]') == quick ]]
  if [[ $(json "$(campaign)/link_delay.json" 'd["verdict"]') == unsupported ]]; then
    "$promtact" gates run link_delay --host acceptance --out "$acceptance_work/one" || code=$?
    [[ $code == 77 ]] || { echo "a single grey gate exits $code"; return 1; }
  fi
  echo "quick campaign $seconds s, sample stated, a single grey gate exits 77"
}
p4_schema() {
  local file
  for file in "$(campaign)"/*.json; do
    [[ $(basename "$file") == host.json ]] && continue
    json "$file" 'd["gate"]["revision"] >= 1 and d["kind"] in ("gate", "benchmark") or 1 / 0'
  done
  dev_tests -R '^(Evidence|EvidenceCheck|Freshness|Accepted|GateRecord)'
}
p5_qualification() { dev_tests -R '^Qualification'; }
p6_bodies() {
  python3 verification/tidy.py banned gate layers
  json "$(campaign)/packet_fault.json" '", ".join(m["name"] for m in d["measurements"]
    if m["method"] == "received of sent, counted at both ends" and m["denominator"] > 0) or 1 / 0'
}
p7_kill_points() { dev_tests -R "$kill_tests(EachPoint|AnyPoint|RandomTimes)"; }
p8_decision_function() {
  clang-14 -target bpf -std=c11 -fsyntax-only -Wall -Werror -x c \
    base/include/promtact/base/choice.h
  dev_tests -R '^(Choice|ChoiceStatistics|EbpfChoice)\.'
}
p9_parity() {
  python3 verification/tidy.py parity
  echo "$(grep -c ' -> ' verification/parity.txt) rows," \
    "$(grep -vc ' -> later ' <(grep ' -> ' verification/parity.txt)) answered"
}
p10_acceptance_scripts() {
  shellcheck --external-sources verification/acceptance/*.sh
  echo "$(find verification/acceptance -name '[0-9]*.sh' | wc -l) acceptance scripts"
}
p11_nightly_and_ci() {
  verification/nightly --list
  grep -q thread_sanitizer .ci/run
  dev_tests -L bench-smoke
}
p12_environment() { dev_tests -R '^Env\.'; }
p13_interfaces() {
  local header
  for header in choice.h choice.hpp storage.hpp scenario.hpp fault.hpp history.hpp; do
    [[ -s base/include/promtact/base/$header ]] || { echo "$header is missing"; return 1; }
  done
  echo "base carries the shared interfaces"
}
p14_figures() { dev_tests -R '^FigureLint'; }
p15_lint_fires() { python3 verification/tidy_test.py 2>&1 | tail -n 3; }
p16_probe() {
  local start end
  start=$(date +%s%N)
  "$promtact" probe --json >"$acceptance_work/probe.json"
  end=$(date +%s%N)
  json "$acceptance_work/probe.json" 'len(d) > 0 or 1 / 0'
  ((end - start < 200000000)) || { echo "$(((end - start) / 1000000)) ms"; return 1; }
  echo "$(((end - start) / 1000000)) ms"
}
p17_compare() {
  make --no-print-directory gates GATE=uring_probe HOST=acceptance OUT="$campaigns"
  mapfile -t two < <(recorded | tail -n 2)
  "$promtact" gates compare "${two[0]}" "${two[1]}"
}
p18_bare() { verification/bare_debian.sh build; }

# --- performance ---
f1_fio_ratio() {
  command -v fio >/dev/null || { echo "fio is not installed"; return 77; }
  "$promtact" bench compare-fio --directory build
}
f2_gates_time() {
  local seconds
  seconds=$(cat "$acceptance_work/gates_seconds")
  ((seconds <= 180))
  echo "make gates took $seconds s"
}

check setup "builds from this clone" prepare
check A1 "make setup && make gates: eight gates pass, link_delay passes or says why" a1_gates
check A2 "the campaign is accepted by promtact evidence check" a2_campaign_accepted
check A3 "each negative control was observed failing, explain shows it" a3_controls
check A4 "a killed gate leaves nothing" a4_killed
check A5 "an ordinary user: storage gates run, network gates name the capability" a5_unprivileged
check A6 "without io_uring: denied, with the reason" a6_no_io_uring
check A7 "bad input: message, exit code, nothing left (at least 40 rows)" a7_bad_input
check A8 "make test lint evidence-check is green" a8_green
check A9 "both consumer projects build from the install tree" a9_consumers
check A10 "the pure preset needs no kernel library" a10_pure
check A11 "the host's interfaces are byte-identical before and after" a11_untouched
check P1 "one argv front end, every reference spelling" p1_front_end
check P2 "reference commands keep their exits" p2_exit_codes
check P3 "gate classes: quick within three minutes, sample stated, grey exits 77" p3_classes
check P4 "results carry revision and kind; stale ones are shown as stale" p4_schema
check P5 "the qualification reader" p5_qualification
check P6 "bodies use their unit's library; packets counted at both ends" p6_bodies
check P7 "killed at every point and at random times" p7_kill_points
check P8 "the decision function is frozen, for C++ and BPF" p8_decision_function
check P9 "the parity list is complete and true" p9_parity
check P10 "acceptance scripts are themselves clean" p10_acceptance_scripts
check P11 "nightly list, thread-sanitizer slice, benchmark smoke" p11_nightly_and_ci
check P12 "the reference's environment variables work or name their successor" p12_environment
check P13 "base carries the interfaces later parts share" p13_interfaces
check P14 "a figure outside a generated block is caught" p14_figures
check P15 "every lint rule fires on its planted violation" p15_lint_fires
check P16 "the probe answers within its limit" p16_probe
check P17 "two campaigns side by side" p17_compare
check P18 "a bare Debian 12 is enough" p18_bare
check F1 "overwritten blocks keep up with fio" f1_fio_ratio
check F2 "make gates takes less than three minutes" f2_gates_time
finish

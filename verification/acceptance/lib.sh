#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Shared by verification/acceptance/NN.sh. A check is a function: exit 0 is pass, 77 is grey,
# anything else is fail; the last line it prints is its figure, the rest goes to its log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

acceptance_work=$(mktemp -d "${TMPDIR:-/tmp}/promtact-acceptance.XXXXXX")
acceptance_logs=build/acceptance
mkdir -p "$acceptance_logs"
trap 'rm -rf "$acceptance_work"' EXIT
passed=0
failed=0
grey=()

# check NUMBER TEXT FUNCTION [ARGUMENT...]
check() {
  local number=$1 text=$2 log verdict figure code
  shift 2
  [[ -z ${ONLY-} || $number == "$ONLY" || $number == setup ]] || return 0
  log=$acceptance_logs/$number.log
  # Not behind ||, where bash would not stop a function at its first failure.
  ( set -e; "$@" ) >"$log" 2>&1 </dev/null
  code=$?
  figure=$(grep -v '^$' "$log" | tail -n 1 | cut -c1-160)
  case $code in
    0)
      verdict=pass
      passed=$((passed + 1))
      ;;
    77)
      verdict=grey
      grey+=("$number")
      ;;
    *)
      verdict=FAIL
      failed=$((failed + 1))
      ;;
  esac
  printf '%-5s %-5s %s\n            %s\n' "$number" "$verdict" "$text" "$figure"
}

finish() {
  echo "acceptance: $passed pass, $failed fail, ${#grey[@]} grey${grey[*]:+ (${grey[*]})};" \
    "logs in $acceptance_logs"
  ((failed == 0 && passed > 0))
}

# ctest on the dev build; a pattern that matches nothing is a failure, and tests that were skipped
# make the check grey unless something failed.
dev_tests() {
  local output=$acceptance_work/ctest.$RANDOM
  ctest --test-dir build/dev --output-on-failure --no-tests=error "$@" | tee "$output" || return 1
  grep -E 'tests passed' "$output"
  if grep -qE '\*\*\*Skipped' "$output" && ! grep -qE ' Passed ' "$output"; then return 77; fi
}

# json FILE EXPRESSION: the value of a Python expression over the document `d`.
json() {
  python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# What a gate may never change: links, addresses, qdiscs, namespaces, programs, loop devices and
# mounts. Counters are left out, they move by themselves.
host_inventory() {
  ip -json -details link | python3 -c 'import json, sys
for link in json.load(sys.stdin):
    print(link["ifname"], link["ifindex"], link.get("mtu"), link.get("address"), link.get("qdisc"),
          sorted(f for f in link["flags"]), link.get("xdp"))'
  ip -json address | python3 -c 'import json, sys
for link in json.load(sys.stdin):
    print(link["ifname"], [(a["local"], a["prefixlen"]) for a in link["addr_info"]])'
  tc -json qdisc | python3 -c 'import json, sys
for q in json.load(sys.stdin):
    print(q["dev"], q["kind"], q["handle"], q.get("parent"), q.get("root"))'
  ip netns list
  if [[ $(id -u) == 0 ]]; then bpftool -j prog | python3 -c 'import json, sys
print([(p["id"], p["type"]) for p in json.load(sys.stdin)])'; fi
  losetup --noheadings --list --output NAME,BACK-FILE
  cut -d' ' -f5 /proc/self/mountinfo | sort
}

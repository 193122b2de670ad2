#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""The strategies of `sweep` against the mutants of Paxos: processor time until each is found.

Every strategy but random must find one of them in at most half the time that random takes, by the
medians over several starts; the figures are printed as measurements for `promtact evidence run`.
All strategies get the same scenario, the same number of drawn faults and one process. A mutant that
is not found within the limit counts with the limit. Exits 0, 1 when a strategy has no such mutant,
77 when the binary is not built.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = "build/release/examples/paxos/paxos_mutants"
STRATEGIES = ("random", "swarm", "pct", "guided", "exhaustive")
FACTOR = 2
# Below this what is measured is how long a program takes to start: nobody wins there.
FLOOR_NS = 50_000_000
FAULTS = "4"
# The same for every mutant: a little of everything that a client, a crash and a timer can do.
BOUNDS = "nodes=3,commands=4,crashes=1,timeouts=1,states=4000000"
# calm is a scenario as somebody first writes it, chaos and slow bring chance of their own. What
# only time shows (x8) is out of reach of a search that knows no time.
LISTED = (
    ("x1", "calm"), ("x2", "calm"), ("x3", "calm"), ("x4", "calm"), ("x6", "calm"),
    ("x3", "chaos"), ("x6", "chaos"), ("x6", "slow"), ("x8", "duel"),
)
OUT_OF_REACH = {("exhaustive", "x8")}


@dataclass(frozen=True)
class Cell:
    """One strategy on one mutant: processor time of every start, and how many found it."""

    times: tuple
    found: int

    @property
    def median(self):
        return int(statistics.median(self.times))


def command(strategy, mutant, scenario, start):
    words = [MUTANTS, "sweep", "-c", f"examples/scenarios/paxos-{scenario}.json",
             "--protocol", mutant, "--strategy", strategy, "--json", "--time", "100h"]
    if strategy == "exhaustive":
        return [*words, "--bounds", BOUNDS]
    return [*words, "--from", hex(start), "--jobs", "1", "--shrink-runs", "0",
            "--twin-every", "0", "--faults", FAULTS]


def processor_ns():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def is_found(done):
    """A broken property; a worker that reached its limit is a failure without one."""
    if done.returncode != 1:
        return False
    report = json.loads(done.stdout)
    failures = report.get("failures", [report])
    return bool(failures and failures[0]["property"])


def measure(strategy, mutant, scenario, starts, limit_s):
    times = []
    found = 0
    for number in range(starts):
        before = processor_ns()
        done = subprocess.run(
            command(strategy, mutant, scenario, 1 + number * 1_000_003), cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 5)))
        if done.returncode in (2, 77):
            sys.exit(f"strategies: {' '.join(done.args)}: exit {done.returncode}")
        if is_found(done):
            found += 1
            times.append(processor_ns() - before)
        else:
            times.append(limit_s * 1_000_000_000)
    return Cell(tuple(times), found)


def beats(cell, random):
    """At most 1/FACTOR of random's median, where that is more than a start of the program."""
    return cell.found > 0 and random.median > FLOOR_NS and cell.median * FACTOR <= random.median


def wins_of(table):
    """{strategy: [(mutant, scenario, how many times as fast)]}, the best first."""
    wins = {}
    for strategy in STRATEGIES[1:]:
        won = [(random.median / max(cell.median, 1), *row)
               for row, cells in table.items()
               for random, cell in [(cells["random"], cells.get(strategy))]
               if cell is not None and beats(cell, random)]
        wins[strategy] = [(mutant, scenario, times)
                          for times, mutant, scenario in sorted(won, reverse=True)]
    return wins


def shown(cell, starts):
    if cell is None:
        return "out of reach"
    text = "/".join(f"{value / 1e6:.0f}" for value in
                    (cell.median, min(cell.times), max(cell.times)))
    return text if cell.found == starts else f"{text} ({cell.found} of {starts})"


def least(table, mutant, scenario, starts):
    """Where random found it less than every time, the limit stands for what it would have taken."""
    return "" if table[(mutant, scenario)]["random"].found == starts else "at least "


def report(table, wins, starts):
    print(f"milliseconds of processor time until found: median/min/max of {starts} starts")
    print(f"{'mutant':<12}" + "".join(f"{strategy:>26}" for strategy in STRATEGIES))
    for (mutant, scenario), cells in table.items():
        print(f"{mutant + ' ' + scenario:<12}" + "".join(
            f"{shown(cells.get(strategy), starts):>26}" for strategy in STRATEGIES))
        for strategy, cell in cells.items():
            name = f"{mutant}_{scenario}_{strategy}"
            print(f"measure: {name}_median {cell.median} ns")
            print(f"measure: {name}_min {min(cell.times)} ns")
            print(f"measure: {name}_max {max(cell.times)} ns")
            print(f"measure: {name}_found {cell.found} count")
    for strategy, won in wins.items():
        print(f"{strategy}, beside random: " + (", ".join(
            f"{mutant} {scenario} {least(table, mutant, scenario, starts)}{times:.1f} times as fast"
            for mutant, scenario, times in won) or "nowhere twice as fast"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--starts", type=int, default=7, help="first seeds for each (default 7)")
    parser.add_argument("--limit", type=int, default=60,
                        help="seconds of processor time for one start (default 60)")
    parser.add_argument("--only", action="append", help="this mutant (may be repeated)")
    arguments = parser.parse_args()
    if not (ROOT / MUTANTS).exists():
        print(f"strategies: {MUTANTS} is not built: make release")
        return 77
    table = {}
    for mutant, scenario in LISTED:
        if arguments.only and mutant not in arguments.only:
            continue
        table[(mutant, scenario)] = {
            strategy: measure(strategy, mutant, scenario, arguments.starts, arguments.limit)
            for strategy in STRATEGIES if (strategy, mutant) not in OUT_OF_REACH}
        print(f"strategies: {mutant} {scenario} is measured", file=sys.stderr, flush=True)
    wins = wins_of(table)
    report(table, wins, arguments.starts)
    without = [strategy for strategy, won in wins.items() if not won]
    if without:
        print(f"no mutant of its own: {', '.join(without)}")
        return 1
    print("every strategy finds a mutant in half of random's time: " + ", ".join(
        f"{strategy} {won[0][0]}" for strategy, won in wins.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

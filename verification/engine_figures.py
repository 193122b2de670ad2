#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""The engine's figures beside what is asked of them, each the median of several runs.

Prints them as measurements for `promtact evidence run`. Exits 0, 1 when one is missed, 77 when the
release build is not there. The machine should rest meanwhile.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = "build/release/engine/engine_bench"
PAXOS = "build/release/examples/paxos/paxos"
SCENARIO = "examples/scenarios/paxos.json"
BUDGET_EXHAUSTED = 5
RATE = "operations_per_second"
BOUNDS = "nodes=5,commands=2,states=300000"


@dataclass(frozen=True)
class Figure:
    """A figure and its bound: at least when `least` is given, else at most, or for the record."""

    name: str
    value: float
    unit: str
    least: float = 0
    most: float = 0

    @property
    def holds(self):
        return self.value >= self.least and (not self.most or self.value <= self.most)

    @property
    def asked(self):
        if self.most:
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if self.least else "for the record"


def output_of(*command, exits=(0,)):
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode not in exits:
        sys.exit(f"engine_figures: {' '.join(command)}: exit {done.returncode}")
    return done.stdout


def engine_figures(runs):
    """Deliveries a second of every shape, and the time to set a run back beside a bare copy."""
    document = json.loads(output_of(
        BENCH, f"--benchmark_repetitions={runs}", "--benchmark_format=json",
        "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"))
    medians = {one["run_name"]: one for one in document["benchmarks"]
               if one["aggregate_name"] == "median"}
    asked = {"faulted_ring": 10e6, "loaded_ring/256/500000": 3e6}
    figures = [Figure(name.replace("/", "_") + "_rate", round(one["deliveries"]), RATE,
                      least=asked.get(name, 0))
               for name, one in medians.items() if "deliveries" in one]
    back = medians["set_back"]["real_time"]
    copy = medians["copy_out_and_back"]["real_time"]
    return [*figures, Figure("set_back_bytes", round(medians["set_back"]["bytes"]), "bytes"),
            Figure("set_back", round(back * 1000), "ns", most=20_000),
            Figure("copy_out_and_back", round(copy * 1000), "ns")]


def search_figure(runs):
    rates = []
    for _ in range(runs):
        text = output_of(PAXOS, "sweep", "-c", SCENARIO, "--strategy", "exhaustive",
                         "--bounds", BOUNDS, exits=(0, BUDGET_EXHAUSTED))
        rates.append(int(re.search(r"(\d+) states a second", text).group(1)))
    return Figure("search_rate", statistics.median_low(rates), RATE, least=200_000)


def sweep_seconds(jobs, seeds):
    begin = time.monotonic()
    output_of(PAXOS, "sweep", "-c", SCENARIO, "--seeds", str(seeds), "--jobs", str(jobs))
    return time.monotonic() - begin


def scaling_figures(runs, seeds):
    """What a second core adds, pair by pair: who shares the machine disturbs both alike."""
    shares = []
    rates = []
    for _ in range(runs):
        alone = seeds / sweep_seconds(1, seeds)
        both = 2 * seeds / sweep_seconds(2, 2 * seeds)
        shares.append(both / (2 * alone))
        rates.append(both)
    return [Figure("sweep_rate_two_cores", round(statistics.median(rates)), RATE),
            Figure("sweep_share_per_core", round(statistics.median(shares) * 1_000_000), "ppm",
                   least=900_000)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=7, help="of each figure (default 7)")
    parser.add_argument("--seeds", type=int, default=40_000,
                        help="of a sweep on one core (default 40000)")
    arguments = parser.parse_args()
    for program in (BENCH, PAXOS):
        if not (ROOT / program).exists():
            print(f"engine_figures: {program} is not built: make release")
            return 77
    figures = [*engine_figures(arguments.runs), search_figure(arguments.runs),
               *scaling_figures(arguments.runs, arguments.seeds)]
    for one in figures:
        print(f"{one.name:<32}{one.value:>12} {one.unit:<24}{one.asked}"
              f"{'' if one.holds else ': MISSED'}")
    for one in figures:
        print(f"measure: {one.name} {one.value} {one.unit}")
    missed = [one.name for one in figures if not one.holds]
    print(f"missed: {', '.join(missed)}" if missed else "every figure reaches what is asked of it")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

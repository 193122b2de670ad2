# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Verbs only; the work is done by CMake, by the promtact binary and by the scripts named here.
# A line `verb: … ## text` is what `make` alone lists.

PRESET ?= dev
JOBS ?= $(shell nproc)
HOST ?=
OUT ?= results/hosts
CLASS ?= quick
GATE ?=
LABEL ?=
FILTER ?=
SEEDS ?=
FUZZ_SECONDS ?= 30
PREFIX ?= /usr/local

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
export CTEST_PARALLEL_LEVEL ?= $(JOBS)
ifneq ($(SEEDS),)
export PROMTACT_SEEDS := $(SEEDS)
endif

CTEST = ctest --output-on-failure $(if $(LABEL),-L '$(LABEL)',-LE '^(campaign|slow)$$') $(if $(FILTER),-R '$(FILTER)')
PROMTACT = build/release/bin/promtact

.DEFAULT_GOAL := help
.PHONY: help setup build release test gates bench evidence evidence-check chaos verify fuzz fmt lint \
  lint-full coverage asan ubsan tsan install dist clean ci nightly acceptance

help:
	@echo 'Promtact: make <verb> [VARIABLE=value]'
	@echo
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'First time on a machine: make setup && make gates'

setup: ## install the Debian packages the build needs (root or sudo); safe to repeat
	@.ci/setup

build: ## build with the dev preset (PRESET=release|asan|ubsan|tsan|coverage|pure|fuzz)
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET)

release:
	@$(MAKE) --no-print-directory build PRESET=release

test: build ## run the tests of the build, without campaigns (LABEL=unit|kernel|campaign|slow, FILTER=regex, SEEDS=n)
	@$(CTEST) --test-dir build/$(PRESET)

gates: release ## qualify this host and record it (CLASS=quick|full, GATE=id, HOST=name, OUT=folder)
	@$(PROMTACT) gates run $(GATE) --class $(CLASS) $(if $(HOST),--host '$(HOST)') --out '$(OUT)'

bench: release ## micro-benchmarks and the storage ladder; JSON in build/bench
	@verification/run_bench.sh

evidence: release ## regenerate every document that shows figures, from results/
	@$(PROMTACT) evidence render

evidence-check: release ## fail when a document and the results it shows disagree
	@$(PROMTACT) evidence check

chaos: ## kernel fault campaign; says so (exit 77) while the build has no chaos runner
	@verification/run_chaos.sh

verify: build ## checks of the checks: parity list, registered tests, lint's own tests
	@verification/run_verify.sh

fuzz: ## run every fuzz target for FUZZ_SECONDS each (default 30)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) verification/run_fuzz.sh

fmt: ## format every C++, C and BPF file in place
	@python3 verification/tidy.py --fix format

lint: ## house rules, format, headers, shell, spelling; clang-tidy on what has not landed and a tenth
	@python3 verification/tidy.py

lint-full: ## the same, headers and clang-tidy over the whole tree
	@python3 verification/tidy.py --all

coverage: ## line and branch coverage of the tests; report in build/coverage
	@verification/run_coverage.sh

asan: ## tests under clang with address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory test PRESET=asan

ubsan: ## tests under clang with undefined and implicit-conversion sanitizers
	@$(MAKE) --no-print-directory test PRESET=ubsan

tsan: ## tests under g++ with the thread sanitizer
	@$(MAKE) --no-print-directory test PRESET=tsan

install: release ## install the release build (PREFIX=/usr/local, DESTDIR=)
	@cmake --install build/release --prefix '$(PREFIX)'

dist: ## source archive of the last commit with its checksum, in dist/
	@verification/run_dist.sh

clean: ## remove build trees and archives; results/ is never touched
	@rm -rf build dist

ci: ## exactly what continuous integration runs
	@.ci/run

nightly: release ## list and run the long campaigns (LIST=1 only lists, ONLY=name); resumable
	@verification/nightly $(if $(LIST),--list) $(if $(ONLY),--only '$(ONLY)')

acceptance: ## one executable check per acceptance line and precision (ISSUE=02)
	@verification/acceptance/$(or $(ISSUE),02).sh

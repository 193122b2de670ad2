#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Checks of the checks, on the dev build: every reference test and weakness is accounted for by a
# test that ctest knows, every source and test is built, every lint rule fires on its planted
# violation, and the frozen decision function still gives its recorded answers.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -f build/dev/CTestTestfile.cmake ]] || make --no-print-directory build
python3 verification/tidy.py parity registered gate pure-list
python3 verification/tidy_test.py
ctest --test-dir build/dev --output-on-failure --no-tests=error -R '^Choice'

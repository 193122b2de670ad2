#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Line and branch coverage of the test suite; HTML and a summary in build/coverage/report.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v gcovr >/dev/null; then
  echo "coverage: gcovr is not installed: apt-get install gcovr" >&2
  exit 77
fi
cmake --preset coverage --log-level=WARNING >/dev/null
cmake --build --preset coverage
ctest --test-dir build/coverage --output-on-failure -LE 'consumer|lint'
mkdir -p build/coverage/report
gcovr --root . --object-directory build/coverage --exclude '.*_(test|bench|fuzz|campaign)\.cpp' \
  --exclude '.*/testing/.*' --exclude 'build/.*' --exclude-throw-branches \
  --html-details build/coverage/report/index.html --txt build/coverage/report/summary.txt
tail -n 4 build/coverage/report/summary.txt
echo "coverage: build/coverage/report/index.html"

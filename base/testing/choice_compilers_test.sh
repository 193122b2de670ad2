#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# choice.h is one file for three worlds: C11, C++20 and BPF. Each compiler here builds it without a
# warning and gives the frozen values; the BPF object needs no outside symbol (a 128-bit multiply
# would become a library call).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O2 -I base/include"
vectors=base/testdata/choice_vectors.txt
ran=0
check() { # compiler, standard, further flags
  command -v "$1" > /dev/null || return 0
  # shellcheck disable=SC2086 # flags are words
  "$1" $3 "-std=$2" $flags base/testdata/choice_check.c -o "$work/check"
  if ! "$work/check" "$vectors" > "$work/out"; then
    cat "$work/out" >&2
    echo "$1 $2 disagrees" >&2
    exit 1
  fi
  ran=$((ran + 1))
}
check gcc c11 ""
check clang-14 c11 ""
check g++ c++20 "-x c++ -Wold-style-cast"
check clang++-14 c++20 "-x c++ -Wold-style-cast"
# The control: one wrong digit in the vectors is noticed.
if [ "$ran" -gt 0 ]; then
  sed 's/-> 0x1957a7604e215178/-> 0x1957a7604e215179/' "$vectors" > "$work/bad"
  if "$work/check" "$work/bad" > "$work/out" 2>&1; then
    echo "the check accepts a wrong vector" >&2
    exit 1
  fi
fi
if command -v clang-14 > /dev/null; then
  # shellcheck disable=SC2086
  clang-14 -target bpf -mcpu=v3 -std=c11 $flags -c base/testdata/choice_bpf.c -o "$work/choice.o"
  undefined=$(readelf -sW "$work/choice.o" | awk '$7 == "UND" && $8 != ""' | wc -l)
  if [ "$undefined" -ne 0 ]; then
    echo "the BPF object needs outside symbols" >&2
    readelf -sW "$work/choice.o" >&2
    exit 1
  fi
  ran=$((ran + 1))
fi
[ "$ran" -gt 0 ] || { echo "needs a C compiler" >&2; exit 77; }
echo "choice.h agrees under $ran compilers"

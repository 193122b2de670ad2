#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# A dropped Result must not compile with warnings as errors, under either compiler; the twin that
# keeps it must.
set -eu
source=base/testdata/drop_result.cpp
ran=0
for compiler in g++ clang++-14; do
  command -v "$compiler" > /dev/null || continue
  ran=$((ran + 1))
  flags="-std=c++20 -Wall -Wextra -Werror -fsyntax-only -I base/include"
  # shellcheck disable=SC2086 # flags are words
  "$compiler" $flags -DKEEP "$source"
  for drop in DROP_VOID DROP_VALUE; do
    # shellcheck disable=SC2086
    if output=$("$compiler" $flags "-D$drop" "$source" 2>&1); then
      echo "$compiler accepts a dropped Result ($drop)" >&2
      exit 1
    fi
    case $output in
      *unused-result* | *nodiscard* | *unused-value*) ;;
      *)
        echo "$compiler fails for another reason ($drop): $output" >&2
        exit 1
        ;;
    esac
  done
done
[ "$ran" -gt 0 ] || { echo "needs g++ or clang++-14" >&2; exit 77; }
echo "dropped results are refused by $ran compilers"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# A proof of durability is made by stores alone: every way round them must not compile, under
# either compiler; an honest store must.
set -eu
source=raft/testdata/forged_durable.cpp
ran=0
for compiler in g++ clang++-14; do
  command -v "$compiler" > /dev/null || continue
  ran=$((ran + 1))
  flags="-std=c++20 -fsyntax-only -I base/include -I raft/include"
  # shellcheck disable=SC2086 # flags are words
  "$compiler" $flags -DHONEST "$source"
  for way in CONSTRUCT BRACES NOTHING OUTSIDE REDEFINE; do
    # shellcheck disable=SC2086
    if output=$("$compiler" $flags "-D$way" "$source" 2>&1); then
      echo "$compiler accepts a forged proof ($way)" >&2
      exit 1
    fi
    case $output in
      *private* | *protected* | *redefinition* | *"no matching"* | *"could not convert"*) ;;
      *"no viable conversion"* | *explicit*) ;;
      *)
        echo "$compiler fails for another reason ($way): $output" >&2
        exit 1
        ;;
    esac
  done
done
[ "$ran" -gt 0 ] || { echo "needs g++ or clang++-14" >&2; exit 77; }
echo "forged proofs are refused by $ran compilers"

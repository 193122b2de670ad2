#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What cmake/PromtactBuildInfo.cmake writes: the commit of our checkout and no other, dirty for
# everything but results/, and nothing rewritten when nothing changed.
set -eu
command -v git > /dev/null || { echo "needs git" >&2; exit 77; }
script=$PWD/cmake/PromtactBuildInfo.cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org

write() { # source directory
  cmake "-DSOURCE_DIR=$1" "-DOUTPUT=$work/values.hpp" -DVERSION=1.2.3 \
    "-DCOMPILER=g++ 12.2.0" '-DFLAGS= -O1 "-g" ' -DBUILD_TYPE=Dev -DPRESET=dev -P "$script"
}
expect() { # what, line
  grep -qxF "$2" "$work/values.hpp" && return 0
  echo "$1: no line '$2' in" >&2
  cat "$work/values.hpp" >&2
  exit 1
}

mkdir "$work/tree"
write "$work/tree"
expect "no checkout" '#define PROMTACT_BUILD_COMMIT "unknown"'
expect "no checkout" '#define PROMTACT_BUILD_DIRTY true'
expect "quotes are dropped, blanks trimmed" '#define PROMTACT_BUILD_FLAGS "-O1 -g"'

git -C "$work/tree" init -q
mkdir "$work/tree/results"
echo code > "$work/tree/code"
git -C "$work/tree" add -A
git -C "$work/tree" commit -qm first
head=$(git -C "$work/tree" rev-parse HEAD)
write "$work/tree"
expect "clean checkout" "#define PROMTACT_BUILD_COMMIT \"$head\""
expect "clean checkout" '#define PROMTACT_BUILD_DIRTY false'

touch -d 2001-01-01 "$work/values.hpp"
write "$work/tree"
if [ "$(date -r "$work/values.hpp" +%Y)" != 2001 ]; then
  echo "rewritten without a change" >&2
  exit 1
fi

echo result > "$work/tree/results/a.json"
write "$work/tree"
expect "new result" '#define PROMTACT_BUILD_DIRTY false'

echo more >> "$work/tree/code"
write "$work/tree"
expect "changed source" '#define PROMTACT_BUILD_DIRTY true'
git -C "$work/tree" checkout -q code
echo new > "$work/tree/new"
write "$work/tree"
expect "new source" '#define PROMTACT_BUILD_DIRTY true'
rm "$work/tree/new"

# A tarball unpacked inside somebody else's checkout.
mkdir "$work/tree/vendor"
write "$work/tree/vendor"
expect "foreign checkout" '#define PROMTACT_BUILD_COMMIT "unknown"'
expect "foreign checkout" '#define PROMTACT_BUILD_DIRTY true'

git -C "$work/tree" worktree add -q "$work/second"
write "$work/second"
expect "linked worktree" "#define PROMTACT_BUILD_COMMIT \"$head\""
expect "linked worktree" '#define PROMTACT_BUILD_DIRTY false'
echo "build facts follow the checkout"

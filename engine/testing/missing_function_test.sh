#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# A cluster that lacks a function does not compile, and both compilers say which one; the whole one
# compiles.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/promtact-missing.XXXXXX")
trap 'rm -rf "$work"' EXIT

# protocol FUNCTION: the smallest protocol, without that function.
protocol() {
  {
    echo '#include <promtact/engine/engine.hpp>'
    echo 'using namespace promtact;'
    echo 'struct Message {};'
    echo 'struct Cluster {'
    echo '  using Message = ::Message;'
    [ "$1" = nodes ] || echo '  std::span<const NodeId> nodes() const { return {}; }'
    [ "$1" = tick ] || echo '  void tick(NodeId) {}'
    [ "$1" = deliver ] || echo '  void deliver(NodeId, const Message&) {}'
    [ "$1" = drain ] || echo '  void drain(NodeId, engine::Outbox<Message>&) {}'
    [ "$1" = route ] || echo '  engine::Route route(const Message&) const { return {}; }'
    [ "$1" = digest ] || echo '  Digest128 digest(const Message&) const { return {}; }'
    echo '};'
    echo 'using One = engine::Engine<Cluster>;'
    echo 'bool run(One& one) { return one.step(); }'
  } >"$work/$1.cpp"
}
compile() { "$1" -std=c++20 -fsyntax-only -Iengine/include -Ibase/include "$work/$2.cpp" 2>"$work/log"; }

ran=0
for compiler in g++ clang++-14; do
  command -v "$compiler" >/dev/null || continue
  ran=$((ran + 1))
  protocol nothing
  compile "$compiler" nothing || { cat "$work/log"; exit 1; }
  for missing in nodes tick deliver drain route digest; do
    protocol "$missing"
    if compile "$compiler" "$missing"; then
      echo "$compiler accepts a protocol without $missing()"
      exit 1
    fi
    grep -Eq "the (cluster|wire) needs: .*$missing\(" "$work/log" || {
      echo "$compiler does not say that $missing() is missing:"
      cat "$work/log"
      exit 1
    }
  done
done
[ "$ran" -gt 0 ] || { echo "needs g++ or clang++-14" >&2; exit 77; }
echo "six missing functions are named by $ran compilers"

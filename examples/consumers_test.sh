#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Builds and runs the consumer projects, each the way its user would:
#   consumers_test.sh find_package <build tree>   from a clean install tree, CMake and pkg-config
#   consumers_test.sh fetchcontent <source tree>  inside another project, with every library present
#   consumers_test.sh pure <source tree>          the same with only xxhash.h present
set -euo pipefail
mode=$1
tree=$(cd "$2" && pwd)
examples=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/promtact-consumer.XXXXXX")
trap 'rm -rf "$work"' EXIT
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

quietly() {
  "$@" >"$work/log" 2>&1 && return
  cat "$work/log" >&2
  return 1
}
configure() { quietly cmake -G Ninja -S "$1" -B "$work/build" "${@:2}"; }
build() { quietly cmake --build "$work/build" --target "$@"; }

case $mode in
  find_package)
    cmake --install "$tree" --prefix "$work/prefix" >/dev/null
    configure "$examples/consumer_find_package" "-DCMAKE_PREFIX_PATH=$work/prefix"
    build decide latency ping
    "$work/build/decide"
    "$work/build/latency"
    "$work/build/ping"
    quietly cmake -G Ninja -S "$examples/custom_device" -B "$work/custom" "-DCMAKE_PREFIX_PATH=$work/prefix"
    quietly cmake --build "$work/custom"
    mkdir "$work/custom_log" "$work/custom_suite"
    "$work/custom/custom_log" "$work/custom_log"
    "$work/custom/custom_suite" "$work/custom_suite"
    # Negative control: a device that does not sync fails the suite, and in what it is about.
    cp -r "$examples/custom_device" "$work/careless"
    sed -i 's/synced_ = size_;/static_cast<void>(synced_);/' "$work/careless/append_file.hpp"
    quietly cmake -G Ninja -S "$work/careless" -B "$work/careless/build" "-DCMAKE_PREFIX_PATH=$work/prefix"
    quietly cmake --build "$work/careless/build" --target custom_suite
    if "$work/careless/build/custom_suite" "$work/custom_suite" >"$work/careless.log"; then
      echo "a device that never syncs passed the suite" >&2
      exit 1
    fi
    grep -q "FAILED AppendAndSyncAreDurable" "$work/careless.log"
    # What `promtact new` writes builds, passes its tests, and runs.
    "$work/prefix/bin/promtact" new "$work/quorum" >/dev/null
    quietly cmake -G Ninja -S "$work/quorum" -B "$work/quorum/build" "-DCMAKE_PREFIX_PATH=$work/prefix"
    quietly cmake --build "$work/quorum/build"
    quietly ctest --test-dir "$work/quorum/build" --output-on-failure
    "$work/quorum/build/quorum" sweep -c "$work/quorum/scenario.json" --seeds 50 >/dev/null 2>&1
    # Negative control: a component that does not exist is refused by name.
    cp -r "$examples/consumer_find_package" "$work/wrong"
    sed -i 's/COMPONENTS .*)/COMPONENTS no_such_part)/' "$work/wrong/CMakeLists.txt"
    if cmake -G Ninja -S "$work/wrong" -B "$work/wrong/build" "-DCMAKE_PREFIX_PATH=$work/prefix" \
      >"$work/log" 2>&1; then
      echo "an unknown component was accepted" >&2
      exit 1
    fi
    grep -q "no component 'no_such_part'" "$work/log"
    pc=$(dirname "$(find "$work/prefix" -name promtact-base.pc)")
    export PKG_CONFIG_PATH=$pc
    read -ra flags < <(pkg-config --cflags --libs promtact-base)
    "${CXX:-g++}" "$examples/consumer_find_package/latency.cpp" -o "$work/latency" "${flags[@]}"
    "$work/latency"
    pkg-config --exists --print-errors promtact
    ;;
  fetchcontent)
    configure "$examples/consumer_fetchcontent" "-DFETCHCONTENT_SOURCE_DIR_PROMTACT=$tree"
    build decide latency ping
    "$work/build/decide"
    "$work/build/latency"
    "$work/build/ping"
    ;;
  pure)
    mkdir "$work/no_packages"
    PKG_CONFIG_LIBDIR="$work/no_packages" configure "$examples/consumer_fetchcontent" \
      "-DFETCHCONTENT_SOURCE_DIR_PROMTACT=$tree" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON \
      -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON \
      -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON \
      -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON
    build decide ping
    "$work/build/decide"
    "$work/build/ping"
    ;;
  *)
    echo "usage: consumers_test.sh find_package|fetchcontent|pure <tree>" >&2
    exit 2
    ;;
esac

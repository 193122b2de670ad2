# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The commands of the umbrella binary, one file a line, and the other names it answers to. The table in promtact.cpp
# names the same commands.
set(commands
    commands/version.cpp
    commands/wal.cpp
    commands/wal_append.cpp
    commands/wal_create.cpp
    commands/wal_denied.cpp
    commands/wal_directory.cpp
    commands/wal_input.cpp
    commands/wal_look.cpp
    commands/wal_move.cpp
    commands/wal_repair.cpp
)
set(links
    promtact-seeds
    promtact-sim
)
if(PROMTACT_KERNEL)
  list(APPEND commands
       commands/bench.cpp
       commands/bench_common.cpp
       commands/evidence.cpp
       commands/evidence_run.cpp
       commands/gates.cpp
       commands/gates_text.cpp
       commands/probe.cpp
       commands/raw_bench.cpp
       commands/started.cpp
       commands/uring_bench.cpp
       commands/wal_bench.cpp
  )
  list(APPEND links
       promtact-probe
       promtact-raw-bench
       promtact-uring-bench
  )
endif()

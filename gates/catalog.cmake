# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The library all gates are compiled into, and what several of them share.
promtact_library(gate_catalog UNIT gates SOURCES catalog.cpp DEPENDS promtact::gates)
set(examples "${PROJECT_SOURCE_DIR}/examples")
target_include_directories(promtact_gate_catalog PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${examples}")
target_sources(promtact_gate_catalog PRIVATE
  storage_support/direct_target.cpp storage_support/durable_write.cpp storage_support/flush_evidence.cpp
  storage_support/guarded_path.cpp
  "${examples}/paxos/cluster.cpp" "${examples}/paxos/node.cpp" "${examples}/paxos/protocol.cpp"
  "${examples}/paxos/search.cpp")
promtact_test(gate_storage FILES storage_support/guarded_path_test.cpp storage_support/support_test.cpp
  DEPENDS promtact::gate_catalog promtact::uring)
promtact_test(catalog FILES catalog_test.cpp DEPENDS promtact::gate_catalog)

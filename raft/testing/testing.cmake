# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Cores with stores in memory, driven by hand.
if(PROMTACT_TESTS)
  promtact_test_support()
  add_library(raft_testing STATIC testing/network.cpp)
  promtact_settings(raft_testing)
  target_link_libraries(raft_testing PUBLIC promtact::raft promtact_test_main)
  target_include_directories(raft_testing PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/testing")
endif()
promtact_script_test(Raft.AForgedProofOfDurabilityDoesNotCompile
  COMMAND sh raft/testing/forged_durable_test.sh LABELS unit raft)

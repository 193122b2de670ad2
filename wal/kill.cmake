# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# A writer process that is killed again and again, and the ledger of what it said.
if(PROMTACT_TESTS)
  add_library(wal_kill STATIC testing/kill_ledger.cpp testing/kill_writer.cpp)
  promtact_settings(wal_kill)
  target_link_libraries(wal_kill PUBLIC promtact::wal_uring)
endif()
promtact_test(wal_kill KIND kernel FILES kill_kernel_test.cpp DEPENDS wal_kill)
promtact_test(wal_kill KIND campaign FILES kill_campaign.cpp DEPENDS wal_kill TIMEOUT 3600)

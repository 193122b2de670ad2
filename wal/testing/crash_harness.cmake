# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What the tests and the campaign of crash images share.
if(PROMTACT_TESTS)
  add_library(wal_crash_harness STATIC testing/crash_harness.cpp)
  promtact_settings(wal_crash_harness)
  target_link_libraries(wal_crash_harness PUBLIC promtact::wal)
endif()

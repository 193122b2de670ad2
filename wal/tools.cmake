# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What `promtact wal` is made of: explaining, dumping, repairing, exporting and filling a log through any storage.
promtact_library(wal_tools UNIT wal SOURCES
  explain.cpp repair.cpp repair_run.cpp
  DEPENDS promtact::wal PRIVATE fmt::fmt)
promtact_test(wal_tools FILES explain_test.cpp repair_test.cpp
  DEPENDS promtact::wal_tools TIMEOUT 300)

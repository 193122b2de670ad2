# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What `promtact wal` is made of: explaining, dumping, repairing, exporting and filling a log through any storage.
promtact_library(wal_tools UNIT wal SOURCES
  base64.cpp dump.cpp dump_blocks.cpp explain.cpp export.cpp export_reader.cpp export_writer.cpp fill.cpp
  migrate.cpp repair.cpp repair_run.cpp salvage.cpp
  DEPENDS promtact::wal PRIVATE fmt::fmt)
if(PROMTACT_TESTS OR PROMTACT_FUZZ)
  add_library(wal_allocation_peak OBJECT testing/allocation_peak.cpp)
  promtact_settings(wal_allocation_peak)
  target_compile_features(wal_allocation_peak PRIVATE cxx_std_20)
endif()
promtact_test(wal_tools FILES dump_test.cpp explain_test.cpp export_gaps_test.cpp export_test.cpp migrate_test.cpp
              repair_test.cpp
  DEPENDS promtact::wal_tools wal_allocation_peak TIMEOUT 300)
promtact_fuzz(wal log_fuzz.cpp DEPENDS promtact::wal_tools wal_allocation_peak)
promtact_fuzz(wal export_fuzz.cpp DEPENDS promtact::wal_tools)
# XXH3 crawls at -O1.
set_source_files_properties(frame.cpp frame_builder.cpp log_fuzz.cpp PROPERTIES COMPILE_OPTIONS -O2)
if(PROMTACT_TESTS AND NOT PROMTACT_FUZZ) # slow under the sanitizers
  set_tests_properties(fuzz-replay.log_fuzz fuzz-replay.export_fuzz PROPERTIES TIMEOUT 300)
endif()

# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Snapshots and importers: the part of promtact::wal that is not the log itself.
if(TARGET promtact_wal) # left out where a dependency of base is missing
  target_sources(promtact_wal PRIVATE
    import_backup.cpp import_log.cpp import_snapshot.cpp snapshot_decoder.cpp snapshot_error.cpp snapshot_format.cpp
    snapshot_pump.cpp snapshot_scan.cpp snapshot_store.cpp snapshot_writer.cpp snapshot_zstd.cpp)
endif()
promtact_use_if_present(wal PkgConfig::ZSTD PROMTACT_HAVE_ZSTD)
promtact_test(wal_snapshot FILES
  import_backup_test.cpp import_log_test.cpp import_snapshot_test.cpp snapshot_crash_test.cpp
  snapshot_error_test.cpp snapshot_format_test.cpp snapshot_resume_test.cpp snapshot_store_test.cpp
  snapshot_stream_test.cpp DEPENDS promtact::wal)
promtact_fuzz(wal import_fuzz.cpp DEPENDS promtact::wal)
promtact_fuzz(wal snapshot_fuzz.cpp DEPENDS promtact::wal)

# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The enumeration of crash images: a library, since a gate runs it too.
promtact_library(wal_crash UNIT wal SOURCES testing/crash_harness.cpp DEPENDS promtact::wal)

# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The device suite as a library, and its tests.
promtact_library(wal_testing UNIT wal
  SOURCES testing/content_properties.cpp testing/device_properties.cpp testing/device_suite.cpp testing/device_view.cpp
          testing/log_hand.cpp testing/log_properties.cpp testing/name_properties.cpp testing/request_properties.cpp
          testing/suite_hand.cpp
  DEPENDS promtact::wal promtact::wal_uring)
promtact_test(wal_testing
  FILES testing/broken_devices_test.cpp testing/broken_storages_test.cpp testing/device_storage_test.cpp
        testing/device_suite_test.cpp testing/given_storage_test.cpp
  DEPENDS promtact::wal_testing TIMEOUT 300)
promtact_test(wal_testing KIND kernel FILES testing/device_suite_kernel_test.cpp DEPENDS promtact::wal_testing)

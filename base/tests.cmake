# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The unit's tests and benchmarks, apart from the library they test.
if(PROMTACT_TESTS)
  add_library(promtact_base_probe_fixture STATIC testing/probe_fixture.cpp)
  promtact_settings(promtact_base_probe_fixture)
  target_link_libraries(promtact_base_probe_fixture PUBLIC promtact::base_pure)
endif()

promtact_test(base
  FILES assert_test.cpp atomic_file_test.cpp build_info_test.cpp bytes_test.cpp choice_test.cpp
        clock_test.cpp crc32c_test.cpp env_test.cpp error_text_test.cpp histogram_test.cpp
        json_reader_test.cpp kill_point_test.cpp log_test.cpp numbers_test.cpp probe_test.cpp progress_test.cpp
        read_file_test.cpp result_test.cpp scenario_test.cpp sha256_test.cpp storage_test.cpp
        strong_id_test.cpp sys_test.cpp trace_hash_test.cpp unique_fd_test.cpp units_test.cpp
        choice_statistics_test.cpp
  DEPENDS promtact::base promtact::build_info promtact_base_probe_fixture)
promtact_test(base_storage
  FILES block_device_test.cpp destroy_guard_test.cpp disk_watch_test.cpp mount_table_test.cpp scratch_file_test.cpp
  DEPENDS promtact::base)
promtact_test(base_storage KIND kernel
  FILES destroy_guard_kernel_test.cpp loop_device_test.cpp
  DEPENDS promtact::base)

if(PROMTACT_TESTS)
  promtact_executable(base_pure_headers SOURCES testing/pure_headers_main.cpp DEPENDS promtact::base_pure)
endif()
promtact_script_test(Base.PureHeadersNeedNothingLinked COMMAND base_pure_headers LABELS unit base)
promtact_script_test(Base.DroppedResultDoesNotCompile
  COMMAND sh base/testing/drop_result_test.sh LABELS unit base)
promtact_script_test(Base.ChoiceAgreesInCAndCppAndBpf
  COMMAND sh base/testing/choice_compilers_test.sh LABELS unit base)
promtact_script_test(Base.BuildInfoFollowsTheCheckout
  COMMAND sh base/testing/build_info_test.sh LABELS unit base)

promtact_fuzz(base json_reader_fuzz.cpp DEPENDS promtact::base)
promtact_fuzz(base numbers_fuzz.cpp DEPENDS promtact::base_pure)
promtact_bench(base FILES base_bench.cpp DEPENDS promtact::base)

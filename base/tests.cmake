# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What the unit's tests need besides their list: a static library with marks, and tests that are
# programs or scripts.
if(PROMTACT_TESTS)
  add_library(base_probe_fixture STATIC testing/probe_fixture.cpp)
  promtact_settings(base_probe_fixture)
  target_link_libraries(base_probe_fixture PUBLIC promtact::base_pure)
  promtact_executable(base_pure_headers SOURCES testing/pure_headers_main.cpp
                      DEPENDS promtact::base_pure)
endif()
promtact_script_test(Base.PureHeadersNeedNothingLinked
  COMMAND base_pure_headers LABELS unit base)
promtact_script_test(Base.DroppedResultDoesNotCompile
  COMMAND sh base/testing/drop_result_test.sh LABELS unit base)
promtact_script_test(Base.ChoiceAgreesInCAndCppAndBpf
  COMMAND sh base/testing/choice_compilers_test.sh LABELS unit base)
promtact_script_test(Base.BuildInfoFollowsTheCheckout
  COMMAND sh base/testing/build_info_test.sh LABELS unit base)

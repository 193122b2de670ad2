# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# promtact::gates: everything but the gates themselves. Touches no ring, namespace, program or device.
promtact_library(gates
  SOURCES gate.cpp text_table.cpp format.cpp
          record.cpp record_parts.cpp record_reader.cpp
          host_facts.cpp host_json.cpp host_kconfig.cpp host_name.cpp host_storage.cpp host_text.cpp
          temp_directory.cpp campaign.cpp campaign_writer.cpp
          isolated.cpp needs.cpp runner.cpp
          accepted.cpp freshness.cpp qualification.cpp compare.cpp
          evidence.cpp evidence_check.cpp evidence_host.cpp evidence_pages.cpp evidence_section.cpp
          figure_lint.cpp svg_chart.cpp
  DEPENDS promtact::base
  PRIVATE nlohmann_json::nlohmann_json ZLIB::ZLIB)
promtact_library_versions(promtact_gates)

promtact_test(gates
  FILES format_test.cpp record_test.cpp schema_test.cpp host_facts_test.cpp campaign_test.cpp
        runner_test.cpp runner_kill_test.cpp
        freshness_test.cpp qualification_test.cpp compare_test.cpp
        evidence_test.cpp evidence_check_test.cpp figure_lint_test.cpp svg_chart_test.cpp
  DEPENDS promtact::gates)

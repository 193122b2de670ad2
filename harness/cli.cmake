# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# What every program of ours is called with: flags, commands and their help.
promtact_library(cli UNIT harness
  SOURCES harness/argv.cpp harness/flags.cpp harness/umbrella.cpp harness/word.cpp
  DEPENDS promtact::base PRIVATE fmt::fmt CLI11::CLI11)
if(TARGET promtact_cli)
  target_include_directories(promtact_cli PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/harness>")
endif()

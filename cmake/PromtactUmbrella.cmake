# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The umbrella binary: its place and its other names.
include_guard()

# promtact_umbrella(<target> LINKS names...): puts the binary into <build>/bin beside links of these names, and
# installs both.
function(promtact_umbrella target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS")
  target_compile_definitions(${target} PRIVATE $<$<BOOL:${PROMTACT_KERNEL}>:PROMTACT_KERNEL>)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  foreach(link IN LISTS arg_LINKS)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND "${CMAKE_COMMAND}" -E create_symlink ${target} ${link}
                       WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/bin" VERBATIM)
  endforeach()
  if(NOT PROMTACT_INSTALL)
    return()
  endif()
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  foreach(link IN LISTS arg_LINKS)
    install(CODE "file(CREATE_LINK ${target}
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${link}\" SYMBOLIC)
      message(STATUS \"Installing: \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${link}\")")
  endforeach()
endfunction()

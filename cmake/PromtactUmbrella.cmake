# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The umbrella binary: its place and its other names.
include_guard()

# promtact_umbrella(<target> SOURCES ... DEPENDS ... LINKS names...): puts the binary into <build>/bin beside relative
# links of these names, and installs both. What sources, commands and tests of the unit share beyond the library's
# public face is set on promtact_harness.
function(promtact_umbrella target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINKS")
  get_target_property(type promtact_harness TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()
  target_include_directories(promtact_harness ${scope} "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>")
  target_compile_definitions(promtact_harness ${scope}
                             "$<BUILD_INTERFACE:$<$<BOOL:${PROMTACT_KERNEL}>:PROMTACT_KERNEL>>")
  promtact_executable(${target} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS})
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
    # DESTDIR and the prefix are known only when installing.
    install(CODE "set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${link}\")
file(CREATE_LINK ${target} \"\${link}\" SYMBOLIC)
message(STATUS \"Installing: \${link}\")")
  endforeach()
endfunction()

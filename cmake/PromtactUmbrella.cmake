# The umbrella binary: its place, the revision it was built from, and its other names.
include_guard()

# promtact_revision(<target>): the sources of the target may include "revision.hpp".
function(promtact_revision target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/revision/revision.hpp")
  add_custom_target(${target}_revision BYPRODUCTS "${output}"
                    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}"
                            -P "${PROJECT_SOURCE_DIR}/cmake/PromtactRevision.cmake"
                    COMMENT "" VERBATIM)
  add_dependencies(${target} ${target}_revision)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/revision")
  target_compile_definitions(${target} PRIVATE "PROMTACT_VERSION=\"${PROJECT_VERSION}\""
                             "PROMTACT_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\"")
endfunction()

# promtact_umbrella(<target> LINKS names...): puts the binary into <build>/bin beside links of these names, and
# installs both.
function(promtact_umbrella target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS")
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

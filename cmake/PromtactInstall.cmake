# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Install and export: headers, archives, promtactConfig.cmake with one component per library, and one pkg-config file
# per library. A dependency is looked up in the consumer only for the components it asks for.
include_guard()
include(CMakePackageConfigHelpers)

# The pkg-config file of one library: its archive, our libraries it uses, and the third-party modules.
function(promtact_write_pkg_config name links)
  get_target_property(type promtact_${name} TYPE)
  set(libs)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(libs "-L\${libdir} -lpromtact_${name}")
  endif()
  set(requires)
  foreach(link IN LISTS links)
    if(link MATCHES "^promtact::(.+)$")
      list(APPEND requires "promtact-${CMAKE_MATCH_1}")
    endif()
    foreach(row IN LISTS PROMTACT_DEPENDENCIES)
      string(REPLACE "|" ";" row "${row}")
      list(GET row 0 dependency)
      list(GET row 3 module)
      if(dependency STREQUAL link AND module)
        list(APPEND requires "${module}")
      endif()
    endforeach()
    if(link STREQUAL "Threads::Threads")
      string(APPEND libs " -pthread")
    endif()
  endforeach()
  list(JOIN requires " " requires)
  set(PROMTACT_PC_NAME "promtact-${name}")
  set(PROMTACT_PC_LIBS "${libs}")
  set(PROMTACT_PC_REQUIRES "${requires}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/promtact.pc.in" "${PROJECT_BINARY_DIR}/pc/promtact-${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pc/promtact-${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# promtact.pc: everything this build installed.
function(promtact_write_umbrella_pkg_config libraries)
  list(TRANSFORM libraries PREPEND "promtact-")
  list(JOIN libraries " " PROMTACT_PC_REQUIRES)
  set(PROMTACT_PC_NAME promtact)
  set(PROMTACT_PC_LIBS "")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/promtact.pc.in" "${PROJECT_BINARY_DIR}/pc/promtact.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pc/promtact.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# Called once, after every unit.
function(promtact_install_package)
  if(NOT PROMTACT_INSTALL)
    return()
  endif()
  get_property(libraries GLOBAL PROPERTY PROMTACT_LIBRARIES)
  get_property(header_dirs GLOBAL PROPERTY PROMTACT_HEADER_DIRS)
  list(REMOVE_DUPLICATES header_dirs)
  foreach(directory IN LISTS header_dirs)
    install(DIRECTORY "${directory}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
            FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  endforeach()

  file(RELATIVE_PATH PROMTACT_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  set(PROMTACT_COMPONENT_LINKS "")
  foreach(name IN LISTS libraries)
    get_property(links GLOBAL PROPERTY PROMTACT_LINKS_${name})
    install(TARGETS promtact_${name} EXPORT promtactTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    string(APPEND PROMTACT_COMPONENT_LINKS "set(_promtact_links_${name} \"${links}\")\n")
    promtact_write_pkg_config(${name} "${links}")
  endforeach()
  promtact_write_umbrella_pkg_config("${libraries}")

  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/promtact")
  install(EXPORT promtactTargets NAMESPACE promtact:: DESTINATION "${destination}")
  set(PROMTACT_COMPONENTS "${libraries}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/promtactConfig.cmake.in"
                                "${PROJECT_BINARY_DIR}/promtactConfig.cmake" INSTALL_DESTINATION "${destination}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/promtactConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/promtactConfig.cmake" "${PROJECT_BINARY_DIR}/promtactConfigVersion.cmake"
                "${PROJECT_SOURCE_DIR}/cmake/PromtactDependencies.cmake" DESTINATION "${destination}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/promtact")
endfunction()

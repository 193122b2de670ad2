# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Third-party libraries, looked up when the first target links them and not before: a consumer of base_pure needs
# xxhash.h and nothing else. A missing one is named together with its Debian package.
include_guard()

# Link name, how it is found, the Debian package, its pkg-config module. The installed package reads the same table.
set(PROMTACT_DEPENDENCIES
    "PkgConfig::URING|pkg:liburing>=2.3|liburing-dev|liburing"
    "PkgConfig::BPF|pkg:libbpf>=1.1|libbpf-dev|libbpf"
    "PkgConfig::NL_ROUTE|pkg:libnl-route-3.0>=3.7|libnl-route-3-dev|libnl-route-3.0"
    "PkgConfig::ISAL|pkg:libisal>=2.30|libisal-dev|libisal"
    "PkgConfig::SECCOMP|pkg:libseccomp>=2.5|libseccomp-dev|libseccomp"
    "ZLIB::ZLIB|cmake:ZLIB|zlib1g-dev|zlib"
    "PkgConfig::ZSTD|pkg:libzstd>=1.4|libzstd-dev|libzstd"
    "fmt::fmt|cmake:fmt|libfmt-dev|fmt"
    "nlohmann_json::nlohmann_json|cmake:nlohmann_json|nlohmann-json3-dev|nlohmann_json"
    "CLI11::CLI11|cmake:CLI11|libcli11-dev|CLI11"
    "OpenSSL::Crypto|cmake:OpenSSL|libssl-dev|libcrypto"
    "Threads::Threads|cmake:Threads|libc6-dev|"
    "GTest::gtest|cmake:GTest|libgtest-dev|gtest"
    "GTest::gmock|cmake:GTest|libgmock-dev|gmock"
    "benchmark::benchmark|cmake:benchmark|libbenchmark-dev|benchmark"
    "benchmark::benchmark_main|cmake:benchmark|libbenchmark-dev|benchmark")

# promtact_find_dependency(<link name> <missing>): makes the imported target; otherwise sets <missing> to a sentence
# that names the package. Other names (our own targets, plain libraries) are none of its business.
function(promtact_find_dependency link missing)
  set(${missing} "" PARENT_SCOPE)
  if(TARGET "${link}")
    return()
  endif()
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
  foreach(row IN LISTS PROMTACT_DEPENDENCIES)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    if(NOT name STREQUAL link)
      continue()
    endif()
    list(GET row 1 how)
    list(GET row 2 package)
    if(how MATCHES "^pkg:(.+)$")
      set(module "${CMAKE_MATCH_1}")
      find_package(PkgConfig REQUIRED)
      string(REPLACE "PkgConfig::" "" prefix "${name}")
      pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL "${module}")
    elseif(how MATCHES "^cmake:(.+)$")
      set(module "${CMAKE_MATCH_1}")
      find_package(${module} QUIET)
    endif()
    if(NOT TARGET "${link}")
      set(${missing} "${module} not found: apt-get install ${package} (or run `make setup`)" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# promtact_use(<scope> <target> <link...>): target_link_libraries() that finds what it links.
function(promtact_use scope target)
  foreach(link IN LISTS ARGN)
    promtact_find_dependency("${link}" missing)
    if(missing)
      message(FATAL_ERROR "${target}: ${missing}")
    endif()
  endforeach()
  target_link_libraries(${target} ${scope} ${ARGN})
endfunction()

# promtact_use_if_present(<name> <link> <definition>): an optional dependency of library <name>; <definition> is set for
# its own sources when the dependency is there.
function(promtact_use_if_present name link definition)
  promtact_find_dependency("${link}" missing)
  if(missing)
    message(STATUS "promtact::${name}: ${missing}; built without it")
    return()
  endif()
  target_link_libraries(promtact_${name} PRIVATE "${link}")
  target_compile_definitions(promtact_${name} PRIVATE ${definition})
  set_property(GLOBAL APPEND PROPERTY PROMTACT_LINKS_${name} "${link}")
endfunction()

find_path(PROMTACT_XXHASH_INCLUDE xxhash.h)
if(NOT PROMTACT_XXHASH_INCLUDE)
  message(FATAL_ERROR "xxhash.h not found: apt-get install libxxhash-dev (or run `make setup`)")
endif()

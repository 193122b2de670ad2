# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# The few functions every unit's CMakeLists.txt is written in. A unit states what it is made of and what it may
# see; include directories, warnings, aliases, install rules and test registration follow from that.
include_guard()
include(GNUInstallDirs)
include(PromtactDependencies)

set(PROMTACT_WARNINGS
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast> $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
    # g++ 12 reports every std::variant of strings as maybe uninitialised once it inlines; clang and ASan watch instead.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>
    $<$<BOOL:${PROMTACT_WERROR}>:-Werror>)
if(NOT PROJECT_IS_TOP_LEVEL) # g++ 12 warns of its own std::string at -O2; our presets say so themselves
  list(APPEND PROMTACT_WARNINGS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
endif()

# Compile settings of our own targets. Nothing here is exported to a consumer.
function(promtact_settings target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                                  POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE ${PROMTACT_WARNINGS} -fno-omit-frame-pointer
                         "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  if(PROMTACT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PROMTACT_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${PROMTACT_SANITIZE})
  endif()
  if(PROMTACT_FUZZ) # what is fuzzed must report coverage too, not only the target's own file
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# promtact_library(<name> [INTERFACE] [UNIT <folder>] [SOURCES ...] [DEPENDS public...] [PRIVATE private...])
# Makes promtact_<name> with alias promtact::<name>. UNIT is the folder that owns include/ (default: the name).
# Inside another project a library whose dependencies are absent is left out, so that only what is linked is required.
function(promtact_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERFACE" "UNIT" "SOURCES;DEPENDS;PRIVATE")
  set(target promtact_${name})
  if(NOT arg_UNIT)
    set(arg_UNIT ${name})
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL)
    foreach(link IN LISTS arg_DEPENDS arg_PRIVATE)
      promtact_find_dependency("${link}" missing)
      if(NOT missing AND link MATCHES "^promtact::" AND NOT TARGET "${link}")
        set(missing "${link} is left out")
      endif()
      if(missing)
        message(STATUS "promtact::${name} is left out: ${missing}")
        return()
      endif()
    endforeach()
  endif()
  set(headers "${PROJECT_SOURCE_DIR}/${arg_UNIT}/include")
  if(arg_INTERFACE)
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    promtact_settings(${target})
    promtact_use(PRIVATE ${target} ${arg_PRIVATE})
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${headers}>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  promtact_use(${scope} ${target} ${arg_DEPENDS})
  add_library(promtact::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY PROMTACT_LIBRARIES ${name})
  set_property(GLOBAL PROPERTY PROMTACT_LINKS_${name} ${arg_DEPENDS} ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY PROMTACT_HEADER_DIRS "${headers}")
endfunction()

# promtact_executable(<name> SOURCES ... DEPENDS ...)
function(promtact_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  promtact_settings(${name})
  target_compile_features(${name} PRIVATE cxx_std_20)
  promtact_use(PRIVATE ${name} ${arg_DEPENDS})
endfunction()

# Files that other files include but a tool writes (BPF skeletons) hang below this target, so that clang-tidy can have
# them without a build.
add_custom_target(promtact_generated)

# The precompiled gtest header, built once for every test binary.
function(promtact_test_support)
  if(TARGET promtact_test_main)
    return()
  endif()
  add_library(promtact_test_main STATIC "${PROJECT_SOURCE_DIR}/base/testing/test_main.cpp"
              "${PROJECT_SOURCE_DIR}/base/testing/test_paths.cpp")
  promtact_settings(promtact_test_main)
  target_compile_features(promtact_test_main PUBLIC cxx_std_20)
  promtact_use(PUBLIC promtact_test_main GTest::gmock GTest::gtest Threads::Threads)
  target_include_directories(promtact_test_main PUBLIC "${PROJECT_SOURCE_DIR}/base/testing")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/base/testing/test_paths.cpp" PROPERTIES COMPILE_DEFINITIONS
    "PROMTACT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";PROMTACT_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  # Owned by an executable, since a library's position-independent code is a different setting.
  add_executable(promtact_test_pch "${PROJECT_SOURCE_DIR}/base/testing/test_pch.cpp")
  promtact_settings(promtact_test_pch)
  promtact_use(PRIVATE promtact_test_pch promtact_test_main)
  target_precompile_headers(promtact_test_pch PRIVATE <gtest/gtest.h> <gmock/gmock.h> <string> <vector>)
endfunction()

# promtact_test(<unit> [KIND unit|kernel|campaign|slow] [SLOW regex] FILES ... DEPENDS ... [TIMEOUT s])
# One gtest binary per unit and kind: <unit>_tests or <unit>_<kind>_tests. Every case becomes a ctest test named
# Suite.Case; a case that skips exits 77 with its reason. Kernel tests share one lock, also with other build trees.
# Cases whose name matches SLOW are labelled slow instead of their kind: `make test` leaves them to CI.
function(promtact_test unit)
  if(NOT PROMTACT_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND;SLOW;TIMEOUT" "FILES;DEPENDS")
  if(NOT arg_KIND)
    set(arg_KIND unit)
  endif()
  if(NOT arg_SLOW)
    set(arg_SLOW "^$")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
    if(NOT arg_KIND STREQUAL "unit")
      set(arg_TIMEOUT 900)
    endif()
  endif()
  promtact_test_support()
  set(target ${unit}_tests)
  if(NOT arg_KIND STREQUAL "unit")
    set(target ${unit}_${arg_KIND}_tests)
  endif()
  add_executable(${target} ${arg_FILES})
  promtact_settings(${target})
  promtact_use(PRIVATE ${target} promtact_test_main ${arg_DEPENDS})
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
  target_precompile_headers(${target} REUSE_FROM promtact_test_pch)
  set(lock)
  if(arg_KIND STREQUAL "kernel")
    set(lock RESOURCE_LOCK kernel)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} ${lock})
  # Two labels given above would be flattened into the property list, and silently take the lock and the timeout with
  # them; so they are set by a file that ctest reads after the discovered tests.
  set(labels "${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake")
  file(CONFIGURE OUTPUT "${labels}" @ONLY CONTENT [[
foreach(test IN LISTS @target@_TESTS)
  set(kind @arg_KIND@)
  if(test MATCHES "@arg_SLOW@")
    set(kind slow)
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS "${kind};@unit@")
endforeach()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    set_property(GLOBAL APPEND PROPERTY PROMTACT_TEST_FILES "${file}")
  endforeach()
endfunction()

# promtact_script_test(<name> COMMAND ... [LABELS ...] [TIMEOUT s]): a test that is a program; 77 means skipped.
function(promtact_script_test name)
  if(NOT PROMTACT_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "KERNEL" "TIMEOUT" "COMMAND;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT})
  if(arg_KERNEL)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK kernel)
  endif()
endfunction()

# promtact_bench(<unit> FILES ... DEPENDS ...): a Google Benchmark binary <unit>_bench.
function(promtact_bench unit)
  if(NOT PROMTACT_BENCH)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES;DEPENDS")
  add_executable(${unit}_bench ${arg_FILES})
  promtact_settings(${unit}_bench)
  promtact_use(PRIVATE ${unit}_bench benchmark::benchmark benchmark::benchmark_main ${arg_DEPENDS})
  if(PROMTACT_TESTS)
    add_test(NAME bench-smoke.${unit} COMMAND ${unit}_bench --benchmark_min_time=0.001)
    set_tests_properties(bench-smoke.${unit} PROPERTIES LABELS "bench-smoke;${unit}" TIMEOUT 120)
  endif()
endfunction()

# promtact_fuzz(<unit> <file> DEPENDS ...): with PROMTACT_FUZZ a libFuzzer binary <stem>; otherwise the same entry point
# linked with a replay main that runs the checked-in corpus <unit>/corpus/<stem>/ and seeded random inputs as a test.
function(promtact_fuzz unit file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEPENDS")
  cmake_path(GET file STEM stem)
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${stem}")
  if(PROMTACT_FUZZ)
    add_executable(${stem} ${file})
    promtact_settings(${stem})
    target_compile_options(${stem} PRIVATE -fsanitize=fuzzer)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    promtact_use(PRIVATE ${stem} ${arg_DEPENDS})
    file(APPEND "${PROJECT_BINARY_DIR}/fuzz_targets.txt" "${stem} ${CMAKE_CURRENT_BINARY_DIR}/${stem} ${corpus}\n")
  elseif(PROMTACT_TESTS)
    add_executable(${stem}_replay ${file} "${PROJECT_SOURCE_DIR}/base/testing/fuzz_replay_main.cpp")
    promtact_settings(${stem}_replay)
    promtact_use(PRIVATE ${stem}_replay ${arg_DEPENDS})
    add_test(NAME fuzz-replay.${stem} COMMAND ${stem}_replay "${corpus}")
    set_tests_properties(fuzz-replay.${stem} PROPERTIES LABELS "unit;fuzz;${unit}" TIMEOUT 60)
  endif()
endfunction()

# A *_test.cpp that no CMakeLists.txt names would silently never run: refuse to configure.
function(promtact_check_registered_tests)
  if(NOT PROMTACT_TESTS OR NOT PROMTACT_KERNEL)
    return()
  endif()
  get_property(registered GLOBAL PROPERTY PROMTACT_TEST_FILES)
  file(GLOB_RECURSE found RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/*_test.cpp")
  foreach(file IN LISTS found)
    if(file MATCHES "^(build|examples)" OR "${PROJECT_SOURCE_DIR}/${file}" IN_LIST registered)
      continue()
    endif()
    message(FATAL_ERROR "${file} is not registered: name it in a promtact_test() call of its unit's CMakeLists.txt")
  endforeach()
endfunction()

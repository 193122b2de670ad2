# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# BPF programs: C compiled by clang for the BPF target, then a C++ skeleton made by bpftool.
include_guard()

find_program(PROMTACT_BPF_CLANG NAMES clang-14 clang clang-15 clang-16 clang-17 clang-18 clang-19)
find_program(PROMTACT_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin)
find_program(PROMTACT_LLVM_STRIP NAMES llvm-strip-14 llvm-strip llvm-strip-15 llvm-strip-16 llvm-strip-17 llvm-strip-18
                                       llvm-strip-19)

# promtact_bpf_object(<name> <file> FOR <target> [DEPENDS headers...])
# Compiles <file> and gives <target> the header <name>.skel.h in a SYSTEM directory of the build tree. Include it in one
# .cpp only: it is C-style code, and it needs libbpf.
function(promtact_bpf_object name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FOR" "DEPENDS")
  foreach(tool IN ITEMS PROMTACT_BPF_CLANG=clang PROMTACT_BPFTOOL=bpftool PROMTACT_LLVM_STRIP=llvm)
    string(REPLACE "=" ";" tool "${tool}")
    list(GET tool 0 variable)
    list(GET tool 1 package)
    if(NOT ${variable})
      message(FATAL_ERROR "BPF programs need ${package}: apt-get install ${package} (or run `make setup`)")
    endif()
  endforeach()
  cmake_path(ABSOLUTE_PATH file NORMALIZE)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/skeletons")
  set(object "${directory}/${name}.bpf.o")
  set(skeleton "${directory}/${name}.skel.h")
  set(multiarch)
  if(CMAKE_C_LIBRARY_ARCHITECTURE OR CMAKE_CXX_LIBRARY_ARCHITECTURE)
    set(multiarch "-I/usr/include/${CMAKE_CXX_LIBRARY_ARCHITECTURE}")
  endif()
  file(MAKE_DIRECTORY "${directory}")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${PROMTACT_BPF_CLANG}" -g -O2 -target bpf -mcpu=v3 -std=gnu11 -Wall -Wextra -Werror ${multiarch}
            "-I${PROJECT_SOURCE_DIR}/base/include" "-I${CMAKE_CURRENT_SOURCE_DIR}/include"
            "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." -MD -MF "${object}.d" -c "${file}" -o "${object}"
    COMMAND "${PROMTACT_LLVM_STRIP}" -g "${object}"
    DEPENDS "${file}" ${arg_DEPENDS}
    DEPFILE "${object}.d"
    COMMENT "Compiling BPF object ${name}"
    VERBATIM)
  add_custom_command(
    OUTPUT "${skeleton}"
    COMMAND "${PROMTACT_BPFTOOL}" gen skeleton "${object}" name "${name}" > "${skeleton}"
    DEPENDS "${object}"
    COMMENT "Making BPF skeleton ${name}"
    VERBATIM)
  add_custom_target(promtact_skeleton_${name} DEPENDS "${skeleton}")
  add_dependencies(promtact_generated promtact_skeleton_${name})
  add_dependencies(${arg_FOR} promtact_skeleton_${name})
  target_sources(${arg_FOR} PRIVATE "${skeleton}")
  target_include_directories(${arg_FOR} SYSTEM PRIVATE "${directory}")
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Files that become part of the program: the project that `promtact new` writes, and the viewer's page. Sets embedded to
# the sources that hold them.
set(PROMTACT_SKELETON_ROWS "")
foreach(file IN ITEMS CMakeLists.txt README.md cluster.hpp main.cpp protocol.hpp protocol_test.cpp run.hpp
        scenario.json)
  set(path "${CMAKE_CURRENT_SOURCE_DIR}/skeleton/${file}.in")
  configure_file("${path}" "skeleton/${file}" COPYONLY) # for the tests
  file(READ "${path}" text)
  string(APPEND PROMTACT_SKELETON_ROWS
         "        SkeletonFile{\"${file}\", R\"promtact(${text})promtact\"},\n")
endforeach()
file(READ viewer/viewer.html PROMTACT_VIEWER_PAGE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/viewer/viewer.html")
set(embedded)
foreach(pair IN ITEMS skeleton_files:PROMTACT_SKELETON_ROWS viewer/viewer_page:PROMTACT_VIEWER_PAGE)
  string(REGEX MATCH "^(.*):(.*)$" pair "${pair}")
  set(value "${${CMAKE_MATCH_2}}")
  file(READ "${CMAKE_MATCH_1}.cpp.in" text)
  string(REPLACE "@${CMAKE_MATCH_2}@" "${value}" text "${text}")
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_MATCH_1}.cpp" CONTENT "${text}")
  list(APPEND embedded "${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_MATCH_1}.cpp")
endforeach()

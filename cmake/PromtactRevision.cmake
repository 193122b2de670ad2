# Run at every build: cmake -DSOURCE=<dir> -DOUTPUT=<file> -P PromtactRevision.cmake
# Writes which commit is being built. The file changes only when the answer does, so an unchanged tree rebuilds nothing.
set(revision "unknown")
set(committed "unknown")
set(modified "false")
find_program(GIT git)
if(GIT)
  # A tarball unpacked inside somebody else's repository must not take that repository's commit.
  execute_process(COMMAND "${GIT}" rev-parse --show-toplevel WORKING_DIRECTORY "${SOURCE}"
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND "${GIT}" log -1 "--format=%H %cI" WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(head MATCHES "^([0-9a-f]+) ([0-9TZ:+-]+)$")
      set(revision "${CMAKE_MATCH_1}")
      set(committed "${CMAKE_MATCH_2}")
    endif()
    execute_process(COMMAND "${GIT}" status --porcelain --untracked-files=no WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(modified "true")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#define PROMTACT_REVISION "@revision@"
#define PROMTACT_REVISION_TIME "@committed@"
#define PROMTACT_REVISION_MODIFIED @modified@
]])

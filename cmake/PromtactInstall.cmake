# Install, export and find_package support.
include_guard()
function(promtact_install_package)
endfunction()

# hcasim_chart_library(<file>)
#   writes Vega, as far as the report uses it, to the file; an empty file when it is not installed.
#
# Debian has Vega in modules that ask each other through require(). Here each becomes a function, and a few lines play
# require() and put together what the entry module of the full package does.
set(hcasim_vega_modules util time format loader dataflow canvas scale scenegraph event-selector expression statistics
    selection functions runtime parser view transforms view-transforms encode)

function(hcasim_chart_library file)
  find_path(HCASIM_VEGA vega-parser.min.js PATH_SUFFIXES share/javascript/vega
            DOC "directory with the modules of Vega (Debian: libjs-vega)")
  mark_as_advanced(HCASIM_VEGA)
  set(text "")
  if(HCASIM_VEGA)
    set(text "var vega = (function () {\n'use strict';\nconst modules = {};\n")
    foreach(module IN LISTS hcasim_vega_modules)
      set(source "${HCASIM_VEGA}/vega-${module}.min.js")
      if(NOT EXISTS "${source}")
        message(STATUS "the report will have no charts: there is no ${source}")
        set(text "")
        break()
      endif()
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
      file(READ "${source}" code)
      # The map is not there, and a browser would say so.
      string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" code "${code}")
      string(APPEND text "modules['vega-${module}'] = function (exports, module, require) {\n" "${code}" "\n};\n")
    endforeach()
    if(text)
      file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/chart_modules.js" code)
      string(APPEND text "${code}" "}());\n")
    endif()
  endif()
  set(before "")
  if(EXISTS "${file}")
    file(READ "${file}" before)
  endif()
  if(NOT EXISTS "${file}" OR NOT before STREQUAL text)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()

# Libraries of the tool side, all from Debian 12, all linked statically or header-only.
find_package(Threads REQUIRED)

# fmt ships as a shared library only: its header-only form keeps the program free of it.
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
add_library(fmt_static INTERFACE)
target_compile_definitions(fmt_static INTERFACE FMT_HEADER_ONLY)
target_include_directories(fmt_static SYSTEM INTERFACE ${FMT_INCLUDE_DIR})

foreach(library sqlite3 zstd xxhash z)
  find_library(${library}_ARCHIVE lib${library}.a REQUIRED)
  add_library(${library}_static INTERFACE)
  target_link_libraries(${library}_static INTERFACE ${${library}_ARCHIVE})
endforeach()
target_link_libraries(sqlite3_static INTERFACE z_static m ${CMAKE_DL_LIBS} Threads::Threads)

# The demangler that hands its text over in pieces, so that it can be stopped (base/demangled.cpp).
# libstdc++ has it in its archive alone; tests link the shared library, so it is taken out of there.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
  OUTPUT_VARIABLE cxx_archive OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(demangler_folder ${CMAKE_BINARY_DIR}/demangler)
set(DEMANGLER_ARCHIVE ${demangler_folder}/libdemangler.a)
if(NOT EXISTS ${DEMANGLER_ARCHIVE} OR cxx_archive IS_NEWER_THAN ${DEMANGLER_ARCHIVE})
  file(MAKE_DIRECTORY ${demangler_folder})
  execute_process(COMMAND ${CMAKE_AR} x ${cxx_archive} cp-demangle.o
    WORKING_DIRECTORY ${demangler_folder} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_AR} rcs ${DEMANGLER_ARCHIVE} cp-demangle.o
    WORKING_DIRECTORY ${demangler_folder} COMMAND_ERROR_IS_FATAL ANY)
endif()
add_library(demangler_static INTERFACE)
target_link_libraries(demangler_static INTERFACE ${DEMANGLER_ARCHIVE})

# Cairo with FreeType for the PNG charts: pkg-config knows the long list of archives. Debian has none
# for Windows, where charts are SVG.
if(WIN32)
  return()
endif()
pkg_check_modules(CAIRO REQUIRED cairo cairo-ft freetype2)
set(cairo_archives "")
foreach(library ${CAIRO_STATIC_LIBRARIES})
  if(NOT library MATCHES "^(c|m|dl|pthread)$")
    find_library(cairo_${library}_ARCHIVE lib${library}.a HINTS ${CAIRO_STATIC_LIBRARY_DIRS} REQUIRED)
    list(APPEND cairo_archives ${cairo_${library}_ARCHIVE})
  endif()
endforeach()
list(REMOVE_DUPLICATES cairo_archives)
add_library(cairo_static INTERFACE)
target_include_directories(cairo_static SYSTEM INTERFACE ${CAIRO_INCLUDE_DIRS})
target_link_libraries(cairo_static INTERFACE
  -Wl,--start-group ${cairo_archives} -Wl,--end-group m Threads::Threads)

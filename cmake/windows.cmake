# Toolchain of the preset windows: Debian's mingw-w64 with POSIX threads, the libraries that
# tools/windows_sysroot.sh makes, and wine to run the program.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

get_filename_component(BATCHLIGHT_WINDOWS_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/windows-sysroot ABSOLUTE)
if(NOT EXISTS ${BATCHLIGHT_WINDOWS_SYSROOT}/complete)
  message(FATAL_ERROR "There is no ${BATCHLIGHT_WINDOWS_SYSROOT}: run tools/windows_sysroot.sh first.")
endif()
set(CMAKE_FIND_ROOT_PATH ${BATCHLIGHT_WINDOWS_SYSROOT} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Windows 10, whose programs may ask for UTF-8; large files; what base/windows/posix adds to the C
# library. Its widths of numbers are not those that our warnings are made for.
add_compile_definitions(_WIN32_WINNT=0x0A00 WINVER=0x0A00 _FILE_OFFSET_BITS=64 _POSIX_THREAD_SAFE_FUNCTIONS
  NOMINMAX WIN32_LEAN_AND_MEAN __USE_MINGW_ANSI_STDIO=1)
include_directories(BEFORE SYSTEM ${CMAKE_CURRENT_LIST_DIR}/../src/base/windows/posix)
include_directories(SYSTEM ${BATCHLIGHT_WINDOWS_SYSROOT}/include)

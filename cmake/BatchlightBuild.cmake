# Language, warnings, sanitizers, compiler cache, static linking: what every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are told apart by their content; that macros may be defined between is ours
  # to avoid (BatchlightHeaders).
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  # What is shipped carries no path of the build machine.
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
endif()
# False alarms on std::string in GCC 12 (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)  # x86-64 without -march rounds after each product
  add_compile_options(-ffp-contract=off)
endif()
if(WIN32)  # its C library counts bytes in int
  add_compile_options(-Wno-conversion)
endif()
if(BATCHLIGHT_WERROR)
  add_compile_options(-Werror)
endif()
if(BATCHLIGHT_SANITIZE)
  add_compile_options(-fsanitize=${BATCHLIGHT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${BATCHLIGHT_SANITIZE})
endif()
if(BATCHLIGHT_FUZZ)
  # Coverage of the libraries, not only of the harness, is what leads libFuzzer.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=lld)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include_directories(${CMAKE_SOURCE_DIR}/src)

# batchlight_headers(target [TESTS]): the standard library's headers (and GoogleTest's), read once for
# all targets instead of in each file, which is half of the time that a compiler takes for one of ours.
# A file still includes what it uses: the `tidy` build compiles each by itself. What is injected has its
# own (src/inject), since it is compiled with flags of its own.
set(BATCHLIGHT_STANDARD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdio> <cstdlib>
  <cstring> <filesystem> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span>
  <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

# One target for each kind of code (libraries, tests) whose headers the others share: the compiler takes
# them only where its flags are the same.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "int main() { return 0; }\n")
add_library(library_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
target_precompile_headers(library_headers PRIVATE ${BATCHLIGHT_STANDARD_HEADERS})
if(BATCHLIGHT_TESTS)
  find_package(GTest REQUIRED)
  add_executable(test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(test_headers PRIVATE GTest::gtest)
  target_precompile_headers(test_headers PRIVATE ${BATCHLIGHT_STANDARD_HEADERS} <gtest/gtest.h>)
endif()

function(batchlight_headers target)
  if("TESTS" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM test_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM library_headers)
  endif()
endfunction()

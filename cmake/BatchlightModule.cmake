# batchlight_module(store SOURCES a.cpp ... TESTS a_test.cpp ... DEPS base LIBS <other targets>
#                   [SANITIZE])
#
# A folder of src/ as a static library `bl_store` and, when tests are on, one test program
# `store_test` with the unit tests that lie beside the sources. SANITIZE adds the test to those that
# test.sh also runs under the sanitizers (target sanitizer_tests, label sanitizer).
add_custom_target(sanitizer_tests)

# What catches a test that hangs, on the slowest and busiest machine: tests have limits of their own
# for each thing that they wait for, and say which one it was.
set(BATCHLIGHT_TEST_SECONDS 1200)

function(batchlight_sanitizer_test test target)
  set_tests_properties(${test} PROPERTIES LABELS sanitizer)
  add_dependencies(sanitizer_tests ${target})
endfunction()

# The same for what was made sure of under AddressSanitizer and UndefinedBehaviorSanitizer only.
function(batchlight_address_test test target)
  if(NOT BATCHLIGHT_SANITIZE MATCHES "thread")
    batchlight_sanitizer_test(${test} ${target})
  endif()
endfunction()

function(batchlight_module name)
  cmake_parse_arguments(ARG "SANITIZE" "" "SOURCES;TESTS;DEPS;LIBS" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND bl_)
  if(ARG_SOURCES)
    add_library(bl_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(bl_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} Threads::Threads)
  else()
    add_library(bl_${name} INTERFACE)
    target_link_libraries(bl_${name} INTERFACE ${ARG_DEPS} ${ARG_LIBS})
  endif()
  if(BATCHLIGHT_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE bl_${name} GTest::gtest GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE BATCHLIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${BATCHLIGHT_TEST_SECONDS})
    if(ARG_SANITIZE)
      batchlight_sanitizer_test(${name} ${name}_test)
    endif()
  endif()
endfunction()

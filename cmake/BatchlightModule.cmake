# batchlight_module(store ROOMS <folders> HOT a.cpp ... SOURCES b.cpp ... TESTS a_test.cpp ... DEPS base
#                   LIBS <other targets> [SANITIZE | SANITIZE_ADDRESS])
#
# A folder of src/ as a static library `bl_store` and, when tests are on, one test program
# `store_test` with the unit tests that lie beside the sources. SANITIZE adds the test to those that
# test.sh also runs under the sanitizers (target sanitizer_tests, label sanitizer), SANITIZE_ADDRESS to
# those of AddressSanitizer alone: what links all analyses takes too long to compile twice. HOT: what is
# measurably slower at -O1, which a release build gives all other sources. A large module has
# rooms: folders whose sources and tests belong to it, listed by batchlight_room in each.
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

# The unit tests of a module: one program, made when its first test is named.
function(batchlight_unit_tests module)
  if(NOT BATCHLIGHT_TESTS OR NOT ARGN)
    return()
  endif()
  if(NOT TARGET ${module}_test)
    add_executable(${module}_test)
    target_link_libraries(${module}_test PRIVATE bl_${module} GTest::gtest GTest::gtest_main)
    target_compile_definitions(${module}_test PRIVATE BATCHLIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    batchlight_headers(${module}_test TESTS)
    set_target_properties(${module}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    add_test(NAME ${module} COMMAND ${module}_test)
    set_tests_properties(${module} PROPERTIES TIMEOUT ${BATCHLIGHT_TEST_SECONDS})
  endif()
  target_sources(${module}_test PRIVATE ${ARGN})
endfunction()

# One compilation for the sources of a folder (BATCHLIGHT_UNITY: all builds but a developer's dev): what
# they include is read once, and what they make of the same templates is made once. A name local to a
# file is so local to its folder. A developer's dev build compiles each source by itself: one that lacks
# an include fails there, one whose names stand twice in its folder fails here. Long
# folders are cut, since a compiler that runs alone at the end keeps the other processors waiting.
set(BATCHLIGHT_UNITY_SOURCES 12)

function(batchlight_unity target)
  if(NOT BATCHLIGHT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A name within a function may stand for something else in another file.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # it takes an included source for a header
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set(rooms "")
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${folder} is_generated)
    if(is_generated)
      continue()
    endif()
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE room)
    string(MAKE_C_IDENTIFIER ${room} room)
    list(APPEND rooms ${room})
    list(APPEND ${room}_sources ${source})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room ${rooms})
    list(LENGTH ${room}_sources count)
    math(EXPR parts "(${count} + ${BATCHLIGHT_UNITY_SOURCES} - 1) / ${BATCHLIGHT_UNITY_SOURCES}")
    set(number 0)
    foreach(source ${${room}_sources})
      math(EXPR part "${number} * ${parts} / ${count}")
      math(EXPR number "${number} + 1")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room}_${part})
    endforeach()
  endforeach()
endfunction()

# For all but HOT sources: optimization is most of the time of a build, and -O1 takes a third off a file's.
set(BATCHLIGHT_COLD_OPTIONS "")
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(BATCHLIGHT_COLD_OPTIONS -O1)
endif()

function(batchlight_module name)
  cmake_parse_arguments(ARG "SANITIZE;SANITIZE_ADDRESS" "" "ROOMS;HOT;SOURCES;TESTS;DEPS;LIBS" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND bl_)
  if(ARG_HOT OR ARG_SOURCES OR ARG_ROOMS)
    add_library(bl_${name} STATIC)
    target_link_libraries(bl_${name} PUBLIC ${ARG_DEPS} ${ARG_LIBS} Threads::Threads)
    target_compile_options(bl_${name} PRIVATE ${BATCHLIGHT_COLD_OPTIONS})
    batchlight_headers(bl_${name})
    batchlight_sources(${name} "${ARG_SOURCES}" "${ARG_HOT}")
  else()
    add_library(bl_${name} INTERFACE)
    target_link_libraries(bl_${name} INTERFACE ${ARG_DEPS} ${ARG_LIBS})
  endif()
  batchlight_unit_tests(${name} ${ARG_TESTS})
  if(ARG_SANITIZE AND TARGET ${name}_test)
    batchlight_sanitizer_test(${name} ${name}_test)
  elseif(ARG_SANITIZE_ADDRESS AND TARGET ${name}_test)
    batchlight_address_test(${name} ${name}_test)
  endif()
  foreach(room ${ARG_ROOMS})
    add_subdirectory(${room})
  endforeach()
endfunction()

# batchlight_room(analysis HOT a.cpp ... SOURCES b.cpp ... TESTS a_test.cpp ...): this folder's part of a module.
function(batchlight_room module)
  cmake_parse_arguments(ARG "" "" "HOT;SOURCES;TESTS" ${ARGN})
  batchlight_sources(${module} "${ARG_SOURCES}" "${ARG_HOT}")
  batchlight_unit_tests(${module} ${ARG_TESTS})
endfunction()

function(batchlight_sources module sources hot)
  if(hot AND BATCHLIGHT_COLD_OPTIONS)
    batchlight_hot_objects(${module})
    target_sources(bl_${module}_hot PRIVATE ${hot})
    batchlight_unity(bl_${module}_hot ${hot})
  else()
    list(APPEND sources ${hot})
  endif()
  if(sources)
    target_sources(bl_${module} PRIVATE ${sources})
    batchlight_unity(bl_${module} ${sources})
  endif()
endfunction()

# The hot sources of a module: a target, as their options are others, whose objects the module's library holds.
function(batchlight_hot_objects module)
  if(TARGET bl_${module}_hot)
    return()
  endif()
  add_library(bl_${module}_hot OBJECT)
  get_target_property(libraries bl_${module} LINK_LIBRARIES)
  target_link_libraries(bl_${module}_hot PRIVATE ${libraries})
  batchlight_headers(bl_${module}_hot)
  target_sources(bl_${module} PRIVATE $<TARGET_OBJECTS:bl_${module}_hot>)
endfunction()

# trimtab_room(NAME observe LAYER 1 [DEPENDS base ...] [THREADED_TESTS "board|conductor"] [UNITY]
#   [ALONE "board|conductor"] [TEST_HEADERS <header> ...]): one room of the house. A static
# library trimtab_<room> with an include root of its own, its warnings, tests, benches and installation. A room may
# depend on rooms of lower layers only: anything else is an error here, and an include of a room that was not declared fails to
# compile. THREADED_TESTS: where most of a room has one thread, the tests that are built with the thread sanitizer.
# UNITY, ALONE: see trimtab_unity. TEST_HEADERS: what most tests of the room include.
function(trimtab_room)
  cmake_parse_arguments(ROOM "UNITY" "NAME;LAYER;THREADED_TESTS;ALONE" "DEPENDS;TEST_HEADERS" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL PROPERTY trimtab_layer_${ROOM_NAME} ${ROOM_LAYER})
  foreach(other IN LISTS ROOM_DEPENDS)
    get_property(layer GLOBAL PROPERTY trimtab_layer_${other})
    if(layer STREQUAL "" OR NOT layer LESS ROOM_LAYER)
      message(FATAL_ERROR "room ${ROOM_NAME} (layer ${ROOM_LAYER}) may not depend on room ${other} (layer '${layer}')")
    endif()
  endforeach()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/src/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/preload[^/]*\\.cpp$")
  add_library(trimtab_${ROOM_NAME} STATIC ${sources})
  add_library(trimtab::${ROOM_NAME} ALIAS trimtab_${ROOM_NAME})
  target_include_directories(trimtab_${ROOM_NAME}
    PUBLIC $<BUILD_INTERFACE:${dir}/include> $<INSTALL_INTERFACE:${TRIMTAB_INSTALL}/include> PRIVATE ${dir}/src)
  target_compile_features(trimtab_${ROOM_NAME} PUBLIC cxx_std_20)
  set_target_properties(trimtab_${ROOM_NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden)
  target_compile_definitions(trimtab_${ROOM_NAME} PRIVATE _GNU_SOURCE)
  trimtab_warnings(trimtab_${ROOM_NAME})
  if(ROOM_UNITY)
    trimtab_unity(trimtab_${ROOM_NAME} "${ROOM_ALONE}")
  endif()
  # The library is preloaded, so the cheapest way to thread-local state is open to it.
  target_compile_options(trimtab_${ROOM_NAME} PRIVATE -ftls-model=initial-exec)
  foreach(other IN LISTS ROOM_DEPENDS)
    target_link_libraries(trimtab_${ROOM_NAME} PUBLIC trimtab_${other})
  endforeach()
  target_link_libraries(trimtab_${ROOM_NAME} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(trimtab_${ROOM_NAME} PROPERTIES EXPORT_NAME ${ROOM_NAME})
  install(TARGETS trimtab_${ROOM_NAME} EXPORT trimtab-targets ARCHIVE DESTINATION ${TRIMTAB_INSTALL}/lib)
  if(IS_DIRECTORY ${dir}/include)
    install(DIRECTORY ${dir}/include/ DESTINATION ${TRIMTAB_INSTALL}/include)
  endif()

  file(GLOB tests CONFIGURE_DEPENDS ${dir}/test/*.cpp)
  if(ROOM_THREADED_TESTS AND TRIMTAB_SANITIZE STREQUAL "thread")
    list(FILTER tests INCLUDE REGEX "/(${ROOM_THREADED_TESTS})_test\\.cpp$")
  endif()
  if(TRIMTAB_TESTS AND tests)
    add_executable(test_${ROOM_NAME} ${tests})
    # What tests of all rooms share is among base's.
    target_include_directories(test_${ROOM_NAME} PRIVATE ${dir}/src ${dir}/test ${PROJECT_SOURCE_DIR}/rooms/base/test)
    target_link_libraries(test_${ROOM_NAME} PRIVATE trimtab_${ROOM_NAME} GTest::gtest GTest::gtest_main)
    trimtab_warnings(test_${ROOM_NAME})
    if(ROOM_UNITY)
      trimtab_unity(test_${ROOM_NAME} "${ROOM_ALONE}")
    endif()
    # What they test is compiled as it is shipped; they themselves take half as long to compile so. With TSan some would be too slow
    # without any optimization: they are about times of microseconds.
    if(TRIMTAB_SANITIZE MATCHES "undefined")
      # Checks of each pointer make half of the code, and address sees most of what they would.
      target_compile_options(test_${ROOM_NAME} PRIVATE -O0 -fno-sanitize=null,alignment,vptr,object-size)
    else()
      target_compile_options(test_${ROOM_NAME} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
    endif()
    trimtab_precompile(test_${ROOM_NAME} ${ROOM_TEST_HEADERS})
    trimtab_room_tests(${ROOM_NAME})
  endif()
  file(GLOB benches CONFIGURE_DEPENDS ${dir}/bench/*.cpp)
  if(TRIMTAB_BENCH)
    foreach(bench IN LISTS benches)
      get_filename_component(name ${bench} NAME_WE)
      add_executable(${name} ${bench})
      target_link_libraries(${name} PRIVATE trimtab_${ROOM_NAME} benchmark::benchmark)
      trimtab_warnings(${name})
    endforeach()
  endif()
endfunction()

# A program of the current room that commands of Trimtab start. Needs no C++ library where the wheel is installed.
function(trimtab_helper_program program main)
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_executable(${program} ${main})
  target_include_directories(${program} PRIVATE src)
  set_target_properties(${program} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_definitions(${program} PRIVATE _GNU_SOURCE)
  trimtab_warnings(${program})
  target_link_libraries(${program} PRIVATE trimtab_${room})
  if(NOT TRIMTAB_SANITIZE)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  install(TARGETS ${program} RUNTIME DESTINATION ${TRIMTAB_INSTALL}/bin)
endfunction()

# With sanitizers a process takes longer to start than most tests take, so there a room's tests share eight processes, and some are
# left out: the variants of policies with one worker and of transports with one server, and what enumerates schedules or simulates
# machines in one thread.
function(trimtab_room_tests room)
  if(NOT TRIMTAB_SANITIZE)
    gtest_discover_tests(test_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
    return()
  endif()
  set(left_out machine.* simulated_jobs.lose_* selection_of_messages.* view_staleness.* simulated_sharing.* servers/*_with_1_servers
    interleaved_policies/* interleaved.a_queue_gives_each_task_once_whatever_the_schedule)
  foreach(policy local local_priority abp_priority hierarchy static_priority periodic_priority)
    list(APPEND left_out */${policy}_1)
  endforeach()
  list(JOIN left_out : left_out)
  foreach(shard RANGE 7)
    add_test(NAME ${room}.${shard} COMMAND test_${room} --gtest_brief=1 --gtest_filter=-${left_out})
    set_tests_properties(${room}.${shard} PROPERTIES TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=8;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# With sanitizers most of the time goes into the same headers' code again and again, so there a few files are compiled at once: half
# the time. So what they have in unnamed namespaces needs names of its own in its room, but for the files that ALONE names. Elsewhere
# each file is compiled alone, which shows what one forgot to include.
function(trimtab_unity target alone)
  if(TRIMTAB_SANITIZE)
    if(alone)
      get_target_property(files ${target} SOURCES)
      list(FILTER files INCLUDE REGEX "/(${alone})\\.cpp$")
      set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    # Of another file's names; and an unnamed namespace in an included file looks like one in a header.
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# What most tests include is read once for all tests of a room: two thirds of the time that a test takes to compile goes into it.
function(trimtab_precompile target)
  target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <algorithm> <array> <atomic> <barrier> <chrono> <cmath> <cstring> <deque>
    <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <sstream> <stdexcept> <string>
    <thread> <vector> ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
endfunction()

function(trimtab_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion)
  if(TRIMTAB_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TRIMTAB_SANITIZE)
    # With sanitizers, g++ warns of values that are always set before they are read.
    target_compile_options(${target} PRIVATE -fsanitize=${TRIMTAB_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized --param=ggc-min-heapsize=1000000>)
    target_link_options(${target} PUBLIC -fsanitize=${TRIMTAB_SANITIZE})
  endif()
endfunction()

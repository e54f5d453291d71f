# RocksDB: a Release build of the source that the pinned crate librocksdb-sys carries, made once a machine by
# scripts/build-rocksdb (docs/decisions/0002-rocksdb-source.md says why not Debian's package).
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb --cache ${SONDE_CACHE_DIR} --print-directory
  OUTPUT_VARIABLE ROCKSDB_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "scripts/build-rocksdb --print-directory failed")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb)
if(NOT EXISTS ${ROCKSDB_DIR}/lib/librocksdb.a)
  message(STATUS "Building RocksDB into ${ROCKSDB_DIR} (once a machine, some minutes on 2 cores)")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb --cache ${SONDE_CACHE_DIR} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "scripts/build-rocksdb failed")
  endif()
endif()

set(ROCKSDB_ARCHIVE ${ROCKSDB_DIR}/lib/librocksdb.a)
if(SONDE_SANITIZE STREQUAL "thread")
  # It is not instrumented, and orders its threads by atomics that ThreadSanitizer does not see: were it to run our
  # instrumented copies of what it shares with us (std::string), each would look like a race.
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tests/sanitize/keep_to_itself ${ROCKSDB_ARCHIVE} ${CMAKE_BINARY_DIR}/librocksdb_alone.a
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "tests/sanitize/keep_to_itself failed")
  endif()
  set(ROCKSDB_ARCHIVE ${CMAKE_BINARY_DIR}/librocksdb_alone.a)
endif()

add_library(rocksdb_static STATIC IMPORTED GLOBAL)
set_target_properties(rocksdb_static PROPERTIES IMPORTED_LOCATION ${ROCKSDB_ARCHIVE})
target_include_directories(rocksdb_static SYSTEM INTERFACE ${ROCKSDB_DIR}/include)
target_link_libraries(rocksdb_static INTERFACE PkgConfig::ZSTD PkgConfig::LZ4 Threads::Threads ${CMAKE_DL_LIBS})
string(REGEX REPLACE ".*/rocksdb-([0-9.]+)-.*" "\\1" ROCKSDB_VERSION ${ROCKSDB_DIR})

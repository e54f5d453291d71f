# RocksDB: a Release build of the source that the pinned crate librocksdb-sys carries, made once a machine by
# scripts/build-rocksdb (docs/decisions/0002-rocksdb-source.md says why not Debian's package).
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb --cache ${SONDE_CACHE_DIR} --print-directory
  OUTPUT_VARIABLE ROCKSDB_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "scripts/build-rocksdb --print-directory failed")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb)
if(NOT EXISTS ${ROCKSDB_DIR}/lib/librocksdb.a)
  message(STATUS "Building RocksDB into ${ROCKSDB_DIR} (once a machine, some ten minutes on 2 cores)")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-rocksdb --cache ${SONDE_CACHE_DIR} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "scripts/build-rocksdb failed")
  endif()
endif()

add_library(rocksdb_static STATIC IMPORTED GLOBAL)
set_target_properties(rocksdb_static PROPERTIES IMPORTED_LOCATION ${ROCKSDB_DIR}/lib/librocksdb.a)
target_include_directories(rocksdb_static SYSTEM INTERFACE ${ROCKSDB_DIR}/include)
target_link_libraries(rocksdb_static INTERFACE PkgConfig::ZSTD PkgConfig::LZ4 Threads::Threads ${CMAKE_DL_LIBS})
string(REGEX REPLACE ".*/rocksdb-([0-9.]+)-.*" "\\1" ROCKSDB_VERSION ${ROCKSDB_DIR})

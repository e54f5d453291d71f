# The order of the folders under src/: a folder may depend on folders of a lower layer, and on folders
# of its own layer that are declared before it (so that no ring can form).  docs/architecture.md draws it.
set(SONDE_LAYERS
  "base=0" "yaml=0"
  "work=1" "metrics=1" "identity=1" "identity/proof=1" "identity/config=1" "identity/check=1" "model=1" "codec=1" "series/schema=1" "sql/syntax=1" "promql/syntax=1"
  "access/rates=2" "access/sessions=2" "access=2" "audit=2" "hll=2" "filter=2" "mutation=2" "changes=2" "gc=2" "cellblock=2" "engine=2" "hbase/wire=2" "rows=2" "backup=2" "sql/value=2" "promql/samples=2" "promql/functions=2" "promql/evaluate=2"
  "tls=3" "catalog/record=3" "catalog=3" "access/policies=3" "engine/memory=3" "series/key=3" "rpc=3" "engine/rocks/files=3" "sql/proto=3" "sql/function=3" "sql/text=3" "sql/time=3" "sql/number=3" "sql/list=3" "sql/cast=3" "sql/aggregate=3" "sql/library=3" "sql/testing=3" "sql/descriptor=3" "sql/access=3" "sql/message=3" "sql/output=3" "sql/spill=3"
  "copy=4" "table=4" "hbase/call=4" "hbase=4" "client/channel=4" "client=4" "engine/rocks/store=4" "backup/repository=4" "backup/store=4" "sql/key=4" "sql/expression=4"
  "series/known=5" "upkeep=5" "backup/journal=5" "keyviz=5" "wire/call=5" "web/http=5" "engine/hbase/packed=5" "engine/hbase/log=5" "engine/hbase/snapshots=5" "engine/hbase=5" "engine/rocks/log=5" "engine/rocks/scan=5" "sql/plan=5" "sql/rewrite=5" "sql/bind=5"
  "series/index=6" "series/index/write=6" "series/write=6" "series/query=6" "sql/operator=6" "sql/scan=6" "sql/series=6" "sql/relation=6" "sql/exec=6" "wire/sql=6" "wire/data=6" "wire/resources=6" "wire/operations=6" "wire/admin=6" "web=6" "engine/rocks/settle=6" "engine/hbase/settle=6" "journal=6"
  "series/input=7" "series/output=7" "series/derive=7" "series/metric=7" "wire=7" "sql/http=7" "sql/view=7" "sql/view/state=7" "sql/view/keep=7" "engine/rocks=7" "prometheus=7"
  "backup/copy=8" "series/advise=8" "series/http=8" "promql/http=8" "promql/transfer=8" "server/process=8" "bench/data=8"
  "server=9" "bench=9" "cli/reference=9" "cli/watch=9"
  "cli/reach=10" "cli/series=10" "cli/store=10" "cli=10" "bench/inside=10")

# sonde_units(OUT PREFIX SOURCES...): the sources to compile for SOURCES, which lie in PREFIX below an include directory.  With
# SONDE_UNITY each of them includes several of SOURCES, so that headers and templates are read once for all of these; names in
# unnamed namespaces are therefore different within a folder.  The units name files as #include does, unlike CMake's own
# (UNITY_BUILD), so that ccache knows them again in another clone.
set(SONDE_UNIT_FILES_MAX 24)
function(sonde_units out prefix)
  set(units)
  set(text "")
  set(count 0)
  foreach(source IN LISTS ARGN)
    if(NOT SONDE_UNITY OR IS_ABSOLUTE ${source})
      list(APPEND units ${source})
      continue()
    endif()
    string(APPEND text "#include \"${prefix}/${source}\"\n")
    math(EXPR count "${count} + 1")
    if(count EQUAL SONDE_UNIT_FILES_MAX)
      sonde_write_unit(units "${text}")
      set(text "")
      set(count 0)
    endif()
  endforeach()
  if(text)
    sonde_write_unit(units "${text}")
  endif()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Appends to the list of this name a file with this text.
function(sonde_write_unit list_name text)
  list(LENGTH ${list_name} number)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/unit_${number}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  set(${list_name} ${${list_name}} ${unit} PARENT_SCOPE)
endfunction()

define_property(GLOBAL PROPERTY SONDE_FOLDERS BRIEF_DOCS "folders declared so far" FULL_DOCS "one FOLDER:DEPS entry each")

function(sonde_layer_of folder out)
  foreach(entry IN LISTS SONDE_LAYERS)
    if(entry MATCHES "^(.+)=([0-9]+)$" AND CMAKE_MATCH_1 STREQUAL folder)
      set(${out} ${CMAKE_MATCH_2} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "src/${folder} has no layer: add it to cmake/Layers.cmake")
endfunction()

function(sonde_target_of folder out)
  string(REPLACE "/" "_" name "${folder}")
  set(${out} "sonde_${name}" PARENT_SCOPE)
endfunction()

# sonde_folder(FOLDER [APART] SOURCES ... TESTS ... DEPS <folders> EXTERNAL <targets> TEST_DEPS <folders> TEST_EXTERNAL <targets>)
# APART: its files are never compiled as one: GCC inlines less in large units, which would cost what is hot here a tenth.
# One folder under src/ is one static library, and its *_test.cc files are one test program.
# TEST_DEPS may point up, unlike DEPS: a test may drive its part through the whole.
function(sonde_folder folder)
  cmake_parse_arguments(ARG "APART" "" "SOURCES;TESTS;DEPS;EXTERNAL;TEST_DEPS;TEST_EXTERNAL" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "src/${folder}: unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  sonde_layer_of(${folder} layer)
  sonde_target_of(${folder} target)

  foreach(dep IN LISTS ARG_DEPS)
    sonde_layer_of(${dep} dep_layer)
    sonde_target_of(${dep} dep_target)
    if(dep_layer GREATER layer)
      message(FATAL_ERROR "src/${folder} (layer ${layer}) may not depend on src/${dep} (layer ${dep_layer}): it points up")
    endif()
    if(NOT TARGET ${dep_target})
      message(FATAL_ERROR "src/${folder} depends on src/${dep}, which is not declared before it: "
        "within a layer, that would be a ring")
    endif()
  endforeach()

  set(scope PUBLIC)
  if(ARG_SOURCES)
    set(units ${ARG_SOURCES})
    if(NOT ARG_APART)
      sonde_units(units ${folder} ${ARG_SOURCES})
    endif()
    add_library(${target} STATIC ${units})
    target_compile_options(${target} PRIVATE ${SONDE_WARNINGS})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src)
  set(dep_targets)
  foreach(dep IN LISTS ARG_DEPS)
    sonde_target_of(${dep} dep_target)
    list(APPEND dep_targets ${dep_target})
  endforeach()
  target_link_libraries(${target} ${scope} ${dep_targets} ${ARG_EXTERNAL})

  string(REPLACE ";" "," deps_text "${ARG_DEPS}")
  string(REPLACE ";" "," test_deps_text "${ARG_TEST_DEPS}")
  set_property(GLOBAL APPEND PROPERTY SONDE_FOLDERS "${folder}:${deps_text}:${test_deps_text}")

  if(ARG_TESTS AND BUILD_TESTING)
    add_executable(${target}_test ${ARG_TESTS})
    target_compile_options(${target}_test PRIVATE ${SONDE_WARNINGS})
    set(test_dep_targets)
    foreach(dep IN LISTS ARG_TEST_DEPS)
      sonde_target_of(${dep} dep_target)
      list(APPEND test_dep_targets ${dep_target})
    endforeach()
    target_link_libraries(${target}_test PRIVATE ${target} ${test_dep_targets} ${ARG_TEST_EXTERNAL} GTest::gmock GTest::gtest_main)
    string(REPLACE "/" "." prefix "${folder}")
    gtest_discover_tests(${target}_test TEST_PREFIX "${prefix}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# Writes what was declared, for tests/architecture/check_includes.py.
function(sonde_write_folders)
  get_property(folders GLOBAL PROPERTY SONDE_FOLDERS)
  string(REPLACE ";" "\n" text "${folders}")
  file(WRITE ${CMAKE_BINARY_DIR}/folders.txt "${text}\n")
endfunction()

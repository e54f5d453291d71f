# The Bigtable API: .proto files of the npm package google-proto-files (pinned by third_party/google-apis),
# fetched once a machine, compiled into the library sonde_google_apis.
set(GOOGLE_APIS_LOCK ${PROJECT_SOURCE_DIR}/third_party/google-apis/package-lock.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GOOGLE_APIS_LOCK})
file(SHA256 ${GOOGLE_APIS_LOCK} GOOGLE_APIS_HASH)
string(SUBSTRING ${GOOGLE_APIS_HASH} 0 16 GOOGLE_APIS_HASH)
set(GOOGLE_APIS_DIR ${SONDE_CACHE_DIR}/google-apis-${GOOGLE_APIS_HASH})
set(GOOGLE_APIS_PROTOS ${GOOGLE_APIS_DIR}/node_modules/google-proto-files)
if(NOT EXISTS ${GOOGLE_APIS_PROTOS}/google/bigtable/v2/bigtable.proto)
  message(STATUS "Fetching google-proto-files into ${GOOGLE_APIS_DIR}")
  file(MAKE_DIRECTORY ${GOOGLE_APIS_DIR})
  file(COPY ${PROJECT_SOURCE_DIR}/third_party/google-apis/package.json ${GOOGLE_APIS_LOCK} DESTINATION ${GOOGLE_APIS_DIR})
  execute_process(COMMAND npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY ${GOOGLE_APIS_DIR} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "npm could not fetch google-proto-files (is npm installed? run scripts/install-dependencies):\n${errors}")
  endif()
endif()

set(GOOGLE_APIS_MESSAGES
  google/api/annotations google/api/client google/api/field_behavior google/api/http google/api/launch_stage
  google/api/resource google/api/routing
  google/bigtable/admin/v2/bigtable_instance_admin google/bigtable/admin/v2/bigtable_table_admin
  google/bigtable/admin/v2/common google/bigtable/admin/v2/instance google/bigtable/admin/v2/table
  google/bigtable/admin/v2/types
  google/bigtable/v2/bigtable google/bigtable/v2/data google/bigtable/v2/feature_flags google/bigtable/v2/peer_info
  google/bigtable/v2/request_stats google/bigtable/v2/response_params google/bigtable/v2/session
  google/bigtable/v2/types
  google/iam/v1/iam_policy google/iam/v1/options google/iam/v1/policy
  google/longrunning/operations
  google/rpc/error_details google/rpc/status google/type/date google/type/expr)
set(GOOGLE_APIS_SERVICES
  google/bigtable/v2/bigtable google/bigtable/admin/v2/bigtable_table_admin
  google/bigtable/admin/v2/bigtable_instance_admin google/longrunning/operations)

set(GOOGLE_APIS_GENERATED ${CMAKE_BINARY_DIR}/google-apis)
file(MAKE_DIRECTORY ${GOOGLE_APIS_GENERATED})
get_target_property(GRPC_CPP_PLUGIN gRPC::grpc_cpp_plugin LOCATION)
set(sources)
foreach(name IN LISTS GOOGLE_APIS_MESSAGES)
  set(outputs ${GOOGLE_APIS_GENERATED}/${name}.pb.cc)
  set(arguments --cpp_out=${GOOGLE_APIS_GENERATED})
  if(name IN_LIST GOOGLE_APIS_SERVICES)
    list(APPEND outputs ${GOOGLE_APIS_GENERATED}/${name}.grpc.pb.cc)
    list(APPEND arguments --grpc_out=${GOOGLE_APIS_GENERATED} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND protobuf::protoc -I ${GOOGLE_APIS_PROTOS} ${arguments} ${name}.proto
    DEPENDS ${GOOGLE_APIS_PROTOS}/${name}.proto VERBATIM)
  list(APPEND sources ${outputs})
endforeach()

if(SONDE_UNITY)
  # Each of these files has two static names that every other one has, too.
  set(units)
  set(text "")
  set(services 0)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH path ${GOOGLE_APIS_GENERATED} ${source})
    string(MAKE_C_IDENTIFIER ${path} word)
    string(APPEND text "#define schemas schemas_${word}\n#define file_default_instances file_default_instances_${word}\n"
      "#include \"${path}\"\n#undef schemas\n#undef file_default_instances\n")
    if(path MATCHES "grpc\\.pb\\.cc$")  # the largest
      math(EXPR services "${services} + 1")
      if(services EQUAL 2)
        sonde_write_unit(units "${text}")
        set(text "")
      endif()
    endif()
  endforeach()
  sonde_write_unit(units "${text}")
  set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties(${units} PROPERTIES OBJECT_DEPENDS "${sources}")
  list(APPEND sources ${units})
endif()
add_library(sonde_google_apis STATIC ${sources})
target_include_directories(sonde_google_apis SYSTEM PUBLIC ${GOOGLE_APIS_GENERATED})
target_link_libraries(sonde_google_apis PUBLIC gRPC::grpc++ protobuf::libprotobuf)
target_compile_options(sonde_google_apis PRIVATE -w)

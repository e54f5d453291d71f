// The door in front of the whole server: SQL, health, reflection.
#include <gmock/gmock.h>

#include "wire/call/door_test_support.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

class ServerDoorTest : public DoorFixture {
 protected:
  ServerDoorTest() {
    GrpcServerOptions options;
    options.writes_block = false;
    options.access = &access_;
    options.audit = audit_.get();
    options.policies = policies_.get();
    server_ = *GrpcServer::Start(options, tables_.get());
    ConnectTo(server_->port());
  }
  ~ServerDoorTest() override { server_.reset(); }

  std::unique_ptr<GrpcServer> server_;
};

TEST_F(ServerDoorTest, HealthIsOpenAndReflectionIsNot) {
  EXPECT_TRUE(CallBytes("/grpc.health.v1.Health/Check", "", "").ok());
  Expect(CallBytes("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "", ""),
         grpc::StatusCode::UNAUTHENTICATED, kUnauthenticated);
  EXPECT_NE(
      CallBytes("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "", "Bearer good").error_code(),
      grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ServerDoorTest, SqlNeedsTheTablesThatItReads) {
  const auto prepare = [this](const std::string& table) {
    pb::PrepareQueryRequest request;
    request.set_instance_name("projects/p/instances/i");
    request.set_query("SELECT _key FROM " + table);
    request.mutable_proto_format();
    return CallBytes("/google.bigtable.v2.Bigtable/PrepareQuery", request, "Bearer good");
  };
  Expect(prepare("t"), grpc::StatusCode::PERMISSION_DENIED, Denied("instances.executeQuery"));
  AccessControl::Configuration configuration;
  ASSERT_TRUE(configuration.roles.Add("projects/p/roles/asks", {"bigtable.instances.executeQuery"}).ok());
  access_.Configure(configuration);
  Grant("projects/p/instances/i", "projects/p/roles/asks");
  for (const std::string table : {"t", "none"}) {
    Expect(prepare(table), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.readRows"), table);
  }
  Grant(kTable, kReaderRole);
  EXPECT_TRUE(prepare("t").ok()) << prepare("t").error_message();

  // A token of a query is no permission.
  pb::PrepareQueryRequest request;
  request.set_instance_name("projects/p/instances/i");
  request.set_query("SELECT _key FROM t");
  request.mutable_proto_format();
  std::string answer;
  ASSERT_TRUE(CallBytes("/google.bigtable.v2.Bigtable/PrepareQuery", request.SerializeAsString(),
                        "Bearer good", &answer)
                  .ok());
  pb::PrepareQueryResponse prepared;
  ASSERT_TRUE(prepared.ParseFromString(answer));
  pb::ExecuteQueryRequest execute;
  execute.set_instance_name("projects/p/instances/i");
  execute.set_prepared_query(prepared.prepared_query());
  EXPECT_TRUE(CallBytes("/google.bigtable.v2.Bigtable/ExecuteQuery", execute, "Bearer good").ok());
  Grant(kTable, kViewerRole);
  Expect(CallBytes("/google.bigtable.v2.Bigtable/ExecuteQuery", execute, "Bearer good"),
         grpc::StatusCode::PERMISSION_DENIED, Denied("tables.readRows"));
}

}  // namespace
}  // namespace sonde

// The door in front of the whole server: SQL, health, reflection.
#include <gmock/gmock.h>

#include "series/known/declarations.h"
#include "table/local_tables.h"
#include "wire/call/door_test_support.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

class ServerDoorTest : public DoorFixture {
 protected:
  explicit ServerDoorTest(AuditRules rules = {}) : DoorFixture(rules) {
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

class InsertDoorTest : public ServerDoorTest {
 protected:
  InsertDoorTest() : ServerDoorTest({.data_writes = true}) {
    LocalTables local(tables_.get(), "projects/p/instances/i");
    series::Declarations declarations(&local, &clock_);
    EXPECT_TRUE(declarations
                    .Declare("series: boiler\ntable: boilers\ntags: { house: string }\nfields: { degrees: "
                             "double }\nkey: [house, time]\nlayout: row\n")
                    .ok());
    Configure({});
    Grant("projects/p/instances/i", "projects/p/roles/asks");
  }
  void Configure(PrincipalLimits limits) {
    AccessControl::Configuration configuration{.limits = {{{}, limits}}};
    ASSERT_TRUE(configuration.roles.Add("projects/p/roles/asks", {"bigtable.instances.executeQuery"}).ok());
    ASSERT_TRUE(configuration.roles.Add("projects/p/roles/writes", {"bigtable.tables.mutateRows"}).ok());
    access_.Configure(configuration);
  }
  // PrepareQuery of an INSERT, and then ExecuteQuery; `answer`: whether rows came.
  grpc::Status Insert(const std::string& profile = "") {
    pb::PrepareQueryRequest prepare;
    prepare.set_instance_name("projects/p/instances/i");
    prepare.set_query("INSERT INTO series.boiler VALUES ('a', TIMESTAMP_SECONDS(10), 1.5)");
    prepare.mutable_proto_format();
    std::string answer;
    grpc::Status status = CallBytes("/google.bigtable.v2.Bigtable/PrepareQuery", prepare.SerializeAsString(),
                                    "Bearer good", &answer);
    if (!status.ok()) return status;
    pb::PrepareQueryResponse prepared;
    EXPECT_TRUE(prepared.ParseFromString(answer));
    execute_.set_instance_name("projects/p/instances/i");
    execute_.set_prepared_query(prepared.prepared_query());
    execute_.set_app_profile_id(profile);
    return Execute();
  }
  grpc::Status Execute() {
    return CallBytes("/google.bigtable.v2.Bigtable/ExecuteQuery", execute_, "Bearer good");
  }

  static constexpr char kBoilers[] = "projects/p/instances/i/tables/boilers";
  pb::ExecuteQueryRequest execute_;
};

TEST_F(InsertDoorTest, NeedsARightToWriteToTheTablesAndIsAuditedAsAWrite) {
  Expect(Insert(), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.mutateRows"));
  Grant(kBoilers, kReaderRole);
  Expect(Insert(), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.mutateRows"));
  Grant(kBoilers, "projects/p/roles/writes");
  EXPECT_TRUE(Insert().ok()) << Insert().error_message();
  EXPECT_THAT(AuditText(), testing::HasSubstr(R"("method":"google.bigtable.v2.Bigtable/ExecuteQuery",)"
                                              R"("resource":"projects/p/instances/i/tables/boilers",)"
                                              R"("permission":"bigtable.tables.mutateRows")"));
  // A token of a query is no permission.
  Grant(kBoilers, kReaderRole);
  Expect(Execute(), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.mutateRows"));
}

TEST_F(InsertDoorTest, CountsAsAWriteOfItsCaller) {
  Grant(kBoilers, "projects/p/roles/writes");
  Configure({.writes_per_second = 1});
  EXPECT_TRUE(Insert().ok());
  const grpc::Status refused = Insert();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), testing::HasSubstr("The quota of 1 writes a second"));
}

}  // namespace
}  // namespace sonde

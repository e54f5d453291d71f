// The door of the gRPC port, over a connection.
#include "wire/call/door.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>
#include <google/iam/v1/iam_policy.pb.h>
#include <google/longrunning/operations.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <map>
#include <mutex>

#include "absl/time/clock.h"
#include "access/rules.h"
#include "audit/full_disk_test_support.h"
#include "backup/store/backups.h"
#include "rpc/server.h"
#include "table/commit_line.h"
#include "wire/admin/backup_operations.h"
#include "wire/admin/iam_calls.h"
#include "wire/admin/table_admin_service.h"
#include "wire/call/calls.h"
#include "wire/call/door_test_support.h"
#include "wire/call/not_built.h"
#include "wire/call/service_names.h"
#include "wire/data/change_streams.h"
#include "wire/data/data_service.h"
#include "wire/operations/operations_service.h"
#include "wire/resources/instance_store.h"
#include "work/turn_clock.h"
#include "work/worker_pool.h"

namespace sonde {
namespace {

namespace iam = google::iam::v1;
using ::testing::HasSubstr;

// The server's parts that the door's calls use, without SQL.
class DoorTest : public DoorFixture {
 protected:
  explicit DoorTest(AuditRules rules = {}) : DoorFixture(rules) {
    EXPECT_TRUE(instances_->EnsureInstance("projects/p/instances/i").ok());
    rpc::Router router;
    AddDataService(tables_.get(), &change_streams_, calls_, &router);
    AddTableAdminService(tables_.get(), instances_.get(), backups_.get(), &change_streams_.streams(),
                         operations_.get(), &runner_, /*keeps_deleted=*/true, calls_, &router);
    AddOperationsService({operations_.get(), &runner_, &waits_, &administration_}, calls_, &router);
    for (const std::string_view service : {kTableAdminService, kInstanceAdminService}) {
      AddIamCalls(service, {tables_.get(), instances_.get(), backups_.get(), policies_.get(), &access_},
                  calls_, &router);
    }
    // A method that somebody added without a rule.
    Service("test.New", &metrics_, &router)
        .AddUnary<pb::PingAndWarmRequest, pb::PingAndWarmResponse>(
            calls_.ShortAdministration(), [](const auto&, auto*) { return absl::OkStatus(); });
    router.SetFallback([](const rpc::UnknownCall& call) { return ToCallStatus(CallNotBuilt(call.path)); });
    door_.Guard(&router);
    server_ = *rpc::Server::Start({}, std::move(router));
    ConnectTo(server_->port());
  }
  ~DoorTest() override {
    change_streams_.End();
    server_->Shutdown(absl::ZeroDuration());
    server_.reset();
  }

  std::unique_ptr<Backups> backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_);
  std::unique_ptr<InstanceStore> instances_ =
      *InstanceStore::Open(engine_.get(), catalog_.get(), backups_.get(), &clock_);
  const std::unique_ptr<TurnClock> turn_clock_ = TurnClock::Start();
  WorkerPool workers_{4, {}, turn_clock_.get()};
  Admission reads_{"reads", {.requests = 100, .bytes = 64 << 20}};
  Admission writes_{"writes", {.requests = 100, .bytes = 64 << 20}};
  Admission administration_{"calls", {.requests = 100, .bytes = 64 << 20}};
  StalledReads stalled_reads_{absl::Seconds(5)};
  StepCost read_cost_;
  RequestMetrics metrics_;
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  OperationRunner runner_{operations_.get(), BackupOperationKinds(backups_.get(), instances_.get(), &clock_)};
  OperationWaits waits_{operations_.get()};
  ChangeStreamCalls change_streams_{tables_.get(), &workers_, 64 << 20};
  CommitLine commit_line_{tables_.get(), &workers_, {}};
  const CallResources calls_{.workers = &workers_,
                             .readers = &workers_,
                             .reads = &reads_,
                             .writes = &writes_,
                             .administration = &administration_,
                             .stalled_reads = &stalled_reads_,
                             .read_cost = &read_cost_,
                             .commit_line = &commit_line_,
                             .metrics = &metrics_,
                             .writes_block = false,
                             .reads_block = false,
                             .large_readers = &workers_,
                             .large_waiters = &workers_,
                             .large_room = nullptr};
  CallDoor door_{{&access_, audit_.get(), &metrics_, &clock_}};
  std::unique_ptr<rpc::Server> server_;
};

pb::ReadChangeStreamRequest ChangesOf(const std::string& table) {
  pb::ReadChangeStreamRequest request;
  request.set_table_name(table);
  request.mutable_partition()->mutable_row_range();
  request.mutable_heartbeat_duration()->set_nanos(100'000'000);
  return request;
}

std::vector<std::string> AllPaths() {
  admin::ListInstancesRequest::descriptor();  // so that its definitions are in this program
  std::vector<std::string> paths;
  for (const std::string_view name : kServiceNames) {
    const auto* const service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string(name));
    EXPECT_NE(service, nullptr) << name;
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
      paths.push_back("/" + std::string(name) + "/" + std::string(service->method(i)->name()));
    }
  }
  return paths;
}

TEST_F(DoorTest, EveryMethodOfTheDefinitionsHasARule) {
  const std::vector<std::string> paths = AllPaths();
  EXPECT_EQ(paths.size(), 81U + 5U);
  for (const std::string& path : paths) EXPECT_NE(FindRule(path), nullptr) << path;
  for (const std::string path : {"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"}) {
    ASSERT_NE(FindRule(path), nullptr) << path;
    EXPECT_EQ(FindRule(path)->door, Door::kOpen);
  }
}

TEST_F(DoorTest, NobodyGetsInWithoutAProof) {
  Grant("projects/p/instances/i", kAdminRole);
  std::vector<std::string> paths = AllPaths();
  paths.insert(paths.end(),
               {"/google.bigtable.v2.Bigtable/Nothing", "/nothing/Nothing", "/test.New/PingAndWarm"});
  for (const std::string& path : paths) {
    for (const std::string proof : {"", "Bearer forged", "good"}) {
      Expect(CallBytes(path, "", proof), grpc::StatusCode::UNAUTHENTICATED, kUnauthenticated, path);
    }
  }
}

TEST_F(DoorTest, AMethodWithoutARuleIsRefused) {
  Grant("projects/p/instances/i", kAdminRole);
  Expect(CallBytes("/test.New/PingAndWarm", "", "Bearer good"), grpc::StatusCode::PERMISSION_DENIED,
         "Access denied. The method /test.New/PingAndWarm is in no table of permissions.");
  Expect(CallBytes("/nothing/Nothing", "", "Bearer good"), grpc::StatusCode::UNIMPLEMENTED, "");
}

TEST_F(DoorTest, ACallerOverALimitIsToldToComeBackAndNobodyElse) {
  AccessControl::Configuration configuration;
  configuration.limits = {{{std::string(kSomebody)}, {.reads_per_second = 1, .writes_per_second = 2}}};
  access_.Configure(configuration);
  Grant(kTable, kUserRole);
  // The machine may be slow: some calls come in time, but not all.
  const auto refusal = [](auto call) {
    grpc::Status status = call();
    for (int i = 0; i < 50 && status.ok(); ++i) status = call();
    return status;
  };
  Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::OK, "");
  const grpc::Status refused = refusal([this] { return ReadRows(kTable, "Bearer good"); });
  Expect(refused, grpc::StatusCode::RESOURCE_EXHAUSTED,
         fmt::format("The quota of 1 reads a second that {} has is used up; nothing was done, try again",
                     kSomebody));
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(refused.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_TRUE(details.details(0).Is<google::rpc::RetryInfo>());
  Expect(MutateRow(kTable, "Bearer good"), grpc::StatusCode::OK, "");
  Expect(refusal([this] { return MutateRow(kTable, "Bearer good"); }), grpc::StatusCode::RESOURCE_EXHAUSTED,
         fmt::format("The quota of 2 writes a second that {} has is used up; nothing was done, try again",
                     kSomebody));
  Expect(ReadRows(kTable, "Bearer other"), grpc::StatusCode::PERMISSION_DENIED, "");
  Expect(ReadRows(kTable, ""), grpc::StatusCode::UNAUTHENTICATED, "");
  clock_.ahead_micros += 2'000'000;
  Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::OK, "");
}

TEST_F(DoorTest, BytesOfRequestsAndAnswersCountForTheirCaller) {
  AccessControl::Configuration configuration;
  configuration.limits = {{{}, {.bytes_per_second = 1'000}}};
  access_.Configure(configuration);
  Grant(kTable, kUserRole);
  pb::MutateRowRequest request = OfTable<pb::MutateRowRequest>(kTable);
  request.set_row_key("r");
  auto* const cell = request.add_mutations()->mutable_set_cell();
  cell->set_family_name("f");
  cell->set_value(std::string(5'000, 'v'));
  const std::string path = "/google.bigtable.v2.Bigtable/MutateRow";
  Expect(CallBytes(path, request, "Bearer good"), grpc::StatusCode::OK, "");
  Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::RESOURCE_EXHAUSTED, "");
  clock_.ahead_micros += 6'000'000;
  Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::OK, "");
  Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::RESOURCE_EXHAUSTED, "");
}

TEST_F(DoorTest, CallsCountWhileTheyRun) {
  AccessControl::Configuration configuration;
  configuration.limits = {{{}, {.running_calls = 1}}};
  access_.Configure(configuration);
  const std::string table = "projects/p/instances/i/tables/s";
  ASSERT_TRUE(catalog_
                  ->Create({.name = table,
                            .families = {{.name = "f"}},
                            .change_stream = ChangeStreamSchema{.retention_micros = 86'400'000'000}})
                  .ok());
  Grant(table, kReaderRole);
  grpc::ClientContext context;
  Identify(&context, "Bearer good");
  const auto reader = data_->ReadChangeStream(&context, ChangesOf(table));
  pb::ReadChangeStreamResponse response;
  ASSERT_TRUE(reader->Read(&response)) << reader->Finish().error_message();
  Expect(ReadRows(table, "Bearer good"), grpc::StatusCode::RESOURCE_EXHAUSTED,
         fmt::format("{} has 1 calls under way and the limit is 1; nothing was done, try again", kSomebody));
  context.TryCancel();
  while (reader->Read(&response)) {
  }
  reader->Finish();
  grpc::Status status;
  for (int i = 0; i < 500 && (i == 0 || !status.ok()); ++i) {
    if (i > 0) absl::SleepFor(absl::Milliseconds(10));
    status = ReadRows(table, "Bearer good");
  }
  Expect(status, grpc::StatusCode::OK, "");
}

// What is asked must not decide who asks: all methods on one connection, by turns for two callers.
TEST_F(DoorTest, IdentityIsOfTheCallAndNotOfTheConnection) {
  Grant(kTable, kUserRole);
  for (int turn = 0; turn < 50; ++turn) {
    Expect(ReadRows(kTable, "Bearer good"), grpc::StatusCode::OK, "");
    Expect(ReadRows(kTable, "Bearer other"), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.readRows"));
    Expect(MutateRow(kTable, "Bearer good"), grpc::StatusCode::OK, "");
    Expect(ReadRows(kTable, ""), grpc::StatusCode::UNAUTHENTICATED, kUnauthenticated);
    Expect(MutateRow(kTable, "Bearer other"), grpc::StatusCode::PERMISSION_DENIED,
           Denied("tables.mutateRows"));
  }
}

TEST_F(DoorTest, DecidesByRoleAndPlace) {
  struct Case {
    std::string place;
    std::string_view role;
    bool may_read, may_write;
  };
  for (const Case& it : std::vector<Case>{{kTable, kViewerRole, false, false},
                                          {kTable, kReaderRole, true, false},
                                          {kTable, kUserRole, true, true},
                                          {"projects/p/instances/i", kReaderRole, true, false},
                                          {"projects/p/instances/i2", kAdminRole, false, false},
                                          {kNoTable, kAdminRole, false, false}}) {
    Grant(it.place, it.role);
    EXPECT_EQ(ReadRows(kTable, "Bearer good").ok(), it.may_read) << it.place << " " << it.role;
    EXPECT_EQ(MutateRow(kTable, "Bearer good").ok(), it.may_write) << it.place << " " << it.role;
    Grant(it.place, "");
    EXPECT_FALSE(ReadRows(kTable, "Bearer good").ok()) << it.place;
  }
}

TEST_F(DoorTest, DenialIsTheSameWhetherOrNotThereIsATable) {
  for (const std::string path : {"ReadRows", "SampleRowKeys", "MutateRow", "MutateRows", "CheckAndMutateRow",
                                 "ReadModifyWriteRow", "ReadChangeStream"}) {
    const std::string full = "/google.bigtable.v2.Bigtable/" + path;
    // All have the table's name in field 1.
    const grpc::Status here = CallBytes(full, OfTable<pb::ReadRowsRequest>(kTable), "Bearer good");
    const grpc::Status nowhere = CallBytes(full, OfTable<pb::ReadRowsRequest>(kNoTable), "Bearer good");
    EXPECT_EQ(here.error_code(), grpc::StatusCode::PERMISSION_DENIED) << path << here.error_message();
    EXPECT_EQ(here.error_code(), nowhere.error_code()) << path;
    EXPECT_EQ(here.error_message(), nowhere.error_message()) << path;
    EXPECT_EQ(here.error_details(), nowhere.error_details()) << path;
  }
  Grant("projects/p/instances/i", kReaderRole);
  EXPECT_EQ(ReadRows(kNoTable, "Bearer good").error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DoorTest, RefusesAMalformedNameAndBytesThatAreNoRequest) {
  Grant("projects/p/instances/i", kAdminRole);
  for (const std::string table : {"t", "projects/p/instances/i/tables/", "projects/p/instances/i",
                                  "projects/p/instances/i/tables/t/authorizedViews/v", ""}) {
    Expect(ReadRows(table, "Bearer good"), grpc::StatusCode::INVALID_ARGUMENT, "", table);
  }
  Expect(CallBytes("/google.bigtable.v2.Bigtable/ReadRows", "\x0a\xff", "Bearer good"),
         grpc::StatusCode::INVALID_ARGUMENT, "The bytes of the request are not a message of its type");
  // Snapshots are not there, whatever anybody may.
  Expect(CallBytes("/google.bigtable.admin.v2.BigtableTableAdmin/ListSnapshots", "", "Bearer good"),
         grpc::StatusCode::UNIMPLEMENTED, "");
}

TEST_F(DoorTest, AStreamEndsWhenItsProofOrItsPermissionEnds) {
  constexpr int64_t kMinuteMicros = 61'000'000;
  for (const bool is_revoked : {true, false}) {
    const std::string table = std::string("projects/p/instances/i/tables/s") + (is_revoked ? "1" : "2");
    ASSERT_TRUE(catalog_
                    ->Create({.name = table,
                              .families = {{.name = "f"}},
                              .change_stream = ChangeStreamSchema{.retention_micros = 86'400'000'000}})
                    .ok());
    it_.authenticator.Set("Bearer good", {.member = std::string(kSomebody), .proof = Proof::kToken});
    Grant(table, kReaderRole);
    grpc::ClientContext context;
    Identify(&context, "Bearer good");
    const auto reader = data_->ReadChangeStream(&context, ChangesOf(table));
    pb::ReadChangeStreamResponse response;
    ASSERT_TRUE(reader->Read(&response)) << reader->Finish().error_message();
    if (is_revoked) {
      it_.authenticator.Revoke("Bearer good");
    } else {
      Grant(table, kViewerRole);
    }
    ASSERT_TRUE(reader->Read(&response));  // it is asked once a minute
    clock_.ahead_micros += kMinuteMicros;
    while (reader->Read(&response)) {
    }
    if (is_revoked) {
      Expect(reader->Finish(), grpc::StatusCode::UNAUTHENTICATED, kUnauthenticated);
    } else {
      Expect(reader->Finish(), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.readRows"));
    }
  }
}

TEST_F(DoorTest, PoliciesAreSetGotTestedAndEnforced) {
  const auto call = [this](auto method, const auto& request, auto* response) {
    grpc::ClientContext context;
    Identify(&context, "Bearer good");
    return (admin_.get()->*method)(&context, request, response);
  };
  using Stub = admin::BigtableTableAdmin::Stub;
  iam::SetIamPolicyRequest set;
  set.set_resource(kTable);
  iam::Binding* const binding = set.mutable_policy()->add_bindings();
  binding->set_role(std::string(kReaderRole));
  binding->add_members("user:other@b");
  iam::Policy policy;
  Expect(call(&Stub::SetIamPolicy, set, &policy), grpc::StatusCode::PERMISSION_DENIED,
         Denied("tables.setIamPolicy"));
  Grant("projects/p/instances/i", kAdminRole);
  iam::GetIamPolicyRequest get;
  get.set_resource(kTable);
  ASSERT_TRUE(call(&Stub::GetIamPolicy, get, &policy).ok());
  EXPECT_EQ(policy.etag(), std::string("\x00\x20\x01", 3));
  EXPECT_EQ(policy.bindings_size(), 0);
  Expect(ReadRows(kTable, "Bearer other"), grpc::StatusCode::PERMISSION_DENIED, Denied("tables.readRows"));
  set.mutable_policy()->set_etag(policy.etag());
  ASSERT_TRUE(call(&Stub::SetIamPolicy, set, &policy).ok());
  EXPECT_EQ(policy.etag().size(), 8U);
  EXPECT_TRUE(ReadRows(kTable, "Bearer other").ok());
  Expect(call(&Stub::SetIamPolicy, set, &policy), grpc::StatusCode::ABORTED,
         "There were concurrent policy changes. Please retry the whole read-modify-write with exponential "
         "backoff.");

  iam::TestIamPermissionsRequest test;
  test.set_resource(kTable);
  for (const char* const name :
       {"bigtable.tables.mutateRows", "bigtable.tables.readRows", "bigtable.tables.get"}) {
    test.add_permissions(name);
  }
  iam::TestIamPermissionsResponse had;
  ASSERT_TRUE(call(&Stub::TestIamPermissions, test, &had).ok());
  EXPECT_EQ(had.permissions_size(), 3);
  grpc::ClientContext context;
  Identify(&context, "Bearer other");
  had.Clear();
  ASSERT_TRUE(admin_->TestIamPermissions(&context, test, &had).ok());
  EXPECT_THAT(had.permissions(), testing::ElementsAre("bigtable.tables.readRows", "bigtable.tables.get"));
  test.set_resource(kNoTable);
  had.Clear();
  ASSERT_TRUE(call(&Stub::TestIamPermissions, test, &had).ok());
  EXPECT_EQ(had.permissions_size(), 0);
  test.add_permissions("bigtable.tables.*");
  Expect(call(&Stub::TestIamPermissions, test, &had), grpc::StatusCode::INVALID_ARGUMENT,
         "Error in field 'permissions' : 'bigtable.tables.*' has a wildcard, which is not allowed here");
}

// What is logged while it lives, each line with the request that its thread works for.
class TaggedLines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static std::shared_ptr<TaggedLines> Begin() {
    auto lines = std::make_shared<TaggedLines>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", lines));
    return lines;
  }
  std::map<std::string, RequestTag> lines;

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    lines[std::string(message.payload.data(), message.payload.size())] =
        RequestScope::Current().value_or(RequestTag{});
  }
  void flush_() override {}
};

TEST_F(DoorTest, LinesOfLogsThatBelongToACallNameIt) {
  constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
  Grant("projects/p/instances/i", kEditorRole);
  metrics_.slow_calls()->SetThreshold(absl::ZeroDuration());
  const auto before = spdlog::default_logger();
  const std::shared_ptr<TaggedLines> log = TaggedLines::Begin();
  const auto create = [&](const std::string& table, const std::string& id, const std::string& traceparent) {
    grpc::ClientContext context;
    Identify(&context, "Bearer good");
    if (!id.empty()) context.AddMetadata("x-request-id", id);
    if (!traceparent.empty()) context.AddMetadata("traceparent", traceparent);
    admin::CreateTableRequest request;
    request.set_parent("projects/p/instances/i");
    request.set_table_id(table);
    request.mutable_table();
    admin::Table answer;
    EXPECT_TRUE(admin_->CreateTable(&context, request, &answer).ok());
    const std::vector<SlowCall> calls = metrics_.slow_calls()->List();
    EXPECT_EQ(calls.front().method, "CreateTable");
    const std::string line = "created table projects/p/instances/i/tables/" + table;
    EXPECT_EQ(log->lines[line].id, calls.front().request);
    EXPECT_EQ(log->lines[line].trace, calls.front().trace);
    EXPECT_THAT(AuditText(), HasSubstr("\"status\":\"OK\",\"request\":\"" + calls.front().request + "\""));
    return RequestTag{calls.front().request, calls.front().trace};
  };
  const RequestTag told = create("a", "client-7", std::string("00-") + kTrace + "-00f067aa0ba902b7-01");
  EXPECT_EQ(told.id, "client-7");
  EXPECT_EQ(told.trace, kTrace);
  const RequestTag own = create("b", "", ""), wrong = create("c", "client 7", "00-0-0-0");
  spdlog::set_default_logger(before);
  for (const RequestTag& tag : {own, wrong}) {
    EXPECT_THAT(tag.id, testing::MatchesRegex("[0-9a-f]+-[0-9a-f]+"));
    EXPECT_EQ(tag.trace, "");
  }
  EXPECT_NE(own.id, wrong.id);
  EXPECT_EQ(ReadRows(kTable, "Bearer forged").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(AuditText(),
              testing::ContainsRegex("\"unauthenticated\".*\"request\":\"[0-9a-f]+-[0-9a-f]+\""));
}

TEST_F(DoorTest, ASlowReadTellsWhatItHasCost) {
  Grant(kTable, kUserRole);
  pb::MutateRowRequest write = OfTable<pb::MutateRowRequest>(kTable);
  write.set_row_key("r");
  auto* const cell = write.add_mutations()->mutable_set_cell();
  cell->set_family_name("f");
  cell->set_column_qualifier("abc");
  cell->set_value("0123456789");
  grpc::ClientContext context;
  Identify(&context, "Bearer good");
  pb::MutateRowResponse written;
  ASSERT_TRUE(data_->MutateRow(&context, write, &written).ok());
  metrics_.slow_calls()->SetThreshold(absl::ZeroDuration());
  EXPECT_TRUE(ReadRows(kTable, "Bearer good").ok());
  const SlowCall call = metrics_.slow_calls()->List().front();
  EXPECT_EQ(call.method, "ReadRows");
  EXPECT_EQ(call.cost.rows, 1);
  EXPECT_EQ(call.cost.cells, 1);
  EXPECT_EQ(call.cost.bytes_seen, 13);
  EXPECT_GT(call.cost.bytes, 13);
  EXPECT_EQ(call.cost.pages, 0);
  EXPECT_EQ(call.cost.block_reads, 0);
  EXPECT_EQ(call.cost.queued + call.cost.untaken + call.engine(), call.took);
}

TEST_F(DoorTest, TheAuditLogHasRefusalsAndChangesAndNoSecrets) {
  Grant("projects/p/instances/i", kEditorRole);
  EXPECT_EQ(ReadRows(kTable, "Bearer forged-secret").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(ReadRows("projects/q/instances/i/tables/t", "Bearer good").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(ReadRows(kTable, "Bearer good").ok());
  admin::DeleteTableRequest request;
  request.set_name(kTable);
  EXPECT_TRUE(
      CallBytes("/google.bigtable.admin.v2.BigtableTableAdmin/DeleteTable", request, "Bearer good").ok());
  const std::string text = AuditText();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr(R"("event":"unauthenticated")"));
  EXPECT_THAT(text, HasSubstr(R"("event":"denied","principal":"serviceAccount:somebody@sonde.local")"));
  EXPECT_THAT(text, HasSubstr(R"("permission":"bigtable.tables.readRows","status":"PERMISSION_DENIED")"));
  EXPECT_THAT(text, HasSubstr(R"("event":"ended")"));
  EXPECT_THAT(text, HasSubstr(R"("permission":"bigtable.tables.delete","status":"OK")"));
  EXPECT_THAT(text, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(text, testing::Not(HasSubstr("Bearer")));
}

class ReadsAuditedTest : public DoorTest {
 protected:
  ReadsAuditedTest() : DoorTest({.data_reads = true}) {}
};

TEST_F(ReadsAuditedTest, AReadGetsALineAndAWriteGetsNone) {
  Grant("projects/p/instances/i", kEditorRole);
  EXPECT_TRUE(ReadRows(kTable, "Bearer good").ok());
  EXPECT_TRUE(MutateRow(kTable, "Bearer good").ok());
  const std::string text = AuditText();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, HasSubstr(R"("event":"ended","principal":"serviceAccount:somebody@sonde.local")"));
  EXPECT_THAT(text, HasSubstr(R"("method":"google.bigtable.v2.Bigtable/ReadRows")"));
  EXPECT_THAT(text, HasSubstr(R"("permission":"bigtable.tables.readRows","status":"OK")"));
}

class AuditRequiredTest : public DoorTest {
 protected:
  AuditRequiredTest() : DoorTest({.is_required = true, .data_writes = true}) {}
  grpc::Status DeleteTable() {
    admin::DeleteTableRequest request;
    request.set_name(kTable);
    return CallBytes("/google.bigtable.admin.v2.BigtableTableAdmin/DeleteTable", request, "Bearer good");
  }
};

TEST_F(AuditRequiredTest, WhatTheLogCoversIsRefusedWhileItCannotBeWritten) {
  Grant("projects/p/instances/i", kEditorRole);
  {
    const FullDisk full;
    for (const grpc::Status& status : {DeleteTable(), MutateRow(kTable, "Bearer good")}) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      EXPECT_THAT(status.error_message(), HasSubstr("`audit: required` refuses the call"));
    }
    EXPECT_TRUE(ReadRows(kTable, "Bearer good").ok())
        << "reads are not covered, and the table is still there";
    EXPECT_EQ(ReadRows(kTable, "Bearer forged").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_THAT(AuditText(), testing::Not(HasSubstr("\n")));
  EXPECT_TRUE(MutateRow(kTable, "Bearer good").ok());
  EXPECT_TRUE(DeleteTable().ok());
  const std::string text = AuditText();
  // The first line is what the full disk took of one.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4) << text;
  EXPECT_THAT(text, HasSubstr("\n{\"time\""));
  EXPECT_THAT(text, HasSubstr(R"("event":"begun")"));
  EXPECT_THAT(text, HasSubstr(R"("permission":"bigtable.tables.delete","status":"OK")"));
}

}  // namespace
}  // namespace sonde

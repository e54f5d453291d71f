// Calls of the administration whose effect other calls show: tables that come back, clusters in views, app profiles.
#include <google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h>

#include <atomic>
#include <set>
#include <thread>

#include "series/known/declarations.h"
#include "table/local_tables.h"
#include "wire/grpc_server_test_support.h"

namespace sonde {
namespace {

using google::longrunning::Operation;

constexpr char kOther[] = "projects/p/instances/i/tables/u";

class WireTablesTest : public GrpcServerTest {
 protected:
  void StartWith(const GrpcServerOptions& options = {}) {
    Start(options);
    instances_ = admin::BigtableInstanceAdmin::NewStub(grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(server_->port()), grpc::InsecureChannelCredentials()));
  }
  // Makes a table without a change stream, which would keep it from being deleted.
  grpc::Status Create(const admin::Table& table = {}) {
    admin::CreateTableRequest request;
    request.set_parent(kInstance);
    request.set_table_id("u");
    *request.mutable_table() = table;
    (*request.mutable_table()->mutable_column_families())["f"];
    return Call<admin::Table>(admin_.get(), &admin::BigtableTableAdmin::Stub::CreateTable, request);
  }
  grpc::Status Write(const std::string& key, const std::string& profile = "") {
    auto request = OfTable<pb::MutateRowRequest>(kOther);
    request.set_row_key(key);
    request.set_app_profile_id(profile);
    auto* const set = request.add_mutations()->mutable_set_cell();
    set->set_family_name("f");
    set->set_column_qualifier("q");
    set->set_timestamp_micros(1000);
    set->set_value("v");
    return Call<pb::MutateRowResponse>(data_.get(), &pb::Bigtable::Stub::MutateRow, request);
  }
  // The keys of all rows, or the code of an error.
  std::string Read(const std::string& profile = "") {
    auto request = OfTable<pb::ReadRowsRequest>(kOther);
    request.set_app_profile_id(profile);
    grpc::ClientContext context;
    const auto reader = data_->ReadRows(&context, request);
    std::string keys;
    pb::ReadRowsResponse response;
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) keys += chunk.row_key() + " ";
    }
    const grpc::Status status = reader->Finish();
    return status.ok() ? keys : "code " + std::to_string(status.error_code());
  }
  grpc::Status Delete() {
    admin::DeleteTableRequest request;
    request.set_name(kOther);
    return Call<google::protobuf::Empty>(admin_.get(), &admin::BigtableTableAdmin::Stub::DeleteTable,
                                         request);
  }
  grpc::Status Undelete(Operation* operation = nullptr) {
    admin::UndeleteTableRequest request;
    request.set_name(kOther);
    grpc::ClientContext context;
    Operation answer;
    const grpc::Status status =
        admin_->UndeleteTable(&context, request, operation == nullptr ? &answer : operation);
    return status;
  }
  std::set<std::string> Tables() {
    admin::ListTablesRequest request;
    request.set_parent(kInstance);
    grpc::ClientContext context;
    admin::ListTablesResponse response;
    EXPECT_TRUE(admin_->ListTables(&context, request, &response).ok());
    std::set<std::string> names;
    for (const admin::Table& table : response.tables()) names.insert(table.name());
    return names;
  }
  pb::PrepareQueryResponse Prepare(const std::string& query = "SELECT _key FROM u") {
    pb::PrepareQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_query(query);
    request.mutable_proto_format();
    grpc::ClientContext context;
    pb::PrepareQueryResponse response;
    const grpc::Status status = data_->PrepareQuery(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status Execute(const std::string& prepared, const std::string& profile = "") {
    pb::ExecuteQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_prepared_query(prepared);
    request.set_app_profile_id(profile);
    grpc::ClientContext context;
    const auto reader = data_->ExecuteQuery(&context, request);
    pb::ExecuteQueryResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  }
  void CreateProfile(const std::string& id, const std::function<void(admin::AppProfile*)>& change) {
    admin::CreateAppProfileRequest request;
    request.set_parent(kInstance);
    request.set_app_profile_id(id);
    auto* const routing = request.mutable_app_profile()->mutable_single_cluster_routing();
    routing->set_cluster_id("sonde");
    routing->set_allow_transactional_writes(true);
    change(request.mutable_app_profile());
    grpc::ClientContext context;
    admin::AppProfile made;
    const grpc::Status status = instances_->CreateAppProfile(&context, request, &made);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  std::unique_ptr<admin::BigtableInstanceAdmin::Stub> instances_;
};

TEST_F(WireTablesTest, UndeleteTableBringsTheRowsBackAndProtectsThem) {
  StartWith();
  ASSERT_TRUE(Create().ok());
  ASSERT_TRUE(Write("a").ok());
  ASSERT_TRUE(Write("b").ok());
  const std::string prepared = Prepare().prepared_query();
  EXPECT_TRUE(Execute(prepared).ok());
  EXPECT_EQ(Undelete().error_code(), grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(Delete().ok());
  EXPECT_EQ(Read(), "code 5");
  EXPECT_EQ(Write("c").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_FALSE(Execute(prepared).ok());
  EXPECT_EQ(Tables(), std::set<std::string>{kTable});
  Operation operation;
  const grpc::Status undeleted = Undelete(&operation);
  ASSERT_TRUE(undeleted.ok()) << undeleted.error_message();
  EXPECT_TRUE(operation.done());
  admin::Table table;
  admin::UndeleteTableMetadata metadata;
  ASSERT_TRUE(operation.response().UnpackTo(&table));
  ASSERT_TRUE(operation.metadata().UnpackTo(&metadata));
  EXPECT_EQ(table.name(), kOther);
  EXPECT_TRUE(table.deletion_protection());
  EXPECT_EQ(metadata.name(), kOther);
  EXPECT_GE(metadata.end_time().seconds(), metadata.start_time().seconds());
  EXPECT_EQ(Read(), "a b ");
  EXPECT_EQ(Delete().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Tables(), (std::set<std::string>{kTable, kOther}));
}

TEST_F(WireTablesTest, WithoutTimeToUndeleteADeletedTableIsDropped) {
  StartWith({.undelete_for = absl::ZeroDuration()});
  ASSERT_TRUE(Create().ok());
  ASSERT_TRUE(Delete().ok());
  EXPECT_TRUE(catalog_->ListDeleted().empty());
  EXPECT_EQ(Undelete().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(WireTablesTest, UndeleteTableRefusesWhatIsNoTable) {
  StartWith();
  admin::UndeleteTableRequest request;
  request.set_name("t");
  ExpectInvalid(Call<Operation>(admin_.get(), &admin::BigtableTableAdmin::Stub::UndeleteTable, request),
                "Invalid table name 't'");
  EXPECT_EQ(Undelete().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(WireTablesTest, ViewsShowEveryClusterOfTheInstance) {
  StartWith();
  admin::CreateClusterRequest create;
  create.set_parent(kInstance);
  create.set_cluster_id("second");
  create.mutable_cluster()->set_location("projects/p/locations/elsewhere");
  create.mutable_cluster()->set_serve_nodes(1);
  grpc::ClientContext context;
  Operation made;
  const grpc::Status created = instances_->CreateCluster(&context, create, &made);
  ASSERT_TRUE(created.ok()) << created.error_message();
  for (const admin::Table::View view :
       {admin::Table::REPLICATION_VIEW, admin::Table::ENCRYPTION_VIEW, admin::Table::FULL}) {
    admin::GetTableRequest get;
    get.set_name(kTable);
    get.set_view(view);
    admin::ListTablesRequest list;
    list.set_parent(kInstance);
    list.set_view(view);
    grpc::ClientContext get_context, list_context;
    admin::Table table;
    admin::ListTablesResponse all;
    ASSERT_TRUE(admin_->GetTable(&get_context, get, &table).ok());
    ASSERT_TRUE(admin_->ListTables(&list_context, list, &all).ok());
    ASSERT_EQ(all.tables_size(), 1);
    for (const admin::Table& one : {table, all.tables(0)}) {
      ASSERT_EQ(one.cluster_states_size(), 2) << one.ShortDebugString();
      for (const char* id : {"sonde", "second"}) {
        const admin::Table::ClusterState& state = one.cluster_states().at(id);
        EXPECT_EQ(state.replication_state(), view == admin::Table::ENCRYPTION_VIEW
                                                 ? admin::Table::ClusterState::STATE_NOT_KNOWN
                                                 : admin::Table::ClusterState::READY);
        EXPECT_EQ(state.encryption_info_size(), view == admin::Table::REPLICATION_VIEW ? 0 : 1);
      }
    }
  }
  admin::GetTableRequest get;
  get.set_name(kTable);
  grpc::ClientContext get_context;
  admin::Table table;
  ASSERT_TRUE(admin_->GetTable(&get_context, get, &table).ok());
  EXPECT_EQ(table.cluster_states_size(), 0);
}

TEST_F(WireTablesTest, TiersAreForSsd) {
  StartWith();
  admin::Table tiered;
  tiered.mutable_tiered_storage_config()
      ->mutable_infrequent_access()
      ->mutable_include_if_older_than()
      ->set_seconds(30 * 86'400);
  ASSERT_TRUE(Create(tiered).ok());
  admin::CreateInstanceRequest create;
  create.set_parent("projects/p");
  create.set_instance_id("spinning");
  create.mutable_instance()->set_display_name("spinning");
  admin::Cluster& cluster = (*create.mutable_clusters())["c"];
  cluster.set_location("projects/p/locations/l");
  cluster.set_serve_nodes(1);
  cluster.set_default_storage_type(admin::HDD);
  grpc::ClientContext context;
  Operation made;
  const grpc::Status created = instances_->CreateInstance(&context, create, &made);
  ASSERT_TRUE(created.ok()) << created.error_message();
  admin::CreateTableRequest request;
  request.set_parent("projects/p/instances/spinning");
  request.set_table_id("t");
  *request.mutable_table() = tiered;
  ExpectInvalid(Call<admin::Table>(admin_.get(), &admin::BigtableTableAdmin::Stub::CreateTable, request),
                "stores on HDD");
}

TEST_F(WireTablesTest, DataBoostReadsAndDoesNotWrite) {
  StartWith();
  ASSERT_TRUE(Create().ok());
  ASSERT_TRUE(Write("a").ok());
  CreateProfile("boost", [](admin::AppProfile* profile) {
    profile->mutable_data_boost_isolation_read_only()->set_compute_billing_owner(
        admin::AppProfile::DataBoostIsolationReadOnly::HOST_PAYS);
  });
  EXPECT_EQ(Read("boost"), "a ");
  const grpc::Status refused = Write("b", "boost");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(), "App profiles with Data Boost are for reads only");
  auto rows = OfTable<pb::MutateRowsRequest>(kOther);
  rows.set_app_profile_id("boost");
  EXPECT_EQ(List<pb::MutateRowsResponse>(&pb::Bigtable::Stub::MutateRows, rows).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  auto changes = ChangesOf(kTable);
  changes.set_app_profile_id("boost");
  EXPECT_EQ(List<pb::ReadChangeStreamResponse>(&pb::Bigtable::Stub::ReadChangeStream, changes).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Read(), "a ");
  // An INSERT comes in as a read.
  LocalTables local(tables_.get(), kInstance);
  series::Declarations declarations(&local, &clock_);
  ASSERT_TRUE(declarations
                  .Declare("series: s\ntable: s_points\ntags: { a: string }\nfields: { x: int }\nkey: [a, "
                           "time]\nlayout: row\n")
                  .ok());
  const std::string insert =
      Prepare("INSERT INTO series.s VALUES ('a', TIMESTAMP_SECONDS(1), 2)").prepared_query();
  EXPECT_EQ(Execute(insert, "boost").error_message(), "App profiles with Data Boost are for reads only");
  const std::string select = Prepare("SELECT * FROM series.s").prepared_query();
  EXPECT_TRUE(Execute(select, "boost").ok());
  EXPECT_TRUE(Execute(insert).ok());
}

TEST_F(WireTablesTest, StrictInstancesAndProfilesMustExist) {
  // The fixture's table is in an instance that nobody created.
  auto server = GrpcServer::Start({.writes_block = false, .strict_instances = true}, tables_.get());
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()), grpc::InsecureChannelCredentials());
  data_ = pb::Bigtable::NewStub(channel);
  admin_ = admin::BigtableTableAdmin::NewStub(channel);
  instances_ = admin::BigtableInstanceAdmin::NewStub(channel);
  admin::CreateTableRequest uncreated;
  uncreated.set_parent(kInstance);
  uncreated.set_table_id("u");
  grpc::ClientContext refused_context;
  admin::Table none;
  const grpc::Status refused = admin_->CreateTable(&refused_context, uncreated, &none);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused.error_message(), std::string("Failed to read: ") + kInstance);
  EXPECT_TRUE(catalog_->ListAll().empty());
  admin::CreateInstanceRequest create;
  create.set_parent("projects/p");
  create.set_instance_id("strict");
  create.mutable_instance()->set_display_name("strict");
  admin::Cluster& cluster = (*create.mutable_clusters())["c"];
  cluster.set_location("projects/p/locations/l");
  cluster.set_serve_nodes(1);
  grpc::ClientContext context;
  Operation made;
  const grpc::Status created = instances_->CreateInstance(&context, create, &made);
  ASSERT_TRUE(created.ok()) << created.error_message();
  admin::CreateTableRequest request;
  request.set_parent("projects/p/instances/strict");
  request.set_table_id("t");
  EXPECT_TRUE(Call<admin::Table>(admin_.get(), &admin::BigtableTableAdmin::Stub::CreateTable, request).ok());
  auto read = OfTable<pb::ReadRowsRequest>("projects/p/instances/strict/tables/t");
  EXPECT_TRUE(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, read).ok());
  read.set_app_profile_id("unknown");
  grpc::ClientContext read_context;
  const auto reader = data_->ReadRows(&read_context, read);
  pb::ReadRowsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status unknown = reader->Finish();
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(unknown.error_message(),
            "App profile not found: projects/p/instances/strict/appProfiles/unknown");
}

TEST_F(WireTablesTest, ALowPriorityGoesOnWhileAHighOneIsSaturated) {
  StartWith({.worker_threads = 1, .reader_threads = 1});
  ASSERT_TRUE(Create().ok());
  ASSERT_TRUE(Write("a").ok());
  CreateProfile("low", [](admin::AppProfile* profile) {
    profile->mutable_standard_isolation()->set_priority(admin::AppProfile::PRIORITY_LOW);
  });
  constexpr int kHighThreads = 8, kLowCalls = 20;
  std::atomic<bool> is_done = false;
  std::atomic<int> high = 0;
  // These wait for the only reader.
  const auto sample = [this](const std::string& profile) {
    auto request = OfTable<pb::SampleRowKeysRequest>(kOther);
    request.set_app_profile_id(profile);
    grpc::ClientContext context;
    const auto reader = data_->SampleRowKeys(&context, request);
    pb::SampleRowKeysResponse response;
    while (reader->Read(&response)) {
    }
    return reader->Finish();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kHighThreads; ++i) {
    threads.emplace_back([&] {
      while (!is_done) high += sample("").ok() ? 1 : 0;
    });
  }
  EXPECT_TRUE(Soon([&] { return high > 0; }));
  int low = 0;
  EXPECT_TRUE(Soon([&] {
    while (low < kLowCalls && sample("low").ok() && Read("low") == "a " && Write("a", "low").ok()) ++low;
    return low == kLowCalls;
  }));
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sonde

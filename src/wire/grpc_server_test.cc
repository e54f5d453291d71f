#include "wire/grpc_server.h"

#include <google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h>
#include <grpcpp/impl/client_unary_call.h>

#include "absl/synchronization/notification.h"
#include "engine/forwarding_engine.h"
#include "wire/grpc_server_test_support.h"

namespace sonde {
namespace {

// The calls check that the metadata is there, and that a table which is not there has no cluster.
TEST_F(GrpcServerTest, EveryDataCallHasItsMetadataWhateverTheAnswer) {
  Start();
  using Stub = pb::Bigtable::Stub;
  using Partitions = pb::GenerateInitialChangeStreamPartitionsRequest;
  using Partition = pb::GenerateInitialChangeStreamPartitionsResponse;
  EXPECT_TRUE(WriteRow("row", 1, 1).ok());
  for (const char* table :
       {kTable, "projects/p/instances/i/tables/none", "projects/p/instances/empty/tables/t", "no name"}) {
    const bool is_there = table == kTable;
    auto increment = OfTable<pb::ReadModifyWriteRowRequest>(table);
    increment.set_row_key("counter");
    increment.add_rules()->set_family_name("f");
    increment.mutable_rules(0)->set_increment_amount(1);
    auto check = OfTable<pb::CheckAndMutateRowRequest>(table);
    check.set_row_key("row");
    check.add_true_mutations()->mutable_delete_from_row();
    auto batch = OfTable<pb::MutateRowsRequest>(table);
    batch.add_entries()->add_mutations()->mutable_delete_from_row();
    EXPECT_EQ(List<pb::ReadRowsResponse>(&Stub::ReadRows, OfTable<pb::ReadRowsRequest>(table)).ok(),
              is_there);
    EXPECT_EQ(
        List<pb::SampleRowKeysResponse>(&Stub::SampleRowKeys, OfTable<pb::SampleRowKeysRequest>(table)).ok(),
        is_there);
    EXPECT_EQ(List<pb::MutateRowsResponse>(&Stub::MutateRows, batch).ok(), is_there);
    EXPECT_EQ(List<Partition>(&Stub::GenerateInitialChangeStreamPartitions, OfTable<Partitions>(table)).ok(),
              is_there);
    List<pb::ReadChangeStreamResponse>(&Stub::ReadChangeStream, ChangesOf(table), /*first_only=*/true);
    EXPECT_FALSE(
        Call<pb::MutateRowResponse>(data_.get(), &Stub::MutateRow, OfTable<pb::MutateRowRequest>(table))
            .ok());
    EXPECT_EQ(Call<pb::CheckAndMutateRowResponse>(data_.get(), &Stub::CheckAndMutateRow, check).ok(),
              is_there);
    EXPECT_EQ(Call<pb::ReadModifyWriteRowResponse>(data_.get(), &Stub::ReadModifyWriteRow, increment).ok(),
              is_there);
  }
  pb::PingAndWarmRequest ping;
  pb::GetClientConfigurationRequest configuration;
  for (const char* instance : {kInstance, "no name"}) {
    ping.set_name(instance);
    configuration.set_instance_name(instance);
    const bool is_there = instance == kInstance;
    EXPECT_EQ(Call<pb::PingAndWarmResponse>(data_.get(), &Stub::PingAndWarm, ping).ok(), is_there);
    EXPECT_EQ(Call<pb::ClientConfiguration>(data_.get(), &Stub::GetClientConfiguration, configuration).ok(),
              is_there);
  }
}

TEST_F(GrpcServerTest, WhatIsRefusedForWantOfRoomHasItsMetadataToo) {
  Start({.reads_per_second = 1, .writes_per_second = 1});
  using Stub = pb::Bigtable::Stub;
  WriteRow("row", 1, 1);
  const grpc::Status write = WriteRow("row", 1, 1);
  EXPECT_EQ(write.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  List<pb::ReadRowsResponse>(&Stub::ReadRows, OfTable<pb::ReadRowsRequest>());
  const grpc::Status samples =
      List<pb::SampleRowKeysResponse>(&Stub::SampleRowKeys, OfTable<pb::SampleRowKeysRequest>());
  EXPECT_EQ(samples.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcServerTest, RefusesMoreEntriesThanMutations) {
  Start();
  auto batch = OfTable<pb::MutateRowsRequest>();
  for (int i = 0; i < 100'001; ++i) batch.add_entries();
  ExpectInvalid(List<pb::MutateRowsResponse>(&pb::Bigtable::Stub::MutateRows, batch),
                "Too many entries: 100001 provided; limit 100000");
  batch.mutable_entries()->RemoveLast();
  // As many entries as there may be; but none of them has a mutation.
  ExpectInvalid(List<pb::MutateRowsResponse>(&pb::Bigtable::Stub::MutateRows, batch),
                "No mutations provided");
  batch.mutable_entries(0)->add_mutations()->mutable_delete_from_row();
  EXPECT_TRUE(List<pb::MutateRowsResponse>(&pb::Bigtable::Stub::MutateRows, batch).ok());
}

TEST_F(GrpcServerTest, RefusesWhatNoEnumerationHas) {
  Start();
  auto read = OfTable<pb::ReadRowsRequest>();
  read.set_request_stats_view(static_cast<pb::ReadRowsRequest::RequestStatsView>(3));
  ExpectInvalid(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, read),
                "Error in field 'request_stats_view' : unknown value 3");
  using Admin = admin::BigtableTableAdmin::Stub;
  constexpr char kUnknownView[] = "Error in field 'view' : unknown value 99";
  admin::GetTableRequest get;
  get.set_name(kTable);
  get.set_view(static_cast<admin::Table::View>(99));
  ExpectInvalid(Call<admin::Table>(admin_.get(), &Admin::GetTable, get), kUnknownView);
  admin::ListTablesRequest list;
  list.set_parent(kInstance);
  list.set_view(static_cast<admin::Table::View>(99));
  ExpectInvalid(Call<admin::ListTablesResponse>(admin_.get(), &Admin::ListTables, list), kUnknownView);
  admin::GetAuthorizedViewRequest get_view;
  get_view.set_name(std::string(kTable) + "/authorizedViews/v");
  get_view.set_view(static_cast<admin::AuthorizedView::ResponseView>(99));
  ExpectInvalid(Call<admin::AuthorizedView>(admin_.get(), &Admin::GetAuthorizedView, get_view), kUnknownView);
  admin::ListAuthorizedViewsRequest list_views;
  list_views.set_parent(kTable);
  list_views.set_view(static_cast<admin::AuthorizedView::ResponseView>(99));
  ExpectInvalid(
      Call<admin::ListAuthorizedViewsResponse>(admin_.get(), &Admin::ListAuthorizedViews, list_views),
      kUnknownView);
}

TEST_F(GrpcServerTest, RefusesWhatWouldBecomeMuchMoreThanItIs) {
  Start();
  constexpr char kTooMany[] = "1000001 or more; limit 1000000";
  auto write = OfTable<pb::MutateRowRequest>();
  for (int i = 0; i < 1'000'001; ++i) write.add_mutations();
  const grpc::Status status = Call<pb::MutateRowResponse>(data_.get(), &pb::Bigtable::Stub::MutateRow, write);
  ExpectInvalid(status, kTooMany);
  EXPECT_THAT(status.error_message(), HasSubstr("google.bigtable.v2.MutateRowRequest"));
  admin::CreateTableRequest create;
  create.set_parent(kInstance);
  create.set_table_id("u");
  for (int i = 0; i < 1'000'001; ++i) create.add_initial_splits();
  ExpectInvalid(Call<admin::Table>(admin_.get(), &admin::BigtableTableAdmin::Stub::CreateTable, create),
                kTooMany);
}

TEST_F(GrpcServerTest, CountsWhatALargeRequestBecomes) {
  Start({.read_bytes_max = 30 * kMegabyte});
  ASSERT_TRUE(WriteRow("row", 2, 10 * kMegabyte).ok());
  StallRead();  // so that the next is not alone
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().bytes > 20 * kMegabyte; }));
  auto request = OfTable<pb::ReadRowsRequest>();
  for (int i = 0; i < 200'000; ++i) request.mutable_rows()->add_row_keys("");  // 0.4 MB, and 13 when parsed
  ExpectBusy(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, request), "with 12800");
}

TEST_F(GrpcServerTest, RefusesLargeRequestsOfCallsThatNeedNone) {
  Start();
  using Stub = pb::Bigtable::Stub;
  const std::string large(600 * 1024, 'x');
  ExpectInvalid(List<pb::ReadRowsResponse>(&Stub::ReadRows, OfTable<pb::ReadRowsRequest>(large)),
                "A request of ReadRows may have 524288 bytes, and has 6");
  ExpectInvalid(
      List<pb::SampleRowKeysResponse>(&Stub::SampleRowKeys, OfTable<pb::SampleRowKeysRequest>(large)),
      "A request of SampleRowKeys may have 524288 bytes, and has 6");
  ExpectInvalid(List<pb::ReadChangeStreamResponse>(&Stub::ReadChangeStream, ChangesOf(large)),
                "A request of ReadChangeStream may have 524288 bytes, and has 6");
  admin::GetTableRequest get;
  get.set_name(std::string(5 * kMegabyte, 'x'));
  ExpectInvalid(Call<admin::Table>(admin_.get(), &admin::BigtableTableAdmin::Stub::GetTable, get),
                "A request of GetTable may have 4194304 bytes, and has 5");
  google::longrunning::GetOperationRequest operation;
  operation.set_name(std::string(5 * kMegabyte, 'x'));
  ExpectInvalid(Call<google::longrunning::Operation>(
                    operations_.get(), &google::longrunning::Operations::Stub::GetOperation, operation),
                "A request of GetOperation may have 4194304 bytes, and has 5");
}

TEST_F(GrpcServerTest, ReadersOfALargeRowHoldWhatIsCounted) {
  Start({.read_bytes_max = 50 << 20});
  ASSERT_TRUE(WriteRow("row", 2, 10 * kMegabyte).ok());
  StallRead();
  StallRead();
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().bytes > 40 * kMegabyte; }));
  EXPECT_LT(server_->reads().Taken().bytes, 41 * kMegabyte);
  ExpectBusy(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, OfTable<pb::ReadRowsRequest>()),
             "the limit is 52428800");
  contexts_[0].TryCancel();
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().requests == 1; }));
  EXPECT_TRUE(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, OfTable<pb::ReadRowsRequest>()).ok());
  // A client that goes on gets all of it.
  pb::ReadRowsResponse response;
  size_t bytes = 0;
  while (reads_[1]->Read(&response)) {
    for (const auto& chunk : response.chunks()) bytes += chunk.value().size();
  }
  EXPECT_EQ(bytes, 20 * kMegabyte);
  EXPECT_TRUE(reads_[1]->Finish().ok());
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

TEST_F(GrpcServerTest, RowsThatAFilterSeesWholeAreCounted) {
  Start({.read_bytes_max = 12 * kMegabyte});
  ASSERT_TRUE(WriteRow("large", 2, 5 * kMegabyte).ok());
  ASSERT_TRUE(WriteRow("row", 3'000, 1'000).ok());  // several pieces
  auto request = OfTable<pb::ReadRowsRequest>();
  request.mutable_rows()->add_row_keys("large");
  StallRead(request);
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().bytes > 10 * kMegabyte; }));
  request.mutable_rows()->set_row_keys(0, "row");
  const auto read = [&] { return List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, request); };
  request.mutable_filter()->set_column_qualifier_regex_filter("q2999");
  EXPECT_TRUE(read().ok());  // it is seen piece by piece
  request.mutable_filter()->set_cells_per_row_offset_filter(2'999);
  ExpectBusy(read(), "the limit is 12000000");
  contexts_[0].TryCancel();
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().requests == 0; }));
  EXPECT_TRUE(read().ok());
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

TEST_F(GrpcServerTest, WhatIsLargeWaitsForItsTurnAndWhatIsSmallDoesNot) {
  LargeRoom room({.bytes_max = 100 << 20, .wait_max = absl::Seconds(30)});
  Start({.large_room = &room});
  const grpc::Status refused = WriteRow("a", 3, 7 * kMegabyte);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << refused.error_message();
  EXPECT_THAT(refused.error_message(), HasSubstr("start it with --memory 128MiB"));
  absl::StatusOr<LargeRoom::Place> other = room.TryTake("another", 90 << 20);
  ASSERT_TRUE(other.ok());
  grpc::Status large;
  std::thread waits([&] { large = WriteRow("large", 1, 5 * kMegabyte); });
  for (int i = 0; i < 20; ++i) {
    const grpc::Status small = WriteRow("small", 1, 10);
    EXPECT_TRUE(small.ok()) << small.error_message();
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_EQ(room.taken_bytes(), 90 << 20);
  other->Shrink(0);
  waits.join();
  EXPECT_TRUE(large.ok()) << large.error_message();
  EXPECT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));
}

// Their messages wait for their clients in the room of what is large, and do not keep small reads out.
TEST_F(GrpcServerTest, LargeRowsAreNoMemoryOfReads) {
  LargeRoom room({.bytes_max = 600 << 20, .wait_max = absl::Milliseconds(300)});
  Start({.read_bytes_max = 12 * kMegabyte, .large_room = &room});
  ASSERT_TRUE(WriteRow("large", 2, 5 * kMegabyte).ok());
  ASSERT_TRUE(WriteRow("small", 1, 10).ok());
  auto request = OfTable<pb::ReadRowsRequest>();
  request.mutable_rows()->add_row_keys("large");
  ASSERT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));
  for (int i = 0; i < 2; ++i) StallRead(request);
  EXPECT_TRUE(
      Soon([&] { return room.taken_bytes() > 20 * kMegabyte && room.taken_bytes() < 22 * kMegabyte; }));
  EXPECT_LT(server_->reads().Taken().bytes, kMegabyte);
  request.mutable_rows()->set_row_keys(0, "small");
  const grpc::Status small = List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, request);
  EXPECT_TRUE(small.ok()) << small.error_message();
  for (grpc::ClientContext& context : contexts_) context.TryCancel();
  EXPECT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));
}

TEST_F(GrpcServerTest, LargeRowsAreReadInTurnAsAWhole) {
  LargeRoom room({.bytes_max = 300 << 20, .wait_max = absl::Milliseconds(300)});
  Start({.large_room = &room});
  for (const char* row : {"a", "c"}) ASSERT_TRUE(WriteRow(row, 1, 10).ok());
  ASSERT_TRUE(WriteRow("b", 10, kMegabyte).ok());
  pb::ReadRowsRequest request;
  request.set_table_name(kTable);
  const auto read = [&](std::string* rows) {
    grpc::ClientContext context;
    auto reader = data_->ReadRows(&context, request);
    pb::ReadRowsResponse response;
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) {
        *rows += chunk.row_key();
        if (chunk.commit_row()) *rows += '.';
      }
    }
    return reader->Finish();
  };
  ASSERT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));  // which comes after the answer
  absl::StatusOr<LargeRoom::Place> other = room.TryTake("another", 290 << 20);
  ASSERT_TRUE(other.ok());
  std::string rows;
  const grpc::Status busy = read(&rows);
  EXPECT_EQ(busy.error_code(), grpc::StatusCode::UNAVAILABLE) << busy.error_message();
  EXPECT_EQ(rows, "a.");  // what was before it is sent meanwhile
  other->Shrink(0);
  for (const bool whole : {false, true}) {
    if (whole) request.mutable_filter()->set_cells_per_row_limit_filter(1'000);
    rows.clear();
    const grpc::Status status = read(&rows);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(rows, "a.b.c.");
  }
  EXPECT_EQ(room.taken_bytes(), 0);
}

TEST_F(GrpcServerTest, TooManyChangeStreamsMayTryAgain) {
  Start({.read_bytes_max = 80 * 1024});  // of which change streams have half
  for (int i = 0; i < 4; ++i) {
    streams_.push_back(data_->ReadChangeStream(&contexts_.emplace_back(), ChangesOf(kTable)));
    pb::ReadChangeStreamResponse response;
    ASSERT_TRUE(streams_.back()->Read(&response));
  }
  ExpectBusy(List<pb::ReadChangeStreamResponse>(&pb::Bigtable::Stub::ReadChangeStream, ChangesOf(kTable)),
             "change streams");
}

TEST_F(GrpcServerTest, AServerThatEndsSaysSoToItsChangeStreams) {
  Start();
  streams_.push_back(data_->ReadChangeStream(&contexts_.emplace_back(), ChangesOf(kTable)));
  pb::ReadChangeStreamResponse response;
  ASSERT_TRUE(streams_.back()->Read(&response));
  std::thread ending([&] { server_->Shutdown(absl::Seconds(20)); });
  while (streams_.back()->Read(&response)) {
  }
  ExpectBusy(streams_.back()->Finish(), "The server is ending");
  ending.join();
}

// The bytes of a grpc.health.v1.HealthCheckResponse: field 1 is the status, of which 1 is SERVING and 2 is NOT_SERVING.
std::string HealthIs(char status) { return std::string("\x08") + status; }

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

TEST_F(GrpcServerTest, HealthSaysThatAServerDrainsAndItAnswersAllTheSame) {
  Start();
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()), grpc::InsecureChannelCredentials());
  const auto check = [&] {
    grpc::ClientContext context;
    grpc::ByteBuffer request(nullptr, 0), response;
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                           grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel.get(), method, &context, request, &response);
    return status.ok() ? BytesOf(response) : status.error_message();
  };
  const grpc::internal::RpcMethod watch("/grpc.health.v1.Health/Watch",
                                        grpc::internal::RpcMethod::SERVER_STREAMING, channel);
  std::deque<grpc::ClientContext> contexts(3);
  std::vector<std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>>> watches;
  grpc::ByteBuffer response;
  for (grpc::ClientContext& context : contexts) {
    watches.emplace_back(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
        channel.get(), watch, &context, grpc::ByteBuffer(nullptr, 0)));
    ASSERT_TRUE(watches.back()->Read(&response));
    EXPECT_EQ(BytesOf(response), HealthIs(1));
  }
  EXPECT_EQ(check(), HealthIs(1));
  contexts.front().TryCancel();
  EXPECT_FALSE(watches.front()->Read(&response));
  server_->StopServing();
  server_->StopServing();
  for (size_t i = 1; i < watches.size(); ++i) {
    ASSERT_TRUE(watches[i]->Read(&response)) << i;
    EXPECT_EQ(BytesOf(response), HealthIs(2)) << i;
  }
  EXPECT_EQ(check(), HealthIs(2));
  EXPECT_TRUE(WriteRow("k", 1, 1).ok());
  std::thread ending([&] { server_->Shutdown(absl::Seconds(20)); });
  for (size_t i = 0; i < watches.size(); ++i) {
    EXPECT_FALSE(watches[i]->Read(&response)) << i;
    const grpc::StatusCode code = watches[i]->Finish().error_code();
    EXPECT_EQ(code, i == 0 ? grpc::StatusCode::CANCELLED : grpc::StatusCode::UNAVAILABLE) << i;
  }
  ending.join();
}

TEST_F(GrpcServerTest, ASecondShutdownShortensTheGrace) {
  Start();
  StallRead();
  std::thread ending([&] { EXPECT_EQ(server_->Shutdown(absl::Hours(1)), 0); });
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(server_->Shutdown(absl::ZeroDuration()), 0);
  ending.join();
}

// An engine behind a network, whose scans begin when they may.
class FarEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  EngineTraits traits() const override { return {.waits_for_network = true}; }
  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override {
    if (!has_begun.HasBeenNotified()) has_begun.Notify();
    may_go_on.WaitForNotification();
    return engine_->Scan(table, std::move(ranges), std::move(options));
  }

  absl::Notification has_begun, may_go_on;
};

TEST_F(GrpcServerTest, AReadThatWaitsForTheNetworkKeepsNoOtherCallWaiting) {
  FarEngine far(engine_.get());
  tables_ = std::make_unique<Tables>(&far, catalog_.get(), &clock_, /*seed=*/1);
  Start();
  StallRead();
  far.has_begun.WaitForNotification();
  // It is of the same connection, so that the same thread has both.
  pb::PingAndWarmRequest ping;
  ping.set_name(kInstance);
  const grpc::Status other =
      Call<pb::PingAndWarmResponse>(data_.get(), &pb::Bigtable::Stub::PingAndWarm, ping);
  EXPECT_TRUE(other.ok()) << other.error_message();
  far.may_go_on.Notify();
  pb::ReadRowsResponse response;
  while (reads_.back()->Read(&response)) {
  }
  EXPECT_TRUE(reads_.back()->Finish().ok());
  server_.reset();  // before the engine
}

TEST_F(GrpcServerTest, AFilterTooDeepToBeParsedIsCalledDeep) {
  Start();
  auto request = OfTable<pb::ReadRowsRequest>();
  pb::RowFilter* filter = request.mutable_filter();
  for (int i = 0; i < 60; ++i) filter = filter->mutable_chain()->add_filters();
  ExpectInvalid(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, request),
                "nested too deep: its messages may be 100 deep, a row filter 20");
}

TEST_F(GrpcServerTest, AnInstanceWithoutTablesIsCalledSo) {
  Start();
  const grpc::Status empty = List<pb::ReadRowsResponse>(
      &pb::Bigtable::Stub::ReadRows, OfTable<pb::ReadRowsRequest>("projects/p/instances/empty/tables/t"));
  EXPECT_EQ(empty.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(empty.error_message(),
            "No tables found for instance projects/p/instances/empty, nor "
            "projects/p/instances/empty/tables/t");
  const grpc::Status other = List<pb::ReadRowsResponse>(
      &pb::Bigtable::Stub::ReadRows, OfTable<pb::ReadRowsRequest>("projects/p/instances/i/tables/other"));
  EXPECT_EQ(other.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(other.error_message(), "Table not found: projects/p/instances/i/tables/other");
}

// Calls of services that are built and that are not, of one message and of many.
TEST_F(GrpcServerTest, CallsThatAreNotBuiltSayWhichTheyAreAndWhereToLook) {
  Start();
  const auto expect = [](const grpc::Status& status, const std::string& call) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(),
              call + " is not built; docs/compatibility.md of Sonde lists which calls are");
  };
  const auto call = [](auto* stub, auto method, const auto& request, auto response) {
    grpc::ClientContext context;
    return (stub->*method)(&context, request, &response);
  };
  grpc::ClientContext session_context;
  const auto session = data_->OpenTable(&session_context);
  pb::SessionResponse message;
  EXPECT_FALSE(session->Read(&message));
  expect(session->Finish(), "google.bigtable.v2.Bigtable/OpenTable");
  expect(call(admin_.get(), &admin::BigtableTableAdmin::Stub::SnapshotTable, admin::SnapshotTableRequest(),
              google::longrunning::Operation()),
         "google.bigtable.admin.v2.BigtableTableAdmin/SnapshotTable");
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()), grpc::InsecureChannelCredentials());
  // A service that Sonde does not have at all.
  const grpc::internal::RpcMethod method("/google.spanner.v1.Spanner/CreateSession",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext other_context;
  google::protobuf::Empty empty;
  grpc::internal::BlockingUnaryCallImpl<google::protobuf::MessageLite, google::protobuf::MessageLite> other(
      channel.get(), method, &other_context, empty, &empty);
  expect(other.status(), "google.spanner.v1.Spanner/CreateSession");
}

TEST_F(GrpcServerTest, FieldsThatAreNotBuiltAreNamedWithTheirCall) {
  Start();
  auto reversed = OfTable<pb::ReadRowsRequest>();
  reversed.set_reversed(true);
  const grpc::Status status = List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, reversed);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), testing::AllOf(HasSubstr("of ReadRows"), HasSubstr("bigtable-features"),
                                                     HasSubstr("docs/compatibility.md")));
}

TEST_F(GrpcServerTest, OperationsOutliveTheServerAndAreWaitedFor) {
  namespace lro = google::longrunning;
  Start();
  admin::UpdateTableRequest update;
  update.mutable_table()->set_name(kTable);
  update.mutable_table()->set_deletion_protection(true);
  update.mutable_update_mask()->add_paths("deletion_protection");
  grpc::ClientContext update_context;
  lro::Operation made, found;
  ASSERT_TRUE(admin_->UpdateTable(&update_context, update, &made).ok());
  server_.reset();
  Restart();
  lro::WaitOperationRequest wait;
  wait.set_name(made.name());
  grpc::ClientContext wait_context;
  const grpc::Status waited = operations_->WaitOperation(&wait_context, wait, &found);
  ASSERT_TRUE(waited.ok()) << waited.error_message();
  EXPECT_EQ(found.SerializeAsString(), made.SerializeAsString());
  wait.mutable_timeout()->set_seconds(-1);
  grpc::ClientContext refused_context;
  EXPECT_EQ(operations_->WaitOperation(&refused_context, wait, &found).error_message(),
            "Error in field 'timeout' : must be a duration that is not negative, but is -1 s and 0 ns");
  lro::ListOperationsRequest list;
  list.set_name("operations/projects/p");
  list.set_filter("done");
  lro::ListOperationsResponse listed;
  grpc::ClientContext list_context;
  EXPECT_EQ(operations_->ListOperations(&list_context, list, &listed).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace sonde

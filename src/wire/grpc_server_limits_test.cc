// What one client can take of a server, and what others have then.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "sql/spill/spill_space.h"
#include "wire/grpc_server_test_support.h"

namespace sonde {
namespace {

using GrpcServerLimitsTest = GrpcServerTest;

TEST_F(GrpcServerLimitsTest, WhatIsLargeHasItsPlaceBeforeItComes) {
  LargeRoom room({.bytes_max = 600 << 20});
  Start({.large_room = &room});
  absl::StatusOr<LargeRoom::Place> other = room.TryTake("another", 590 << 20);
  grpc::Status first, second;
  std::thread writes([&] { first = WriteRow("first", 1, 50 * kMegabyte); });
  std::thread writes_too([&] { second = WriteRow("second", 1, 50 * kMegabyte); });
  ASSERT_TRUE(Soon([&] { return server_->writes().Taken().requests == 2; }));
  absl::SleepFor(absl::Milliseconds(200));
  // The server has taken no more of each request than comes before a stream's window is opened.
  EXPECT_LT(server_->transport_facts().bytes, kMegabyte);
  other->Shrink(0);
  writes.join();
  writes_too.join();
  EXPECT_TRUE(first.ok()) << first.error_message();
  EXPECT_TRUE(second.ok()) << second.error_message();
  EXPECT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));
}

TEST_F(GrpcServerLimitsTest, WhoseClientHasGoneLeavesItsPlace) {
  LargeRoom room({.bytes_max = 600 << 20});
  Start({.large_room = &room});
  absl::StatusOr<LargeRoom::Place> other = room.TryTake("another", 590 << 20);
  auto request = OfTable<pb::MutateRowRequest>();
  request.set_row_key("row");
  request.add_mutations()->mutable_set_cell()->set_value(std::string(50 * kMegabyte, 'v'));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  pb::MutateRowResponse response;
  const grpc::Status status = data_->MutateRow(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_TRUE(Soon([&] { return server_->writes().Taken().requests == 0; }));
  other->Shrink(0);
  EXPECT_TRUE(WriteRow("large", 1, 50 * kMegabyte).ok());
  EXPECT_TRUE(Soon([&] { return room.taken_bytes() == 0; }));
}

// Reads by a connection of its own.
grpc::Status ReadByAnother(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto stub = pb::Bigtable::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  const auto reader = stub->ReadRows(&context, OfTable<pb::ReadRowsRequest>());
  pb::ReadRowsResponse response;
  while (reader->Read(&response)) {
  }
  return reader->Finish();
}

TEST_F(GrpcServerLimitsTest, AConnectionHasAShareOfTheReadsWhenThereAreMany) {
  Start({.reads_max = 40, .read_patience = absl::Seconds(60)});
  ASSERT_TRUE(WriteRow("row", 1, 2 * kMegabyte).ok());
  for (int i = 0; i < 40; ++i) StallRead();
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().requests == 20; }));
  ExpectBusy(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, OfTable<pb::ReadRowsRequest>()),
             "reads of this connection are under way, and while there are many the limit is 10");
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(ReadByAnother(server_->port()).ok());
}

TEST_F(GrpcServerLimitsTest, AReadThatNobodyTakesLeavesItsPlaceToOthersAndGoesOn) {
  Start({.read_bytes_max = 4 << 20, .read_patience = absl::Milliseconds(200)});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(WriteRow("row" + std::to_string(i), 1, 10'000).ok());
  for (int i = 0; i < 20; ++i) StallRead();
  // A message of three rows, and a little.
  const int64_t held_bytes = 20 * (8 + 32) * 1024;
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().requests == 20; }));
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes <= held_bytes; }))
      << server_->reads().Taken().bytes;
  EXPECT_GT(server_->reads().Taken().bytes, held_bytes / 4);
  for (const auto& read : reads_) {
    pb::ReadRowsResponse response;
    int rows = 0;
    while (read->Read(&response)) {
      for (const auto& chunk : response.chunks()) rows += chunk.commit_row() ? 1 : 0;
    }
    EXPECT_TRUE(read->Finish().ok());
    EXPECT_EQ(rows, 50);
  }
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

// Queries.
class GrpcServerQueryLimitsTest : public GrpcServerLimitsTest {
 protected:
  using Reader = std::unique_ptr<grpc::ClientReader<pb::ExecuteQueryResponse>>;

  // Rows of some 1,000 bytes, a thousand of them a unit.
  static std::string Rows(int thousands) {
    return "(SELECT x * 1000 + y AS n, CONCAT(REPEAT('v', 994), CAST(100000 + x * 1000 + y AS STRING)) AS v "
           "FROM UNNEST(GENERATE_ARRAY(1, " +
           std::to_string(thousands) + ")) x, UNNEST(GENERATE_ARRAY(1, 1000)) y)";
  }
  std::string Prepare(const std::string& text) {
    pb::PrepareQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_query(text);
    grpc::ClientContext context;
    pb::PrepareQueryResponse response;
    const grpc::Status status = data_->PrepareQuery(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.prepared_query();
  }
  Reader Execute(const std::string& prepared) {
    pb::ExecuteQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_prepared_query(prepared);
    return data_->ExecuteQuery(&contexts_.emplace_back(), request);
  }
  // How many bytes of rows come.
  static size_t ReadAll(const Reader& reader) {
    size_t bytes = 0;
    pb::ExecuteQueryResponse response;
    while (reader->Read(&response)) bytes += response.results().proto_rows_batch().batch_data().size();
    return bytes;
  }
};

TEST_F(GrpcServerQueryLimitsTest, AQueryThatNobodyTakesLeavesItsPlaceToOthersAndGoesOn) {
  Start({.read_bytes_max = 16 << 20, .read_patience = absl::Milliseconds(200)});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(WriteRow("row" + std::to_string(i), 1, 10'000).ok());
  const std::string prepared = Prepare("SELECT _key, f FROM t");
  std::vector<Reader> readers;
  for (int i = 0; i < 20; ++i) readers.push_back(Execute(prepared));
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().requests == 20; }));
  // What a query keeps, and a message.
  const int64_t held_bytes = 20 * (32 + 80) * 1024;
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes <= held_bytes; }))
      << server_->reads().Taken().bytes;
  for (const Reader& reader : readers) {
    EXPECT_GT(ReadAll(reader), 500'000);
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

TEST_F(GrpcServerQueryLimitsTest, AConnectionHasAShareOfTheReads) {
  Start({.reads_max = 40, .read_patience = absl::Seconds(60)});
  const std::string prepared = Prepare("SELECT * FROM " + Rows(10));
  std::vector<Reader> readers;
  for (int i = 0; i < 40; ++i) readers.push_back(Execute(prepared));
  // The memory of queries that begin counts, too: at times it leaves less room than their number does, and more are let in later.
  ASSERT_TRUE(Soon([&] {
    const int64_t requests = server_->reads().Taken().requests;
    if (requests < 20) readers.push_back(Execute(prepared));
    return requests == 20;
  })) << server_->reads().Taken().requests;
  Reader another = Execute(prepared);
  EXPECT_EQ(ReadAll(another), 0);
  ExpectBusy(another->Finish(),
             "reads of this connection are under way, and while there are many the limit is 10");
  for (grpc::ClientContext& context : contexts_) context.TryCancel();
  for (const Reader& reader : readers) {
    ReadAll(reader);
    reader->Finish();
  }
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

TEST_F(GrpcServerQueryLimitsTest, AQueryHoldsHalfOfTheRoomOfReads) {
  Start({.read_bytes_max = 16 << 20});
  const std::string prepared = Prepare("SELECT n, v FROM " + Rows(16) + " ORDER BY n DESC");
  const Reader reader = Execute(prepared);
  EXPECT_EQ(ReadAll(reader), 0);
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("Sort holds "));
  EXPECT_THAT(status.error_message(), HasSubstr("; 8388608 is the limit of a query"));
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0; }));
}

TEST_F(GrpcServerQueryLimitsTest, WhatAQueryMayNotHoldGoesToDisk) {
  std::string directory = testing::TempDir() + "spill-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  sql::SpillSpace spill(directory, {.free_percent_min = 0});
  // The result itself lies on disk, too, for as long as a client may come back for it.
  Start({.read_bytes_max = 16 << 20, .sql_spill = &spill, .sql_spooled = {.kept = absl::Milliseconds(50)}});
  const std::string prepared = Prepare("SELECT n, v FROM " + Rows(16) + " ORDER BY n DESC");
  {
    const Reader reader = Execute(prepared);
    EXPECT_GT(ReadAll(reader), 16'000'000);
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0 && spill.bytes() == 0; }));
  // A client that goes while rows are on disk.
  const Reader reader = Execute(prepared);
  ASSERT_TRUE(Soon([&] { return spill.bytes() > 0; }));
  contexts_.back().TryCancel();
  EXPECT_TRUE(Soon([&] { return server_->reads().Taken().bytes == 0 && spill.bytes() == 0; }));
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
}

TEST_F(GrpcServerLimitsTest, EndsInItsGraceWhateverClientsDo) {
  Start();
  ASSERT_TRUE(WriteRow("row", 2, 10 * kMegabyte).ok());
  StallRead();
  ASSERT_TRUE(Soon([&] { return server_->reads().Taken().bytes > 10 * kMegabyte; }));
  const absl::Time begin = absl::Now();
  EXPECT_EQ(server_->Shutdown(absl::Milliseconds(300)), 0);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  EXPECT_FALSE(server_->is_accepting());
}

}  // namespace
}  // namespace sonde

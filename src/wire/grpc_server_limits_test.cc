// What one client can take of a server, and what others have then.
#include <thread>

#include "absl/time/clock.h"
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

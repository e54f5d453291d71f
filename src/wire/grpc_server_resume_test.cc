// Long results of queries that cannot go on by themselves are resumed from disk, at any message.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sql/spill/spill_space.h"
#include "wire/grpc_server_test_support.h"

namespace sonde {
namespace {

constexpr int64_t kBeginBytes = 200'000;

class GrpcServerResumeTest : public GrpcServerTest {
 protected:
  struct Taken {
    std::string whole;                 // rows of batches that are followed by a token
    std::string waiting;               // rows behind the last token
    std::vector<std::string> tokens;   // each that came
    std::vector<size_t> bytes_before;  // each token: bytes of rows
    grpc::Status status;
  };

  void SetUp() override {
    std::string name = testing::TempDir() + "resume-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    space_.emplace(directory_, sql::SpillSpace::Limits{.free_percent_min = 0});
  }
  void TearDown() override {
    GrpcServerTest::TearDown();
    EXPECT_EQ(space_->bytes(), 0);
    EXPECT_EQ(::rmdir(directory_.c_str()), 0);
  }
  void StartSpooling(SpooledResults::Limits limits = {}) {
    limits.begin_bytes = kBeginBytes;
    Start({.sql_spill = &*space_, .sql_spooled = limits});
    pb::PrepareQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_query(
        "SELECT n, REPEAT('v', 500) AS v FROM UNNEST(GENERATE_ARRAY(1, 2000)) AS n ORDER BY MOD(n * 7919, "
        "2003)");
    grpc::ClientContext context;
    pb::PrepareQueryResponse response;
    const grpc::Status status = data_->PrepareQuery(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    prepared_ = response.prepared_query();
  }
  // Takes at most so many messages.
  Taken Take(const std::string& token, size_t messages_max = SIZE_MAX) {
    pb::ExecuteQueryRequest request;
    request.set_instance_name(kInstance);
    request.set_prepared_query(prepared_);
    request.set_resume_token(token);
    grpc::ClientContext context;
    const auto reader = data_->ExecuteQuery(&context, request);
    Taken taken;
    pb::ExecuteQueryResponse response;
    for (size_t i = 0; i < messages_max && reader->Read(&response); ++i) {
      const pb::PartialResultSet& results = response.results();
      EXPECT_EQ(results.reset(), i == 0);
      taken.waiting += results.proto_rows_batch().batch_data();
      if (results.resume_token().empty()) continue;
      taken.whole += taken.waiting;
      taken.waiting.clear();
      taken.tokens.push_back(results.resume_token());
      taken.bytes_before.push_back(taken.whole.size());
    }
    if (messages_max != SIZE_MAX) context.TryCancel();
    while (reader->Read(&response)) continue;
    taken.status = reader->Finish();
    return taken;
  }

  std::string directory_;
  std::optional<sql::SpillSpace> space_;
  std::string prepared_;
};

TEST_F(GrpcServerResumeTest, GoesOnAtAnyMessage) {
  StartSpooling();
  const Taken all = Take("");
  ASSERT_TRUE(all.status.ok()) << all.status.error_message();
  EXPECT_EQ(all.waiting, "");
  ASSERT_GT(all.tokens.size(), 5);
  EXPECT_GE(all.bytes_before.front(), static_cast<size_t>(kBeginBytes));
  for (size_t i = 0; i < all.tokens.size(); ++i) {
    const Taken rest = Take(all.tokens[i]);
    ASSERT_TRUE(rest.status.ok()) << rest.status.error_message();
    EXPECT_TRUE(rest.whole == all.whole.substr(all.bytes_before[i])) << i;
    EXPECT_EQ(rest.waiting, "");
  }
  // Cut again and again: after one message of each stream.
  std::string rows = all.whole.substr(0, all.bytes_before.front());
  std::string token = all.tokens.front();
  while (token != all.tokens.back()) {
    const Taken taken = Take(token, 1);
    ASSERT_EQ(taken.tokens.size(), 1);
    rows += taken.whole;
    token = taken.tokens.back();
  }
  EXPECT_TRUE(rows == all.whole);
}

TEST_F(GrpcServerResumeTest, AStreamThatBrokeLeavesItsRows) {
  StartSpooling();
  const Taken broken = Take("", 8);
  ASSERT_FALSE(broken.tokens.empty());
  const Taken rest = Take(broken.tokens.back());
  ASSERT_TRUE(rest.status.ok()) << rest.status.error_message();
  const Taken all = Take("");
  EXPECT_TRUE(broken.whole + rest.whole == all.whole);
}

TEST_F(GrpcServerResumeTest, TwoClientsGoOnFromOneToken) {
  StartSpooling();
  const Taken all = Take("");
  ASSERT_GT(all.tokens.size(), 2);
  constexpr size_t kAt = 1;
  Taken first, second;
  std::thread one([&] { first = Take(all.tokens[kAt]); });
  std::thread two([&] { second = Take(all.tokens[kAt]); });
  one.join();
  two.join();
  const std::string rest = all.whole.substr(all.bytes_before[kAt]);
  EXPECT_TRUE(first.status.ok() && second.status.ok());
  EXPECT_TRUE(first.whole == rest);
  EXPECT_TRUE(second.whole == rest);
}

TEST_F(GrpcServerResumeTest, RowsThatAreGoneAreAborted) {
  StartSpooling({.kept = absl::Milliseconds(50)});
  const Taken all = Take("");
  ASSERT_GT(all.tokens.size(), 2);
  ASSERT_TRUE(Soon([&] { return space_->bytes() == 0; }));
  const grpc::Status late = Take(all.tokens.front()).status;
  EXPECT_EQ(late.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(late.error_message(),
            "The rows behind the resume token are gone: results of more than 200000 bytes are kept for 50ms "
            "behind their streams' end, and not beyond a restart of the server; execute the query again from "
            "its beginning");
  // The last token needs no rows.
  EXPECT_TRUE(Take(all.tokens.back()).status.ok());
}

TEST_F(GrpcServerResumeTest, ARestartAbortsThem) {
  StartSpooling();
  const Taken all = Take("");
  ASSERT_GT(all.tokens.size(), 2);
  server_.reset();
  EXPECT_EQ(space_->bytes(), 0);
  // Start would make the table again.
  auto server = GrpcServer::Start({.sql_spill = &*space_}, tables_.get());
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  data_ = pb::Bigtable::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()),
                                                    grpc::InsecureChannelCredentials()));
  EXPECT_EQ(Take(all.tokens.front()).status.error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(GrpcServerResumeTest, WhereTheDiskTakesNoMoreRowsComeWithoutTokens) {
  StartSpooling();
  const std::string all = Take("").whole;
  ASSERT_GT(all.size(), 1'000'000);
  for (const SpooledResults::Limits& limits :
       {SpooledResults::Limits{.begin_bytes = kBeginBytes, .result_bytes_max = 300'000},
        SpooledResults::Limits{.begin_bytes = kBeginBytes, .result_bytes_max = 1},
        SpooledResults::Limits{.begin_bytes = kBeginBytes, .results_max = 0}}) {
    server_.reset();
    auto server = GrpcServer::Start({.sql_spill = &*space_, .sql_spooled = limits}, tables_.get());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    data_ = pb::Bigtable::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()),
                                                      grpc::InsecureChannelCredentials()));
    const Taken taken = Take("");
    EXPECT_TRUE(taken.status.ok()) << taken.status.error_message();
    EXPECT_TRUE(taken.whole == all);
    EXPECT_EQ(taken.tokens.size(), 1);
    EXPECT_TRUE(Soon([&] { return space_->bytes() == 0; }));
  }
}

TEST_F(GrpcServerResumeTest, ATokenOfAnotherRequestIsRefused) {
  StartSpooling();
  const Taken all = Take("");
  ASSERT_GT(all.tokens.size(), 2);
  pb::PrepareQueryRequest request;
  request.set_instance_name(kInstance);
  request.set_query("SELECT 1 AS n, 'v' AS v");
  grpc::ClientContext context;
  pb::PrepareQueryResponse response;
  ASSERT_TRUE(data_->PrepareQuery(&context, request, &response).ok());
  prepared_ = response.prepared_query();
  EXPECT_EQ(Take(all.tokens.front()).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace sonde

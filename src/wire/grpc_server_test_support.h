// A server on a catalog in memory, and calls to it as clients make them.
#pragma once

#include <gmock/gmock.h>
#include <google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <google/longrunning/operations.grpc.pb.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace pb = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;
using ::testing::HasSubstr;

inline constexpr char kInstance[] = "projects/p/instances/i";
inline constexpr char kTable[] = "projects/p/instances/i/tables/t";
inline constexpr int kMegabyte = 1'000'000;

class GrpcServerTest : public testing::Test {
 protected:
  // Starts a server whose table is there already.
  void Restart(GrpcServerOptions options = {}) {
    options.writes_block = false;
    auto server = GrpcServer::Start(options, tables_.get());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // a stream's window stays 64 KiB
    const auto channel = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server_->port()),
                                                   grpc::InsecureChannelCredentials(), arguments);
    data_ = pb::Bigtable::NewStub(channel);
    admin_ = admin::BigtableTableAdmin::NewStub(channel);
    operations_ = google::longrunning::Operations::NewStub(channel);
  }

  // Starts a server with the table `t`, its family `f` and a change stream.
  void Start(const GrpcServerOptions& options = {}) {
    Restart(options);
    admin::CreateTableRequest request;
    request.set_parent(kInstance);
    request.set_table_id("t");
    (*request.mutable_table()->mutable_column_families())["f"];
    constexpr int64_t kDaySeconds = 24 * 60 * 60;
    request.mutable_table()->mutable_change_stream_config()->mutable_retention_period()->set_seconds(
        kDaySeconds);
    grpc::ClientContext context;
    admin::Table made;
    const grpc::Status status = admin_->CreateTable(&context, request, &made);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  void TearDown() override {
    for (grpc::ClientContext& context : contexts_) context.TryCancel();
    streams_.clear();
    reads_.clear();
    server_.reset();
  }

  template <typename Response, typename Stub, typename Method, typename Request>
  grpc::Status Call(Stub* stub, Method method, const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    Response response;
    const grpc::Status status = (stub->*method)(&context, request, &response);
    CheckMetadata(context, status, Request::descriptor()->name());
    return status;
  }

  // Reads all messages; with `first_only`, only the first, and leaves the rest.
  template <typename Response, typename Method, typename Request>
  grpc::Status List(Method method, const Request& request, bool first_only = false) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    auto reader = (data_.get()->*method)(&context, request);
    Response response;
    while (reader->Read(&response)) {
      if (first_only) context.TryCancel();
    }
    const grpc::Status status = reader->Finish();
    CheckMetadata(context, status, Request::descriptor()->name());
    return status;
  }

  static void CheckMetadata(const grpc::ClientContext& context, const grpc::Status& status,
                            const std::string& call) {
    const auto& headers = context.GetServerInitialMetadata();
    const auto timing = headers.find("server-timing");
    ASSERT_NE(timing, headers.end()) << call;
    EXPECT_THAT(std::string(timing->second.data(), timing->second.size()),
                testing::MatchesRegex("gfet4t7; dur=[1-9][0-9]*"))
        << call;
    const size_t clusters = status.error_code() == grpc::StatusCode::NOT_FOUND ? 0 : 1;
    constexpr char kCluster[] = "x-goog-ext-425905942-bin";
    EXPECT_EQ(headers.count(kCluster), clusters) << call << ": " << status.error_message();
    // The server does not end a call that its client has cancelled.
    if (status.error_code() != grpc::StatusCode::CANCELLED) {
      EXPECT_EQ(context.GetServerTrailingMetadata().count(kCluster), clusters)
          << call << ": " << status.error_message();
    }
    EXPECT_THAT(status.error_details(), testing::Not(HasSubstr("sonde/"))) << call;
  }

  grpc::Status WriteRow(const std::string& row_key, int cells, int value_bytes) {
    pb::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key(row_key);
    for (int i = 0; i < cells; ++i) {
      pb::Mutation::SetCell* set = request.add_mutations()->mutable_set_cell();
      set->set_family_name("f");
      set->set_column_qualifier("q" + std::to_string(i));
      set->set_timestamp_micros(1000);
      set->set_value(std::string(value_bytes, 'v'));
    }
    return Call<pb::MutateRowResponse>(data_.get(), &pb::Bigtable::Stub::MutateRow, request);
  }

  // Makes a call whose client takes nothing.
  void StallRead(pb::ReadRowsRequest request = {}) {
    request.set_table_name(kTable);
    reads_.push_back(data_->ReadRows(&contexts_.emplace_back(), request));
  }

  bool Soon(const std::function<bool()>& condition) {
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (!condition()) {
      if (absl::Now() > deadline) return false;
      absl::SleepFor(absl::Milliseconds(10));
    }
    return true;
  }

  static void ExpectBusy(const grpc::Status& status, const std::string& what) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(what));
    google::rpc::Status details;
    ASSERT_TRUE(details.ParseFromString(status.error_details()));
    ASSERT_EQ(details.details_size(), 1);
    EXPECT_TRUE(details.details(0).Is<google::rpc::RetryInfo>());
  }

  static void ExpectInvalid(const grpc::Status& status, const std::string& what) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(what));
  }

  SystemClock clock_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  std::unique_ptr<Tables> tables_ =
      std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<pb::Bigtable::Stub> data_;
  std::unique_ptr<admin::BigtableTableAdmin::Stub> admin_;
  std::unique_ptr<google::longrunning::Operations::Stub> operations_;
  std::deque<grpc::ClientContext> contexts_;
  std::vector<std::unique_ptr<grpc::ClientReader<pb::ReadRowsResponse>>> reads_;
  std::vector<std::unique_ptr<grpc::ClientReader<pb::ReadChangeStreamResponse>>> streams_;
};

inline pb::ReadChangeStreamRequest ChangesOf(const std::string& table) {
  pb::ReadChangeStreamRequest request;
  request.set_table_name(table);
  request.mutable_partition()->mutable_row_range();
  request.mutable_heartbeat_duration()->set_nanos(100'000'000);
  return request;
}

template <typename Request>
Request OfTable(const std::string& table = kTable) {
  Request request;
  request.set_table_name(table);
  return request;
}

}  // namespace sonde

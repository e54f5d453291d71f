// A server without a database: what gRPC alone takes of point reads and writes, beside Sonde in the same run.
//
// Answers MutateRow at once and without a look at it, ReadRows with a row of ten cells under the key that was
// asked for, which are the same each time.  GetTable knows every table, so that `sonde bench` finds its own.
// Prints "listening on HOST:PORT"; SIGTERM ends it.
#include <fmt/format.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <memory>
#include <string>

#include "bench/series_data.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;

constexpr int kCells = 10;  // as many as a row of `sonde bench` has

class RowReactor final : public grpc::ServerWriteReactor<data::ReadRowsResponse> {
 public:
  explicit RowReactor(const std::string& key) {
    for (int metric = 0; metric < kCells; ++metric) {
      auto* chunk = row_.add_chunks();
      if (metric == 0) chunk->set_row_key(key);
      if (metric == 0) chunk->mutable_family_name()->set_value(std::string(kFamily));
      chunk->mutable_qualifier()->set_value(MetricName(metric));
      chunk->set_timestamp_micros(StepMicros(0));
      chunk->set_value("50");
    }
    row_.mutable_chunks(kCells - 1)->set_commit_row(true);
    StartWriteAndFinish(&row_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }

 private:
  data::ReadRowsResponse row_;
};

class Data final : public data::Bigtable::CallbackService {
  grpc::ServerUnaryReactor* MutateRow(grpc::CallbackServerContext* context, const data::MutateRowRequest*,
                                      data::MutateRowResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerWriteReactor<data::ReadRowsResponse>* ReadRows(grpc::CallbackServerContext*,
                                                             const data::ReadRowsRequest* request) override {
    return new RowReactor(request->rows().row_keys_size() > 0 ? request->rows().row_keys(0) : "row");
  }
};

class Admin final : public admin::BigtableTableAdmin::CallbackService {
  grpc::ServerUnaryReactor* GetTable(grpc::CallbackServerContext* context,
                                     const admin::GetTableRequest* request, admin::Table* table) override {
    table->set_name(request->name());
    (*table->mutable_column_families())[std::string(kFamily)];
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int Serve() {
  Data data_service;
  Admin admin_service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&data_service);
  builder.RegisterService(&admin_service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    fmt::print(stderr, "empty_server: cannot listen on 127.0.0.1\n");
    return 1;
  }
  fmt::print("listening on 127.0.0.1:{}\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main() { return sonde::bench::Serve(); }

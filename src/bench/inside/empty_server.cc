// A server without a database: what gRPC alone takes of point reads and writes, beside Sonde in the same run;
// or, with --own, what Sonde's own server of gRPC (src/rpc) takes.
//
// Answers MutateRow at once and without a look at it, ReadRows with a row of ten cells under the key that was
// asked for, which are the same each time.  GetTable knows every table, so that `sonde bench` finds its own.
// Prints "listening on HOST:PORT"; SIGTERM ends it.
#include <fmt/format.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "bench/data/series_data.h"
#include "rpc/server.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;

constexpr int kCells = 10;  // as many as a row of `sonde bench` has

data::ReadRowsResponse RowOf(const data::ReadRowsRequest& request) {
  data::ReadRowsResponse row;
  for (int metric = 0; metric < kCells; ++metric) {
    auto* chunk = row.add_chunks();
    if (metric == 0)
      chunk->set_row_key(request.rows().row_keys_size() > 0 ? request.rows().row_keys(0) : "row");
    if (metric == 0) chunk->mutable_family_name()->set_value(std::string(kFamily));
    chunk->mutable_qualifier()->set_value(MetricName(metric));
    chunk->set_timestamp_micros(StepMicros(0));
    chunk->set_value("50");
  }
  row.mutable_chunks(kCells - 1)->set_commit_row(true);
  return row;
}

admin::Table TableOf(const admin::GetTableRequest& request) {
  admin::Table table;
  table.set_name(request.name());
  (*table.mutable_column_families())[std::string(kFamily)];
  return table;
}

class RowReactor final : public grpc::ServerWriteReactor<data::ReadRowsResponse> {
 public:
  explicit RowReactor(const data::ReadRowsRequest& request) : row_(RowOf(request)) {
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
    return new RowReactor(*request);
  }
};

class Admin final : public admin::BigtableTableAdmin::CallbackService {
  grpc::ServerUnaryReactor* GetTable(grpc::CallbackServerContext* context,
                                     const admin::GetTableRequest* request, admin::Table* table) override {
    *table = TableOf(*request);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

// Parses the request, which is what gRPC's generated code does before it calls a service.
template <typename Request, auto Answer>
class OwnHandler final : public rpc::Handler {
 public:
  explicit OwnHandler(rpc::Call* call) : call_(call) {}
  void OnMessage(rpc::MessageBytes message) override {
    Request request;
    if (!request.ParseFromArray(message.view().data(), static_cast<int>(message.size()))) {
      return call_->Finish({absl::StatusCode::kInvalidArgument, "not a request"});
    }
    call_->WriteAndFinish(Answer(request).SerializeAsString(), {});
  }

 private:
  rpc::Call* const call_;
};

data::MutateRowResponse NothingOf(const data::MutateRowRequest&) { return {}; }

template <typename Request, auto Answer>
void AddOwn(std::string path, rpc::Router* router) {
  rpc::Method method;
  method.make = [](rpc::Call* call) { return std::make_unique<OwnHandler<Request, Answer>>(call); };
  router->Add(std::move(path), std::move(method));
}

void TellPort(int port) {
  fmt::print("listening on 127.0.0.1:{}\n", port);
  std::fflush(stdout);
}

int ServeOwn() {
  rpc::Router router;
  AddOwn<data::MutateRowRequest, NothingOf>("/google.bigtable.v2.Bigtable/MutateRow", &router);
  AddOwn<data::ReadRowsRequest, RowOf>("/google.bigtable.v2.Bigtable/ReadRows", &router);
  AddOwn<admin::GetTableRequest, TableOf>("/google.bigtable.admin.v2.BigtableTableAdmin/GetTable", &router);
  const absl::StatusOr<std::unique_ptr<rpc::Server>> server = rpc::Server::Start({}, std::move(router));
  if (!server.ok()) {
    fmt::print(stderr, "empty_server: {}\n", std::string(server.status().message()));
    return 1;
  }
  TellPort((*server)->port());
  while (true) pause();
}

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
  TellPort(port);
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) {
  if (argc == 1) return sonde::bench::Serve();
  if (argc == 2 && std::strcmp(argv[1], "--own") == 0) return sonde::bench::ServeOwn();
  fmt::print(stderr, "usage: empty_server [--own]\n");
  return 2;
}

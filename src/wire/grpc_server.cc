#include "wire/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <thread>

#include "absl/time/clock.h"
#include "base/admission.h"
#include "model/limits.h"
#include "wire/change_streams.h"
#include "wire/data_service.h"
#include "wire/instance_admin_service.h"
#include "wire/operations.h"
#include "wire/table_admin_service.h"
#include "wire/worker_pool.h"

namespace sonde {
namespace {

// A client that works through a message may take as long.
constexpr absl::Duration kReadPatience = absl::Seconds(5);

// Reads do not wait for a disk that is slow to sync: their queue need not be as long as that of writes.
constexpr absl::Duration kReadWaitWhenOverloaded = absl::Milliseconds(20);

size_t ReaderThreads(size_t asked) {
  constexpr size_t kLeast = 4;
  return asked > 0 ? asked : std::max<size_t>(kLeast, 2 * std::thread::hardware_concurrency());
}

}  // namespace

struct GrpcServer::Parts {
  Parts(const GrpcServerOptions& options, Tables* tables, KeyVisualizer* key_visualizer)
      : workers(options.worker_threads, {}),
        readers(ReaderThreads(options.reader_threads), {.wait_when_overloaded = kReadWaitWhenOverloaded}),
        reads("reads", {.requests = options.reads_max,
                        .bytes = options.read_bytes_max,
                        .per_second = options.reads_per_second}),
        writes("writes", {.requests = options.writes_max,
                          .bytes = options.write_bytes_max,
                          .per_second = options.writes_per_second}),
        operations(static_cast<uint64_t>(tables->clock().NowMicros())),
        change_streams(tables, &workers),
        calls{&workers,       &readers,   &reads,   &writes,
              &stalled_reads, &read_cost, &metrics, options.writes_block},
        data(tables, &change_streams, calls),
        table_admin(tables, &change_streams.streams(), &operations, calls),
        instance_admin(tables, key_visualizer, calls) {}

  RequestMetrics metrics;
  WorkerPool workers;
  WorkerPool readers;
  Admission reads;
  Admission writes;
  StalledReads stalled_reads{kReadPatience};
  StepCost read_cost;
  Operations operations;
  ChangeStreamCalls change_streams;
  const CallResources calls;
  DataService data;
  TableAdminService table_admin;
  OperationsService operations_service{&operations};
  InstanceAdminService instance_admin;
  int port = 0;
  std::unique_ptr<grpc::Server> server;  // first to go: its calls use all of the above
};

GrpcServer::GrpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              Tables* tables, KeyVisualizer* key_visualizer) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto parts = std::make_unique<Parts>(options, tables, key_visualizer);
  grpc::ServerBuilder builder;
  const bool is_ipv6 = options.host.find(':') != std::string::npos && options.host[0] != '[';
  const std::string address =
      fmt::format("{}:{}", is_ipv6 ? "[" + options.host + "]" : options.host, options.port);
  // Without this a second server could share the port.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &parts->port);
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMessageBytesMax));
  builder.SetMaxSendMessageSize(-1);  // a row of kRowReadBytesMax, and what names its cells
  // 200 kB of gzip inflate to 200 MB before any limit applies; no official client compresses.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.RegisterService(&parts->data);
  builder.RegisterService(&parts->table_admin);
  builder.RegisterService(&parts->instance_admin);
  builder.RegisterService(&parts->operations_service);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || parts->port == 0) {
    return absl::FailedPreconditionError(fmt::format(
        "Cannot listen on {}: the port is in use, or the address is not this machine's", address));
  }
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(parts)));
}

int GrpcServer::port() const { return parts_->port; }
const RequestMetrics& GrpcServer::request_metrics() const { return parts_->metrics; }
const Admission& GrpcServer::reads() const { return parts_->reads; }
const Admission& GrpcServer::writes() const { return parts_->writes; }
const ChangeStreams& GrpcServer::change_streams() const { return parts_->change_streams.streams(); }

void GrpcServer::Shutdown(absl::Duration grace) {
  if (parts_->server == nullptr) return;
  parts_->change_streams.End();
  parts_->server->Shutdown(absl::ToChronoTime(absl::Now() + grace));
  parts_->server->Wait();
  parts_->server.reset();
}

}  // namespace sonde

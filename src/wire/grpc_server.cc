#include "wire/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <thread>

#include "absl/time/clock.h"
#include "base/admission.h"
#include "model/limits.h"
#include "wire/change_streams.h"
#include "wire/data_service.h"
#include "wire/instance_admin_service.h"
#include "wire/list_committer.h"
#include "wire/not_built.h"
#include "wire/operations.h"
#include "wire/row_committer.h"
#include "wire/table_admin_service.h"
#include "wire/turn_clock.h"
#include "wire/worker_pool.h"

namespace sonde {
namespace {

// A client that works through a message may take as long.
constexpr absl::Duration kReadPatience = absl::Seconds(5);

// Reads do not wait for a disk that is slow to sync: their queue need not be as long as that of writes.
constexpr absl::Duration kReadWaitWhenOverloaded = absl::Milliseconds(20);

// Of the administration under way.
constexpr int64_t kAdminCallsMax = 1'000;
constexpr int64_t kAdminBytesMax = 32 << 20;

// Calls that a client may have under way on one connection: no fewer than all of them may be, so that each is
// refused with a delay rather than kept waiting where nobody sees it.
constexpr int kCallsPerConnectionMax = 20'000;
// How soon a connection must be a client's, and how soon it is known that one has gone without a word.
constexpr absl::Duration kHandshakeMax = absl::Seconds(20);
constexpr absl::Duration kKeepalivePause = absl::Minutes(1);
constexpr absl::Duration kKeepaliveMax = absl::Seconds(20);
// Official clients ask every 10 s or 30 s whether the server is there, also while they wait for it: gRPC
// would take that for an attack.
constexpr absl::Duration kClientKeepaliveMin = absl::Seconds(5);
// Of what gRPC takes in, at least: the largest message, and others beside it.
constexpr int64_t kTransportBytesMin = kMessageBytesMax + (64 << 20);
// Reads of large rows: some send what others put together.  They wait for longer than others: each takes
// long.
constexpr size_t kLargeReaderThreads = 4;
constexpr WaitLimits kLargeWait{
    .waiting = 256, .wait = absl::Seconds(10), .wait_when_overloaded = absl::Seconds(10)};

// A request that takes less time to come in is no large one.
constexpr absl::Duration kReceptionAge = absl::Milliseconds(20);

void SetMillis(grpc::ServerBuilder* builder, const char* argument, absl::Duration duration) {
  builder->AddChannelArgument(argument, static_cast<int>(absl::ToInt64Milliseconds(duration)));
}

void LimitConnections(const GrpcServerOptions& options, grpc::ServerBuilder* builder) {
  grpc::ResourceQuota quota("sonde");
  quota.Resize(static_cast<size_t>(std::max(options.transport_bytes_max, kTransportBytesMin)));
  builder->SetResourceQuota(quota);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnectionMax);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  SetMillis(builder, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMax);
  SetMillis(builder, GRPC_ARG_KEEPALIVE_TIME_MS, kKeepalivePause);
  SetMillis(builder, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMax);
  SetMillis(builder, GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kClientKeepaliveMin);
}

// One waits for the disk while another is being made; more only where they have cores of their own.
int ListCommitsMax() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2U, 8U)); }

size_t ReaderThreads(size_t asked) {
  constexpr size_t kLeast = 4;
  return asked > 0 ? asked : std::max<size_t>(kLeast, 2 * std::thread::hardware_concurrency());
}

}  // namespace

struct GrpcServer::Parts {
  Parts(const GrpcServerOptions& options, Tables* tables, KeyVisualizer* key_visualizer)
      : workers(options.worker_threads, {}, turn_clock.get()),
        large_readers(kLargeReaderThreads, kLargeWait, turn_clock.get()),
        readers(ReaderThreads(options.reader_threads), {.wait_when_overloaded = kReadWaitWhenOverloaded},
                turn_clock.get()),
        reads("reads", {.requests = options.reads_max,
                        .bytes = options.read_bytes_max,
                        .per_second = options.reads_per_second}),
        writes("writes", {.requests = options.writes_max,
                          .bytes = options.write_bytes_max,
                          .per_second = options.writes_per_second}),
        administration("calls of the administration", {.requests = kAdminCallsMax, .bytes = kAdminBytesMax}),
        operations(static_cast<uint64_t>(tables->clock().NowMicros())),
        change_streams(tables, &workers, options.read_bytes_max / 2),
        committer(tables, &workers),
        list_committer(tables, &workers, ListCommitsMax()),
        calls{.workers = &workers,
              .readers = &readers,
              .reads = &reads,
              .writes = &writes,
              .administration = &administration,
              .stalled_reads = &stalled_reads,
              .read_cost = &read_cost,
              .committer = &committer,
              .list_committer = &list_committer,
              .metrics = &metrics,
              .writes_block = options.writes_block,
              .large_readers = &large_readers,
              .large_room = options.large_room,
              .receptions = &receptions},
        data(tables, &change_streams, calls),
        table_admin(tables, &change_streams.streams(), &operations, calls),
        operations_service(&operations, calls),
        instance_admin(tables, key_visualizer, calls) {}

  RequestMetrics metrics;
  const std::unique_ptr<TurnClock> turn_clock = TurnClock::Start();
  WorkerPool workers;
  WorkerPool large_readers;
  WorkerPool readers;
  Receptions receptions;
  Admission reads;
  Admission writes;
  Admission administration;
  StalledReads stalled_reads{kReadPatience};
  StepCost read_cost;
  Operations operations;
  ChangeStreamCalls change_streams;
  RowCommitter committer;
  ListCommitter list_committer;
  const CallResources calls;
  DataService data;
  TableAdminService table_admin;
  OperationsService operations_service;
  InstanceAdminService instance_admin;
  UnbuiltCalls unbuilt_calls;
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
  LimitConnections(options, &builder);
  builder.RegisterService(&parts->data);
  builder.RegisterService(&parts->table_admin);
  builder.RegisterService(&parts->instance_admin);
  builder.RegisterService(&parts->operations_service);
  builder.RegisterCallbackGenericService(&parts->unbuilt_calls);
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

int64_t GrpcServer::bytes_under_way() const {
  return parts_->reads.Taken().bytes + parts_->writes.Taken().bytes + parts_->administration.Taken().bytes +
         parts_->change_streams.admission().Taken().bytes;
}

void GrpcServer::RefuseYoungestWrites(bool keeps_oldest) {
  absl::Status why = absl::UnavailableError(
      "The server is busy: large requests that are on their way take all memory that there is for them; "
      "nothing "
      "was done, try again");
  why.SetPayload(kTryLaterPayload, absl::Cord());
  parts_->receptions.RefuseYoungest(kReceptionAge, keeps_oldest, why);
}

void GrpcServer::Shutdown(absl::Duration grace) {
  if (parts_->server == nullptr) return;
  parts_->change_streams.End();
  parts_->server->Shutdown(absl::ToChronoTime(absl::Now() + grace));
  parts_->server->Wait();
  parts_->server.reset();
}

}  // namespace sonde

#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <utility>

#include "bench/chunk_sum.h"
#include "bench/quota.h"
#include "bench/workload.h"
#include "client/grpc_status.h"
#include "client/retry.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

// The part of the table that belongs to a client: together they read it whole, also what is not of ingest.
data::ReadRowsRequest RequestOf(const Options& options, int client) {
  data::ReadRowsRequest request;
  request.set_table_name(TableName(options, DataTable(options)));
  if (options.clients == 1) return request;
  auto* range = request.mutable_rows()->add_row_ranges();
  const RowKeys keys(options.shape);
  const HostRange hosts = HostsOf(options, client);
  if (client > 0) range->set_start_key_closed(keys.EntityPrefix(hosts.begin));
  if (client + 1 < options.clients) range->set_end_key_open(keys.EntityPrefix(hosts.end));
  return request;
}

}  // namespace

absl::StatusOr<Result> RunScan(const Options& options) {
  return RunClients(
      "scan", options,
      [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline, ClientResult* result) {
        const HostRange hosts = HostsOf(options, client);
        if (hosts.begin == hosts.end) return;
        const auto stub = data::Bigtable::NewStub(channel);
        ChunkSum sum;
        // One message, parsed into again and again, keeps the memory of its chunks; that is cheaper than an
        // arena.
        data::ReadRowsResponse response;
        const RetryPolicy policy;
        Backoff backoff(policy, ClientRandom(options, client).Next());
        Clock::time_point before = Clock::now();
        while (true) {
          grpc::ClientContext context;
          const auto reader = stub->ReadRows(&context, RequestOf(options, client));
          while (reader->Read(&response)) {
            for (const auto& chunk : response.chunks()) sum.Add(chunk);
            result->bytes += response.ByteSizeLong();
            const Clock::time_point now = Clock::now();
            result->latency_us.Add(
                std::chrono::duration_cast<std::chrono::microseconds>(now - before).count());
            before = now;
          }
          const grpc::Status status = reader->Finish();
          const auto delay = RetryDelay(status);
          // As in RunCalls; what has come already would come again.
          if (!delay.has_value() || result->bytes > 0 || !backoff.WaitForNext(delay)) {
            result->status = FromGrpcStatus(status, "scan");
            break;
          }
          ++result->refused;
        }
        result->rows = sum.rows();
        result->sum = sum.sum();
      });
}

}  // namespace sonde::bench

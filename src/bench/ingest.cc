#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bench/call_loop.h"
#include "bench/data/bulk_request.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

using google::bigtable::v2::MutateRowsResponse;

// MutateRows with requests that are bytes already: what the generated stub does, for another type of request.
class BulkCall final : public StreamCall<MutateRowsResponse> {
 public:
  // All of them outlive the call.
  BulkCall(grpc::Channel* channel, const grpc::internal::RpcMethod& method, BulkRequests* requests,
           Deadline deadline)
      : channel_(channel), method_(method), requests_(requests), deadline_(deadline) {}

 private:
  bool Next() override {
    // Every host makes a step at least, so that there is something to read.
    if (requests_->steps_done() > 0 && IsPast(deadline_)) return false;
    const uint64_t rows_before = requests_->rows();
    const std::string_view bytes = requests_->Next();
    if (bytes.empty()) return false;
    rows_ = requests_->rows() - rows_before;
    const grpc::Slice slice(bytes.data(), bytes.size());
    request_ = grpc::ByteBuffer(&slice, 1);
    return true;
  }

  std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) override {
    rows_left_ = rows_;
    return std::unique_ptr<Reader>(grpc::internal::ClientAsyncReaderFactory<MutateRowsResponse>::Create(
        channel_, queue, method_, context, request_, true, static_cast<Call*>(this)));
  }

  absl::Status Take(const MutateRowsResponse& response,
                    std::optional<std::chrono::milliseconds>* retry_delay) override {
    for (const MutateRowsResponse::Entry& entry : response.entries()) {
      if (entry.status().code() == 0) continue;
      *retry_delay = RetryDelay(entry.status());
      return FromRpcStatus(entry.status(), "a row of a request failed");
    }
    rows_left_ -= response.entries_size();
    return absl::OkStatus();
  }

  absl::Status End() override {
    if (rows_left_ == 0) return absl::OkStatus();
    return absl::InternalError("MutateRows did not answer every row once");
  }

  grpc::Channel* const channel_;
  const grpc::internal::RpcMethod& method_;
  BulkRequests* const requests_;
  const Deadline deadline_;
  grpc::ByteBuffer request_;
  int64_t rows_ = 0;       // of the request
  int64_t rows_left_ = 0;  // that have not been answered
};

}  // namespace

void IngestSteps(const Options& options, int64_t begin, int64_t end, int client,
                 const std::shared_ptr<grpc::Channel>& channel, Deadline deadline, ClientResult* result) {
  const HostRange hosts = HostsOf(options, client);
  if (hosts.begin == hosts.end) return;
  BulkRequests requests(options.shape, TableName(options, DataTable(options)), hosts.begin, hosts.end, end,
                        options.rows_per_request);
  requests.SkipTo(begin);
  const grpc::internal::RpcMethod method("/google.bigtable.v2.Bigtable/MutateRows",
                                         grpc::internal::RpcMethod::SERVER_STREAMING, channel);
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < options.in_flight.value_or(kIngestInFlight); ++i) {
    calls.push_back(std::make_unique<BulkCall>(channel.get(), method, &requests, deadline));
  }
  result->status = RunCalls(calls, &result->latency_us, &result->refused);
  result->rows = requests.rows();
  result->bytes = requests.bytes();
  result->cell_bytes = requests.cell_bytes();
  result->steps = requests.steps_done();
  result->sum = requests.sum();
}

absl::StatusOr<Result> RunIngest(const Options& options) {
  if (absl::Status status = EnsureTable(options, DataTable(options)); !status.ok()) return status;
  const int64_t steps = options.seconds.has_value() ? std::numeric_limits<int32_t>::max() : StepsOf(options);
  return RunClients(
      "ingest", options,
      [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
          ClientResult* result) { IngestSteps(options, 0, steps, client, channel, deadline, result); });
}

}  // namespace sonde::bench

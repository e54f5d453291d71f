#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>

#include <limits>
#include <memory>
#include <vector>

#include "bench/reads.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

// One client that asks so, until the clock ends it.
ClientFunction Reader(const Options& options, ReadKind kind) {
  return [&options, kind](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                          ClientResult* result) {
    const auto stub = google::bigtable::v2::Bigtable::NewStub(channel);
    SeededRandom random = ClientRandom(options, client);
    Quota quota(options, client, deadline);
    std::vector<std::unique_ptr<Call>> calls;
    for (int i = 0; i < kMixedInFlight; ++i) {
      calls.push_back(MakeRead(kind, stub.get(), options, &random, &quota, result));
    }
    result->status = RunCalls(calls, &result->latency_us, &result->refused);
  };
}

}  // namespace

absl::StatusOr<std::vector<Result>> RunMixed(const Options& given) {
  Options options = given;
  options.seconds = given.seconds.value_or(kMixedSeconds);
  options.in_flight = given.in_flight.value_or(kMixedIngestInFlight);
  const int64_t begin = StepsOf(options);
  const auto write = [&](int client, const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
                         ClientResult* result) {
    IngestSteps(options, begin, std::numeric_limits<int32_t>::max(), client, channel, deadline, result);
  };
  return RunGroups(options, {{"mixed ingest", options.clients, write},
                             {"mixed latest", 1, Reader(options, ReadKind::kLatest)},
                             {"mixed range", 1, Reader(options, ReadKind::kRange)}});
}

}  // namespace sonde::bench

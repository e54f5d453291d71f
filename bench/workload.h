// What the workloads share: connections, threads, clocks.  Internal to bench.
#pragma once

#include <grpcpp/channel.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "bench/bench.h"

namespace sonde::bench {

// projects/P/instances/I/tables/T.
std::string TableName(const Options& options, const std::string& table);
// The table of the data, and the one that point-write writes.
std::string DataTable(const Options& options);
std::string PointTable(const Options& options);

// Makes the table with family kFamily unless it is there.
absl::Status EnsureTable(const Options& options, const std::string& table);

// What one client did.
struct ClientResult {
  absl::Status status;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  std::optional<int64_t> steps;
  CellSum sum;
  Histogram latency_us;
};

// When a client has to stop by itself.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
inline bool IsPast(const Deadline& deadline) {
  return deadline.has_value() && std::chrono::steady_clock::now() >= *deadline;
}

using ClientFunction = std::function<void(int client, std::shared_ptr<grpc::Channel> channel,
                                          Deadline deadline, ClientResult* result)>;

// Connects options.clients clients, then runs `function` for all of them at once and adds their results up.
absl::StatusOr<Result> RunClients(const std::string& name, const Options& options,
                                  const ClientFunction& function);

// Host ranges [begin, end) of a client; empty when there are more clients than hosts.
struct HostRange {
  int begin = 0;
  int end = 0;
};
HostRange HostsOf(const Options& options, int client);

absl::StatusOr<Result> RunIngest(const Options& options);
absl::StatusOr<Result> RunScan(const Options& options);
absl::StatusOr<Result> RunPointRead(const Options& options);
absl::StatusOr<Result> RunPointWrite(const Options& options);

}  // namespace sonde::bench

// The common parts of the workloads: connections, threads, clocks.  Internal to bench.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/bench.h"

namespace grpc {
class Channel;
}

namespace sonde {
struct RemoteOptions;
}

namespace sonde::bench {

// projects/P/instances/I/tables/T.
std::string TableName(const Options& options, const std::string& table);
// The table of the data, and the one that point-write writes.
std::string DataTable(const Options& options);
std::string PointTable(const Options& options);
// The table of json-blobs.
std::string BlobTable(const Options& options);

// The steps that the table's entities have made.
int64_t StepsOf(const Options& options);

// Makes the table with family kFamily unless it is there.
absl::Status EnsureTable(const Options& options, const std::string& table);

// The options of a client of the server for what is no measurement.
RemoteOptions RemoteOf(const Options& options);
// A connection of a client that measures.  Errors: as OpenChannels.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectClient(const Options& options);

// The processor time of all threads.
double ProcessCpuSeconds();
// The lengths of all files, but for the room that is kept free; files that go away meanwhile count nothing.
uint64_t DirectoryBytes(const std::string& directory);

// The work of one client.
struct ClientResult {
  absl::Status status;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t cell_bytes = 0;
  std::optional<int64_t> steps;
  CellSum sum;
  Histogram latency_us;
  uint64_t refused = 0;
};

// When a client has to stop by itself.
using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;
inline bool IsPast(const Deadline& deadline) { return deadline.has_value() && Clock::now() >= *deadline; }

using ClientFunction = std::function<void(int client, std::shared_ptr<grpc::Channel> channel,
                                          Deadline deadline, ClientResult* result)>;

// Clients that do the same.
struct ClientGroup {
  std::string name;
  int clients = 1;
  ClientFunction function;
};

// Connects all clients, then runs the functions of all groups at once and adds up the results of each.
absl::StatusOr<std::vector<Result>> RunGroups(const Options& options, const std::vector<ClientGroup>& groups);
// One group of options.clients clients.
absl::StatusOr<Result> RunClients(const std::string& name, const Options& options,
                                  const ClientFunction& function);

// Host ranges [begin, end) of a client; empty when there are more clients than hosts.
struct HostRange {
  int begin = 0;
  int end = 0;
};
HostRange HostsOf(const Options& options, int client);

// Writes the client's part of the steps [begin, end) of all entities; RunClients calls it.
void IngestSteps(const Options& options, int64_t begin, int64_t end, int client,
                 const std::shared_ptr<grpc::Channel>& channel, Deadline deadline, ClientResult* result);

absl::StatusOr<Result> RunIngest(const Options& options);
absl::StatusOr<Result> RunScan(const Options& options);
absl::StatusOr<Result> RunPointRead(const Options& options);
absl::StatusOr<Result> RunPointWrite(const Options& options);
absl::StatusOr<Result> RunIncrement(const Options& options);
absl::StatusOr<Result> RunColumnRead(const Options& options);
absl::StatusOr<Result> RunLatest(const Options& options);
absl::StatusOr<Result> RunRange(const Options& options);
absl::StatusOr<std::vector<Result>> RunMixed(const Options& options);
absl::StatusOr<std::vector<Result>> RunLargeRow(const Options& options);
absl::StatusOr<std::vector<Result>> RunLargeValues(const Options& options);
absl::StatusOr<Result> RunLines(const Options& options);
absl::StatusOr<Result> RunJsonBlobs(const Options& options);
absl::StatusOr<Result> RunCreateView(const Options& options);
absl::StatusOr<Result> RunSql(const Options& options);
absl::StatusOr<Result> RunSqlPoint(const Options& options);
absl::StatusOr<Result> RunSqlPrepare(const Options& options);

}  // namespace sonde::bench

#include "bench/workload.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client/channel/channel.h"
#include "client/grpc_status.h"
#include "client/remote_tables.h"
#include "model/limits.h"

namespace sonde::bench {
namespace {

namespace data = google::bigtable::v2;

constexpr std::chrono::seconds kConnectTimeout{10};

// The size of the whole table, as SampleRowKeys gives it.
absl::StatusOr<uint64_t> SampledBytes(const Options& options) {
  const auto channel = ConnectClient(options);
  if (!channel.ok()) return channel.status();
  const auto stub = data::Bigtable::NewStub(*channel);
  grpc::ClientContext context;
  data::SampleRowKeysRequest request;
  request.set_table_name(TableName(options, DataTable(options)));
  const auto reader = stub->SampleRowKeys(&context, request);
  data::SampleRowKeysResponse response;
  uint64_t bytes = 0;
  while (reader->Read(&response)) bytes = response.offset_bytes();
  if (absl::Status status = FromGrpcStatus(reader->Finish(), "SampleRowKeys"); !status.ok()) return status;
  return bytes;
}

absl::Status MeasureDisk(const Options& options, Result* result) {
  uint64_t bytes = 0;
  if (!options.data_dir.empty()) {
    bytes = DirectoryBytes(options.data_dir);
  } else {
    const auto sampled = SampledBytes(options);
    if (!sampled.ok()) return sampled.status();
    bytes = *sampled;
  }
  if (bytes > 0 && result->cells > 0) {
    result->disk_bytes_per_cell = static_cast<double>(bytes) / static_cast<double>(result->cells);
  }
  return absl::OkStatus();
}

// All but the sum of the cells.
void AddUp(const ClientResult& client, Result* result) {
  result->rows += client.rows;
  result->bytes += client.bytes;
  result->cell_bytes += client.cell_bytes;
  if (client.steps.has_value())
    result->steps = std::min(result->steps.value_or(*client.steps), *client.steps);
  result->latency_us.Merge(client.latency_us);
  result->refused += client.refused;
}

absl::Status CheckSame(const Result& ingest, const Result& scan) {
  if (ingest.cells == scan.cells && ingest.hash == scan.hash) return absl::OkStatus();
  return absl::DataLossError(fmt::format(
      "ingest wrote {} cells (hash {:016x}), scan found {} (hash {:016x}); if the table held other "
      "data before, give a new --table",
      ingest.cells, ingest.hash.value_or(0), scan.cells, scan.hash.value_or(0)));
}

using Run = absl::StatusOr<std::vector<Result>> (*)(const Options&);

// Runs a workload with one result.
template <absl::StatusOr<Result> (*run)(const Options&)>
absl::StatusOr<std::vector<Result>> RunAlone(const Options& options) {
  absl::StatusOr<Result> result = run(options);
  if (!result.ok()) return result.status();
  return std::vector<Result>{*std::move(result)};
}

struct KnownWorkload {
  Workload workload;
  Run run;
  bool is_of_all = false;
};

constexpr KnownWorkload kKnownWorkloads[] = {
    {{"ingest", "write time series, many rows a request (MutateRows)"}, RunAlone<RunIngest>, true},
    {{"scan", "read the whole table (ReadRows), and sum it up"}, RunAlone<RunScan>, true},
    {{"point-read", "read single steps of single hosts (ReadRows of one row)"}, RunAlone<RunPointRead>, true},
    {{"point-write", "write single rows (MutateRow)"}, RunAlone<RunPointWrite>, true},
    {{"latest", "read the newest values of single series (ReadRows, reversed)"}, RunAlone<RunLatest>, true},
    {{"range", "read one field of single series over some time (ReadRows)"}, RunAlone<RunRange>, true},
    {{"increment", "add one to a counter of a row, one of ten thousand (ReadModifyWriteRow)"},
     RunAlone<RunIncrement>},
    {{"column-read", "read the newest cell of one column of single rows (ReadRows)"},
     RunAlone<RunColumnRead>},
    {{"sql", "ask one --query again and again, prepared once (ExecuteQuery)"}, RunAlone<RunSql>},
    {{"sql-point", "ask a --query for single rows, by parameter k (ExecuteQuery)"}, RunAlone<RunSqlPoint>},
    {{"sql-prepare", "prepare one --query again and again (PrepareQuery)"}, RunAlone<RunSqlPrepare>},
    {{"json-blobs", "write --cells rows of one JSON text each (MutateRows)"}, RunAlone<RunJsonBlobs>},
    {{"create-view",
      "make a materialized view (of --query, else of the rows of point-write by hour), and wait until it has "
      "all rows"},
     RunAlone<RunCreateView>},
    {{"mixed", "go on with ingest, while series are read beside it"}, RunMixed},
    {{"large-row", "append to a large row and read its newest cell, beside a small row"}, RunLargeRow},
    {{"large-values",
      "write rows of large values and read them, a row each client (--row-bytes, --value-bytes), beside "
      "small "
      "requests"},
     RunLargeValues},
    {{"lines", "write time series as line protocol (HTTP)"}, RunAlone<RunLines>},
};
constexpr Workload kAll = {
    "all",
    "ingest, scan, point-read, point-write, latest and range; checks that scan finds what ingest wrote"};

absl::StatusOr<std::vector<Result>> RunOne(const std::string& name, const Options& options) {
  for (const KnownWorkload& known : kKnownWorkloads) {
    if (name == known.workload.name) return known.run(options);
  }
  std::string names;
  for (const Workload& workload : Workloads()) {
    if (!names.empty()) names += ", ";
    names += workload.name;
  }
  return absl::InvalidArgumentError(fmt::format("a benchmark is one of {}; got \"{}\"", names, name));
}

template <typename Number>
absl::Status CheckRange(const char* flag, Number value, Number min, Number max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} is {} to {}; got {}", flag, min, max, value));
}

}  // namespace

std::string TableName(const Options& options, const std::string& table) {
  return fmt::format("projects/{}/instances/{}/tables/{}", options.project, options.instance, table);
}

std::string DataTable(const Options& options) {
  if (!options.table.empty()) return options.table;
  return options.shape.schema == Schema::kTall ? "bench_tall" : "bench_bucket";
}

int64_t StepsOf(const Options& options) {
  return options.steps.value_or(StepsFor(options.shape, options.cells));
}

std::string PointTable(const Options& options) { return DataTable(options) + "_points"; }
std::string BlobTable(const Options& options) { return DataTable(options) + "_blobs"; }

RemoteOptions RemoteOf(const Options& options) {
  return {.endpoint = options.endpoint,
          .ca_file = options.ca_file,
          .key_file = options.key_file,
          .project = options.project,
          .instance = options.instance,
          .program = "sonde bench"};
}

absl::Status EnsureTable(const Options& options, const std::string& table) {
  auto tables = RemoteTables::Connect(RemoteOf(options));
  if (!tables.ok()) return tables.status();
  return (*tables)->EnsureTable(table, {FamilyRequest{std::string(kFamily), GcRule()}});
}

uint64_t DirectoryBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || gone) continue;
    if (entry->path().filename() == "BALLAST") continue;  // room that is kept free, not data
    const uint64_t file_bytes = entry->file_size(gone);
    if (!gone) bytes += file_bytes;
  }
  return bytes;
}

double ProcessCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectClient(const Options& options) {
  absl::StatusOr<Channels> channels = OpenChannels({.endpoint = options.endpoint,
                                                    .ca_file = options.ca_file,
                                                    .key_file = options.key_file,
                                                    .program = "sonde bench",
                                                    .connect_timeout = kConnectTimeout,
                                                    .is_bare = true});
  if (!channels.ok()) return channels.status();
  return channels->data;
}

HostRange HostsOf(const Options& options, int client) {
  const int64_t hosts = options.shape.hosts;
  return {static_cast<int>(hosts * client / options.clients),
          static_cast<int>(hosts * (client + 1) / options.clients)};
}

absl::StatusOr<std::vector<Result>> RunGroups(const Options& options,
                                              const std::vector<ClientGroup>& groups) {
  struct Client {
    const ClientGroup* group;
    int number;  // in the group
    std::shared_ptr<grpc::Channel> channel;
    ClientResult result;
  };
  std::vector<Client> clients;
  for (const ClientGroup& group : groups) {
    for (int number = 0; number < group.clients; ++number) {
      auto channel = ConnectClient(options);
      if (!channel.ok()) return channel.status();
      clients.push_back({&group, number, *std::move(channel), {}});
    }
  }
  Deadline deadline;
  const double cpu_begin = ProcessCpuSeconds();
  const Clock::time_point begin = Clock::now();
  if (options.seconds.has_value()) {
    deadline =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*options.seconds));
  }
  std::vector<std::thread> threads;
  for (Client& client : clients) {
    threads.emplace_back([&client, deadline] {
      client.group->function(client.number, client.channel, deadline, &client.result);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double cpu_seconds = ProcessCpuSeconds() - cpu_begin;

  std::vector<Result> results;
  for (const ClientGroup& group : groups) {
    Result& result = results.emplace_back();
    result.name = group.name;
    result.seconds = seconds;
    result.client_cpu_seconds = cpu_seconds;
    CellSum sum;
    for (const Client& client : clients) {
      if (client.group != &group) continue;
      if (!client.result.status.ok()) return client.result.status;
      AddUp(client.result, &result);
      sum.Merge(client.result.sum);
    }
    result.requests = result.latency_us.count();
    result.cells = sum.cells();
    result.hash = sum.sum();
  }
  return results;
}

absl::StatusOr<Result> RunClients(const std::string& name, const Options& options,
                                  const ClientFunction& function) {
  auto results = RunGroups(options, {{name, options.clients, function}});
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

absl::Status CheckOptions(const Options& options) {
  const DataShape& shape = options.shape;
  for (const absl::Status& status :
       {CheckRange("--hosts", shape.hosts, 1, kHostsMax),
        CheckRange("--cells-per-row", shape.cells_per_row, 1, kCellsPerRowMax),
        CheckRange("--clients", options.clients, 1, kClientsMax),
        CheckRange("--in-flight", options.in_flight.value_or(1), 1, kInFlightMax),
        CheckRange("--rows-per-request", options.rows_per_request, 1, kRowsPerRequestMax),
        CheckRange<int64_t>("cells of a step times --rows-per-request",
                            std::llround(std::ceil(ModelOf(shape).cells_per_step)) * options.rows_per_request,
                            1, kMutationsPerRequestMax),
        CheckRange("--cells-per-row of point-write", options.point_write_cells, 1, kCellsPerRowMax),
        CheckRange<int64_t>("--cells", options.cells, 1, 1'000'000'000'000),
        CheckRange<int64_t>("--requests", options.requests, 1, 1'000'000'000'000),
        CheckRange("--range-seconds", options.range_seconds, 1, 1'000'000'000),
        CheckRange<int64_t>("--row-bytes", options.large_row.bytes, 1, int64_t{1} << 40),
        CheckRange("--row-columns", options.large_row.columns, 1, kLargeRowColumnsMax),
        CheckRange<int64_t>("--value-bytes", options.large_row.value_bytes, kLargeRowValueBytesMin,
                            kValueBytesMax),
        CheckRange("--blob-bytes", options.blob_bytes, kBlobBytesMin, 1'000'000),
        CheckRange("--rate", options.rate.value_or(1), 0.001, 1e9),
        CheckRange("--seconds", options.seconds.value_or(1), 0.001, 1e6)}) {
    if (!status.ok()) return status;
  }
  if (shape.big_endian && shape.kind != DataKind::kCpu) {
    return absl::InvalidArgumentError("--big-endian is for --data cpu, whose numbers are whole");
  }
  if (options.data_dir.empty() || std::filesystem::is_directory(options.data_dir)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("--data-dir is not a directory: \"{}\"", options.data_dir));
}

std::vector<Workload> Workloads() {
  std::vector<Workload> workloads;
  for (const KnownWorkload& known : kKnownWorkloads) workloads.push_back(known.workload);
  workloads.push_back(kAll);
  return workloads;
}

absl::StatusOr<std::vector<Result>> RunWorkloads(const std::string& name, const Options& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  std::vector<std::string> names;
  for (const KnownWorkload& known : kKnownWorkloads) {
    if (name == kAll.name && known.is_of_all) names.emplace_back(known.workload.name);
  }
  if (name != kAll.name) names = {name};
  std::vector<Result> results;
  Options now = options;
  for (const std::string& next : names) {
    absl::StatusOr<std::vector<Result>> next_results = RunOne(next, now);
    if (!next_results.ok()) return next_results.status();
    if (next == "ingest") {
      Result& ingest = next_results->front();
      if (absl::Status status = MeasureDisk(now, &ingest); !status.ok()) return status;
      // The other clients may count on these steps, also if ingest ended by the clock.
      now.steps = ingest.steps;
    }
    results.insert(results.end(), std::make_move_iterator(next_results->begin()),
                   std::make_move_iterator(next_results->end()));
    if (name == kAll.name && next == "scan") {
      if (absl::Status status = CheckSame(results[0], results[1]); !status.ok()) return status;
    }
  }
  return results;
}

}  // namespace sonde::bench

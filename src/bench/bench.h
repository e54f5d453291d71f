// Benchmarks of a Bigtable server through its official API, and of what others speak: Workloads() lists them.
//
// The data is that of data_model.h.  Workloads that read, read what ingest wrote with the same flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/data/series_data.h"
#include "bench/histogram.h"
#include "sql/access/sql_access.h"

namespace sonde::bench {

// The row of large-row, or those of large-values, one a client; they have a table of their own.
struct LargeRow {
  int64_t bytes = int64_t{100} << 20;  // of its cells: qualifiers, times and values
  int columns = 1;                     // that share the cells
  int value_bytes = 100;
  bool build = true;  // false: it is there already
};

struct Options {
  std::string endpoint = "127.0.0.1:8086";  // and what else client/channel/endpoint.h reads
  std::string ca_file, key_file;            // as RemoteOptions
  std::string project = "sonde";
  std::string instance = "sonde";
  std::string table;  // empty: bench_tall or bench_bucket, by the schema
  DataShape shape;
  int clients = 2;               // threads, each with a connection of its own
  std::optional<int> in_flight;  // requests that a client has under way at a time; a scan has one
  int rows_per_request = 100;    // of ingest
  int64_t cells = 1'000'000;     // of ingest, rounded up to whole steps of all hosts
  std::optional<int64_t> steps;  // that every entity has made, when it is known: instead of cells
  int64_t requests =
      100'000;  // of point-read, point-write, latest, range, sql and its like, over all clients
  std::optional<double>
      rate;  // of what counts requests: so many a second over all clients, evenly; none: as fast as it goes
  int point_write_cells = 1;      // in a request of point-write
  int range_seconds = 3'600;      // of a request of range
  std::optional<double> seconds;  // ends ingest and what counts requests; instead of cells and requests
  LargeRow large_row;
  // The query of the workloads of SQL, and of create-view.  An empty text is the workload's own query.
  sql::Question question;
  int blob_bytes = 300;                          // of json-blobs: a value
  std::string http_endpoint = "127.0.0.1:8087";  // of lines
  std::string data_dir;                // the server's; empty: bytes on disk are what SampleRowKeys says
  std::string durability = "unknown";  // as the server was told; only printed
};

// The default of Options::in_flight: about as many requests as it takes until more make no server faster.
// Real clients have more: the batcher of Google's for Java sends 100 rows a request and has 200 requests
// under way, and a connection to Google takes 100 calls.
inline constexpr int kIngestInFlight = 32;
inline constexpr int kPointInFlight = 64;
inline constexpr int kMixedIngestInFlight = 2;  // in mixed ingest is not to be all that there is
// The default for each kind of reads in mixed, chosen in the same way.
inline constexpr int kMixedInFlight = 4;
inline constexpr double kMixedSeconds = 5;

inline constexpr int kLargeRowColumnsMax = 10'000'000;
inline constexpr int64_t kLargeRowValueBytesMin = 16;  // a number that tells a cell from the others
inline constexpr int kBlobBytesMin = 100;
inline constexpr int kClientsMax = 256;
inline constexpr int kInFlightMax = 1024;
inline constexpr int kRowsPerRequestMax = 100'000;

struct Result {
  std::string name;
  uint64_t requests = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;       // of messages with data, as encoded
  uint64_t cell_bytes = 0;  // of ingest: row key, family, qualifier, time and value of every cell
  double seconds = 0;
  double client_cpu_seconds = 0;  // of this process; those that ran at the same time share it
  Histogram latency_us;           // of a request; of a response message for scan
  uint64_t refused = 0;           // requests that the server refused for now and that were made again
  std::optional<int64_t> steps;   // of ingest: that every host has made
  std::optional<uint64_t> hash;   // of all cells (CellSum)
  std::optional<double> disk_bytes_per_cell;
};

// One benchmark: what it is called, and which question it answers.
struct Workload {
  std::string_view name;
  std::string_view description;
};
// All that there are.  The last is "all": some of the others, in an order in which each finds its data.
std::vector<Workload> Workloads();

// INVALID_ARGUMENT: an option is out of its range; the message names its flag.
absl::Status CheckOptions(const Options& options);

// `name`: one of Workloads().  "all" also checks that scan finds what ingest wrote (DATA_LOSS otherwise).  The
// table is made when it is not there.  The first error of any request ends it.
absl::StatusOr<std::vector<Result>> RunWorkloads(const std::string& name, const Options& options);

}  // namespace sonde::bench

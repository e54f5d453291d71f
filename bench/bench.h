// Benchmarks of a Bigtable server through its official API.  Each answers one question:
//   ingest       how fast do time series go in, many rows a request (MutateRows)?
//   scan         how fast does a whole table come out (ReadRows)?
//   point-read   how many single steps of single hosts can be read a second (ReadRows of one row)?
//   point-write  how many single rows can be written a second (MutateRow)?
// The data is that of series_data.h; scan and point-read read what ingest wrote with the same flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/histogram.h"
#include "bench/series_data.h"

namespace sonde::bench {

struct Options {
  std::string endpoint = "127.0.0.1:8086";
  std::string project = "sonde";
  std::string instance = "sonde";
  std::string table;  // empty: bench_tall or bench_bucket, by the schema
  DataShape shape;
  int clients = 2;                // threads, each with a connection of its own
  std::optional<int> in_flight;   // requests that a client has under way at a time; a scan has one
  int rows_per_request = 100;     // of ingest
  int64_t cells = 1'000'000;      // of ingest, rounded up to whole steps of all hosts
  int64_t requests = 100'000;     // of point-read and point-write, over all clients
  int point_write_cells = 1;      // in a request of point-write
  std::optional<double> seconds;  // ends ingest, point-read and point-write; instead of cells and requests
  std::string data_dir;           // the server's; empty: bytes on disk are what SampleRowKeys says
  std::string durability = "unknown";  // as the server was told; only printed
};

// Of Options::in_flight, when it is not given.
inline constexpr int kIngestInFlight = 2;
inline constexpr int kPointInFlight = 32;

inline constexpr int kClientsMax = 256;
inline constexpr int kInFlightMax = 1024;
inline constexpr int kRowsPerRequestMax = 100'000;

struct Result {
  std::string name;
  uint64_t requests = 0;
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of messages with data, as encoded
  double seconds = 0;
  double client_cpu_seconds = 0;
  Histogram latency_us;          // of a request; of a response message for scan
  std::optional<int64_t> steps;  // of ingest: that every host has made
  std::optional<uint64_t> hash;  // of all cells (CellSum)
  std::optional<double> disk_bytes_per_cell;
};

// INVALID_ARGUMENT: an option is out of its range; the message names its flag.
absl::Status CheckOptions(const Options& options);

// `name`: one of the four, or "all" for all of them in order, which also checks that scan finds what ingest
// wrote (DATA_LOSS otherwise).  The table is made when it is not there.  The first error of any request ends
// it.
absl::StatusOr<std::vector<Result>> RunWorkloads(const std::string& name, const Options& options);

}  // namespace sonde::bench

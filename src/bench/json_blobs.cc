// Rows of one JSON text each, of the same length: what a JSON function reads in one place of.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/workload.h"
#include "client/remote_tables.h"

namespace sonde::bench {
namespace {

// An object of `bytes` bytes: fields, and a field in the middle, $.metrics.load, for questions.
std::string MakeBlob(RandomSource* random, int64_t row, size_t bytes) {
  std::string blob = fmt::format(
      R"({{"id":{},"host":"host_{:05}","tags":["a","b"],"metrics":{{"cpu":{},"load":{}}},"note":")", row,
      random->Uniform(100'000), random->Uniform(101), random->Uniform(1'000));
  constexpr std::string_view kEnd = "\"}";
  while (blob.size() + kEnd.size() < bytes) blob += static_cast<char>('a' + random->Uniform(26));
  blob += kEnd;
  return blob;
}

}  // namespace

absl::StatusOr<Result> RunJsonBlobs(const Options& options) {
  if (absl::Status status = EnsureTable(options, BlobTable(options)); !status.ok()) return status;
  auto tables = RemoteTables::Connect(RemoteOf(options));
  if (!tables.ok()) return tables.status();
  SeededRandom random(options.shape.seed);
  Result result;
  result.name = "json-blobs";
  const Clock::time_point begin = Clock::now();
  for (int64_t row = 0; row < options.cells;) {
    std::vector<RowWrite> rows;
    for (int i = 0; i < options.rows_per_request && row < options.cells; ++i, ++row) {
      RowWrite& write = rows.emplace_back();
      write.row_key = fmt::format("row{:09}", row);
      write.cells.push_back({std::string(kFamily), "blob", StepMicros(0),
                             MakeBlob(&random, row, static_cast<size_t>(options.blob_bytes))});
    }
    const auto statuses = (*tables)->MutateRows(BlobTable(options), rows);
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
    ++result.requests;
    result.rows += rows.size();
  }
  result.cells = result.rows;
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace sonde::bench

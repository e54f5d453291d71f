// How fast does Sonde's engine take cells in, how small does it keep them and how fast does it give them
// back, against one RocksDB entry a cell, in one process each, with the same batches of the same cells?
//
// Prints one JSON object: a list of stores, each with what it did.  Cells a second of ingest are those
// acknowledged, with all that this process does meanwhile; bytes written are those that the kernel counted
// for this process until everything lay where it stays.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/readings.h"
#include "bench/store_under_test.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

struct Flags {
  std::string store = "both";
  std::string data = "cpu";
  std::string schema = "bucket";
  std::string directory;
  DataShape shape;
  int64_t cells = 1'000'000;
  int rows_per_batch = 100;
  int threads = 2;
  bool no_sync = false;
};

// What the kernel says that this process had written to a disk.
uint64_t DiskBytesWritten() {
  std::ifstream file("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  return 0;
}

// Rows and cells with what they view, for one batch.
class Batch {
 public:
  Batch(const DataShape& shape, int entity_begin, int entity_end)
      : keys_(shape), readings_(shape, entity_begin, entity_end) {}

  // The next rows, so many at least; none at the end.
  absl::Span<const RowChange> Next(int64_t steps, int rows) {
    size_t count = 0;
    while (count < static_cast<size_t>(rows) && readings_.Next(steps)) {
      for (const Reading& reading : readings_.readings()) {
        if (count == kept_.size()) kept_.emplace_back();
        Kept& kept = kept_[count++];
        kept.key = keys_.RowKey(readings_.entity(), reading.group, reading.micros);
        kept.reading = reading;
      }
    }
    changes_.resize(count);
    for (size_t i = 0; i < count; ++i) Fill(kept_[i], &changes_[i]);
    return changes_;
  }
  const CellSum& sum() const { return sum_; }

 private:
  struct Kept {
    std::string key;
    Reading reading;
  };

  void Fill(const Kept& kept, RowChange* change) {
    change->row_key = kept.key;
    change->delta.families.resize(1);
    FamilyDelta& delta = change->delta.families.front();
    delta.family = 1;
    delta.puts.clear();
    const std::vector<Field>& fields = keys_.model().groups[kept.reading.group].fields;
    for (const ReadingCell& cell : kept.reading.cells) {
      delta.puts.push_back({fields[cell.field].name, kept.reading.micros, cell.value()});
    }
    std::sort(delta.puts.begin(), delta.puts.end(),
              [](const CellView& a, const CellView& b) { return a.qualifier < b.qualifier; });
    const uint64_t row = CellSum::Hash(kept.key);
    for (const CellView& cell : delta.puts) {
      sum_.Add(row, CellSum::Hash(cell.qualifier), cell.timestamp_micros, CellSum::Hash(cell.value));
    }
  }

  const RowKeys keys_;
  Readings readings_;
  std::vector<Kept> kept_;
  std::vector<RowChange> changes_;
  CellSum sum_;
};

using Clock = std::chrono::steady_clock;
double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

absl::StatusOr<CellSum> Ingest(const Flags& flags, StoreUnderTest* store) {
  const int64_t steps = StepsFor(flags.shape, flags.cells);
  std::vector<absl::Status> statuses(flags.threads);
  std::vector<CellSum> sums(flags.threads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < flags.threads; ++thread) {
    threads.emplace_back([&, thread] {
      const int begin = flags.shape.hosts * thread / flags.threads;
      const int end = flags.shape.hosts * (thread + 1) / flags.threads;
      if (begin == end) return;
      Batch batch(flags.shape, begin, end);
      for (auto rows = batch.Next(steps, flags.rows_per_batch); !rows.empty() && statuses[thread].ok();
           rows = batch.Next(steps, flags.rows_per_batch)) {
        statuses[thread] = store->Write(rows);
      }
      sums[thread] = batch.sum();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CellSum sum;
  for (int thread = 0; thread < flags.threads; ++thread) {
    if (!statuses[thread].ok()) return statuses[thread];
    sum.Merge(sums[thread]);
  }
  return sum;
}

absl::StatusOr<nlohmann::ordered_json> Measure(const Flags& flags, const std::string& name) {
  const std::string directory = flags.directory + "/" + name;
  const StoreOptions options{.directory = directory, .sync = !flags.no_sync};
  std::filesystem::create_directories(directory);
  auto store = name == "sonde" ? OpenSondeStore(options) : OpenEntryStore(options);
  if (!store.ok()) return store.status();
  const uint64_t written_before = DiskBytesWritten();
  const double cpu_before = ProcessCpuSeconds();
  Clock::time_point begin = Clock::now();
  const auto written = Ingest(flags, store->get());
  if (!written.ok()) return written.status();
  const double ingest_seconds = SecondsSince(begin);
  const double ingest_cpu_seconds = ProcessCpuSeconds() - cpu_before;
  begin = Clock::now();
  if (absl::Status status = (*store)->Settle(); !status.ok()) return status;
  const double settle_seconds = SecondsSince(begin);
  begin = Clock::now();
  const auto found = (*store)->Scan();
  if (!found.ok()) return found.status();
  const double scan_seconds = SecondsSince(begin);
  if (found->cells() != written->cells() || found->sum() != written->sum()) {
    return absl::DataLossError(
        fmt::format("{}: {} cells (hash {:016x}) were written, {} found (hash {:016x})", name,
                    written->cells(), written->sum(), found->cells(), found->sum()));
  }
  store->reset();
  const auto cells = static_cast<double>(written->cells());
  return nlohmann::ordered_json{
      {"name", name},
      {"cells", written->cells()},
      {"hash", fmt::format("{:016x}", written->sum())},
      {"ingest_cells_per_second", cells / ingest_seconds},
      {"ingest_cells_per_cpu_second", cells / ingest_cpu_seconds},
      {"settle_seconds", settle_seconds},
      {"scan_cells_per_second", cells / scan_seconds},
      {"disk_bytes_per_cell", static_cast<double>(DirectoryBytes(directory)) / cells},
      {"written_bytes_per_cell", static_cast<double>(DiskBytesWritten() - written_before) / cells}};
}

int Run(const Flags& flags) {
  nlohmann::ordered_json report;
  report["options"] = {{"data", flags.data},         {"schema", flags.schema},
                       {"hosts", flags.shape.hosts}, {"rows_per_batch", flags.rows_per_batch},
                       {"threads", flags.threads},   {"durability", flags.no_sync ? "os" : "fsync"}};
  report["stores"] = nlohmann::ordered_json::array();
  const std::vector<std::string> names = flags.store == "both" ? std::vector<std::string>{"sonde", "entries"}
                                                               : std::vector<std::string>{flags.store};
  for (const std::string& name : names) {
    const auto measured = Measure(flags, name);
    std::error_code ignored;
    std::filesystem::remove_all(flags.directory + "/" + name, ignored);
    if (!measured.ok()) {
      fmt::print(stderr, "engine_bench: {}: {}\n", name, measured.status().ToString());
      return 1;
    }
    report["stores"].push_back(*measured);
  }
  std::filesystem::remove(flags.directory);
  fmt::print("{}\n", report.dump(2));
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) {
  using namespace sonde::bench;  // NOLINT: this is main
  Flags flags;
  CLI::App app("Sonde's engine against one RocksDB entry a cell, in this process");
  app.add_option("--store", flags.store, "sonde, entries or both")
      ->check(CLI::IsMember({"sonde", "entries", "both"}))
      ->capture_default_str();
  app.add_option("--data", flags.data, "the kind of data, as of sonde bench")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kDataKindNames), std::end(kDataKindNames))))
      ->capture_default_str();
  app.add_option("--schema", flags.schema, "tall or bucket")
      ->check(CLI::IsMember({"tall", "bucket"}))
      ->capture_default_str();
  app.add_option("--hosts", flags.shape.hosts, "entities")
      ->check(CLI::Range(1, kHostsMax))
      ->capture_default_str();
  app.add_option("--cells", flags.cells, "to write")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--rows-per-batch", flags.rows_per_batch, "readings in a commit")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "that write")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_flag("--no-sync", flags.no_sync, "do not sync a commit to the disk");
  app.add_option("--data-dir", flags.directory, "a directory that is made, and removed at the end")
      ->required();
  app.footer(
      "Examples:\n  engine_bench --data-dir /tmp/engine_bench\n"
      "  engine_bench --cells 10000000 --schema tall --data devops --data-dir /var/tmp/engine_bench");
  CLI11_PARSE(app, argc, argv);
  flags.shape.kind = DataKindOf(flags.data).value();
  flags.shape.schema = flags.schema == "tall" ? Schema::kTall : Schema::kBucket;
  if (std::filesystem::exists(flags.directory)) {
    fmt::print(stderr, "engine_bench: '{}' exists already\n", flags.directory);
    return 2;
  }
  return Run(flags);
}

// How fast does Sonde's engine take cells in, how small does it keep them and how fast does it give them
// back, against one RocksDB entry a cell, in this process, with the same batches of the same cells?
//
// Prints one JSON object: a list of stores, each with what it did.  Cells a second of ingest are those
// acknowledged, with all that this process does meanwhile; bytes written are those that the kernel counted
// for this process until everything lay where it stays; rows a second are whole rows, read at random places,
// by one thread and by one for each core.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/data/readings.h"
#include "bench/inside/cluster_store.h"
#include "bench/inside/measured_store.h"
#include "bench/workload.h"

namespace sonde::bench {
namespace {

struct Flags {
  std::string store = "both";
  std::string data = "cpu";
  std::string schema = "bucket";
  std::string directory;
  std::string cluster;  // HOST:PORT; empty: stores in this process
  DataShape shape;
  int64_t cells = 1'000'000;
  int rows_per_batch = 100;
  int threads = 2;
  bool no_sync = false;
};

// The bytes that this process had written to a disk, as the kernel counts.
uint64_t DiskBytesWritten() {
  std::ifstream file("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  return 0;
}

// Rows with what they view.
class Batch {
 public:
  void Add(std::string row_key, const Reading& reading) { kept_.push_back({std::move(row_key), reading}); }
  size_t size() const { return kept_.size(); }

  // After the last Add, which is when nothing moves any more; `orders` are each group's fields by name.
  void Seal(const std::vector<std::vector<int>>& orders, const DataModel& model, CellSum* sum) {
    for (const Kept& kept : kept_) {
      RowChange& change = changes_.emplace_back();
      change.row_key = kept.key;
      FamilyDelta& delta = change.delta.families.emplace_back();
      delta.family = 1;
      const uint64_t row = CellSum::Hash(kept.key);
      for (const int field : orders[kept.reading.group]) {
        const auto cell = std::find_if(kept.reading.cells.begin(), kept.reading.cells.end(),
                                       [&](const ReadingCell& some) { return some.field == field; });
        if (cell == kept.reading.cells.end()) continue;  // it is missing
        const std::string_view name = model.groups[kept.reading.group].fields[field].name;
        delta.puts.push_back({name, kept.reading.micros, cell->value()});
        sum->Add(row, CellSum::Hash(name), kept.reading.micros, CellSum::Hash(cell->value()));
      }
    }
  }
  absl::Span<const RowChange> rows() const { return changes_; }

 private:
  struct Kept {
    std::string key;
    Reading reading;
  };
  std::vector<Kept> kept_;
  std::vector<RowChange> changes_;
};

// All batches of the entities [entity_begin, entity_end), made before the clock starts: they are to cost
// nothing of what is measured.  Takes some hundred bytes of memory a cell.
class Batches {
 public:
  Batches(const DataShape& shape, int64_t steps, int rows_per_batch, int entity_begin, int entity_end)
      : keys_(shape) {
    const DataModel& model = keys_.model();
    std::vector<std::vector<int>> orders;
    for (const FieldGroup& group : model.groups) {
      auto& order = orders.emplace_back(group.fields.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int a, int b) { return group.fields[a].name < group.fields[b].name; });
    }
    Readings readings(shape, entity_begin, entity_end);
    while (readings.Next(steps)) {
      for (const Reading& reading : readings.readings()) {
        if (batches_.empty() || batches_.back().size() >= static_cast<size_t>(rows_per_batch))
          batches_.emplace_back();
        batches_.back().Add(keys_.RowKey(readings.entity(), reading.group, reading.micros), reading);
      }
    }
    for (Batch& batch : batches_) batch.Seal(orders, model, &sum_);
  }
  const std::vector<Batch>& all() const { return batches_; }
  const CellSum& sum() const { return sum_; }

 private:
  const RowKeys keys_;  // whose names the cells view
  std::vector<Batch> batches_;
  CellSum sum_;
};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One for each thread.
std::vector<std::unique_ptr<Batches>> MakeBatches(const Flags& flags) {
  const int64_t steps = StepsFor(flags.shape, flags.cells);
  std::vector<std::unique_ptr<Batches>> batches;
  for (int thread = 0; thread < flags.threads; ++thread) {
    const int begin = flags.shape.hosts * thread / flags.threads;
    const int end = flags.shape.hosts * (thread + 1) / flags.threads;
    if (begin == end) continue;
    batches.push_back(std::make_unique<Batches>(flags.shape, steps, flags.rows_per_batch, begin, end));
  }
  return batches;
}

absl::Status Ingest(const std::vector<std::unique_ptr<Batches>>& batches, StoreUnderTest* store) {
  std::vector<absl::Status> statuses(batches.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < batches.size(); ++i) {
    threads.emplace_back([&, i] {
      for (const Batch& batch : batches[i]->all()) {
        statuses[i] = store->Write(batch.rows());
        if (!statuses[i].ok()) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Rows that `threads` read at random places.
absl::StatusOr<double> ReadRowsPerSecond(const std::vector<std::unique_ptr<Batches>>& batches, int threads,
                                         StoreUnderTest* store) {
  constexpr double kSeconds = 0.5;
  std::vector<absl::Status> statuses(threads);
  std::vector<int64_t> rows(threads, 0);
  std::vector<std::thread> readers;
  const Clock::time_point begin = Clock::now();
  for (int reader = 0; reader < threads; ++reader) {
    readers.emplace_back([&, reader] {
      SeededRandom random(reader + 1);
      for (; SecondsSince(begin) < kSeconds; ++rows[reader]) {
        const std::vector<Batch>& some = batches[random.Uniform(batches.size())]->all();
        const absl::Span<const RowChange> written = some[random.Uniform(some.size())].rows();
        const absl::StatusOr<int64_t> cells = store->ReadRow(written[random.Uniform(written.size())].row_key);
        statuses[reader] = cells.status();
        if (cells.ok() && *cells == 0) statuses[reader] = absl::DataLossError("a row is not there");
        if (!statuses[reader].ok()) return;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  const double seconds = SecondsSince(begin);
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return static_cast<double>(std::accumulate(rows.begin(), rows.end(), int64_t{0})) / seconds;
}

absl::StatusOr<nlohmann::ordered_json> Measure(const Flags& flags, const std::string& name,
                                               const std::vector<std::unique_ptr<Batches>>& batches) {
  const std::string directory = flags.directory + "/" + name;
  CellSum written;
  for (const auto& some : batches) written.Merge(some->sum());
  const StoreOptions options{.directory = directory, .sync = !flags.no_sync};
  std::filesystem::create_directories(directory);
  auto store = !flags.cluster.empty()
                   ? OpenClusterStore(flags.cluster, KindOfClusterStore(name), !flags.no_sync)
               : name == "sonde" ? OpenSondeStore(options)
                                 : OpenEntryStore(options);
  if (!store.ok()) return store.status();
  const uint64_t written_before = DiskBytesWritten();
  const double cpu_before = ProcessCpuSeconds();
  Clock::time_point begin = Clock::now();
  if (absl::Status status = Ingest(batches, store->get()); !status.ok()) return status;
  const double ingest_seconds = SecondsSince(begin);
  const double ingest_cpu_seconds = ProcessCpuSeconds() - cpu_before;
  begin = Clock::now();
  if (absl::Status status = (*store)->Settle(); !status.ok()) return status;
  const double settle_seconds = SecondsSince(begin);
  begin = Clock::now();
  const auto found = (*store)->Scan();
  if (!found.ok()) return found.status();
  const double scan_seconds = SecondsSince(begin);
  if (found->cells() != written.cells() || found->sum() != written.sum()) {
    return absl::DataLossError(
        fmt::format("{}: {} cells (hash {:016x}) were written, {} found (hash {:016x})", name,
                    written.cells(), written.sum(), found->cells(), found->sum()));
  }
  absl::StatusOr<double> rows_per_second, rows_per_second_by_all;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (const bool counts : {false, true}) {  // first, what is read often comes into memory
    rows_per_second_by_all = ReadRowsPerSecond(batches, cores, store->get());
    if (!rows_per_second_by_all.ok()) return rows_per_second_by_all.status();
    if (counts) rows_per_second = ReadRowsPerSecond(batches, 1, store->get());
  }
  if (!rows_per_second.ok()) return rows_per_second.status();
  const absl::StatusOr<std::optional<uint64_t>> disk_bytes = (*store)->DiskBytes();
  if (!disk_bytes.ok()) return disk_bytes.status();
  store->reset();
  const auto cells = static_cast<double>(written.cells());
  return nlohmann::ordered_json{
      {"name", name},
      {"cells", written.cells()},
      {"hash", fmt::format("{:016x}", written.sum())},
      {"ingest_cells_per_second", cells / ingest_seconds},
      {"ingest_cells_per_cpu_second", cells / ingest_cpu_seconds},
      {"settle_seconds", settle_seconds},
      {"scan_cells_per_second", cells / scan_seconds},
      {"read_rows_per_second", *rows_per_second},
      {"read_rows_per_second_by_all_cores", *rows_per_second_by_all},
      {"cores", cores},
      {"disk_bytes_per_cell", static_cast<double>(disk_bytes->value_or(DirectoryBytes(directory))) / cells},
      {"written_bytes_per_cell", static_cast<double>(DiskBytesWritten() - written_before) / cells}};
}

int Run(const Flags& flags) {
  nlohmann::ordered_json report;
  report["options"] = {{"data", flags.data},         {"schema", flags.schema},
                       {"hosts", flags.shape.hosts}, {"rows_per_batch", flags.rows_per_batch},
                       {"threads", flags.threads},   {"durability", flags.no_sync ? "os" : "fsync"}};
  const std::vector<std::unique_ptr<Batches>> batches = MakeBatches(flags);
  report["stores"] = nlohmann::ordered_json::array();
  std::vector<std::string> names = {flags.store};
  if (flags.store == "both" && flags.cluster.empty()) names = {"sonde", "entries"};
  if (flags.store == "both" && !flags.cluster.empty()) names = {"plain", "settled", "packed"};
  for (const std::string& name : names) {
    const auto measured = Measure(flags, name, batches);
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
  app.add_option("--store", flags.store,
                 "sonde, entries or both; in a cluster plain (a cell of HBase's each), settled (written so, "
                 "then packed), packed (when it is "
                 "written), or all three of them, which is both")
      ->check(CLI::IsMember({"sonde", "entries", "both", "plain", "settled", "packed"}))
      ->capture_default_str();
  app.add_option("--cluster", flags.cluster, "HOST:PORT of a master of HBase's, to measure stores there");
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
  const bool is_of_cluster = flags.store == "plain" || flags.store == "settled" || flags.store == "packed";
  if (flags.store != "both" && is_of_cluster != !flags.cluster.empty()) {
    fmt::print(stderr, "engine_bench: {} is a store {} --cluster\n", flags.store,
               is_of_cluster ? "with" : "without");
    return 2;
  }
  flags.shape.kind = DataKindOf(flags.data).value();
  flags.shape.schema = flags.schema == "tall" ? Schema::kTall : Schema::kBucket;
  if (std::filesystem::exists(flags.directory)) {
    fmt::print(stderr, "engine_bench: '{}' exists already\n", flags.directory);
    return 2;
  }
  return Run(flags);
}

// How fast do declared series load, and answer the questions of TSBS's cpu-only, in this process?
//
// Prints Markdown tables.  The data is that of series_data.h as CSV, all hosts step by step; the store is a
// data directory of its own, with fsync; what was loaded has settled before it is asked for.  A point is one
// value of one field.  Questions are asked again and again of a warm store; sums over the answers are
// printed, so that two builds can be compared.  The scan takes every value of every field with its time, and
// has to find what was loaded.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "bench/data/series_data.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "series/input/csv_loader.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/query/query_request.h"
#include "series/schema/schema_parser.h"
#include "series/write/point_writer.h"
#include "table/local_tables.h"

namespace sonde::bench {
namespace {

using series::SeriesSchema;

struct Options {
  int hosts = 20;
  int hours = 2;
  int repeats = 20;
  std::string directory;
};

[[noreturn]] void Fail(std::string_view what, const absl::Status& status) {
  fmt::print(stderr, "series_bench: {}: {}\n", what, std::string(status.message()));
  std::exit(1);
}

// The time that a step took by the clock, and of processors, by all threads of this process.
struct Took {
  double seconds = 0;
  double cpu_seconds = 0;
};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Took Measure(const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = CpuSeconds();
  step();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          CpuSeconds() - cpu_start};
}

struct Store {
  explicit Store(const std::string& directory) {
    auto opened = RocksEngine::Open({.data_dir = directory});
    if (!opened.ok()) Fail(directory, opened.status());
    engine = *std::move(opened);
    auto catalog_opened = Catalog::Open(engine.get());
    if (!catalog_opened.ok()) Fail(directory, catalog_opened.status());
    catalog = *std::move(catalog_opened);
    tables = std::make_unique<Tables>(engine.get(), catalog.get(), &clock, 1);
    local = std::make_unique<LocalTables>(tables.get(), "projects/sonde/instances/sonde");
  }
  SystemClock clock;
  std::unique_ptr<RocksEngine> engine;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<Tables> tables;
  std::unique_ptr<LocalTables> local;
};

// With a bucket in the key or, if a row is to hold one time, with that.
SeriesSchema CpuSchema(std::string_view name, std::string_view key) {
  std::string fields;
  for (int metric = 0; metric < 10; ++metric) fields += MetricName(metric) + ": int, ";
  const std::string text = fmt::format(
      "series: {0}\ntags: {{ host: string }}\nfields: {{ {1} }}\nkey: {2}\n{3}"
      "retention: {{ max_versions: all }}\nderive: [ latest: {0}_now ]\n",
      name, fields, key, (key.find("bucket") != key.npos) ? "bucket: hour\n" : "layout: row\n");
  auto schema = series::ParseSchema(text, name);
  if (!schema.ok()) Fail(name, schema.status());
  return *std::move(schema);
}

// CSV of `steps` steps from `first` on, made as it is read: the time that this takes is measured, too.
class CsvSource {
 public:
  CsvSource(const DataShape& shape, int64_t steps) : shape_(shape), steps_(steps) {
    for (int host = 0; host < shape.hosts; ++host) walks_.emplace_back(shape, host);
  }

  // One hour, or what is left.
  std::string Next() {
    std::string text = "time,host";
    for (int metric = 0; metric < shape_.cells_per_row; ++metric) text += "," + MetricName(metric);
    text += "\n";
    std::vector<uint8_t> values;
    for (int64_t end = std::min(steps_, step_ + 360); step_ < end; ++step_) {
      const int64_t second = kFirstSecond + step_ * kStepSeconds;
      for (int host = 0; host < shape_.hosts; ++host) {
        walks_[host].Next(&values);
        fmt::format_to(std::back_inserter(text), "{},host_{:05}", second, host);
        for (const uint8_t value : values) fmt::format_to(std::back_inserter(text), ",{}", value);
        text += '\n';
      }
    }
    return text;
  }
  bool IsAtEnd() const { return step_ >= steps_; }

 private:
  DataShape shape_;
  int64_t steps_;
  int64_t step_ = 0;
  std::vector<HostWalk> walks_;
};

void Load(const Options& options, const SeriesSchema& schema, TableAccess* tables) {
  if (absl::Status status = series::EnsureSeriesTables(schema, tables); !status.ok()) Fail("tables", status);
  const DataShape shape{.hosts = options.hosts};
  CsvSource source(shape, options.hours * 360);
  Took all;
  int64_t points = 0;
  int64_t bytes = 0;
  while (!source.IsAtEnd()) {
    const std::string csv = source.Next();
    const Took took = Measure([&] {
      series::PointWriter writer(schema, tables,
                                 {.rows_max = 100'000, .cells_max = 100'000, .value_bytes_max = 16 << 20});
      const auto totals =
          series::CsvLoader({.time_format = "epoch_s"}, {}).Load(series::SourceOfText(csv), &writer);
      if (!totals.ok()) Fail("load", totals.status());
      points += writer.totals().cells;
      bytes += totals->bytes;
    });
    all.seconds += took.seconds;
    all.cpu_seconds += took.cpu_seconds;
  }
  fmt::print("| CSV into `{}` | {} | {:.1f} | {:.0f} | {:.0f} |\n", schema.name, points,
             static_cast<double>(bytes) / 1e6, static_cast<double>(points) / all.seconds,
             static_cast<double>(points) / all.cpu_seconds);
}

// The size of all tables, without logs.
int64_t StoredBytes(const Options& options, Store* store) {
  if (absl::Status status = store->engine->CompactAll(); !status.ok()) Fail("compact", status);
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::recursive_directory_iterator(options.directory, error)) {
    if (file.path().extension() != ".sst") continue;
    const uintmax_t file_bytes = file.file_size(error);
    if (!error) bytes += static_cast<int64_t>(file_bytes);
  }
  return bytes;
}

// Settles the written cells, which then lie as they do after a while.
void Settle(Store* store) {
  if (absl::Status status = store->engine->SettleAll(); !status.ok()) Fail("settle", status);
}

// The medians.
Took Ask(const Options& options, std::string_view what, const SeriesSchema& schema,
         const series::QueryRequest& request, TableAccess* tables) {
  const auto query = series::ParseQuery(schema, request, 0);
  if (!query.ok()) Fail(what, query.status());
  std::vector<double> times;
  std::vector<double> cpu_times;
  int64_t rows = 0;
  double sum = 0;
  series::QueryStats stats;
  for (int repeat = 0; repeat < options.repeats + 1; ++repeat) {
    rows = 0;
    sum = 0;
    const Took took = Measure([&] {
      const auto asked = series::RunQuery(schema, *query, tables, [&](const series::ResultRow& row) {
        ++rows;
        for (const series::ResultValue& value : row.values) {
          if (const auto* number = std::get_if<double>(&value)) sum += *number;
          if (const auto* count = std::get_if<int64_t>(&value)) sum += static_cast<double>(*count);
        }
        return true;
      });
      if (!asked.ok()) Fail(what, asked.status());
      stats = *asked;
    });
    if (repeat == 0) continue;  // it warms the store
    times.push_back(took.seconds * 1e3);
    cpu_times.push_back(took.cpu_seconds * 1e3);
  }
  std::sort(times.begin(), times.end());
  std::sort(cpu_times.begin(), cpu_times.end());
  const Took median{times[times.size() / 2] / 1e3, cpu_times[cpu_times.size() / 2] / 1e3};
  fmt::print("| {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |\n", what, stats.rows_read,
             stats.cells_read, rows, median.seconds * 1e3, times[times.size() * 99 / 100],
             median.cpu_seconds * 1e3, sum);
  return median;
}

// All values of a series with their times, as columns.
struct ColumnSum {
  int64_t cells = 0;
  // Sums value * time over all cells, by row prefix and column.  It is modulo 2^64, so that the order does
  // not matter.
  uint64_t sum = 0;

  static uint64_t Weight(uint64_t host_hash, uint64_t column_hash) { return host_hash ^ (column_hash << 1); }
};

ColumnSum ScanColumns(const SeriesSchema& schema, TableAccess* tables) {
  NumberRead read{.ranges = {RowRange::All()}, .family = schema.fields[0].family};
  for (const series::Field& field : schema.fields) read.columns.push_back({field.qualifier});
  std::vector<uint64_t> column_hashes;
  for (const NumberRead::Column& column : read.columns)
    column_hashes.push_back(CellSum::Hash(column.qualifier));
  ColumnSum result;
  std::string prefix{schema.delimiter};  // no row begins so
  uint64_t host_hash = 0;
  const absl::Status status = tables->numbers()->Read(schema.table, read, [&](const NumberRow& row) {
    if (!row.row_key.starts_with(prefix)) {
      prefix = row.row_key.substr(0, row.row_key.find(schema.delimiter) + 1);
      host_hash = CellSum::Hash(std::string_view(prefix).substr(0, prefix.size() - 1));
    }
    for (const NumberRow::Part& part : row.parts) {
      // Settled numbers that are no numbers in the pages would be a fault of the store.
      if (part.values.type() != ColumnType::kInt64) {
        Fail("scan", absl::InternalError(fmt::format("row \"{}\" came as cells", row.row_key)));
      }
      uint64_t sum = 0;
      const int64_t* const values = part.values.ints();
      for (size_t i = 0; i < part.values.size(); ++i) {
        sum += static_cast<uint64_t>(values[i]) * static_cast<uint64_t>(part.timestamps_micros[i]);
      }
      result.sum += sum * ColumnSum::Weight(host_hash, column_hashes[part.column]);
      result.cells += static_cast<int64_t>(part.values.size());
    }
    return true;
  });
  if (!status.ok()) Fail("scan", status);
  return result;
}

// The whole series, each value with its time; it has to be what was loaded.
void AskScan(const Options& options, const SeriesSchema& schema, TableAccess* tables) {
  const DataShape shape{.hosts = options.hosts};
  ColumnSum loaded;
  std::vector<uint8_t> values;
  for (int host = 0; host < shape.hosts; ++host) {
    const std::string name = fmt::format("host_{:05}", host);
    std::vector<uint64_t> weights;
    for (const series::Field& field : schema.fields)
      weights.push_back(ColumnSum::Weight(CellSum::Hash(name), CellSum::Hash(field.qualifier)));
    HostWalk walk(shape, host);
    for (int64_t step = 0; step < options.hours * int64_t{360}; ++step) {
      walk.Next(&values);
      for (size_t metric = 0; metric < values.size(); ++metric) {
        loaded.sum += weights[metric] * values[metric] * static_cast<uint64_t>(StepMicros(step));
        ++loaded.cells;
      }
    }
  }
  std::vector<double> times, cpu_times;
  for (int repeat = 0; repeat < options.repeats + 1; ++repeat) {
    ColumnSum found;
    const Took took = Measure([&] { found = ScanColumns(schema, tables); });
    if (found.cells != loaded.cells || found.sum != loaded.sum) {
      Fail("scan",
           absl::DataLossError(fmt::format("{} cells (sum {:016x}) were loaded, {} found (sum {:016x})",
                                           loaded.cells, loaded.sum, found.cells, found.sum)));
    }
    if (repeat == 0) continue;  // it warms the store
    times.push_back(took.seconds * 1e3);
    cpu_times.push_back(took.cpu_seconds * 1e3);
  }
  std::sort(times.begin(), times.end());
  std::sort(cpu_times.begin(), cpu_times.end());
  const double cpu_ms = cpu_times[cpu_times.size() / 2];
  fmt::print(
      "\n| scan, decoded to columns | cells | p50 ms | CPU ms | cells/s of a core | sum |\n"
      "| --- | ---: | ---: | ---: | ---: | --- |\n"
      "| all {} metrics of {} hosts over {} h, `{}` | {} | {:.2f} | {:.2f} | {:.0f} | `{:016x}` |\n",
      schema.fields.size(), options.hosts, options.hours, schema.name, loaded.cells, times[times.size() / 2],
      cpu_ms, static_cast<double>(loaded.cells) / cpu_ms * 1e3, loaded.sum);
}

std::string TimeOf(int hours) { return series::TimeText((kFirstSecond + hours * 3600) * 1'000'000); }

std::vector<std::string> Hosts(int count) {
  std::vector<std::string> where;
  for (int host = 0; host < count; ++host) where.push_back(fmt::format("host=host_{:05}", host));
  return where;
}

void AskTsbs(const Options& options, const SeriesSchema& schema, TableAccess* tables) {
  const int last_hour = options.hours - 1;
  std::vector<std::string> five;
  for (int metric = 0; metric < 5; ++metric) five.push_back(MetricName(metric));
  fmt::print(
      "\n| question | rows read | cells read | rows out | p50 ms | p99 ms | CPU ms | sum |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  Ask(options, "max of 1 metric of 1 host over 1 h by minute", schema,
      {.where = Hosts(1),
       .fields = {five[0]},
       .from = TimeOf(last_hour),
       .to = TimeOf(last_hour + 1),
       .every = "1m",
       .aggregates = {"max"}},
      tables);
  Ask(options, "max of 5 metrics of 8 hosts over 1 h by minute", schema,
      {.where = Hosts(8),
       .fields = five,
       .from = TimeOf(last_hour),
       .to = TimeOf(last_hour + 1),
       .every = "1m",
       .aggregates = {"max"},
       .group_by = {"-"}},
      tables);
  Ask(options, fmt::format("mean of 1 metric of {} hosts by hour over {} h", options.hosts, options.hours),
      schema, {.fields = {five[0]}, .every = "1h", .aggregates = {"avg"}}, tables);
  Ask(options, fmt::format("mean of 10 metrics of {} hosts by hour over {} h", options.hosts, options.hours),
      schema, {.every = "1h", .aggregates = {"avg"}}, tables);
  Ask(options, fmt::format("last row of {} hosts", options.hosts), schema, {.latest = "1"}, tables);
}

// The same question of the same points, salted and not.
void CompareSalts(const Options& options, Store* store) {
  const SeriesSchema plain = CpuSchema("cpu", "[host, bucket]");
  const SeriesSchema salted = CpuSchema("salted", "[{ salt: 8, of: time }, host, bucket]");
  Load(options, salted, store->local.get());
  Settle(store);
  fmt::print(
      "\n| question | rows read | cells read | rows out | p50 ms | p99 ms | CPU ms | sum |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  std::vector<Took> medians;
  for (const SeriesSchema* const schema : {&plain, &salted}) {
    medians.push_back(
        Ask(options, fmt::format("max of 1 metric of {} hosts by minute, `{}`", options.hosts, schema->name),
            *schema, {.fields = {MetricName(0)}, .every = "1m", .aggregates = {"max"}}, store->local.get()));
  }
  fmt::print(
      "\n8 salts cost {:.2f} times the time of the unsalted question, {:.2f} times its processor time.\n",
      medians[1].seconds / medians[0].seconds, medians[1].cpu_seconds / medians[0].cpu_seconds);
}

// The documents' claim: 100 measurements in one row against 100 rows.
void CompareWidths(const Options& options, Store* store) {
  constexpr int kMetrics = 100;
  constexpr int64_t kSteps = 200;
  std::string fields;
  for (int metric = 0; metric < kMetrics; ++metric) fields += fmt::format("m{:02}: int, ", metric);
  const auto parse = [](const std::string& text) {
    auto schema = series::ParseSchema(text, "width");
    if (!schema.ok()) Fail("width", schema.status());
    return *std::move(schema);
  };
  const SeriesSchema wide = parse(fmt::format(
      "series: one_row\ntags: {{ host: string }}\nfields: {{ {} }}\nlayout: row\nkey: [host, time]\n",
      fields));
  const SeriesSchema tall = parse(
      "series: hundred_rows\ntags: { host: string, metric: string }\nfields: { value: int }\nlayout: row\n"
      "key: [host, metric, time]\n");
  fmt::print(
      "\n| 100 measurements an event | rows | written points/s | a CPU-s | read points/s | a CPU-s | bytes a "
      "point, packed by row | settled | as columns, points/CPU-s |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const DataShape shape{.hosts = std::min(options.hosts, 20), .cells_per_row = kMetrics};
  for (const SeriesSchema* const schema : {&wide, &tall}) {
    if (absl::Status status = series::EnsureSeriesTables(*schema, store->local.get()); !status.ok())
      Fail("tables", status);
    std::vector<HostWalk> walks;
    for (int host = 0; host < shape.hosts; ++host) walks.emplace_back(shape, host);
    std::vector<std::string> names;
    for (const series::Field& field : wide.fields) names.push_back(field.name);
    series::PointWriter writer(*schema, store->local.get());
    const int64_t bytes_before = StoredBytes(options, store);
    const Took write = Measure([&] {
      std::vector<uint8_t> values;
      std::vector<std::string> texts(kMetrics);
      for (int64_t step = 0; step < kSteps; ++step) {
        for (int host = 0; host < shape.hosts; ++host) {
          walks[host].Next(&values);
          const std::string name = fmt::format("host_{:05}", host);
          for (int metric = 0; metric < kMetrics; ++metric) texts[metric] = fmt::format("{}", values[metric]);
          const std::vector<std::string_view> all(texts.begin(), texts.end());
          absl::Status status;
          if (schema == &wide) {
            const std::string_view tag = name;
            status = writer.Add({{&tag, 1}, StepMicros(step), all});
          }
          for (int metric = 0; metric < kMetrics && schema == &tall; ++metric) {
            const std::string_view tags[] = {name, names[metric]};
            status.Update(writer.Add({tags, StepMicros(step), {&all[metric], 1}}));
          }
          if (status.ok()) status = writer.FlushIfFull();
          if (!status.ok()) Fail("write", status);
        }
      }
      if (absl::Status status = writer.Flush(); !status.ok()) Fail("write", status);
    });
    const int64_t packed_bytes = StoredBytes(options, store) - bytes_before;
    Settle(store);
    const int64_t settled_bytes = StoredBytes(options, store) - bytes_before;
    int64_t rows = 0;
    const Took read = Measure([&] {
      const auto stats =
          series::RunQuery(*schema, {}, store->local.get(), [&](const series::ResultRow&) { return true; });
      if (!stats.ok()) Fail("read", stats.status());
      rows = stats->rows_read;
    });
    int64_t cells = 0;
    const Took scan = Measure([&] { cells = ScanColumns(*schema, store->local.get()).cells; });
    if (cells != kSteps * shape.hosts * kMetrics) {
      Fail("scan", absl::DataLossError(fmt::format("{} cells were found", cells)));
    }
    const double points = static_cast<double>(kSteps) * shape.hosts * kMetrics;
    fmt::print("| `{}` | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.2f} | {:.2f} | {:.0f} |\n", schema->name,
               rows, points / write.seconds, points / write.cpu_seconds, points / read.seconds,
               points / read.cpu_seconds, static_cast<double>(packed_bytes) / points,
               static_cast<double>(settled_bytes) / points, points / scan.cpu_seconds);
  }
}

int Run(const Options& options) {
  std::error_code error;
  std::filesystem::remove_all(options.directory, error);
  {
    Store store(options.directory);
    const SeriesSchema cpu = CpuSchema("cpu", "[host, bucket]");
    fmt::print(
        "{} hosts, {} hours, a step every {} s, 10 metrics.\n\n| load | points | MB | points/s | "
        "points/CPU-s |\n"
        "| --- | ---: | ---: | ---: | ---: |\n",
        options.hosts, options.hours, kStepSeconds);
    Load(options, cpu, store.local.get());
    Settle(&store);
    AskTsbs(options, cpu, store.local.get());
    AskScan(options, cpu, store.local.get());
    const SeriesSchema tall = CpuSchema("tall", "[host, time]");
    fmt::print("\n| load | points | MB | points/s | points/CPU-s |\n| --- | ---: | ---: | ---: | ---: |\n");
    Load(options, tall, store.local.get());
    Settle(&store);
    AskScan(options, tall, store.local.get());
    fmt::print("\n| load | points | MB | points/s | points/CPU-s |\n| --- | ---: | ---: | ---: | ---: |\n");
    CompareSalts(options, &store);
  }
  std::filesystem::remove_all(options.directory, error);
  {  // alone, as files are measured
    Store store(options.directory);
    CompareWidths(options, &store);
  }
  std::filesystem::remove_all(options.directory, error);
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) {
  sonde::bench::Options options;
  CLI::App app("Loads and questions of declared series, in this process");
  app.add_option("--hosts", options.hosts, "hosts")
      ->check(CLI::Range(1, sonde::bench::kHostsMax))
      ->capture_default_str();
  app.add_option("--hours", options.hours, "hours of data")
      ->check(CLI::Range(1, 24 * 30))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "of each question")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--data-dir", options.directory, "a directory that is made, and removed at the end")
      ->required();
  app.footer(
      "Examples:\n  series_bench --data-dir /tmp/series_bench\n"
      "  series_bench --hosts 1000 --hours 12 --data-dir /var/tmp/series_bench      (TSBS's cpu-only)");
  CLI11_PARSE(app, argc, argv);
  if (std::filesystem::exists(options.directory)) {
    fmt::print(stderr, "series_bench: '{}' exists already\n", options.directory);
    return 2;
  }
  return sonde::bench::Run(options);
}

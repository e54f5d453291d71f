// `sonde series advise`: candidates for a declaration, measured in stores of their own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/series/series_commands.h"
#include "series/advise/advise.h"
#include "series/input/csv_loader.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/write/example_tables.h"
#include "series/write/point_writer.h"
#include "server/local_store.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

constexpr int kRefusedLinesShownMax = 5;
constexpr char kInstance[] = "projects/sonde/instances/trial";

struct AdviseOptions {
  std::string declaration;
  std::string data;
  size_t points_max = 200'000;
  size_t series_max = 100;
  series::AdviceOptions advice;
  bool is_json = false;
};

// The engine of the server, in a directory that goes with it.
class RocksTrial final : public series::TrialStore {
 public:
  static absl::StatusOr<std::unique_ptr<series::TrialStore>> Create() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde-advise-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      return absl::UnavailableError(fmt::format("no directory could be made like {}", pattern));
    }
    auto trial = std::unique_ptr<RocksTrial>(new RocksTrial(pattern));
    absl::StatusOr<std::unique_ptr<LocalStore>> store =
        LocalStore::Open({.data_dir = pattern, .sync = false});
    if (!store.ok()) return store.status();
    trial->store_ = *std::move(store);
    trial->tables_ = std::make_unique<LocalTables>(&trial->store_->tables(), kInstance);
    return std::unique_ptr<series::TrialStore>(std::move(trial));
  }
  ~RocksTrial() override {
    tables_.reset();
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  TableAccess* tables() override { return tables_.get(); }
  absl::StatusOr<int64_t> StoredBytes() override {
    if (absl::Status status = store_->rocks()->CompactAll(); !status.ok()) return status;
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory_)) {
      if (file.is_regular_file() && file.path().extension() == ".sst")
        bytes += static_cast<int64_t>(file.file_size());
    }
    return bytes;
  }

 private:
  explicit RocksTrial(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
  std::unique_ptr<LocalStore> store_;
  std::unique_ptr<LocalTables> tables_;
};

// The points of a CSV file, as the declaration reads it.
absl::StatusOr<series::Sample> ReadSample(const AdviseOptions& options, const series::SeriesSchema& schema) {
  std::ifstream file(options.data, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("can't open '{}'", options.data));
  series::SeriesSchema plain = schema;
  plain.text.clear();
  plain.latest.clear();
  plain.periods.clear();
  plain.orders.clear();
  plain.rollups.clear();
  plain.is_indexed = false;
  series::ExampleTables tables;
  if (absl::Status status = series::EnsureSeriesTables(plain, &tables); !status.ok()) return status;
  series::CsvMapping mapping;
  mapping.names = schema.csv.columns;
  mapping.constants = schema.csv.constants;
  mapping.time_column = schema.csv.time_column;
  mapping.time_format = schema.csv.time_format;
  int bad_lines = 0;
  series::CsvLoader loader(mapping, {[&](int64_t line, std::string_view reason) {
                                       if (++bad_lines <= kRefusedLinesShownMax) {
                                         fmt::print(stderr, "{}:{}: {}\n", options.data, line, reason);
                                       }
                                     },
                                     nullptr});
  series::PointWriter writer(plain, &tables);
  const ByteSource source = [&](char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
    file.read(buffer, static_cast<std::streamsize>(bytes_max));
    return static_cast<size_t>(file.gcount());
  };
  const absl::StatusOr<series::CsvTotals> totals = loader.Load(source, &writer);
  if (!totals.ok()) return totals.status();
  if (bad_lines > 0) fmt::print(stderr, "{} lines are no points\n", bad_lines);
  return series::SampleOfTables(plain, &tables, options.points_max);
}

int Advise(const AdviseOptions& options) {
  const absl::StatusOr<series::SeriesSchema> schema = series::ReadSchemaFile(options.declaration);
  if (!schema.ok()) return ReportStatus("advise", schema.status());
  absl::StatusOr<series::Sample> sample;
  if (options.data.empty()) {
    sample = series::MakeSample(*schema, options.points_max, options.series_max);
  } else {
    sample = ReadSample(options, *schema);
  }
  if (!sample.ok()) return ReportStatus("advise", sample.status());
  const absl::StatusOr<series::Advice> advice =
      series::Advise(*schema, *sample, RocksTrial::Create, options.advice,
                     [](const std::string& name) { fmt::print(stderr, "measuring {}\n", name); });
  if (!advice.ok()) return ReportStatus("advise", advice.status());
  std::cout << (options.is_json ? series::AdviceJson(*schema, *advice)
                                : series::AdviceText(*schema, *advice));
  return 0;
}

}  // namespace

void AddSeriesAdvise(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("advise", "Measure layouts and key orders on a sample, and say which to take");
  auto options = std::make_shared<AdviseOptions>();
  command->add_option("FILE", options->declaration, "the declaration of the series (YAML)")->required();
  command->add_option("--data", options->data,
                      "a CSV file of points; without it, points are made as declared");
  command->add_option("--points", options->points_max, "Points of the sample to use")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  command->add_option("--series", options->series_max, "Series of a sample that is made up")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--candidates", options->advice.candidates_max, "Candidates to measure")
      ->check(CLI::Range(1, 50))
      ->capture_default_str();
  command->add_option("--tablets", options->advice.tablets, "that writes are spread over")
      ->check(CLI::Range(2, 1'000))
      ->capture_default_str();
  command->add_flag("--json", options->is_json, "one JSON object");
  command->footer(
      "Each candidate is loaded into an engine of its own, in a temporary directory; then the queries that "
      "say what\n"
      "they fix (`tags`, `range`) are run, the most important first.  Bytes are those on disk, after "
      "compaction.  How\n"
      "many series there are (`count` of the tags) and how often they have points (time.interval) give the "
      "sizes of a\n"
      "day of all of them.\n\n"
      "Examples:\n  sonde series advise examples/meters/meters.yaml\n"
      "  sonde series advise examples/weather.yaml --data weather.csv --json");
  command->callback([options, exit_status] { *exit_status = Advise(*options); });
}

}  // namespace sonde

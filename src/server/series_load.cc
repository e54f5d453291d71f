// `sonde series load`: a CSV file into a declared series.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "series/schema/calendar.h"
#include "series/schema/status_text.h"
#include "series/write/csv_loader.h"
#include "server/commands.h"
#include "server/series_commands.h"

namespace sonde {
namespace {

constexpr int64_t kBadLinesShownMax = 20;
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

struct Options {
  std::string declaration;
  std::string csv;
  std::vector<std::string> maps;
  std::vector<std::string> sets;
  std::string time_column;
  std::string time_format;
  std::string zone;
  std::string separator = ",";
  bool is_strict = false;
  AccessFlags access;
};

// An open file, or stdin for "-".
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& name) {
    InputFile file;
    if (name == "-") {
      file.file_ = {stdin, [](std::FILE*) { return 0; }};
      return file;
    }
    file.file_ = {std::fopen(name.c_str(), "rb"),
                  [](std::FILE* f) { return f == nullptr ? 0 : std::fclose(f); }};
    struct stat status{};
    if (file.file_ == nullptr || fstat(fileno(file.file_.get()), &status) != 0) {
      return absl::NotFoundError(fmt::format("can't open '{}': {}", name, std::strerror(errno)));
    }
    if (S_ISDIR(status.st_mode)) return absl::InvalidArgumentError(fmt::format("'{}' is a directory", name));
    if (S_ISREG(status.st_mode)) file.bytes_ = status.st_size;
    return file;
  }

  // Nothing when it can't be known.
  std::optional<int64_t> bytes() const { return bytes_; }

  series::ByteSource Source() const {
    return [file = file_](char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
      const size_t bytes = std::fread(buffer, 1, bytes_max, file.get());
      if (bytes == 0 && std::ferror(file.get()) != 0) {
        return absl::DataLossError(fmt::format("reading the file: {}", std::strerror(errno)));
      }
      return bytes;
    };
  }

 private:
  std::shared_ptr<std::FILE> file_;  // shared with the sources made of it
  std::optional<int64_t> bytes_;
};

// A line on a terminal's stderr that says how far the load is; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::optional<int64_t> bytes) : bytes_(bytes), is_shown_(isatty(STDERR_FILENO) == 1) {}

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void Show(const series::CsvTotals& totals) {
    if (!is_shown_ || Clock::now() - last_ < kProgressEvery) return;
    last_ = Clock::now();
    std::string text = fmt::format("{} points, {:.0f} points/s", totals.points,
                                   static_cast<double>(totals.points) / Seconds());
    if (bytes_ && *bytes_ > 0 && totals.bytes > 0) {
      const double share = static_cast<double>(totals.bytes) / static_cast<double>(*bytes_);
      text = fmt::format("{:3.0f}%  {}, {:.0f} s left", share * 100, text, Seconds() * (1 / share - 1));
    }
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }

  void Clear() const {
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<int64_t> bytes_;
  bool is_shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = Clock::now();
};

absl::Status SplitPairs(const std::vector<std::string>& texts, std::string_view flag,
                        std::map<std::string, std::string>* pairs) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return absl::InvalidArgumentError(fmt::format("{} '{}'; allowed: NAME=VALUE", flag, text));
    }
    (*pairs)[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<series::CsvMapping> MappingOf(const Options& options, const series::SeriesSchema& schema) {
  series::CsvMapping mapping;
  mapping.names = schema.csv.columns;
  mapping.constants = schema.csv.constants;
  mapping.time_column = options.time_column.empty() ? schema.csv.time_column : options.time_column;
  mapping.time_format = options.time_format.empty() ? schema.csv.time_format : options.time_format;
  mapping.assume_utc = options.zone == "UTC";
  if (options.separator != "\\t" && options.separator.size() != 1) {
    return absl::InvalidArgumentError(
        fmt::format("--separator '{}'; allowed: one character, or \\t", options.separator));
  }
  mapping.separator = options.separator == "\\t" ? '\t' : options.separator[0];
  if (absl::Status status = SplitPairs(options.maps, "--map", &mapping.names); !status.ok()) return status;
  if (absl::Status status = SplitPairs(options.sets, "--set", &mapping.constants); !status.ok())
    return status;
  return mapping;
}

int Load(const Options& options) {
  absl::StatusOr<InputFile> file = InputFile::Open(options.csv);
  if (!file.ok()) return ReportStatus(file.status());
  if (options.is_strict && !file->bytes()) {
    return ReportStatus(
        absl::InvalidArgumentError("--strict reads the file twice, and needs a file for that"));
  }
  absl::StatusOr<OpenSeries> opened = OpenDeclaredSeries(options.declaration, options.access);
  if (!opened.ok()) return ReportStatus(opened.status());
  const absl::StatusOr<series::CsvMapping> mapping = MappingOf(options, opened->schema);
  if (!mapping.ok()) return ReportStatus(mapping.status());

  Progress progress(file->bytes());
  int64_t bad_lines = 0;
  series::CsvLoader loader(*mapping, {[&](int64_t line, std::string_view reason) {
                                        if (++bad_lines > kBadLinesShownMax) return;
                                        progress.Clear();
                                        fmt::print(stderr, "{}:{}: {}\n",
                                                   options.csv == "-" ? "stdin" : options.csv, line, reason);
                                      },
                                      [&](const series::CsvTotals& totals) { progress.Show(totals); }});
  const auto report_bad_lines = [&](std::string_view what) {
    if (bad_lines > kBadLinesShownMax) fmt::print(stderr, "... and {} more\n", bad_lines - kBadLinesShownMax);
    if (bad_lines > 0)
      fmt::print(stderr, "{} {} refused{}\n", bad_lines, bad_lines == 1 ? "line" : "lines", what);
  };

  series::PointWriter writer(opened->schema, opened->tables.get());
  if (options.is_strict) {
    const absl::StatusOr<series::CsvTotals> checked = loader.Validate(file->Source(), &writer);
    progress.Clear();
    if (!checked.ok()) return ReportStatus(checked.status());
    if (bad_lines > 0) {
      report_bad_lines("; nothing was loaded (--strict)");
      return 1;
    }
    file = InputFile::Open(options.csv);
    if (!file.ok()) return ReportStatus(file.status());
  }
  if (absl::Status status = series::EnsureSeriesTables(opened->schema, opened->tables.get()); !status.ok()) {
    return ReportStatus(status);
  }
  const absl::StatusOr<series::CsvTotals> totals = loader.Load(file->Source(), &writer);
  progress.Clear();
  report_bad_lines("");
  if (!totals.ok()) {
    fmt::print(stderr, "{} rows were written before this:\n", writer.totals().rows);
    return ReportStatus(totals.status());
  }
  if (!totals->ignored_columns.empty()) {
    fmt::print(stderr, "columns that the series does not have: {}\n",
               fmt::join(totals->ignored_columns, ", "));
  }
  const std::optional<int64_t> max_age_micros = opened->schema.retention.max_age_micros;
  if (max_age_micros && writer.totals().oldest_micros < SystemClock().NowMicros() - *max_age_micros) {
    fmt::print(stderr,
               "warning: the oldest point is of {}; those older than max_age {} are forgotten at once\n",
               series::TimeText(writer.totals().oldest_micros), series::DurationText(*max_age_micros));
  }
  const double seconds = progress.Seconds();
  fmt::print(stderr, "{} points ({} cells) loaded into table '{}' in {:.2f} s, {:.0f} points/s\n",
             totals->points, writer.totals().cells, opened->schema.table, seconds,
             static_cast<double>(totals->points) / std::max(seconds, 1e-6));
  return totals->bad_lines > 0 ? 1 : 0;
}

constexpr char kExamples[] =
    "A column of the file is the tag or field of its name.  A line that is no point is reported with its "
    "number, and\n"
    "the others are loaded: the exit status is then 1.  Loading a file twice changes nothing.  Tables that "
    "are missing\n"
    "are made.\n\n"
    "Examples:\n"
    "  sonde series load examples/weather.yaml weather.csv --data-dir /var/lib/sonde\n"
    "  sonde series load stocks.yaml prices.csv --map Close=price --time-column Day --time-format '%b %d %Y' "
    "\\\n"
    "      --zone UTC --endpoint 127.0.0.1:8086\n"
    "  zcat hourly.csv.gz | sonde series load hourly.yaml - --set location=Seattle --endpoint 127.0.0.1:8086";

}  // namespace

void AddSeriesLoad(CLI::App& series, int* exit_status) {
  CLI::App* command = series.add_subcommand("load", "Load a CSV file (RFC 4180, with a header)");
  auto options = std::make_shared<Options>();
  AddDeclarationArgument(*command, &options->declaration);
  command->add_option("CSV", options->csv, "the file; - for stdin")->required();
  command->add_option("--map", options->maps, "COLUMN=NAME: the tag or field that a column is")
      ->allow_extra_args(false);
  command->add_option("--set", options->sets, "TAG=VALUE: a tag that all points have")
      ->allow_extra_args(false);
  command->add_option("--time-column", options->time_column,
                      "the column with the time (time, timestamp, datetime, date)");
  command->add_option(
      "--time-format", options->time_format,
      "auto (RFC 3339), epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern such as '%b %d %Y'");
  command->add_option("--zone", options->zone, "of times that name none")->check(CLI::IsMember({"UTC"}));
  command->add_option("--separator", options->separator, "between values; \\t for a tab")
      ->capture_default_str();
  command->add_flag("--strict", options->is_strict, "load nothing when a line is bad");
  AddAccessFlags(*command, &options->access);
  command->footer(kExamples);
  command->callback([options, exit_status] { *exit_status = Load(*options); });
}

}  // namespace sonde

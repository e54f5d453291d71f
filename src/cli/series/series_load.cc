// `sonde series load`: a file of points, CSV or JSON lines, into a declared series.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "cli/series/series_commands.h"
#include "codec/unpack.h"
#include "series/input/csv_loader.h"
#include "series/input/json_lines_loader.h"
#include "series/input/stream_source.h"
#include "series/known/complete_tables.h"
#include "series/known/series_tables.h"
#include "series/schema/calendar.h"
#include "series/schema/check.h"
#include "series/schema/status_text.h"
#include "series/write/late_points.h"

namespace sonde {
namespace {

constexpr int64_t kBadLinesShownMax = 20;
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

struct LoadOptions {
  std::string declaration;
  std::string csv;
  std::vector<std::string> maps;
  std::vector<std::string> sets;
  std::string time_column;
  std::string time_format;
  std::string zone;
  std::string separator = ",";
  std::string format;
  std::string resume;
  bool is_strict = false;
  bool is_json = false;
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
  // Taken from it so far.
  int64_t bytes_read() const { return *bytes_read_; }

  // Unpacked.  `flush` is called as SourceOfDescriptor says.
  ByteSource Source(std::function<absl::Status()> flush) const {
    return UnpackedBySign([file = file_, read = bytes_read_,
                           packed = series::SourceOfDescriptor(fileno(file_.get()), std::move(flush))](
                              char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
      const absl::StatusOr<size_t> bytes = packed(buffer, bytes_max);
      if (bytes.ok()) *read += static_cast<int64_t>(*bytes);
      return bytes;
    });
  }

 private:
  std::shared_ptr<std::FILE> file_;  // shared with the sources made of it
  std::optional<int64_t> bytes_;
  std::shared_ptr<int64_t> bytes_read_ = std::make_shared<int64_t>(0);
};

// How many lines of a load are written, kept in a file: what a load that was broken off continues from.
class ResumeFile {
 public:
  // `file`: its name; empty: none.
  explicit ResumeFile(std::string file) : file_(std::move(file)) {}

  // 0 when there is none.  INVALID_ARGUMENT: it holds something else, or is of another load.
  absl::StatusOr<int64_t> Read(const std::string& input) const {
    std::ifstream stream(file_);
    if (file_.empty() || !stream) return 0;
    int64_t lines = 0;
    std::string of_input;
    stream >> lines;
    stream.get();
    std::getline(stream, of_input);
    if (stream.bad() || lines < 1 || of_input.empty()) {
      return absl::InvalidArgumentError(fmt::format("--resume '{}': not a file that a load has left", file_));
    }
    if (of_input != input) {
      return absl::InvalidArgumentError(
          fmt::format("--resume '{}': left by a load of '{}', not of '{}'", file_, of_input, input));
    }
    return lines;
  }

  // UNAVAILABLE: it could not be written; nothing is changed.
  absl::Status CheckIsWritable(const std::string& input) const {
    if (file_.empty()) return absl::OkStatus();
    if (absl::Status status = WriteNext(input, 0); !status.ok()) return status;
    std::remove(NextFile().c_str());
    return absl::OkStatus();
  }

  // Either what was there before or this, whenever the machine stops.
  absl::Status Write(const std::string& input, int64_t lines) const {
    if (file_.empty()) return absl::OkStatus();
    if (absl::Status status = WriteNext(input, lines); !status.ok()) return status;
    return std::rename(NextFile().c_str(), file_.c_str()) == 0 ? absl::OkStatus() : CannotBeWritten(errno);
  }

  void Remove() const {
    if (!file_.empty()) std::remove(file_.c_str());
  }

  bool exists() const { return !file_.empty() && std::filesystem::exists(file_); }

 private:
  std::string NextFile() const { return file_ + ".next"; }
  absl::Status CannotBeWritten(int error) const {
    return absl::UnavailableError(
        fmt::format("--resume '{}': can't be written: {}", file_, std::strerror(error)));
  }
  absl::Status WriteNext(const std::string& input, int64_t lines) const {
    std::ofstream stream(NextFile(), std::ios::trunc);
    stream << lines << " " << input << "\n";
    stream.close();
    return stream ? absl::OkStatus() : CannotBeWritten(errno);
  }

  std::string file_;
};

// A line on a terminal's stderr that says how far the load is; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::optional<int64_t> bytes) : bytes_(bytes), is_shown_(isatty(STDERR_FILENO) == 1) {}

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void Show(const series::CsvTotals& totals, int64_t bytes_read) {
    if (!is_shown_ || Clock::now() - last_ < kProgressEvery) return;
    last_ = Clock::now();
    std::string text = fmt::format("{} points, {:.0f} points/s", totals.points,
                                   static_cast<double>(totals.points) / Seconds());
    if (bytes_ && *bytes_ > 0 && bytes_read > 0) {
      const double share = static_cast<double>(bytes_read) / static_cast<double>(*bytes_);
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

absl::StatusOr<series::CsvMapping> MappingOf(const LoadOptions& options, const series::SeriesSchema& schema) {
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

bool IsJsonLines(const LoadOptions& options) {
  if (!options.format.empty()) return options.format == "json";
  std::string name = options.csv;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  return name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ndjson");
}

absl::StatusOr<series::CsvTotals> Run(const LoadOptions& options, const series::CsvMapping& mapping,
                                      const series::CsvLoader::Callbacks& callbacks, const InputFile& file,
                                      series::PointWriter* writer, bool is_writing) {
  // A regular file never makes it wait.
  std::function<absl::Status()> flush;
  if (is_writing && !file.bytes()) flush = [writer] { return writer->Flush(); };
  const ByteSource source = file.Source(std::move(flush));
  if (IsJsonLines(options)) {
    series::JsonLinesLoader loader(mapping, callbacks);
    return is_writing ? loader.Load(source, writer) : loader.Validate(source, writer);
  }
  series::CsvLoader loader(mapping, callbacks);
  return is_writing ? loader.Load(source, writer) : loader.Validate(source, writer);
}

// The lines that were refused, on stderr.
class BadLines {
 public:
  BadLines(std::string file, const Progress* progress) : file_(std::move(file)), progress_(progress) {}

  void Add(int64_t line, std::string_view reason) {
    if (++count_ > kBadLinesShownMax) return;
    progress_->Clear();
    fmt::print(stderr, "{}:{}: {}\n", file_, line, reason);
  }
  void Report(std::string_view what) const {
    if (count_ > kBadLinesShownMax) fmt::print(stderr, "... and {} more\n", count_ - kBadLinesShownMax);
    if (count_ > 0) fmt::print(stderr, "{} {} refused{}\n", count_, count_ == 1 ? "line" : "lines", what);
  }
  int64_t count() const { return count_; }

 private:
  std::string file_;
  const Progress* progress_;
  int64_t count_ = 0;
};

void ReportLoaded(const series::SeriesSchema& schema, const series::CsvTotals& totals,
                  const series::PointWriter& writer, double seconds, bool is_json) {
  if (!totals.ignored_columns.empty()) {
    fmt::print(stderr, "columns that the series does not have: {}; {} {} passed over\n",
               fmt::join(totals.ignored_columns, ", "), totals.ignored_values,
               totals.ignored_values == 1 ? "value was" : "values were");
  }
  const std::optional<int64_t> max_age_micros = schema.retention.max_age_micros;
  if (max_age_micros && writer.totals().oldest_micros < SystemClock().NowMicros() - *max_age_micros) {
    fmt::print(stderr,
               "warning: the oldest point is of {}; those older than max_age {} are forgotten at once\n",
               series::TimeText(writer.totals().oldest_micros), series::DurationText(*max_age_micros));
  }
  for (const std::string& text :
       series::TooLateForRollups(schema, writer.totals().oldest_micros, SystemClock().NowMicros())) {
    fmt::print(stderr, "warning: {}\n", text);
  }
  if (writer.rollups() != nullptr && writer.rollups()->pieces_too_old() > 0) {
    fmt::print(
        stderr,
        "warning: {} pieces of roll-ups were left as they are: some of their points are forgotten already\n",
        writer.rollups()->pieces_too_old());
  }
  fmt::print(stderr, "{} points ({} cells) loaded into table '{}' in {:.2f} s, {:.0f} points/s\n",
             totals.points, writer.totals().cells, schema.table, seconds,
             static_cast<double>(totals.points) / std::max(seconds, 1e-6));
  if (!is_json) return;
  const nlohmann::ordered_json result = {{"points", totals.points},
                                         {"cells", writer.totals().cells},
                                         {"refused_lines", totals.bad_lines},
                                         {"table", schema.table},
                                         {"seconds", seconds}};
  fmt::print("{}\n", result.dump());
}

// Derived tables that this load will not complete.
absl::Status ReportIncomplete(const series::SeriesSchema& schema, TableAccess* tables) {
  const absl::StatusOr<std::vector<series::Finding>> findings = series::FindIncompleteTables(schema, tables);
  if (!findings.ok()) return findings.status();
  for (const series::Finding& finding : *findings)
    fmt::print(stderr, "{}: {}; {}\n", series::SeverityName(finding.severity), finding.reason,
               finding.remedy);
  return absl::OkStatus();
}

int Load(const LoadOptions& options) {
  absl::StatusOr<InputFile> file = InputFile::Open(options.csv);
  if (!file.ok()) return ReportStatus("load", file.status());
  if ((options.is_strict || !options.resume.empty()) && !file->bytes()) {
    return ReportStatus(
        "load", absl::InvalidArgumentError(
                    "--strict and --resume read the file from its front again, and need a file for that"));
  }
  const ResumeFile resume(options.resume);
  const absl::StatusOr<int64_t> lines_written = resume.Read(options.csv);
  if (!lines_written.ok()) return ReportStatus("load", lines_written.status());
  if (absl::Status status = resume.CheckIsWritable(options.csv); !status.ok())
    return ReportStatus("load", status);
  absl::StatusOr<OpenSeries> opened =
      OpenDeclaredSeries(options.declaration, options.access, DataDir::kMayBeMade);
  if (!opened.ok()) return ReportStatus("load", opened.status());
  absl::StatusOr<series::CsvMapping> mapping = MappingOf(options, opened->schema);
  if (!mapping.ok()) return ReportStatus("load", mapping.status());
  mapping->lines_skipped = *lines_written;
  mapping->refuses_unknown = options.is_strict;

  Progress progress(file->bytes());
  BadLines bad_lines(options.csv == "-" ? "stdin" : options.csv, &progress);
  const series::CsvLoader::Callbacks callbacks = {
      [&](int64_t line, std::string_view reason) { bad_lines.Add(line, reason); },
      [&](int64_t lines) { return resume.Write(options.csv, lines); },
      [&](const series::CsvTotals& totals) { progress.Show(totals, file->bytes_read()); }};
  series::PointWriter writer(opened->schema, opened->tables.get());
  if (options.is_strict) {
    const auto checked = Run(options, *mapping, callbacks, *file, &writer, false);
    progress.Clear();
    if (!checked.ok()) return ReportStatus("load", checked.status());
    if (bad_lines.count() > 0) {
      bad_lines.Report("; nothing was loaded (--strict)");
      return 1;
    }
    file = InputFile::Open(options.csv);
    if (!file.ok()) return ReportStatus("load", file.status());
  }
  if (absl::Status status = series::EnsureSeriesTables(opened->schema, opened->tables.get()); !status.ok()) {
    return ReportStatus("load", status);
  }
  if (absl::Status status = ReportIncomplete(opened->schema, opened->tables.get()); !status.ok()) {
    return ReportStatus("load", status);
  }
  const auto totals = Run(options, *mapping, callbacks, *file, &writer, true);
  progress.Clear();
  bad_lines.Report("");
  if (!totals.ok()) {
    fmt::print(stderr, "{} rows were written before this{}:\n", writer.totals().rows,
               resume.exists()
                   ? fmt::format("; the same command goes on from the line that '{}' tells", options.resume)
                   : "");
    return ReportStatus("load", totals.status());
  }
  resume.Remove();
  if (*lines_written > 0) fmt::print(stderr, "{} lines were loaded before\n", *lines_written);
  ReportLoaded(opened->schema, *totals, writer, progress.Seconds(), options.is_json);
  return totals->bad_lines > 0 ? 1 : 0;
}

constexpr char kLoadExamples[] =
    "A column of the file is the tag or field of its name.  A line that is no point is reported with its "
    "number, and\n"
    "the others are loaded: the exit status is then 1.  Loading a file twice changes nothing.  Tables that "
    "are missing\n"
    "are made.  Points that come through a pipe are written when nothing more comes for a moment, and each "
    "second.\n\n"
    "Examples:\n"
    "  sonde series load examples/weather.yaml weather.csv --data-dir /var/lib/sonde\n"
    "  sonde series load stocks.yaml prices.csv --map Close=price --time-column Day --time-format '%b %d %Y' "
    "\\\n"
    "      --zone UTC --endpoint 127.0.0.1:8086\n"
    "  sonde series load hourly.yaml hourly.csv.gz --set location=Seattle --resume hourly.resume --endpoint "
    "127.0.0.1:8086\n"
    "  tail -f points.jsonl | sonde series load metrics.yaml - --format json --endpoint 127.0.0.1:8086";

}  // namespace

void AddSeriesLoad(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("load", "Load a file of points: CSV (RFC 4180, with a header) or JSON lines");
  auto options = std::make_shared<LoadOptions>();
  AddDeclarationArgument(*command, &options->declaration);
  command->add_option("POINTS", options->csv, "the file, packed by gzip or zstd or not; - for stdin")
      ->required();
  command
      ->add_option("--format", options->format,
                   "csv or json (lines); else by the file's name: .json, .jsonl, .ndjson")
      ->check(CLI::IsMember({"csv", "json"}));
  command->add_option(
      "--resume", options->resume,
      "a file that says how far the load is: the same command goes on from there after it was "
      "broken off; removed at the end");
  command->add_option("--map", options->maps, "COLUMN=NAME: the tag or field that a column is")
      ->allow_extra_args(false);
  command->add_option("--set", options->sets, "TAG=VALUE: a tag that all points have")
      ->allow_extra_args(false);
  command->add_option("--time-column", options->time_column,
                      "the column with the time (time, timestamp, datetime, date)");
  command->add_option(
      "--time-format", options->time_format,
      "auto (RFC 3339), epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern such as '%b %d %Y'");
  command->add_option("--zone", options->zone, "Zone of times that name none")->check(CLI::IsMember({"UTC"}));
  command->add_option("--separator", options->separator, "between values; \\t for a tab")
      ->capture_default_str();
  command->add_flag("--strict", options->is_strict, "load nothing when a line is bad");
  command->add_flag("--json", options->is_json, "print the counts as JSON");
  AddAccessFlags(*command, &options->access);
  command->footer(kLoadExamples);
  command->callback([options, exit_status] { *exit_status = Load(*options); });
}

}  // namespace sonde

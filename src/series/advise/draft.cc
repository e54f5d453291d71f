#include "series/advise/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "series/schema/calendar.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/schema/time_parser.h"

namespace sonde::series {
namespace {

constexpr size_t kPointsPerRow = 100;  // a bucket that holds fewer is too small

struct Column {
  std::string header;
  std::string name;  // as a declaration may have it
  std::vector<std::string> values;
  size_t empty_count = 0;
  bool is_int = true;
  bool is_number = true;
  bool is_tag = false;
};

bool IsWholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsFiniteNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

// Letters, digits and _; made unique among `taken`.
std::string NameOf(std::string_view header, std::set<std::string>* taken) {
  std::string name;
  for (const char c : header.substr(0, 50))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  static const std::set<std::string> kReserved = {"", "time", "bucket", "field", "salt"};
  if (kReserved.contains(name)) name += "_value";
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "_");
  const std::string first = name;
  for (int i = 2; !taken->insert(name).second; ++i) name = fmt::format("{}_{}", first, i);
  return name;
}

struct TimeColumn {
  size_t index = 0;
  std::string format;        // empty: RFC 3339 or a date
  bool assumes_utc = false;  // some name no zone
  std::vector<int64_t> micros;
};

// Those that can't be taken for each other: of 1/2/2000 nobody knows the month.
const std::vector<std::string>& FormatsKnown() {
  static const std::vector<std::string> kFormats = {"",
                                                    "epoch_s",
                                                    "epoch_ms",
                                                    "epoch_us",
                                                    "epoch_ns",
                                                    "%b %d %Y",
                                                    "%b %d, %Y",
                                                    "%d %b %Y",
                                                    "%Y/%m/%d",
                                                    "%d.%m.%Y",
                                                    "%Y/%m/%d %H:%M:%S",
                                                    "%d.%m.%Y %H:%M:%S",
                                                    "%d.%m.%Y %H:%M",
                                                    "%d/%b/%Y:%H:%M:%S %z"};
  return kFormats;
}

// `is_given`: somebody says that the format is the only one.
std::optional<TimeColumn> ReadTimes(const std::vector<Column>& columns, size_t index,
                                    const std::vector<std::string>& formats, bool is_given) {
  const std::vector<std::string>& values = columns[index].values;
  const bool is_number = columns[index].is_number;
  for (const std::string& format : formats) {
    for (const bool assumes_utc : {false, true}) {
      const bool is_epoch = format.starts_with("epoch_");
      const bool is_pattern = format.find('%') != std::string::npos;
      if ((!is_pattern && is_epoch != is_number) || (is_epoch && assumes_utc)) continue;
      const absl::StatusOr<TimeParser> parser = TimeParser::Create(format, assumes_utc);
      TimeColumn times{index, format, assumes_utc, {}};
      for (const std::string& value : values) {
        const std::optional<int64_t> time = parser.ok() ? parser->Parse(value) : std::nullopt;
        // A number that nobody calls a time is taken for one of these days only.
        constexpr int64_t kYear1990 = 631'152'000 * kMicrosPerSecond;
        constexpr int64_t kYear2100 = 4'102'444'800 * kMicrosPerSecond;
        if (!time || (is_epoch && !is_given && (*time < kYear1990 || *time > kYear2100))) break;
        times.micros.push_back(*time);
      }
      if (times.micros.size() == values.size()) return times;
    }
  }
  return std::nullopt;
}

std::optional<TimeColumn> FindTimes(const std::vector<Column>& columns,
                                    const std::vector<std::string>& formats, bool is_given) {
  for (const char* name : {"time", "timestamp", "datetime", "date"}) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].header != name) continue;
      if (auto times = ReadTimes(columns, i, formats, is_given)) return times;
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (auto times = ReadTimes(columns, i, formats, is_given)) return times;
  }
  return std::nullopt;
}

class Drafter {
 public:
  Drafter(std::string_view name, std::vector<Column> columns, TimeColumn times)
      : name_(name), columns_(std::move(columns)), times_(std::move(times)) {}

  std::string Draft();

 private:
  void FindTags();
  size_t CountDistinct(const std::vector<size_t>& tags) const;
  void FindTimeSteps();
  std::string TagsText() const;
  std::string FieldsText() const;
  std::string CsvText() const;
  size_t CountOf(size_t column) const {
    return std::set<std::string>(columns_[column].values.begin(), columns_[column].values.end()).size();
  }

  std::string name_;
  std::vector<Column> columns_;
  TimeColumn times_;
  std::vector<size_t> tags_;
  int64_t resolution_micros_ = 1000;
  int64_t interval_micros_ = 0;  // 0: not known
  std::string bucket_ = "day";
};

// Points that differ in these or in their time.
size_t Drafter::CountDistinct(const std::vector<size_t>& tags) const {
  std::set<std::vector<std::string>> points;
  for (size_t i = 0; i < times_.micros.size(); ++i) {
    std::vector<std::string> point = {fmt::format("{}", times_.micros[i])};
    for (const size_t tag : tags) point.push_back(columns_[tag].values[i]);
    points.insert(std::move(point));
  }
  return points.size();
}

void Drafter::FindTags() {
  size_t distinct = CountDistinct({});
  while (distinct < times_.micros.size()) {
    std::optional<size_t> best;
    size_t best_distinct = distinct;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const bool is_known = std::find(tags_.begin(), tags_.end(), i) != tags_.end();
      if (i == times_.index || is_known || column.empty_count > 0) continue;
      if (column.is_number && !column.is_int) continue;
      const bool has_delimiter =
          std::any_of(column.values.begin(), column.values.end(),
                      [](const std::string& value) { return value.find('#') != std::string::npos; });
      if (has_delimiter) continue;
      std::vector<size_t> more = tags_;
      more.push_back(i);
      const size_t with = CountDistinct(more);
      // If two do equally much, the text is the name.
      const bool is_better = with > best_distinct || (best && with == best_distinct &&
                                                      columns_[*best].is_number && !column.is_number);
      if (!is_better) continue;
      best = i;
      best_distinct = with;
    }
    if (!best) break;  // the same point twice
    tags_.push_back(*best);
    distinct = best_distinct;
  }
  // A text that is the same in every record names the series, too.
  if (tags_.empty()) {
    for (size_t i = 0; i < columns_.size() && tags_.empty(); ++i) {
      if (i != times_.index && !columns_[i].is_number && columns_[i].empty_count == 0 && CountOf(i) == 1 &&
          columns_[i].values[0].find('#') == std::string::npos) {
        tags_.push_back(i);
      }
    }
  }
  // Fewer values first: series that belong together lie together.
  std::stable_sort(tags_.begin(), tags_.end(), [&](size_t a, size_t b) { return CountOf(a) < CountOf(b); });
  for (const size_t tag : tags_) columns_[tag].is_tag = true;
}

void Drafter::FindTimeSteps() {
  for (const int64_t step : {kMicrosPerDay, kMicrosPerHour, kMicrosPerMinute, kMicrosPerSecond}) {
    const bool divides = std::all_of(times_.micros.begin(), times_.micros.end(),
                                     [&](int64_t time) { return time % step == 0; });
    if (!divides) continue;
    resolution_micros_ = step;
    break;
  }
  std::map<std::vector<std::string>, std::set<int64_t>> series;
  for (size_t i = 0; i < times_.micros.size(); ++i) {
    std::vector<std::string> tags;
    for (const size_t tag : tags_) tags.push_back(columns_[tag].values[i]);
    series[tags].insert(times_.micros[i]);
  }
  std::vector<int64_t> steps;
  for (const auto& [tags, times] : series) {
    for (auto time = times.begin(); std::next(time) != times.end(); ++time)
      steps.push_back(*std::next(time) - *time);
  }
  if (steps.empty()) return;
  std::nth_element(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(steps.size() / 2), steps.end());
  interval_micros_ = std::max(steps[steps.size() / 2] / resolution_micros_, int64_t{1}) * resolution_micros_;
  bucket_ = "month";
  for (const auto& [name, micros] : {std::pair("hour", kMicrosPerHour), std::pair("day", kMicrosPerDay),
                                     std::pair("week", kMicrosPerWeek)}) {
    if (micros / interval_micros_ < static_cast<int64_t>(kPointsPerRow)) continue;
    bucket_ = name;
    break;
  }
}

std::string Drafter::TagsText() const {
  if (tags_.empty()) return "# No column tells series apart: the file is one series.\n";
  std::string text = "# What names a series; all of them stand in the row key.\ntags:\n";
  for (const size_t tag : tags_) {
    const Column& column = columns_[tag];
    text += fmt::format("  {}: {}    # {} values here\n", column.name, column.is_int ? "int" : "string",
                        CountOf(tag));
  }
  return text;
}

std::string Drafter::FieldsText() const {
  std::string text =
      "# Measurements: a column each.  { type: double, as: T } gives one a short name on the "
      "wire.\nfields:\n";
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (i == times_.index || column.is_tag) continue;
    text += fmt::format("  {}: {}\n", column.name,
                        column.is_int      ? "int"
                        : column.is_number ? "double"
                                           : "string    # or a tag, if it names what was measured");
  }
  return text;
}

std::string Drafter::CsvText() const {
  std::string text = fmt::format("csv:\n  time: {}\n", fmt::format("\"{}\"", columns_[times_.index].header));
  if (!times_.format.empty()) text += fmt::format("  format: \"{}\"\n", times_.format);
  std::string mapped;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i == times_.index || columns_[i].name == columns_[i].header) continue;
    std::string quoted;
    for (const char c : columns_[i].header)
      quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    mapped += fmt::format("    \"{}\": {}\n", quoted, columns_[i].name);
  }
  if (!mapped.empty()) text += "  columns:\n" + mapped;
  return text;
}

std::string Drafter::Draft() {
  FindTags();
  FindTimeSteps();
  std::string text = fmt::format(
      "# Drafted by `sonde series init` from {} records; change what you know better, then see\n"
      "#   sonde series check FILE, sonde series explain FILE, sonde series advise FILE --data CSV\n"
      "series: {}\n",
      times_.micros.size(), name_);
  text += TagsText() + FieldsText();
  text += "# Times are rounded down to the resolution; the interval is for sizes only.\n";
  std::string time = fmt::format("resolution: {}", DurationText(resolution_micros_));
  if (interval_micros_ > 0) time += fmt::format(", interval: {}", DurationText(interval_micros_));
  if (times_.assumes_utc) time += ", zone: UTC";
  if (*std::min_element(times_.micros.begin(), times_.micros.end()) < 0) {
    time += fmt::format(", origin: {}", DayOrMinuteText(kTimeBeginMicros));
    text +=
        "# Some are before 1970, where timestamps of cells begin unless an origin is declared.  Once there "
        "are\n"
        "# points it can't be changed: this one takes all times of the years 0001 to 9999.\n";
  }
  text += fmt::format("time: {{ {} }}\n", time);
  std::vector<std::string> key;
  for (const size_t tag : tags_) key.push_back(columns_[tag].name);
  if (tags_.empty()) key.push_back(fmt::format("{{ const: {} }}", name_));
  key.emplace_back("bucket");
  text += fmt::format("# A row for each series and {}, a column for each field, a cell for each point.\n",
                      bucket_);
  text += fmt::format("key: [{}]\nbucket: {}\nlayout: cells\n", fmt::join(key, ", "), bucket_);
  text += "# Points are kept for ever; { max_age: 90d } forgets them.\nretention: { max_versions: all }\n";
  if (!tags_.empty()) {
    text += fmt::format(
        "# A row for each series with its newest values, kept in step with the points.\nderive:\n"
        "  - latest: {}_now\n",
        name_);
  }
  text += "# What will be asked, the most important first: `check` and `advise` go by it.\nqueries:\n";
  std::vector<std::string> tags;
  for (const size_t tag : tags_) tags.push_back(columns_[tag].name);
  text += fmt::format("  - {{ ask: one series for {} {}, tags: [{}], range: {} }}\n",
                      bucket_ == "hour" ? "an" : "a", bucket_, fmt::join(tags, ", "), bucket_);
  if (!tags_.empty()) text += "  - { ask: the newest of all, range: latest }\n";
  return text + CsvText();
}

}  // namespace

absl::StatusOr<std::string> DraftDeclaration(ByteSource source, std::string_view name,
                                             const DraftOptions& options) {
  if (absl::Status status = TimeParser::Create(options.time_format, true).status(); !status.ok())
    return status;
  CsvReader reader(std::move(source), options.separator);
  CsvReader::Record record;
  absl::StatusOr<bool> has_record = reader.Next(&record);
  if (!has_record.ok()) return has_record.status();
  if (!*has_record || !record.problem.empty()) {
    return absl::InvalidArgumentError("the file has no first line with the names of its columns");
  }
  std::vector<Column> columns;
  std::set<std::string> taken;
  for (const std::string_view header : record.values) {
    Column& column = columns.emplace_back();
    column.header = header;
    column.name = NameOf(header, &taken);
  }
  for (size_t records = 0; records < options.records_max;) {
    has_record = reader.Next(&record);
    if (!has_record.ok()) return has_record.status();
    if (!*has_record) break;
    if (!record.problem.empty() || record.values.size() != columns.size()) continue;
    ++records;
    for (size_t i = 0; i < columns.size(); ++i) {
      Column& column = columns[i];
      const std::string_view value = record.values[i];
      column.values.emplace_back(value);
      column.empty_count += value.empty();
      column.is_int &= value.empty() || IsWholeNumber(value);
      column.is_number &= value.empty() || IsFiniteNumber(value);
    }
  }
  if (columns[0].values.empty())
    return absl::InvalidArgumentError("the file has no record that fits its first line");
  const bool has_format = !options.time_format.empty();
  std::optional<TimeColumn> times = FindTimes(
      columns, has_format ? std::vector<std::string>{options.time_format} : FormatsKnown(), has_format);
  if (!times && has_format) {
    return absl::InvalidArgumentError(
        fmt::format("no column of the file has times of the format '{}'", Printable(options.time_format)));
  }
  if (!times) {
    return absl::InvalidArgumentError(
        "no column of the file is a time (RFC 3339, a date, or a number since 1970); say --time-format, as "
        "in "
        "'%m/%d/%Y'");
  }
  if (columns.size() < 2) return absl::InvalidArgumentError("the file has no column but the time");
  std::set<std::string> unused;
  const std::string text = Drafter(NameOf(name, &unused), std::move(columns), *std::move(times)).Draft();
  if (absl::Status status = ParseSchema(text, "draft").status(); !status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("no declaration could be drafted from this file: {}", TextOfStatus(status)));
  }
  return text;
}

}  // namespace sonde::series

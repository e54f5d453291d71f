#include "series/schema/time_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace sonde::series {
namespace {

// The largest number of `width` digits.
int64_t NumberMax(int width) {
  int64_t max = 1;
  for (int i = 0; i < width && i < 18; ++i) max *= 10;
  return width > 18 ? std::numeric_limits<int64_t>::max() : max - 1;
}

bool IsBounded(const KeyPart& part) { return part.IsTime() && IsEpochFormat(part.format) && !part.reverse; }

TimeRange TimesOfTimestamps(const SeriesSchema& schema) {
  return schema.IsTimeInTimestamps() ? TimeRange{schema.Origin(), kTimeEndMicros} : TimeRange{};
}

// The reason why the table's times begin, or (`is_end`) end, at `micros`.
std::string ReasonOf(const SeriesSchema& table, int64_t micros, bool is_end) {
  const std::string from = table.origin_micros
                               ? fmt::format("from the origin {}", TimeText(*table.origin_micros))
                               : "from 1970-01-01T00:00:00Z";
  if (!is_end && TimesOfTimestamps(table).from_micros == micros && table.IsTimeInTimestamps()) {
    return fmt::format("table '{}' has the times in the timestamps of its cells, which count {}", table.table,
                       from);
  }
  for (const KeyPart& part : table.key) {
    if (!IsBounded(part)) continue;
    const TimeRange range = TimesOfPart(table, part);
    if ((is_end ? range.to_micros : range.from_micros) != micros) continue;
    return fmt::format("the keys of table '{}' have {} of width {}, which counts {}", table.table,
                       TimeFormatName(part.format), part.width_bytes, from);
  }
  return "";
}

// The reason for a bound of TimesOfSeries.
std::string ReasonOfSeries(const SeriesSchema& schema, int64_t micros, bool is_end) {
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    if (std::string reason = ReasonOf(*span.schema, micros, is_end); !reason.empty()) return reason;
  }
  for (const SeriesSchema& table : MakeDerivedSchemas(schema)) {
    if (std::string reason = ReasonOf(table, micros, is_end); !reason.empty()) return reason;
  }
  return "";
}

}  // namespace

TimeRange Common(const TimeRange& a, const TimeRange& b) {
  return {std::max(a.from_micros, b.from_micros), std::min(a.to_micros, b.to_micros)};
}

TimeRange TimesOfPart(const SeriesSchema& schema, const KeyPart& part) {
  if (!IsBounded(part)) return {};
  const int64_t unit_micros = TimeFormatUnit(part.format).micros;
  const int64_t number_max = NumberMax(part.width_bytes);
  TimeRange range{schema.Origin(), kTimeEndMicros};
  if (number_max < (kTimeEndMicros - schema.Origin()) / unit_micros) {
    range.to_micros = schema.Origin() + (number_max + 1) * unit_micros;
  }
  return range;
}

TimeRange TimesOfTable(const SeriesSchema& schema) {
  TimeRange range = TimesOfTimestamps(schema);
  for (const KeyPart& part : schema.key) {
    if (part.IsTime()) range = Common(range, TimesOfPart(schema, part));
  }
  return range;
}

TimeRange TimesOfSeries(const SeriesSchema& schema) {
  const std::vector<VersionSpan> spans = schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros);
  TimeRange range{std::max(spans.front().from_micros, TimesOfTable(*spans.front().schema).from_micros),
                  std::min(spans.back().to_micros, TimesOfTable(*spans.back().schema).to_micros)};
  for (const SeriesSchema& table : MakeDerivedSchemas(schema)) range = Common(range, TimesOfTable(table));
  return range;
}

absl::Status RefuseYear(int64_t time_micros) {
  return absl::InvalidArgumentError(
      fmt::format("time {} microseconds since 1970; allowed: the years 0001 to 9999", time_micros));
}

absl::Status RefuseTime(const SeriesSchema& schema, int64_t time_micros, const KeyPart* part) {
  if (!TimeRange().Holds(time_micros)) return RefuseYear(time_micros);
  const TimeRange range = part == nullptr ? TimesOfTable(schema) : TimesOfPart(schema, *part);
  if (time_micros < range.from_micros) {
    return absl::InvalidArgumentError(fmt::format(
        "time {}: {}; earlier times take an earlier origin, as in time: {{ origin: 0001-01-01 }}, or layout "
        "row with a calendar format such as yyyymmdd in the key",
        TimeText(time_micros), ReasonOf(schema, range.from_micros, false)));
  }
  return absl::InvalidArgumentError(fmt::format(
      "time {}: {}, and ends at {}; later times take a larger width, or a calendar format such "
      "as yyyymmdd",
      TimeText(time_micros), ReasonOf(schema, range.to_micros, true), TimeText(range.to_micros - 1)));
}

std::string TimesText(const SeriesSchema& schema) {
  const TimeRange range = TimesOfSeries(schema);
  if (range == TimeRange()) return "times of the years 0001 to 9999";
  const bool has_end = range.to_micros < kTimeEndMicros;
  std::string text =
      fmt::format("times from {} to {}", TimeText(range.from_micros),
                  has_end ? TimeText(range.to_micros - 1) : std::string("the end of the year 9999"));
  std::string first;
  if (range.from_micros > kTimeBeginMicros) first = ReasonOfSeries(schema, range.from_micros, false);
  const std::string last = has_end ? ReasonOfSeries(schema, range.to_micros, true) : "";
  if (!first.empty()) text += "; " + first;
  if (!last.empty() && last != first) text += "; " + last;
  return text;
}

}  // namespace sonde::series

#include "series/schema/time_format.h"

namespace sonde::series {
namespace {

// Letters of a pattern: Y year, M month, D day, h hour, m minute, s second, f millisecond, W ISO week (Y is
// then the ISO year); each run of one letter is that number, left with zeros.  Everything else stands for
// itself.
struct FormatInfo {
  TimeFormat format;
  std::string_view name;
  std::string_view pattern;
  BucketWidth unit;
  int epoch_width_bytes;
};

constexpr BucketWidth Fixed(int64_t micros) { return {BucketWidth::Kind::kFixed, micros}; }
constexpr BucketWidth kMonthUnit{BucketWidth::Kind::kMonth, 0};
constexpr BucketWidth kWeekUnit{BucketWidth::Kind::kWeek, 0};

constexpr FormatInfo kFormats[] = {
    {TimeFormat::kEpochSeconds, "epoch_s", "", Fixed(kMicrosPerSecond), 10},
    {TimeFormat::kEpochMillis, "epoch_ms", "", Fixed(1000), 13},
    {TimeFormat::kEpochMicros, "epoch_us", "", Fixed(1), 16},
    {TimeFormat::kMonthCompact, "yyyymm", "YYYYMM", kMonthUnit, 0},
    {TimeFormat::kMonth, "yyyy-mm", "YYYY-MM", kMonthUnit, 0},
    {TimeFormat::kIsoWeek, "yyyy-www", "YYYY-wWW", kWeekUnit, 0},
    {TimeFormat::kDayCompact, "yyyymmdd", "YYYYMMDD", Fixed(kMicrosPerDay), 0},
    {TimeFormat::kDay, "yyyy-mm-dd", "YYYY-MM-DD", Fixed(kMicrosPerDay), 0},
    {TimeFormat::kHourCompact, "yyyymmddhh", "YYYYMMDDhh", Fixed(kMicrosPerHour), 0},
    {TimeFormat::kHour, "yyyy-mm-dd-hh", "YYYY-MM-DD-hh", Fixed(kMicrosPerHour), 0},
    {TimeFormat::kMinuteCompact, "yyyymmddhhmm", "YYYYMMDDhhmm", Fixed(kMicrosPerMinute), 0},
    {TimeFormat::kMinute, "yyyy-mm-dd-hhmm", "YYYY-MM-DD-hhmm", Fixed(kMicrosPerMinute), 0},
    {TimeFormat::kSecondCompact, "yyyymmddhhmmss", "YYYYMMDDhhmmss", Fixed(kMicrosPerSecond), 0},
    {TimeFormat::kSecond, "yyyy-mm-dd-hhmmss", "YYYY-MM-DD-hhmmss", Fixed(kMicrosPerSecond), 0},
    {TimeFormat::kMilliCompact, "yyyymmddhhmmssmmm", "YYYYMMDDhhmmssfff", Fixed(1000), 0},
};

const FormatInfo& InfoOf(TimeFormat format) { return kFormats[static_cast<size_t>(format)]; }

constexpr bool IsInEnumOrder() {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (static_cast<size_t>(kFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(IsInEnumOrder());

size_t RunLength(std::string_view pattern, size_t begin) {
  size_t end = begin;
  while (end < pattern.size() && pattern[end] == pattern[begin]) ++end;
  return end - begin;
}

bool IsLetter(char c) { return std::string_view("YMDhmsfW").find(c) != std::string_view::npos; }

}  // namespace

std::string_view TimeFormatName(TimeFormat format) { return InfoOf(format).name; }

std::optional<TimeFormat> TimeFormatOfName(std::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

std::string TimeFormatNames() {
  std::string names;
  for (const FormatInfo& info : kFormats) {
    if (!names.empty()) names += ", ";
    names += info.name;
  }
  return names;
}

bool IsEpochFormat(TimeFormat format) { return InfoOf(format).epoch_width_bytes != 0; }

BucketWidth TimeFormatUnit(TimeFormat format) { return InfoOf(format).unit; }

int TimeFormatWidthBytes(TimeFormat format) {
  const FormatInfo& info = InfoOf(format);
  return info.epoch_width_bytes != 0 ? info.epoch_width_bytes : static_cast<int>(info.pattern.size());
}

bool TimeFormatHolds(TimeFormat format, char byte) {
  if (byte >= '0' && byte <= '9') return true;
  const std::string_view pattern = InfoOf(format).pattern;
  return !IsLetter(byte) && pattern.find(byte) != std::string_view::npos;
}

void AppendCalendarTime(TimeFormat format, int64_t micros, std::string* out) {
  const std::string_view pattern = InfoOf(format).pattern;
  CivilTime civil = CivilFromMicros(micros);
  int week = 0;
  if (format == TimeFormat::kIsoWeek) {
    const IsoWeek iso = IsoWeekFromMicros(micros);
    civil.year = iso.year;
    week = iso.week;
  }
  for (size_t i = 0; i < pattern.size();) {
    const size_t digits = IsLetter(pattern[i]) ? RunLength(pattern, i) : 1;
    int number = 0;
    switch (pattern[i]) {
      case 'Y':
        number = civil.year;
        break;
      case 'M':
        number = civil.month;
        break;
      case 'D':
        number = civil.day;
        break;
      case 'h':
        number = civil.hour;
        break;
      case 'm':
        number = civil.minute;
        break;
      case 's':
        number = civil.second;
        break;
      case 'f':
        number = civil.micros / 1000;
        break;
      case 'W':
        number = week;
        break;
      default:
        out->push_back(pattern[i++]);
        continue;
    }
    char buffer[4];
    for (size_t digit = digits; digit-- > 0; number /= 10)
      buffer[digit] = static_cast<char>('0' + number % 10);
    out->append(buffer, digits);
    i += digits;
  }
}

std::optional<int64_t> ParseCalendarTime(TimeFormat format, std::string_view text) {
  const std::string_view pattern = InfoOf(format).pattern;
  if (text.size() != pattern.size()) return std::nullopt;
  CivilTime civil;
  int week = 0;
  for (size_t i = 0; i < pattern.size();) {
    if (!IsLetter(pattern[i])) {
      if (text[i] != pattern[i]) return std::nullopt;
      ++i;
      continue;
    }
    const size_t digits = RunLength(pattern, i);
    int number = 0;
    for (const char c : text.substr(i, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + (c - '0');
    }
    switch (pattern[i]) {
      case 'Y':
        civil.year = number;
        break;
      case 'M':
        civil.month = number;
        break;
      case 'D':
        civil.day = number;
        break;
      case 'h':
        civil.hour = number;
        break;
      case 'm':
        civil.minute = number;
        break;
      case 's':
        civil.second = number;
        break;
      case 'f':
        civil.micros = number * 1000;
        break;
      default:
        week = number;
        break;
    }
    i += digits;
  }
  if (format == TimeFormat::kIsoWeek) return MicrosFromIsoWeek({civil.year, week});
  return MicrosFromCivil(civil);
}

std::optional<int64_t> ParseDayOrMinute(std::string_view text) {
  const std::optional<int64_t> day = ParseCalendarTime(TimeFormat::kDay, text);
  return day ? day : ParseCalendarTime(TimeFormat::kMinute, text);
}

std::string DayOrMinuteText(int64_t micros) {
  std::string text;
  const bool is_day = FloorMicros(micros, kMicrosPerDay) == micros;
  AppendCalendarTime(is_day ? TimeFormat::kDay : TimeFormat::kMinute, micros, &text);
  return text;
}

}  // namespace sonde::series

#include "sql/time/time_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/time/civil_time.h"
#include "sql/time/calendar.h"
#include "sql/time/time_zone.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

std::string Quoted(std::string_view text) {
  return absl::CEscape(absl::string_view(text.data(), text.size()));
}

// Reads a text from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  char Next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool Take(char c) {
    if (Next() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // `digits_min` to `digits_max` digits, and no more.
  bool TakeNumber(size_t digits_min, size_t digits_max, int64_t* number) {
    size_t digits = 0;
    *number = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (++digits > digits_max) return false;
      *number = *number * 10 + (rest_[digits - 1] - '0');
    }
    rest_.remove_prefix(digits);
    return digits >= digits_min;
  }

 private:
  std::string_view rest_;
};

struct Fields {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t micros = 0;
  std::string_view zone;  // empty: the text has none; "Z"; an offset; or a name
  bool has_zone_name = false;
};

bool ReadDay(Reader* reader, size_t year_digits_max, Fields* fields) {
  return reader->TakeNumber(4, year_digits_max, &fields->year) && reader->Take('-') &&
         reader->TakeNumber(1, 2, &fields->month) && reader->Take('-') &&
         reader->TakeNumber(1, 2, &fields->day);
}

bool ReadTimeOfDay(Reader* reader, Fields* fields) {
  const bool is_read = reader->TakeNumber(1, 2, &fields->hour) && reader->Take(':') &&
                       reader->TakeNumber(1, 2, &fields->minute) && reader->Take(':') &&
                       reader->TakeNumber(1, 2, &fields->second);
  if (!is_read || !reader->Take('.')) return is_read;
  constexpr size_t kDigits = 6;
  const size_t before = reader->rest().size();
  if (!reader->TakeNumber(1, kDigits, &fields->micros)) return false;
  for (size_t digits = before - reader->rest().size(); digits < kDigits; ++digits) fields->micros *= 10;
  return true;
}

// False: the text has not the shape of a timestamp.
bool ReadTimestamp(std::string_view text, Fields* fields) {
  Reader reader(text);
  if (!ReadDay(&reader, 5, fields)) return false;
  if (reader.AtEnd()) return true;
  if (!reader.Take(' ') && !reader.Take('T') && !reader.Take('t')) return false;
  const bool has_time = reader.Next() != '+' && reader.Next() != '-';
  if (has_time && !ReadTimeOfDay(&reader, fields)) return false;
  if (reader.AtEnd()) return true;
  fields->zone = reader.rest();
  if (reader.Take('Z') || reader.Take('z')) {
    fields->zone = "Z";
    return reader.AtEnd();
  }
  if (reader.Next() == '+' || reader.Next() == '-') return true;
  if (!reader.Take(' ')) return false;
  fields->zone = reader.rest();
  fields->has_zone_name = true;
  return !reader.AtEnd() && reader.Next() != '+' && reader.Next() != '-';
}

absl::StatusOr<absl::TimeZone> ZoneOf(const Fields& fields, const absl::TimeZone& otherwise) {
  if (fields.zone.empty()) return otherwise;
  if (fields.zone == "Z" && !fields.has_zone_name) return absl::UTCTimeZone();
  return FindTimeZone(fields.zone);
}

// Nothing: there is no such time.
std::optional<int64_t> MicrosOf(const Fields& fields, const absl::TimeZone& zone) {
  const bool is_time = fields.month >= 1 && fields.month <= 12 && fields.day >= 1 &&
                       fields.day <= DaysInMonth(fields.year, static_cast<int>(fields.month)) &&
                       fields.hour <= 23 && fields.minute <= 59 && fields.second <= 60;
  if (!is_time) return std::nullopt;
  // A leap second is the second behind it.
  const absl::CivilSecond civil(fields.year, fields.month, fields.day, fields.hour, fields.minute,
                                fields.second == 60 ? 59 : fields.second);
  const int64_t micros =
      absl::ToUnixMicros(zone.At(civil).pre) + (fields.second == 60 ? kMicrosPerSecond : 0) + fields.micros;
  if (!IsTimestamp(micros)) return std::nullopt;
  return micros;
}

absl::StatusOr<int64_t> Parse(std::string_view text, const absl::TimeZone& zone, bool may_have_zone) {
  Fields fields;
  if (!ReadTimestamp(text, &fields)) {
    return absl::OutOfRangeError(fmt::format("Invalid timestamp: '{}'", Quoted(text)));
  }
  if (!may_have_zone && !fields.zone.empty()) {
    return absl::OutOfRangeError(fmt::format("Timezone is not allowed in {}", QuotedText(text)));
  }
  const absl::StatusOr<absl::TimeZone> zone_of_text = ZoneOf(fields, zone);
  if (!zone_of_text.ok()) return zone_of_text.status();
  const std::optional<int64_t> micros = MicrosOf(fields, *zone_of_text);
  if (!micros.has_value()) {
    return absl::OutOfRangeError(fmt::format("Invalid timestamp string {}", QuotedText(text)));
  }
  return *micros;
}

}  // namespace

absl::StatusOr<int64_t> ParseDate(std::string_view text) {
  Reader reader(text);
  Fields fields;
  const bool is_date = ReadDay(&reader, 4, &fields) && reader.AtEnd() && fields.month >= 1 &&
                       fields.month <= 12 && fields.day >= 1 &&
                       fields.day <= DaysInMonth(fields.year, static_cast<int>(fields.month));
  if (!is_date) return absl::OutOfRangeError(fmt::format("Invalid date: '{}'", Quoted(text)));
  const int64_t days = DaysOf(fields.year, static_cast<int>(fields.month), fields.day);
  if (!IsDate(days)) return absl::OutOfRangeError(fmt::format("Date value out of range: '{}'", Quoted(text)));
  return days;
}

absl::StatusOr<int64_t> ParseTimestamp(std::string_view text, const absl::TimeZone& zone) {
  return Parse(text, zone, /*may_have_zone=*/true);
}

absl::StatusOr<int64_t> ParseTimestampWithoutZone(std::string_view text, const absl::TimeZone& zone) {
  return Parse(text, zone, /*may_have_zone=*/false);
}

std::string QuotedText(std::string_view text) {
  std::string literal = StringLiteral(text);
  if (text.find('"') == std::string_view::npos || text.find('\'') != std::string_view::npos) return literal;
  std::string plain;
  for (size_t i = 0; i < literal.size(); ++i) {
    const bool is_escaped_quote = literal[i] == '\\' && literal[i + 1] == '"';
    if (!is_escaped_quote) plain += literal[i];
    if (literal[i] == '\\' && !is_escaped_quote) plain += literal[++i];
  }
  plain.front() = plain.back() = '\'';
  return plain;
}

namespace {

// Appends digits to a text.
class Writer {
 public:
  explicit Writer(std::string* text) : text_(*text) {}

  void Put(char c) { text_ += c; }
  // At least so many digits, with zeros in front.
  void Put(int64_t number, int digits) {
    char reversed[20];
    int count = 0;
    for (; number > 0 || count < digits; number /= 10)
      reversed[count++] = static_cast<char>('0' + number % 10);
    while (count > 0) text_ += reversed[--count];
  }
  void PutPart(char before, int64_t number) {
    Put(before);
    Put(number, 2);
  }

 private:
  std::string& text_;
};

}  // namespace

std::string TimestampTextIn(const absl::TimeZone& zone, int64_t micros) {
  const int offset_minutes =
      zone == absl::UTCTimeZone() ? 0 : zone.At(absl::FromUnixMicros(micros)).offset / 60;
  const int64_t local = micros + offset_minutes * kMicrosPerMinute;
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  const CivilDate date = CivilOf(days);
  const int64_t second = (local - days * kMicrosPerDay) / kMicrosPerSecond;
  const int64_t fraction = FloorModulo(local, kMicrosPerSecond);
  std::string text;
  Writer writer(&text);
  writer.Put(date.year, 4);
  writer.PutPart('-', date.month);
  writer.PutPart('-', date.day);
  writer.PutPart(' ', second / 3'600);
  writer.PutPart(':', second / 60 % 60);
  writer.PutPart(':', second % 60);
  if (fraction != 0) {
    const bool is_of_millis = fraction % 1'000 == 0;
    writer.Put('.');
    writer.Put(is_of_millis ? fraction / 1'000 : fraction, is_of_millis ? 3 : 6);
  }
  const int minutes = std::abs(offset_minutes);
  writer.PutPart(offset_minutes < 0 ? '-' : '+', minutes / 60);
  if (minutes % 60 != 0) writer.PutPart(':', minutes % 60);
  return text;
}

std::string TimestampTextWithMicros(int64_t micros) {
  const int64_t second = FloorDivide(micros, kMicrosPerSecond);
  std::string text = TimestampTextIn(absl::UTCTimeZone(), second * kMicrosPerSecond);
  text.insert(text.size() - 3, fmt::format(".{:06}", micros - second * kMicrosPerSecond));
  return text;
}

}  // namespace sonde::sql

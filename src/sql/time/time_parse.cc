#include "sql/time/time_parse.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "sql/time/calendar.h"
#include "sql/time/time_fields.h"
#include "sql/time/time_text.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};
constexpr size_t kShortNameBytes = 3;

bool IsDigitOfTime(char c) { return c >= '0' && c <= '9'; }

// Reads a text element by element.  A function that gives false did not find what it was to read.
class FormatReader {
 public:
  FormatReader(std::string_view format, std::string_view text, const absl::TimeZone& zone)
      : format_(format), text_(text), rest_(text) {
    fields_.zone = zone;
  }

  absl::StatusOr<int64_t> Read() {
    SkipSpace();
    const bool is_read = ReadFormat(format_, /*is_inner=*/false);
    if (!status_.ok()) return status_;
    SkipSpace();
    if (!is_read || !rest_.empty()) return Failed();
    return TimestampOf(fields_);
  }

 private:
  absl::Status Failed() const {
    return absl::OutOfRangeError(fmt::format("Failed to parse input string {}", QuotedText(text_)));
  }
  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }

  void SkipSpace() {
    while (!rest_.empty() && absl::ascii_isspace(static_cast<unsigned char>(rest_.front())))
      rest_.remove_prefix(1);
  }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Number(size_t bytes_max, int64_t min, int64_t max, int64_t* number);
  // One of these, or its first three letters.
  template <size_t kCount>
  bool Name(const std::array<std::string_view, kCount>& names, int64_t* index);
  bool Offset(bool may_have_colon);
  bool Zone();
  bool Micros(size_t digits_max);
  bool TwelveHour();
  bool Meridian();

  bool ReadFormat(std::string_view format, bool is_inner);
  bool SkipRestOfFormat(std::string_view format);
  bool Mismatch(std::string_view format);
  bool Element(std::string_view* format);
  bool ElementOfDate(char element, bool before_element);
  bool ElementOfWeek(char element);
  bool ElementOfTime(char element);
  bool ExtendedElement(std::string_view* format);
  bool Year(size_t digits_max);
  bool Century(bool before_element);
  bool YearOfCentury();
  // What the format says as another one does.
  bool As(std::string_view format) { return ReadFormat(format, /*is_inner=*/true); }
  int DatePlace() {
    fields_.has_date = true;
    return place_;
  }

  std::string_view format_;
  std::string_view text_;
  std::string_view rest_;
  TimeFields fields_;
  int place_ = 0;  // of the element, from 1 on
  absl::Status status_;
};

// At most so many digits.  A sign counts as one; it may stand where `min` has one.
bool FormatReader::Number(size_t bytes_max, int64_t min, int64_t max, int64_t* number) {
  const bool is_negative = min < 0 && Take('-');
  if (is_negative) --bytes_max;
  int64_t value = 0;
  size_t bytes = 0;
  while (bytes < bytes_max && bytes < rest_.size() && IsDigitOfTime(rest_[bytes])) {
    if (value <= max) value = value * 10 + (rest_[bytes] - '0');
    ++bytes;
  }
  if (is_negative) value = -value;
  if (bytes == 0 || value < min || value > max) return false;
  rest_.remove_prefix(bytes);
  *number = value;
  return true;
}

template <size_t kCount>
bool FormatReader::Name(const std::array<std::string_view, kCount>& names, int64_t* index) {
  for (const size_t bytes_max : {std::numeric_limits<size_t>::max(), kShortNameBytes}) {
    for (size_t i = 0; i < kCount; ++i) {
      const std::string_view name = names[i].substr(0, bytes_max);
      if (absl::AsciiStrToLower(std::string(rest_.substr(0, name.size()))) != name) continue;
      rest_.remove_prefix(name.size());
      *index = static_cast<int64_t>(i);
      return true;
    }
  }
  return false;
}

bool FormatReader::Offset(bool may_have_colon) {
  if (rest_.empty() || (rest_.front() != '+' && rest_.front() != '-')) return false;
  const int64_t sign = rest_.front() == '-' ? -1 : 1;
  rest_.remove_prefix(1);
  const size_t before = rest_.size();
  int64_t hours = 0;
  if (!Number(2, 0, 99, &hours) || before - rest_.size() != 2) return false;
  int64_t minutes = 0;
  std::string_view behind = rest_;
  if (may_have_colon && !behind.empty() && behind.front() == ':') behind.remove_prefix(1);
  if (behind.size() >= 2 && IsDigitOfTime(behind[0]) && IsDigitOfTime(behind[1]) && behind[0] < '6') {
    minutes = (behind[0] - '0') * 10 + (behind[1] - '0');
    rest_ = behind.substr(2);
  }
  const int64_t offset = hours * 60 + minutes;
  if (offset > 14 * 60) {
    return Fail(absl::OutOfRangeError(
        fmt::format("Timezone offset out of valid range -14:00 to +14:00: {}{:02}:{:02}",
                    sign < 0 ? '-' : '+', hours, minutes)));
  }
  fields_.offset_minutes = sign * offset;
  return true;
}

bool FormatReader::Zone() {
  size_t bytes = 0;
  while (bytes < rest_.size() && !absl::ascii_isspace(static_cast<unsigned char>(rest_[bytes]))) ++bytes;
  absl::StatusOr<absl::TimeZone> zone = FindTimeZone(rest_.substr(0, bytes));
  if (!zone.ok()) return Fail(zone.status());
  rest_.remove_prefix(bytes);
  fields_.zone = *zone;
  fields_.offset_minutes.reset();
  return true;
}

// Behind a point, which may be missing.  Digits beyond microseconds do not count.
bool FormatReader::Micros(size_t digits_max) {
  if (!Take('.')) return true;
  constexpr size_t kMicrosDigits = 6;
  size_t digits = 0;
  int64_t micros = 0;
  for (; digits < digits_max && digits < rest_.size() && IsDigitOfTime(rest_[digits]); ++digits) {
    if (digits < kMicrosDigits) micros = micros * 10 + (rest_[digits] - '0');
  }
  for (size_t i = digits; i < kMicrosDigits; ++i) micros *= 10;
  rest_.remove_prefix(digits);
  fields_.micros = micros;
  return digits > 0;
}

bool FormatReader::TwelveHour() {
  SkipSpace();
  int64_t hour = 0;
  if (!Number(2, 1, 12, &hour)) return false;
  fields_.hour = hour % 12;
  fields_.is_twelve_hour = true;
  return true;
}

bool FormatReader::Meridian() {
  const std::string word = absl::AsciiStrToLower(std::string(rest_.substr(0, 2)));
  if (word != "am" && word != "pm") return false;
  rest_.remove_prefix(2);
  fields_.is_afternoon = word == "pm";
  return true;
}

// The bytes of the first character; `text` is not empty.
std::string_view FirstCharacter(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) ++bytes;
  return text.substr(0, bytes);
}

bool FormatReader::Mismatch(std::string_view format) {
  return Fail(absl::OutOfRangeError(
      fmt::format("Mismatch between format character '{}' and string character '{}' at string index: {} with "
                  "format: '{}'",
                  FirstCharacter(format), FirstCharacter(rest_), text_.size() - rest_.size(), format_)));
}

// What is left of the format when the text has ended: only space may be.
bool FormatReader::SkipRestOfFormat(std::string_view format) {
  while (!format.empty()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(format.front()))) {
      format.remove_prefix(1);
      continue;
    }
    if (format == "%") return Fail(absl::OutOfRangeError("Format string cannot end with a single '%'"));
    if (format.front() != '%' || (format[1] != 'n' && format[1] != 't')) return false;
    format.remove_prefix(2);
  }
  return true;
}

bool FormatReader::ReadFormat(std::string_view format, bool is_inner) {
  while (!format.empty() && !rest_.empty()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(format.front()))) {
      SkipSpace();
      format.remove_prefix(1);
    } else if (format.front() != '%') {
      if (!Take(format.front())) return is_inner ? false : Mismatch(format);
      format.remove_prefix(1);
    } else {
      format.remove_prefix(1);
      if (format.empty()) return Fail(absl::OutOfRangeError("Format string cannot end with a single '%'"));
      if (!is_inner) ++place_;
      if (!Element(&format)) return false;
    }
  }
  return SkipRestOfFormat(format);
}

// Reads the element whose letters are the first of *format, and takes them away.
bool FormatReader::Element(std::string_view* format) {
  const char element = format->front();
  format->remove_prefix(1);
  if (element == 'E') return ExtendedElement(format);
  if (element == 'O') {
    constexpr std::string_view kWithOtherDigits = "HIMSdemuUVWwy";
    if (format->empty() || kWithOtherDigits.find(format->front()) == std::string_view::npos) return false;
    return Element(format);
  }
  if (element == '%') return Take('%');
  constexpr std::string_view kOfDate = "YCymbBhdeQDFxc";
  constexpr std::string_view kOfWeek = "jUWVuwaAgGJ";
  const bool before_element = !format->empty() && format->front() == '%';
  if (kOfDate.find(element) != std::string_view::npos) return ElementOfDate(element, before_element);
  if (kOfWeek.find(element) != std::string_view::npos) return ElementOfWeek(element);
  return ElementOfTime(element);
}

bool FormatReader::Year(size_t digits_max) {
  fields_.year_place = DatePlace();
  fields_.has_century = false;
  fields_.is_century_named = false;
  return Number(digits_max, 0, digits_max == 4 ? 9'999 : 10'000, &fields_.year);
}

bool FormatReader::Century(bool before_element) {
  fields_.year_place = DatePlace();
  if (!fields_.has_century) fields_.year_of_century = 0;
  fields_.has_century = true;
  fields_.is_century_named = true;
  return before_element ? Number(2, 0, 99, &fields_.century) : Number(3, 0, 100, &fields_.century);
}

bool FormatReader::YearOfCentury() {
  fields_.year_place = DatePlace();
  fields_.has_century = true;
  if (!Number(2, 0, 99, &fields_.year_of_century)) return false;
  if (!fields_.is_century_named) fields_.century = fields_.year_of_century < 69 ? 20 : 19;
  return true;
}

bool FormatReader::ElementOfDate(char element, bool before_element) {
  switch (element) {
    case 'Y':
      return Year(before_element ? 4 : 5);
    case 'C':
      return Century(before_element);
    case 'y':
      return YearOfCentury();
    case 'm':
      fields_.month_place = DatePlace();
      return Number(2, 1, 12, &fields_.month);
    case 'b':
    case 'B':
    case 'h':
      fields_.month_place = DatePlace();
      if (!Name(kMonths, &fields_.month)) return false;
      ++fields_.month;
      return true;
    case 'e':
      SkipSpace();
      [[fallthrough]];
    case 'd':
      fields_.day_place = DatePlace();
      return Number(2, 1, 31, &fields_.day);
    case 'Q': {
      fields_.month_place = fields_.day_place = DatePlace();
      int64_t quarter = 0;
      if (!Number(1, 1, 4, &quarter)) return false;
      fields_.month = quarter * 3 - 2;
      fields_.day = 1;
      return true;
    }
    case 'F':
      return As("%Y-%m-%d");
    case 'c':
      return As("%a %b %e %H:%M:%S %Y");
    default:  // D, x
      return As("%m/%d/%y");
  }
}

bool FormatReader::ElementOfWeek(char element) {
  int64_t number = 0;
  const auto place = [this, &number](PlacedNumber* at) {
    *at = {number, place_};
    return true;
  };
  switch (element) {
    case 'j':
      fields_.has_date = true;
      return Number(3, 1, 366, &number) && place(&fields_.day_of_year);
    case 'U':
    case 'W':
      fields_.has_date = true;
      fields_.week_start = element == 'W' ? 1 : 0;
      return Number(2, 0, 53, &number) && place(&fields_.week);
    case 'V':
      return Number(2, 1, 53, &number) && place(&fields_.iso_week);
    case 'u':
      return Number(1, 1, 7, &number) && place(&fields_.weekday);
    case 'w':
      return Number(1, 0, 6, &number) && place(&fields_.weekday);
    case 'a':
    case 'A':
      return Name(kDays, &number) && place(&fields_.weekday);
    case 'g':
      if (!Number(2, 0, 99, &number)) return false;
      number += number < 69 ? 2'000 : 1'900;
      return place(&fields_.iso_year);
    case 'G':
      return Number(20, 0, 99'999, &number) && place(&fields_.iso_year);
    default:  // J
      return Number(3, 1, 371, &number) && place(&fields_.iso_day_of_year);
  }
}

bool FormatReader::ElementOfTime(char element) {
  switch (element) {
    case 'k':
      SkipSpace();
      [[fallthrough]];
    case 'H':
      fields_.is_twelve_hour = false;
      return Number(2, 0, 23, &fields_.hour);
    case 'I':
    case 'l':
      return TwelveHour();
    case 'M':
      return Number(2, 0, 59, &fields_.minute);
    case 'S':
      return Number(2, 0, 60, &fields_.second);
    case 'p':
    case 'P':
      return Meridian();
    case 'R':
      return As("%H:%M");
    case 'T':
    case 'X':
      return As("%H:%M:%S");
    case 'r':
      return As("%I:%M:%S %p");
    case 'z':
      return Offset(/*may_have_colon=*/false);
    case 'Z':
      return Zone();
    case 's': {
      constexpr int64_t kTwelveDigits = 999'999'999'999;
      int64_t seconds = 0;
      fields_.year_place = fields_.month_place = fields_.day_place = DatePlace();
      if (!Number(12, -kTwelveDigits, kTwelveDigits, &seconds)) return false;
      fields_.unix_seconds = seconds;
      return true;
    }
    case 'n':
    case 't':
      SkipSpace();
      return true;
    default:
      return false;
  }
}

// Of %E: Ez, E*S, E3S, E4Y, and Ey and the like, which are as without the E.
bool FormatReader::ExtendedElement(std::string_view* format) {
  if (format->empty()) return false;
  const char next = format->front();
  const char behind = format->size() > 1 ? (*format)[1] : '\0';
  if (next == 'z') {
    format->remove_prefix(1);
    if (!Take('Z')) return Offset(/*may_have_colon=*/true);
    fields_.offset_minutes = 0;
    return true;
  }
  if (behind == 'S' && (next == '*' || (next >= '0' && next <= '6'))) {
    format->remove_prefix(2);
    if (!Number(2, 0, 60, &fields_.second)) return false;
    return next == '0' || Micros(next == '*' ? std::numeric_limits<size_t>::max() : next - '0');
  }
  if (next == '4' && behind == 'Y') {
    format->remove_prefix(2);
    const size_t before = rest_.size();
    return Year(4) && before - rest_.size() == 4;
  }
  constexpr std::string_view kAsWithout = "YyCcxX";
  return kAsWithout.find(next) != std::string_view::npos && Element(format);
}

// OUT_OF_RANGE: the format has an element of times.
absl::Status CheckFormatOfDate(std::string_view format) {
  const auto is_of_time = [](char c) { return kElementsOfTime.find(c) != std::string_view::npos; };
  for (size_t i = 0; i + 1 < format.size(); ++i) {
    if (format[i] != '%') continue;
    const size_t start = ++i;
    if ((format[i] == 'E' || format[i] == 'O') && i + 1 < format.size()) ++i;
    const bool has_digits = format[start] == 'E' && (format[i] == '*' || IsDigitOfTime(format[i])) &&
                            i + 1 < format.size() && format[i + 1] == 'S';
    if (has_digits) ++i;
    if (!is_of_time(format[i])) continue;
    return absl::OutOfRangeError(fmt::format("Invalid format: %{} is not allowed for the DATE type.",
                                             format.substr(start, i + 1 - start)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParseTimestampAs(std::string_view format, std::string_view text,
                                         const absl::TimeZone& zone) {
  return FormatReader(format, text, zone).Read();
}

absl::StatusOr<int64_t> ParseDateAs(std::string_view format, std::string_view text) {
  if (absl::Status status = CheckFormatOfDate(format); !status.ok()) return status;
  const absl::StatusOr<int64_t> micros = ParseTimestampAs(format, text, absl::UTCTimeZone());
  if (!micros.ok()) return micros.status();
  return FloorDivide(*micros, kMicrosPerDay);
}

}  // namespace sonde::sql

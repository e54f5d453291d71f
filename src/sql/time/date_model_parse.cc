// Reads texts by models of dates and times.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "sql/function/unicode.h"
#include "sql/function/utf8.h"
#include "sql/time/calendar.h"
#include "sql/time/date_model.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kReadable[] = {"YYYY", "YYY", "YY",    "Y",    "RRRR", "RR",   "Y,YYY",
                                          "MM",   "MON", "MONTH", "DD",   "HH",   "HH12", "HH24",
                                          "MI",   "SS",  "SSSSS", "A.M.", "P.M.", "TZH",  "TZM"};

bool IsReadable(const DateModel::Element& element) {
  return element.category == DateModel::Category::kLiteral || element.digits > 0 ||
         std::find(std::begin(kReadable), std::end(kReadable), element.name) != std::end(kReadable);
}

std::string_view NameOf(DateModel::Category category) {
  switch (category) {
    case DateModel::Category::kYear:
      return "YEAR";
    case DateModel::Category::kMonth:
      return "MONTH";
    case DateModel::Category::kDay:
      return "DAY";
    case DateModel::Category::kHour:
      return "HOUR";
    case DateModel::Category::kMinute:
      return "MINUTE";
    case DateModel::Category::kSecond:
      return "SECOND";
    case DateModel::Category::kMeridian:
      return "MERIDIAN_INDICATOR";
    case DateModel::Category::kTimeZone:
      return "TIME_ZONE";
    default:
      return "";
  }
}

// The elements of a model by what they are.
class ModelElements {
 public:
  explicit ModelElements(const std::vector<DateModel::Element>& elements) : elements_(elements) {}

  const DateModel::Element* Named(std::string_view name) const {
    const auto found =
        std::find_if(elements_.begin(), elements_.end(), [&](const auto& one) { return one.is(name); });
    return found == elements_.end() ? nullptr : &*found;
  }
  // The first of a category; the second where there is one.
  const DateModel::Element* Of(DateModel::Category category, size_t number = 0) const {
    for (const DateModel::Element& element : elements_) {
      if (element.category == category && number-- == 0) return &element;
    }
    return nullptr;
  }

  absl::Status NotOf(DateModel::Category category, std::string_view type) const {
    const DateModel::Element* const element = Of(category);
    if (element == nullptr) return absl::OkStatus();
    return absl::OutOfRangeError(
        fmt::format("Format element in category {} ({}) is not allowed for output type {}", NameOf(category),
                    element->ToString(), type));
  }
  absl::Status OneOf(DateModel::Category category) const {
    const DateModel::Element* const second = Of(category, 1);
    if (second == nullptr) return absl::OkStatus();
    return absl::OutOfRangeError(fmt::format("More than one format element in category {} exist: {} and {}",
                                             NameOf(category), Of(category)->ToString(), second->ToString()));
  }
  absl::Status NotBoth(std::string_view name, DateModel::Category category) const {
    const DateModel::Element* const named = Named(name);
    const DateModel::Element* const other = Of(category);
    if (named == nullptr || other == nullptr) return absl::OkStatus();
    return absl::OutOfRangeError(
        fmt::format("Format element in category {} ({}) and format element {} cannot exist "
                    "simultaneously",
                    NameOf(category), other->ToString(), named->ToString()));
  }
  absl::Status MeridianWithHour() const {
    const DateModel::Element* hour = Named("HH");
    if (hour == nullptr) hour = Named("HH12");
    const DateModel::Element* const meridian = Of(DateModel::Category::kMeridian);
    if (hour != nullptr && meridian == nullptr) {
      return absl::OutOfRangeError(
          fmt::format("Format element in category MERIDIAN_INDICATOR is required when format "
                      "element {} exists",
                      hour->ToString()));
    }
    if (hour == nullptr && meridian != nullptr) {
      return absl::OutOfRangeError(
          fmt::format("Format element of type HH/HH12 is required when format element in "
                      "category MERIDIAN_INDICATOR ({}) exists",
                      meridian->ToString()));
    }
    return absl::OkStatus();
  }
  absl::Status SecondOfDayAlone() const {
    const DateModel::Element* const of_day = Named("SSSSS");
    const DateModel::Element* const of_minute = Named("SS");
    if (of_day == nullptr || of_minute == nullptr) return absl::OkStatus();
    return absl::OutOfRangeError(fmt::format("Format elements {} and {} cannot exist simultaneously",
                                             of_day->ToString(), of_minute->ToString()));
  }

 private:
  const std::vector<DateModel::Element>& elements_;
};

absl::Status FirstOf(std::initializer_list<absl::Status> statuses) {
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ModelElements of one kind, other than literals, stand once.
absl::Status CheckEachIsReadable(const std::vector<DateModel::Element>& elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const DateModel::Element& element = elements[i];
    if (!IsReadable(element)) {
      return absl::OutOfRangeError(
          fmt::format("Format element {} is not supported for parsing", element.ToString()));
    }
    if (element.category == DateModel::Category::kLiteral) continue;
    for (size_t before = 0; before < i; ++before) {
      const bool both_fractions = element.digits > 0 && elements[before].digits > 0;
      if (!elements[before].is(element.name) && !both_fractions) continue;
      return absl::OutOfRangeError(
          fmt::format("Format element {} appears more than once in the format string", element.ToString()));
    }
  }
  return absl::OkStatus();
}

bool IsDecimalDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// The text that is being read, and what was read of it.
class TextReader {
 public:
  TextReader(const std::vector<DateModel::Element>& elements, std::string_view text, const CivilDate& today)
      : elements_(elements), text_(text), year_(today.year), month_(today.month) {}

  absl::Status Run();
  absl::StatusOr<int64_t> Timestamp(const absl::TimeZone& zone) const;

 private:
  struct Digits {
    size_t min = 0;
    size_t max = 0;
  };

  std::string_view rest() const { return text_.substr(place_); }
  void SkipSpaces() {
    std::string_view left = rest();
    while (!left.empty() && IsWhiteSpace(TakeCharacter(&left))) place_ = text_.size() - left.size();
  }
  bool TakeText(std::string_view expected, bool any_case = false);
  // The first of these that the text goes on with, whatever the case.
  template <size_t kCount>
  std::optional<int> TakeName(const std::array<std::string_view, kCount>& names);
  std::optional<int64_t> TakeNumber(Digits digits, int64_t least, int64_t most);

  // Whether the text of the element at `index` goes on with a digit of the next element: then its own digits are all there.
  bool PrecedesDigit(size_t index) const;
  Digits DigitsOf(size_t index) const;
  bool Take(size_t index);
  bool TakeYear(const DateModel::Element& element, Digits digits);
  bool TakeMonth(const DateModel::Element& element, Digits digits);
  bool TakeTime(const DateModel::Element& element, Digits digits);
  bool TakeFraction(const DateModel::Element& element, Digits digits);
  bool TakeZone(const DateModel::Element& element, Digits digits);

  const std::vector<DateModel::Element>& elements_;
  const std::string_view text_;
  size_t place_ = 0;

  int64_t year_;
  int64_t month_;
  int64_t day_ = 1;
  int64_t hour_ = 0;
  int64_t minute_ = 0;
  int64_t second_ = 0;
  int64_t micros_ = 0;
  std::optional<int64_t> hour_of_half_;
  bool is_afternoon_ = false;
  bool has_zone_ = false;
  bool is_west_ = false;
  int64_t zone_hours_ = 0;
  int64_t zone_minutes_ = 0;
};

bool TextReader::TakeText(std::string_view expected, bool any_case) {
  const std::string_view found = rest().substr(0, expected.size());
  const bool fits = found.size() == expected.size() &&
                    std::equal(found.begin(), found.end(), expected.begin(), [&](char a, char b) {
                      return a == b || (any_case && absl::ascii_toupper(static_cast<unsigned char>(a)) == b);
                    });
  if (fits) place_ += expected.size();
  return fits;
}

template <size_t kCount>
std::optional<int> TextReader::TakeName(const std::array<std::string_view, kCount>& names) {
  for (size_t i = 0; i < kCount; ++i) {
    if (TakeText(names[i], /*any_case=*/true)) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::optional<int64_t> TextReader::TakeNumber(Digits digits, int64_t least, int64_t most) {
  int64_t number = 0;
  size_t count = 0;
  while (count < digits.max && count < rest().size() && IsDecimalDigit(rest()[count]))
    number = number * 10 + (rest()[count++] - '0');
  if (count == 0 || count < digits.min || number < least || number > most) return std::nullopt;
  place_ += count;
  return number;
}

bool TextReader::PrecedesDigit(size_t index) const {
  for (size_t next = index + 1; next < elements_.size(); ++next) {
    const DateModel::Element& element = elements_[next];
    if (element.is("\"") && element.literal.empty()) continue;
    if (element.category == DateModel::Category::kLiteral)
      return element.is("\"") && IsDecimalDigit(element.literal[0]);
    return !element.is("MON") && !element.is("MONTH") && !element.is("A.M.") && !element.is("P.M.") &&
           !element.is("TZH");
  }
  return false;
}

TextReader::Digits TextReader::DigitsOf(size_t index) const {
  const DateModel::Element& element = elements_[index];
  size_t count = element.length;
  if (element.digits > 0) count = static_cast<size_t>(element.digits);
  if (element.is("HH12") || element.is("HH24") || element.is("TZH") || element.is("TZM")) count = 2;
  if (PrecedesDigit(index)) return {count, count};
  if (element.is("YYYY") || element.is("RRRR")) count = 5;
  return {1, count};
}

bool TextReader::TakeYear(const DateModel::Element& element, Digits digits) {
  if (element.is("Y,YYY")) {
    const auto thousands = TakeNumber({1, 2}, 0, 10);
    if (!thousands.has_value() || !TakeText(",")) return false;
    const auto others = TakeNumber({3, 3}, 0, 999);
    if (others.has_value()) year_ = *thousands * 1000 + *others;
    return others.has_value();
  }
  const auto number = TakeNumber(digits, 0, 10'000);
  if (!number.has_value()) return false;
  if (element.is("YYYY") || element.is("RRRR")) {
    year_ = *number;
    return true;
  }
  if (element.is("RR")) {
    // The year that is nearest, by halves of centuries.
    const int64_t half = year_ % 100 / 50;
    year_ = (year_ / 100 + (*number < 50 && half == 1    ? 1
                            : *number >= 50 && half == 0 ? -1
                                                         : 0)) *
                100 +
            *number;
    return true;
  }
  int64_t bound = 1;
  for (size_t i = 0; i < element.length; ++i) bound *= 10;
  year_ = year_ / bound * bound + *number;
  return true;
}

bool TextReader::TakeMonth(const DateModel::Element& element, Digits digits) {
  static constexpr std::array<std::string_view, 12> kShort = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                              "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  static constexpr std::array<std::string_view, 12> kLong = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                                             "MAY",       "JUNE",     "JULY",     "AUGUST",
                                                             "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
  std::optional<int64_t> month;
  if (element.is("MM")) {
    month = TakeNumber(digits, 1, 12);
  } else if (const auto place = TakeName(element.is("MON") ? kShort : kLong); place.has_value()) {
    month = *place + 1;
  }
  if (month.has_value()) month_ = *month;
  return month.has_value();
}

bool TextReader::TakeTime(const DateModel::Element& element, Digits digits) {
  constexpr int64_t kSecondsPerDay = 86'400;
  if (element.digits > 0) return TakeFraction(element, digits);
  if (element.is("A.M.") || element.is("P.M.")) {
    const auto place = TakeName(std::array<std::string_view, 2>{"A.M.", "P.M."});
    is_afternoon_ = place == 1;
    return place.has_value();
  }
  const bool is_half = element.is("HH") || element.is("HH12");
  const int64_t most = is_half ? 12 : element.is("HH24") ? 23 : element.is("SSSSS") ? kSecondsPerDay - 1 : 59;
  const auto number = TakeNumber(digits, is_half ? 1 : 0, most);
  if (!number.has_value()) return false;
  if (is_half) hour_of_half_ = number;
  if (element.is("HH24")) hour_ = *number;
  if (element.is("MI")) minute_ = *number;
  if (element.is("SS")) second_ = *number;
  if (element.is("SSSSS")) second_ = *number;  // hours and minutes are 0 then
  return true;
}

bool TextReader::TakeFraction(const DateModel::Element&, Digits digits) {
  constexpr size_t kMicrosDigits = 6;
  size_t count = 0;
  int64_t micros = 0;
  for (; count < digits.max && count < rest().size() && IsDecimalDigit(rest()[count]); ++count) {
    if (count < kMicrosDigits) micros = micros * 10 + (rest()[count] - '0');
  }
  if (count == 0 || count < digits.min) return false;
  for (size_t i = count; i < kMicrosDigits; ++i) micros *= 10;
  micros_ = micros;
  place_ += count;
  return true;
}

bool TextReader::TakeZone(const DateModel::Element& element, Digits digits) {
  has_zone_ = true;
  if (element.is("TZM")) {
    const auto minutes = TakeNumber(digits, 0, 59);
    zone_minutes_ = minutes.value_or(0);
    return minutes.has_value();
  }
  const size_t start = place_;
  is_west_ = TakeText("-");
  if (!is_west_ && !TakeText("+") && !TakeText(" ")) return false;
  const auto hours = TakeNumber(digits, 0, 14);
  if (!hours.has_value()) place_ = start;
  zone_hours_ = hours.value_or(0);
  return hours.has_value();
}

bool TextReader::Take(size_t index) {
  const DateModel::Element& element = elements_[index];
  const Digits digits = DigitsOf(index);
  switch (element.category) {
    case DateModel::Category::kLiteral: {
      if (!element.is(" ")) return TakeText(element.literal);
      const size_t start = place_;
      SkipSpaces();
      return place_ > start;
    }
    case DateModel::Category::kYear:
      return TakeYear(element, digits);
    case DateModel::Category::kMonth:
      return TakeMonth(element, digits);
    case DateModel::Category::kDay: {
      const auto day = TakeNumber(digits, 1, 31);
      day_ = day.value_or(day_);
      return day.has_value();
    }
    case DateModel::Category::kTimeZone:
      return TakeZone(element, digits);
    default:
      return TakeTime(element, digits);
  }
}

absl::Status TextReader::Run() {
  SkipSpaces();
  size_t index = 0;
  for (; place_ < text_.size() && index < elements_.size(); ++index) {
    const size_t start = place_;
    if (Take(index)) continue;
    return absl::OutOfRangeError(
        fmt::format("Failed to parse input timestamp string at {} with format element {}", start,
                    elements_[index].ToString()));
  }
  SkipSpaces();
  while (index < elements_.size() && elements_[index].is("\"") && elements_[index].literal.empty()) ++index;
  if (place_ < text_.size()) {
    return absl::OutOfRangeError(
        fmt::format("Illegal non-space trailing data '{}' in timestamp string", rest()));
  }
  if (index < elements_.size()) {
    return absl::OutOfRangeError(
        fmt::format("Entire timestamp string has been parsed before dealing with format element {}",
                    elements_[index].ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> TextReader::Timestamp(const absl::TimeZone& zone) const {
  if (day_ > DaysInMonth(year_, static_cast<int>(month_))) {
    return absl::OutOfRangeError("Invalid result from year, month, day values after parsing");
  }
  absl::StatusOr<absl::TimeZone> of_text = zone;
  if (has_zone_)
    of_text = FindTimeZone(fmt::format("{}{:02}{:02}", is_west_ ? '-' : '+', zone_hours_, zone_minutes_));
  if (!of_text.ok()) return of_text.status();
  const int64_t hour = hour_of_half_.has_value() ? *hour_of_half_ % 12 + (is_afternoon_ ? 12 : 0) : hour_;
  const absl::CivilSecond civil(year_, month_, day_, hour, minute_, second_);
  const absl::Time time = of_text->At(civil).pre;
  const int64_t micros = absl::ToUnixMicros(time) + micros_;
  if (!IsTimestamp(micros)) return absl::OutOfRangeError("The parsing result is out of valid time range");
  return micros;
}

}  // namespace

absl::Status DateModel::CheckReads(bool is_date) const {
  if (absl::Status status = CheckEachIsReadable(elements_); !status.ok()) return status;
  const ModelElements elements(elements_);
  if (is_date) {
    for (const DateModel::Category category :
         {DateModel::Category::kHour, DateModel::Category::kMinute, DateModel::Category::kSecond,
          DateModel::Category::kMeridian, DateModel::Category::kTimeZone}) {
      if (absl::Status status = elements.NotOf(category, "DATE"); !status.ok()) return status;
    }
  }
  for (const DateModel::Category category :
       {DateModel::Category::kMeridian, DateModel::Category::kYear, DateModel::Category::kMonth,
        DateModel::Category::kDay, DateModel::Category::kHour, DateModel::Category::kMinute}) {
    if (absl::Status status = elements.OneOf(category); !status.ok()) return status;
  }
  return FirstOf({elements.NotBoth("HH24", DateModel::Category::kMeridian), elements.MeridianWithHour(),
                  elements.NotBoth("SSSSS", DateModel::Category::kHour),
                  elements.NotBoth("SSSSS", DateModel::Category::kMinute), elements.SecondOfDayAlone()});
}

absl::StatusOr<int64_t> DateModel::Parse(std::string_view text, const absl::TimeZone& zone,
                                         int64_t now) const {
  LocalClock clock(zone);
  TextReader reader(elements_, text, CivilOf(FloorDivide(clock.Local(now), kMicrosPerDay)));
  if (absl::Status status = reader.Run(); !status.ok()) return status;
  return reader.Timestamp(zone);
}

}  // namespace sonde::sql

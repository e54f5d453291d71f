#include "sql/time/date_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "sql/time/calendar.h"

namespace sonde::sql {
namespace {

struct Known {
  std::string_view name;
  DateModel::Category category;
};

constexpr Known kKnown[] = {
    {"YYYY", DateModel::Category::kYear},     {"YYY", DateModel::Category::kYear},
    {"YY", DateModel::Category::kYear},       {"Y", DateModel::Category::kYear},
    {"RRRR", DateModel::Category::kYear},     {"RR", DateModel::Category::kYear},
    {"Y,YYY", DateModel::Category::kYear},    {"IYYY", DateModel::Category::kYear},
    {"IYY", DateModel::Category::kYear},      {"IY", DateModel::Category::kYear},
    {"I", DateModel::Category::kYear},        {"SYYYY", DateModel::Category::kYear},
    {"YEAR", DateModel::Category::kYear},     {"SYEAR", DateModel::Category::kYear},
    {"MM", DateModel::Category::kMonth},      {"MON", DateModel::Category::kMonth},
    {"MONTH", DateModel::Category::kMonth},   {"RM", DateModel::Category::kMonth},
    {"DDD", DateModel::Category::kDay},       {"DD", DateModel::Category::kDay},
    {"D", DateModel::Category::kDay},         {"DAY", DateModel::Category::kDay},
    {"DY", DateModel::Category::kDay},        {"J", DateModel::Category::kDay},
    {"HH", DateModel::Category::kHour},       {"HH12", DateModel::Category::kHour},
    {"HH24", DateModel::Category::kHour},     {"MI", DateModel::Category::kMinute},
    {"SS", DateModel::Category::kSecond},     {"SSSSS", DateModel::Category::kSecond},
    {"FF1", DateModel::Category::kSecond},    {"FF2", DateModel::Category::kSecond},
    {"FF3", DateModel::Category::kSecond},    {"FF4", DateModel::Category::kSecond},
    {"FF5", DateModel::Category::kSecond},    {"FF6", DateModel::Category::kSecond},
    {"FF7", DateModel::Category::kSecond},    {"FF8", DateModel::Category::kSecond},
    {"FF9", DateModel::Category::kSecond},    {"FF10", DateModel::Category::kSecond},
    {"FF11", DateModel::Category::kSecond},   {"FF12", DateModel::Category::kSecond},
    {"AM", DateModel::Category::kMeridian},   {"PM", DateModel::Category::kMeridian},
    {"A.M.", DateModel::Category::kMeridian}, {"P.M.", DateModel::Category::kMeridian},
    {"TZH", DateModel::Category::kTimeZone},  {"TZM", DateModel::Category::kTimeZone},
    {"CC", DateModel::Category::kOther},      {"SCC", DateModel::Category::kOther},
    {"Q", DateModel::Category::kOther},       {"IW", DateModel::Category::kOther},
    {"WW", DateModel::Category::kOther},      {"W", DateModel::Category::kOther},
    {"AD", DateModel::Category::kOther},      {"BC", DateModel::Category::kOther},
    {"A.D.", DateModel::Category::kOther},    {"B.C.", DateModel::Category::kOther},
    {"SP", DateModel::Category::kOther},      {"TH", DateModel::Category::kOther},
    {"SPTH", DateModel::Category::kOther},    {"THSP", DateModel::Category::kOther},
    {"FM", DateModel::Category::kOther},
};

constexpr std::string_view kSigns = "-./,';:";

constexpr std::array<std::string_view, 12> kMonthNames = {"January",   "February", "March",    "April",
                                                          "May",       "June",     "July",     "August",
                                                          "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdayNames = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                           "Thursday", "Friday", "Saturday"};

bool StartsWithoutCase(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char a, char b) { return absl::ascii_toupper(static_cast<unsigned char>(b)) == a; });
}

// How the letters of what is written follow those of the element.
DateModel::Letters LettersOf(std::string_view written, DateModel::Category category) {
  if (absl::ascii_islower(static_cast<unsigned char>(written[0]))) return DateModel::Letters::kLower;
  const bool second_counts = category != DateModel::Category::kMeridian && written.size() > 1;
  return second_counts && absl::ascii_islower(static_cast<unsigned char>(written[1]))
             ? DateModel::Letters::kFirstUpper
             : DateModel::Letters::kUpper;
}

absl::StatusOr<DateModel::Element> ReadQuoted(std::string_view text) {
  DateModel::Element element;
  element.name = "\"";
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      element.length = i + 1;
      return element;
    }
    if (text[i] == '\\' && ++i < text.size() && text[i] != '\\' && text[i] != '"') {
      return absl::OutOfRangeError(fmt::format("Unsupported escape sequence \\{} in text", text[i]));
    }
    if (i < text.size()) element.literal += text[i];
  }
  return absl::OutOfRangeError("Cannot find matching \" for quoted literal");
}

// The longest element that `text`, which is not empty, begins with.
absl::StatusOr<DateModel::Element> ReadElement(std::string_view text) {
  DateModel::Element element;
  if (text[0] == '"') return ReadQuoted(text);
  if (text[0] == ' ') {
    element.name = " ";
    element.length = std::min(text.find_first_not_of(' '), text.size());
    return element;
  }
  if (kSigns.find(text[0]) != std::string_view::npos) {
    element.name = element.literal = text.substr(0, 1);
    element.length = 1;
    return element;
  }
  for (const Known& known : kKnown) {
    if (known.name.size() <= element.length || !StartsWithoutCase(text, known.name)) continue;
    element.name = known.name;
    element.category = known.category;
    element.length = known.name.size();
  }
  if (element.length == 0) return absl::OutOfRangeError("Cannot find matched format element");
  element.letters = LettersOf(text.substr(0, element.length), element.category);
  if (element.name.starts_with("FF")) {
    for (const char digit : element.name.substr(2)) element.digits = element.digits * 10 + (digit - '0');
  }
  return element;
}

// --- What elements write.

struct Moment {
  explicit Moment(int64_t local, int64_t of_offset) : offset(of_offset) {
    day = FloorDivide(local, kMicrosPerDay);
    of_day = FloorModulo(local, kMicrosPerDay);
    date = CivilOf(day);
  }
  int64_t hour() const { return of_day / kMicrosPerHour; }

  int64_t day = 0;
  int64_t of_day = 0;
  CivilDate date;
  int64_t offset = 0;
};

std::string Fraction(int64_t micros, int digits) {
  std::string text = fmt::format("{:06}", micros);
  text.resize(static_cast<size_t>(digits), '0');
  return text;
}

// A name with its first letter in upper case, or a number.  Nothing: there is no such element.
std::optional<std::string> DatePartText(const DateModel::Element& element, const Moment& moment) {
  if (element.is("MM")) return fmt::format("{:02}", moment.date.month);
  if (element.is("MONTH")) return std::string(kMonthNames[moment.date.month - 1]);
  if (element.is("MON")) return std::string(kMonthNames[moment.date.month - 1].substr(0, 3));
  if (element.is("D")) return fmt::format("{}", WeekdayOf(moment.day) + 1);
  if (element.is("DD")) return fmt::format("{:02}", moment.date.day);
  if (element.is("DDD")) return fmt::format("{:03}", DayOfYear(moment.day));
  if (element.is("DAY")) return std::string(kWeekdayNames[WeekdayOf(moment.day)]);
  if (element.is("DY")) return std::string(kWeekdayNames[WeekdayOf(moment.day)].substr(0, 3));
  if (element.category != DateModel::Category::kYear ||
      element.name.find_first_not_of("YR") != std::string::npos)
    return std::nullopt;
  int64_t bound = 1;
  for (size_t i = 0; i < element.length; ++i) bound *= 10;
  return fmt::format("{:0{}}", moment.date.year % bound, element.length);
}

std::optional<std::string> TimePartText(const DateModel::Element& element, const Moment& moment) {
  if (element.is("HH") || element.is("HH12")) return fmt::format("{:02}", (moment.hour() + 11) % 12 + 1);
  if (element.is("HH24")) return fmt::format("{:02}", moment.hour());
  if (element.is("MI")) return fmt::format("{:02}", moment.of_day / kMicrosPerMinute % 60);
  if (element.is("SS")) return fmt::format("{:02}", moment.of_day / kMicrosPerSecond % 60);
  if (element.is("SSSSS")) return fmt::format("{:05}", moment.of_day / kMicrosPerSecond);
  if (element.digits > 0) return Fraction(moment.of_day % kMicrosPerSecond, element.digits);
  if (element.is("AM") || element.is("PM")) return moment.hour() < 12 ? "AM" : "PM";
  if (element.is("A.M.") || element.is("P.M.")) return moment.hour() < 12 ? "A.M." : "P.M.";
  const int64_t minutes = (moment.offset < 0 ? -moment.offset : moment.offset) / kMicrosPerMinute;
  if (element.is("TZH")) return fmt::format("{}{:02}", moment.offset < 0 ? '-' : '+', minutes / 60);
  if (element.is("TZM")) return fmt::format("{:02}", minutes % 60);
  return std::nullopt;
}

}  // namespace

std::string DateModel::Element::ToString() const {
  if (is("\"")) return fmt::format("'\"{}\"'", absl::CEscape(literal));
  if (is(" ")) return fmt::format("'{}'", std::string(length, ' '));
  return fmt::format("'{}'", name);
}

absl::StatusOr<DateModel> DateModel::Read(std::string_view text) {
  DateModel model;
  for (size_t place = 0; place < text.size();) {
    absl::StatusOr<DateModel::Element> element = ReadElement(text.substr(place));
    if (!element.ok()) {
      return absl::OutOfRangeError(fmt::format("{} at {}", std::string(element.status().message()), place));
    }
    place += element->length;
    model.elements_.push_back(*std::move(element));
  }
  return model;
}

absl::Status DateModel::CheckWritesDate() const {
  for (const DateModel::Element& element : elements_) {
    if (element.category > DateModel::Category::kDay) {
      return absl::OutOfRangeError("DATE does not support " + element.ToString());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DateModel::Format(int64_t local, int64_t offset) const {
  const Moment moment(local, offset);
  std::string text;
  for (const DateModel::Element& element : elements_) {
    if (element.category == DateModel::Category::kLiteral) {
      text += element.is(" ") ? std::string(element.length, ' ') : element.literal;
      continue;
    }
    std::optional<std::string> part = DatePartText(element, moment);
    if (!part.has_value()) part = TimePartText(element, moment);
    if (!part.has_value()) return absl::OutOfRangeError("Unsupported format element " + element.ToString());
    if (element.letters == DateModel::Letters::kUpper) absl::AsciiStrToUpper(&*part);
    if (element.letters == DateModel::Letters::kLower) absl::AsciiStrToLower(&*part);
    text += *part;
  }
  return text;
}

}  // namespace sonde::sql

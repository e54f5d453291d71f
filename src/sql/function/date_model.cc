#include "sql/function/date_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "sql/function/calendar.h"

namespace sonde::sql {
namespace {

using Category = DateModel::Category;
using Letters = DateModel::Letters;
using Element = DateModel::Element;

struct Known {
  std::string_view name;
  Category category;
};

constexpr Known kKnown[] = {
    {"YYYY", Category::kYear},     {"YYY", Category::kYear},     {"YY", Category::kYear},
    {"Y", Category::kYear},        {"RRRR", Category::kYear},    {"RR", Category::kYear},
    {"Y,YYY", Category::kYear},    {"IYYY", Category::kYear},    {"IYY", Category::kYear},
    {"IY", Category::kYear},       {"I", Category::kYear},       {"SYYYY", Category::kYear},
    {"YEAR", Category::kYear},     {"SYEAR", Category::kYear},   {"MM", Category::kMonth},
    {"MON", Category::kMonth},     {"MONTH", Category::kMonth},  {"RM", Category::kMonth},
    {"DDD", Category::kDay},       {"DD", Category::kDay},       {"D", Category::kDay},
    {"DAY", Category::kDay},       {"DY", Category::kDay},       {"J", Category::kDay},
    {"HH", Category::kHour},       {"HH12", Category::kHour},    {"HH24", Category::kHour},
    {"MI", Category::kMinute},     {"SS", Category::kSecond},    {"SSSSS", Category::kSecond},
    {"FF1", Category::kSecond},    {"FF2", Category::kSecond},   {"FF3", Category::kSecond},
    {"FF4", Category::kSecond},    {"FF5", Category::kSecond},   {"FF6", Category::kSecond},
    {"FF7", Category::kSecond},    {"FF8", Category::kSecond},   {"FF9", Category::kSecond},
    {"FF10", Category::kSecond},   {"FF11", Category::kSecond},  {"FF12", Category::kSecond},
    {"AM", Category::kMeridian},   {"PM", Category::kMeridian},  {"A.M.", Category::kMeridian},
    {"P.M.", Category::kMeridian}, {"TZH", Category::kTimeZone}, {"TZM", Category::kTimeZone},
    {"CC", Category::kOther},      {"SCC", Category::kOther},    {"Q", Category::kOther},
    {"IW", Category::kOther},      {"WW", Category::kOther},     {"W", Category::kOther},
    {"AD", Category::kOther},      {"BC", Category::kOther},     {"A.D.", Category::kOther},
    {"B.C.", Category::kOther},    {"SP", Category::kOther},     {"TH", Category::kOther},
    {"SPTH", Category::kOther},    {"THSP", Category::kOther},   {"FM", Category::kOther},
};

constexpr std::string_view kSigns = "-./,';:";

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

bool StartsWithoutCase(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char a, char b) { return absl::ascii_toupper(static_cast<unsigned char>(b)) == a; });
}

// How the letters of what is written follow those of the element.
Letters LettersOf(std::string_view written, Category category) {
  if (absl::ascii_islower(static_cast<unsigned char>(written[0]))) return Letters::kLower;
  const bool second_counts = category != Category::kMeridian && written.size() > 1;
  return second_counts && absl::ascii_islower(static_cast<unsigned char>(written[1])) ? Letters::kFirstUpper
                                                                                      : Letters::kUpper;
}

absl::StatusOr<Element> ReadQuoted(std::string_view text) {
  Element element;
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
absl::StatusOr<Element> ReadElement(std::string_view text) {
  Element element;
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
std::optional<std::string> DateText(const Element& element, const Moment& moment) {
  if (element.is("MM")) return fmt::format("{:02}", moment.date.month);
  if (element.is("MONTH")) return std::string(kMonths[moment.date.month - 1]);
  if (element.is("MON")) return std::string(kMonths[moment.date.month - 1].substr(0, 3));
  if (element.is("D")) return fmt::format("{}", WeekdayOf(moment.day) + 1);
  if (element.is("DD")) return fmt::format("{:02}", moment.date.day);
  if (element.is("DDD")) return fmt::format("{:03}", DayOfYear(moment.day));
  if (element.is("DAY")) return std::string(kWeekdays[WeekdayOf(moment.day)]);
  if (element.is("DY")) return std::string(kWeekdays[WeekdayOf(moment.day)].substr(0, 3));
  if (element.category != Category::kYear || element.name.find_first_not_of("YR") != std::string::npos)
    return std::nullopt;
  int64_t bound = 1;
  for (size_t i = 0; i < element.length; ++i) bound *= 10;
  return fmt::format("{:0{}}", moment.date.year % bound, element.length);
}

std::optional<std::string> TimeText(const Element& element, const Moment& moment) {
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
    absl::StatusOr<Element> element = ReadElement(text.substr(place));
    if (!element.ok()) {
      return absl::OutOfRangeError(fmt::format("{} at {}", std::string(element.status().message()), place));
    }
    place += element->length;
    model.elements_.push_back(*std::move(element));
  }
  return model;
}

absl::Status DateModel::CheckWritesDate() const {
  for (const Element& element : elements_) {
    if (element.category > Category::kDay) {
      return absl::OutOfRangeError("DATE does not support " + element.ToString());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DateModel::Format(int64_t local, int64_t offset) const {
  const Moment moment(local, offset);
  std::string text;
  for (const Element& element : elements_) {
    if (element.category == Category::kLiteral) {
      text += element.is(" ") ? std::string(element.length, ' ') : element.literal;
      continue;
    }
    std::optional<std::string> part = DateText(element, moment);
    if (!part.has_value()) part = TimeText(element, moment);
    if (!part.has_value()) return absl::OutOfRangeError("Unsupported format element " + element.ToString());
    if (element.letters == Letters::kUpper) absl::AsciiStrToUpper(&*part);
    if (element.letters == Letters::kLower) absl::AsciiStrToLower(&*part);
    text += *part;
  }
  return text;
}

}  // namespace sonde::sql

#include "promql/functions/dates.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sonde::promql {
namespace {

constexpr int64_t kDaySeconds = 86'400;

struct Date {
  int64_t year;
  int month;
  int day;
  int weekday;  // from Sunday, 0
  int year_day;
  int hour;
  int minute;
};

bool IsLeap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int DaysIn(int month, int64_t year) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[static_cast<size_t>(month - 1)] + (month == 2 && IsLeap(year) ? 1 : 0);
}

Date DateOf(double value) {
  // What no int64 holds becomes the least one, whose date Go wraps around.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0) ||
      value == -9223372036854775808.0) {
    return {292'277'026'596, 12, 4, 0, 339, 15, 30};
  }
  const auto seconds = static_cast<int64_t>(value);
  int64_t days = seconds / kDaySeconds;
  int64_t second = seconds % kDaySeconds;
  if (second < 0) {
    second += kDaySeconds;
    --days;
  }
  Date date{};
  date.hour = static_cast<int>(second / 3'600);
  date.minute = static_cast<int>(second % 3'600 / 60);
  date.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  // 400 years have 146,097 days; an era begins with the first of March.
  constexpr int64_t kEraDays = 146'097;
  const int64_t since = days + 719'468;
  const int64_t era = (since >= 0 ? since : since - (kEraDays - 1)) / kEraDays;
  const int64_t day_of_era = since - era * kEraDays;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  date.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  date.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  date.year_day = date.day;
  for (int month = 1; month < date.month; ++month) date.year_day += DaysIn(month, date.year);
  return date;
}

constexpr std::array<std::pair<std::string_view, DateFunction>, 8> kDateFunctions = {{
    {"days_in_month",
     [](double v) {
       const Date date = DateOf(v);
       return static_cast<double>(DaysIn(date.month, date.year));
     }},
    {"day_of_month", [](double v) { return static_cast<double>(DateOf(v).day); }},
    {"day_of_week", [](double v) { return static_cast<double>(DateOf(v).weekday); }},
    {"day_of_year", [](double v) { return static_cast<double>(DateOf(v).year_day); }},
    {"hour", [](double v) { return static_cast<double>(DateOf(v).hour); }},
    {"minute", [](double v) { return static_cast<double>(DateOf(v).minute); }},
    {"month", [](double v) { return static_cast<double>(DateOf(v).month); }},
    {"year", [](double v) { return static_cast<double>(DateOf(v).year); }},
}};

}  // namespace

DateFunction FindDateFunction(std::string_view name) {
  for (const auto& [known, function] : kDateFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

}  // namespace sonde::promql

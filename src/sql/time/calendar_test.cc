#include "sql/time/calendar.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"

namespace sonde::sql {
namespace {

const std::vector<std::string> kPartsOfDates = {"YEAR",    "ISOYEAR",      "QUARTER",        "MONTH",
                                                "WEEK",    "WEEK(MONDAY)", "WEEK(SATURDAY)", "WEEK(SUNDAY)",
                                                "ISOWEEK", "DAY"};

TEST(Calendar, AgreesWithCivilTime) {
  absl::CivilDay civil = absl::CivilDay(1970, 1, 1) + (kDateMin - 800);
  for (int64_t days = kDateMin - 800; days <= kDateMax + 800; ++days, ++civil) {
    const CivilDate date = CivilOf(days);
    ASSERT_TRUE(date.year == civil.year() && date.month == civil.month() && date.day == civil.day()) << days;
    ASSERT_EQ(DaysOf(date.year, date.month, date.day), days);
    if (date.day != 1) continue;
    ASSERT_EQ(DayOfYear(days), absl::GetYearDay(civil)) << days;
    ASSERT_EQ((WeekdayOf(days) + 6) % 7, static_cast<int>(absl::GetWeekday(civil))) << days;
  }
}

TEST(Calendar, CutsDaysIntoPiecesThatTouch) {
  std::mt19937 random(7);
  for (const std::string& name : kPartsOfDates) {
    const DatePart part = *ParseDatePart(name);
    EXPECT_EQ(NameOf(part), name);
    for (int i = 0; i < 3'000; ++i) {
      const int64_t days = std::uniform_int_distribution<int64_t>(kDateMin, kDateMax)(random);
      const int64_t start = StartOf(part, days);
      const int64_t end = NextStartOf(part, days);
      ASSERT_TRUE(start <= days && days < end) << name << " " << days;
      ASSERT_EQ(StartOf(part, end - 1), start) << name << " " << days;
      ASSERT_EQ(StartOf(part, end), end) << name << " " << days;
      ASSERT_EQ(DatePartsBetween(part, end, start), 1) << name << " " << days;
      ASSERT_EQ(DatePartsBetween(part, end - 1, start), 0) << name << " " << days;
    }
  }
}

TEST(Calendar, AddsAndTakesAway) {
  std::mt19937 random(11);
  for (const std::string name : {"DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}) {
    const DatePart part = *ParseDatePart(name);
    for (int i = 0; i < 3'000; ++i) {
      const int64_t days = std::uniform_int_distribution<int64_t>(kDateMin, kDateMax)(random);
      const int64_t count = std::uniform_int_distribution<int64_t>(-1'000, 1'000)(random);
      const std::optional<int64_t> sum = AddToDate(part, days, count);
      if (!sum.has_value()) continue;
      ASSERT_TRUE(IsDate(*sum));
      if (name != "WEEK") {
        ASSERT_EQ(DatePartsBetween(part, *sum, days), count) << name << " " << days;
      }
      const std::optional<int64_t> back = AddToDate(part, *sum, -count);
      ASSERT_TRUE(back.has_value());
      // A day that a month did not have is lost.
      if (CivilOf(*sum).day == CivilOf(days).day || name == "DAY" || name == "WEEK") {
        ASSERT_EQ(*back, days);
      }
    }
  }
}

TEST(Calendar, NumbersWeeks) {
  for (int64_t days = DaysOf(1995, 1, 1); days < DaysOf(2030, 1, 1); ++days) {
    const int64_t iso_week = ExtractFromDate({.kind = DatePartKind::kIsoWeek}, days);
    ASSERT_EQ(IsoYearStart(IsoYearOf(days)) + 7 * (iso_week - 1),
              StartOf({.kind = DatePartKind::kIsoWeek}, days));
    // The first Sunday of a year begins week 1.
    const int64_t week = ExtractFromDate({.kind = DatePartKind::kWeek}, days);
    if (WeekdayOf(days) == 0 && DayOfYear(days) <= 7) {
      ASSERT_EQ(week, 1) << days;
    }
    if (DayOfYear(days) > 1) {
      ASSERT_EQ(week - ExtractFromDate({.kind = DatePartKind::kWeek}, days - 1),
                WeekdayOf(days) == 0 ? 1 : 0);
    }
  }
}

TEST(Calendar, RefusesPartsThatAFunctionDoesNotTake) {
  const auto message = [](std::string_view function, std::string_view type, std::string_view part) {
    return std::string(CheckDatePart(function, type, *ParseDatePart(part)).message());
  };
  EXPECT_EQ(message("DATE_ADD", "DATE", "DAY"), "");
  EXPECT_EQ(message("DATE_ADD", "DATE", "HOUR"),
            "DATE_ADD does not support the HOUR date part when the argument is DATE type");
  EXPECT_EQ(message("DATE_ADD", "DATE", "WEEK(MONDAY)"),
            "DATE_ADD does not support the WEEK(MONDAY) date part when the argument is DATE type");
  EXPECT_EQ(message("TIMESTAMP_TRUNC", "TIMESTAMP", "NANOSECOND"),
            "TIMESTAMP_TRUNC does not support the NANOSECOND date part");
  EXPECT_EQ(message("EXTRACT", "TIMESTAMP", "TIME"),
            "EXTRACT from TIMESTAMP does not support the TIME date part");
  EXPECT_FALSE(ParseDatePart("CENTURY").has_value());
  EXPECT_FALSE(ParseDatePart("WEEK(FOO)").has_value());
  EXPECT_FALSE(ParseDatePart("WEEK(").has_value());
}

}  // namespace
}  // namespace sonde::sql

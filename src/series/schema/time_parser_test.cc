#include "series/schema/time_parser.h"

#include <gtest/gtest.h>

#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

// The time as TimeText has it, or why it is refused.
std::string Parse(std::string_view format, std::string_view text, bool assume_utc = true) {
  const auto parser = TimeParser::Create(format, assume_utc);
  if (!parser.ok()) return std::string(parser.status().message());
  const auto time = parser->Parse(text);
  return time ? TimeText(*time) : std::string(parser->Refusal(text).message());
}

TEST(TimeParser, ReadsRfc3339) {
  EXPECT_EQ(Parse("", "2021-03-05T12:04:33Z", false), "2021-03-05T12:04:33Z");
  EXPECT_EQ(Parse("auto", "2021-03-05 12:04:33.123456789+01:30", false), "2021-03-05T10:34:33.123456Z");
  EXPECT_EQ(Parse("", "2021-03-05T12:04-0800", false), "2021-03-05T20:04:00Z");
  EXPECT_EQ(Parse("", "2010-01-01T01:00:00"), "2010-01-01T01:00:00Z");
  EXPECT_EQ(Parse("", "2012-01-01"), "2012-01-01T00:00:00Z");
}

TEST(TimeParser, WantsAZone) {
  EXPECT_EQ(Parse("", "2012-01-01", false),
            "time '2012-01-01' names no zone; declare time: { zone: UTC } (or say --zone UTC) if it is UTC");
  EXPECT_EQ(Parse("%Y", "2012", false),
            "time '2012' names no zone; declare time: { zone: UTC } (or say --zone UTC) if it is UTC");
}

TEST(TimeParser, RefusesWhatIsNoTime) {
  for (const char* text : {"", "2012", "2012-1-1", "2012-02-30", "2012-01-01T", "2012-01-01T25:00:00Z",
                           "2012-01-01T00:00:00X", "2012-01-01T00:00:00Z ", "2012-01-01T00:00:00.Z"}) {
    EXPECT_EQ(Parse("", text),
              "time '" + std::string(text) + "' is not as in RFC 3339, such as 2021-03-05T12:04:00Z");
  }
  EXPECT_EQ(Parse("", "2012-01-01T00:00:00+00:49:60"),
            "time '2012-01-01T00:00:00+00:49:60' is not as in RFC 3339, such as 2021-03-05T12:04:00Z");
}

TEST(TimeParser, TakesTheYears1To9999) {
  EXPECT_EQ(Parse("", "1969-12-31"), "1969-12-31T00:00:00Z");
  EXPECT_EQ(Parse("", "1970-01-01T00:30:00+01:00"), "1969-12-31T23:30:00Z");
  EXPECT_EQ(Parse("", "0001-01-01T00:00:00Z"), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Parse("", "9999-12-31T23:59:59.999999Z"), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(Parse("", "0000-12-31"), "time '0000-12-31' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("", "0001-01-01T00:30:00+01:00"),
            "time '0001-01-01T00:30:00+01:00' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("", "9999-12-31T23:30:00-01:00"),
            "time '9999-12-31T23:30:00-01:00' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("%d.%m.%Y", "14.7.1789"), "1789-07-14T00:00:00Z");
  // The clocks of Rome.
  EXPECT_EQ(Parse("", "1850-01-01T00:49:56+00:49:56", false), "1850-01-01T00:00:00Z");
}

TEST(TimeParser, ReadsEpochs) {
  EXPECT_EQ(Parse("epoch_s", "1614945873"), "2021-03-05T12:04:33Z");
  EXPECT_EQ(Parse("epoch_s", "1614945873.25"), "2021-03-05T12:04:33.250Z");
  EXPECT_EQ(Parse("epoch_ms", "1614945873001"), "2021-03-05T12:04:33.001Z");
  EXPECT_EQ(Parse("epoch_us", "1614945873000001"), "2021-03-05T12:04:33.000001Z");
  EXPECT_EQ(Parse("epoch_ns", "1614945873000001999"), "2021-03-05T12:04:33.000001Z");
  EXPECT_EQ(Parse("epoch_s", "99999999999999"), "time '99999999999999' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("epoch_ms", "1614945873001.5"), "time '1614945873001.5' is not as in 'epoch_ms'");
}

TEST(TimeParser, ReadsEpochsBefore1970) {
  EXPECT_EQ(Parse("epoch_s", "-0.5"), "1969-12-31T23:59:59.500Z");
  EXPECT_EQ(Parse("epoch_s", "-3786825600"), "1850-01-01T00:00:00Z");
  EXPECT_EQ(Parse("epoch_s", "-1.25"), "1969-12-31T23:59:58.750Z");
  EXPECT_EQ(Parse("epoch_s", "-0.0000001"), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Parse("epoch_ms", "-1"), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(Parse("epoch_us", "-1"), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Parse("epoch_ns", "-1"), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Parse("epoch_ns", "-1000"), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Parse("epoch_s", "-62135596800"), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Parse("epoch_s", "-62135596801"), "time '-62135596801' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("epoch_s", "-62135596800.1"), "time '-62135596800.1' is not in the years 0001 to 9999");
  EXPECT_EQ(Parse("epoch_s", "-99999999999999999999"),
            "time '-99999999999999999999' is not in the years 0001 to 9999");
}

TEST(TimeParser, ReadsPatterns) {
  EXPECT_EQ(Parse("%b %d %Y", "Jan 1 2000"), "2000-01-01T00:00:00Z");
  EXPECT_EQ(Parse("%B %d, %Y", "september 30, 2001"), "2001-09-30T00:00:00Z");
  EXPECT_EQ(Parse("%d/%m/%y %H:%M:%S.%f", "05/03/21 01:02:03.5"), "2021-03-05T01:02:03.500Z");
  EXPECT_EQ(Parse("%Y%j", "2020366"), "2020-12-31T00:00:00Z");
  EXPECT_EQ(Parse("%Y-%m-%d %H:%M %z", "2021-03-05 12:00 +0200", false), "2021-03-05T10:00:00Z");
  EXPECT_EQ(Parse("%b %d %Y", "Foo 1 2000"), "time 'Foo 1 2000' is not as in '%b %d %Y'");
  EXPECT_EQ(Parse("%Q", ""),
            "time format '%Q': no such directive '%Q'; allowed: %Y %y %m %d %e %H %M %S %f %b %B %z %j %%");
  EXPECT_EQ(Parse("iso", ""),
            "time format 'iso'; allowed: auto, epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern such as "
            "'%b %d %Y'");
}

}  // namespace
}  // namespace sonde::series

#include "series/advise/draft.h"

#include <gtest/gtest.h>

#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

SeriesSchema Draft(std::string_view csv, std::string_view name = "weather",
                   const DraftOptions& options = {}) {
  const auto text = DraftDeclaration(SourceOfText(csv), name, options);
  EXPECT_TRUE(text.ok()) << text.status();
  const auto schema = ParseSchema(*text, "draft");
  EXPECT_TRUE(schema.ok()) << schema.status() << *text;
  return *schema;
}

TEST(Draft, TellsTagsFromFields) {
  const SeriesSchema schema = Draft(
      "date,location,temp max,rain,weather\n2012-01-01,Seattle,12.8,0,drizzle\n2012-01-01,New "
      "York,3.1,1,rain\n"
      "2012-01-02,Seattle,10.6,10,rain\n2012-01-02,New York,2.0,0,rain\n");
  ASSERT_EQ(schema.tags.size(), 1);
  EXPECT_EQ(schema.tags[0].name, "location");
  ASSERT_EQ(schema.fields.size(), 3);
  EXPECT_EQ(schema.fields[0].name, "temp_max");
  EXPECT_EQ(schema.fields[0].type, FieldType::kDouble);
  EXPECT_EQ(schema.fields[1].type, FieldType::kInt);
  EXPECT_EQ(schema.fields[2].type, FieldType::kString);
  EXPECT_EQ(schema.csv.columns.at("temp max"), "temp_max");
  EXPECT_EQ(schema.csv.time_column, "date");
  EXPECT_TRUE(schema.assume_utc);
  EXPECT_EQ(schema.resolution_micros, kMicrosPerDay);
  EXPECT_EQ(schema.interval_micros, kMicrosPerDay);
  EXPECT_EQ(schema.bucket->Name(), "month");
}

TEST(Draft, ReadsNumbersAsTimes) {
  const SeriesSchema schema =
      Draft("ts,host,cpu\n1426535612045,a,0.5\n1426535612045,b,0.5\n1426535617045,a,0.6\n1426535617045,b,1\n",
            "1 m#");
  EXPECT_EQ(schema.name, "_1_m_");
  EXPECT_EQ(schema.csv.time_format, "epoch_ms");
  EXPECT_EQ(schema.interval_micros, 5 * kMicrosPerSecond);
  EXPECT_EQ(schema.bucket->Name(), "hour");
  EXPECT_EQ(schema.tags[0].name, "host");
}

TEST(Draft, ReadsDatesAsPeopleWriteThem) {
  const SeriesSchema stocks =
      Draft("symbol,date,price\nMSFT,Jan 1 2000,39.81\nIBM,Jan 1 2000,100\nMSFT,Feb 1 2000,36.35\n");
  EXPECT_EQ(stocks.csv.time_format, "%b %d %Y");
  EXPECT_TRUE(stocks.assume_utc);
  EXPECT_EQ(stocks.tags[0].name, "symbol");
  EXPECT_EQ(Draft("time;x\n31.12.2020 23:59;1\n", "s", {.separator = ';'}).csv.time_format, "%d.%m.%Y %H:%M");
  EXPECT_EQ(Draft("time,x\n12/31/2020,1\n", "s", {.time_format = "%m/%d/%Y"}).csv.time_format, "%m/%d/%Y");
}

TEST(Draft, TimesBefore1970GetAnOrigin) {
  const std::string co2 =
      "Date,CO2\n1958-03-01,315.70\n1958-04-01,317.46\n1958-05-01,317.51\n2020-04-01,416.18\n";
  const SeriesSchema schema = Draft(co2, "co2");
  EXPECT_EQ(schema.origin_micros, kTimeBeginMicros);
  EXPECT_EQ(TimesOfSeries(schema), TimeRange());
  EXPECT_FALSE(Draft("Date,CO2\n1970-01-01,315.70\n2020-04-01,416.18\n", "co2").origin_micros);
  // Numbers are times of any year where somebody says so.
  EXPECT_EQ(Draft("t,x\n-3786825600,1\n-3786739200,2\n", "s", {.time_format = "epoch_s"}).origin_micros,
            kTimeBeginMicros);
}

// What is drafted must not be what `check` warns of.
TEST(Draft, IsWithoutFindings) {
  const SeriesSchema schema = Draft(
      "date,location,rain\n2012-01-01,Seattle,0\n2012-01-01,Rome,1\n2012-01-02,Seattle,10\n2012-01-02,Rome,"
      "0\n");
  ASSERT_EQ(schema.latest.size(), 1);
  EXPECT_EQ(schema.latest[0].table, "weather_now");
  for (const Finding& finding : CheckSchema(schema)) {
    EXPECT_EQ(finding.severity, Severity::kNote) << finding.reason;
  }
}

TEST(Draft, SaysWhatItCanNotRead) {
  const auto error = [](std::string_view csv) {
    return std::string(DraftDeclaration(SourceOfText(csv), "s", {}).status().message());
  };
  EXPECT_EQ(error(""), "the file has no first line with the names of its columns");
  EXPECT_EQ(error("a,b\n"), "the file has no record that fits its first line");
  EXPECT_EQ(
      error("a,b\n1,2\n"),
      "no column of the file is a time (RFC 3339, a date, or a number since 1970); say --time-format, as in "
      "'%m/%d/%Y'");
  EXPECT_EQ(DraftDeclaration(SourceOfText("time,x\n2020-01-01,1\n"), "s", {.time_format = "%m/%d/%Y"})
                .status()
                .message(),
            "no column of the file has times of the format '%m/%d/%Y'");
  EXPECT_EQ(error("time\n2020-01-01\n"), "the file has no column but the time");
}

}  // namespace
}  // namespace sonde::series

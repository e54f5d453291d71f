#include "series/schema/time_range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr std::string_view kHead = "series: s\ntags: { host: string }\nfields: { x: double }\n";

SeriesSchema Parse(std::string_view text) {
  auto schema = ParseSchema(fmt::format("{}{}", kHead, text), "s.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *std::move(schema);
}

std::string Problem(std::string_view text) {
  return std::string(TextOfStatus(ParseSchema(fmt::format("{}{}", kHead, text), "s.yaml").status()));
}

std::string Refusal(const SeriesSchema& schema, int64_t time_micros) {
  return std::string(TextOfStatus(RefuseTime(schema, time_micros)));
}

constexpr int64_t kYear1850 = -3'786'825'600 * kMicrosPerSecond;
constexpr int64_t kYear2300 = 10'413'792'000 * kMicrosPerSecond;
const std::string kAnyTime = "times of the years 0001 to 9999";

TEST(TimeRange, KeysThatSayTheTimeTakeEveryYear) {
  for (const char* shape : {
           "layout: row\nkey: [host, { time: yyyymmddhhmmss }]\n",
           "layout: row\nkey: [host, { time: epoch_ms, reverse: true }]\n",
           "layout: blob\nkey: [host, { time: yyyy-mm-dd-hhmm }]\n",
           "layout: offsets\nslot: 1d\nbucket: month\nkey: [host, bucket]\n",
           "layout: offsets\nslot: 1h\nbucket: day\nkey: [host, { bucket: day, format: epoch_s, reverse: "
           "true }]\n",
       }) {
    EXPECT_EQ(TimesText(Parse(shape)), kAnyTime) << shape;
  }
}

TEST(TimeRange, TimestampsAndNumbersCountFromTheOrigin) {
  for (const char* shape : {
           "layout: cells\nbucket: day\nkey: [host, bucket]\n",
           "layout: columns\nbucket: day\nkey: [host, bucket]\n",
           "layout: blob\nbucket: day\nkey: [host, bucket]\n",
           "layout: cells\nkey: [host]\n",
           "layout: row\nkey: [host, time]\n",
           "layout: row\nkey: [host, { time: epoch_s }]\n",
           "layout: row\nkey: [host, { time: epoch_us }]\n",
           "layout: offsets\nslot: 1h\nbucket: day\nkey: [host, { bucket: day, format: epoch_s }]\n",
           "layout: row\nkey: [host, { time: yyyymmddhhmmss }]\n"
           "derive: [ latest: now, rollup: { table: r }, order: { table: o, key: [time, host] } ]\n",
       }) {
    EXPECT_EQ(TimesOfSeries(Parse(shape)).from_micros, 0) << shape;
    EXPECT_EQ(TimesOfSeries(Parse(fmt::format("{}time: {{ origin: 1850-01-01 }}\n", shape))),
              (TimeRange{kYear1850, kTimeEndMicros}))
        << shape;
    EXPECT_EQ(TimesText(Parse(fmt::format("{}time: {{ origin: 0001-01-01 }}\n", shape))), kAnyTime) << shape;
  }
}

TEST(TimeRange, WordsSayWhatEndsAndWhatGoesFurther) {
  const SeriesSchema cells = Parse("bucket: day\nkey: [host, bucket]\n");
  EXPECT_EQ(TimesText(cells),
            "times from 1970-01-01T00:00:00Z to the end of the year 9999; table 's' has the times in the "
            "timestamps of its cells, which count from 1970-01-01T00:00:00Z");
  EXPECT_EQ(
      Refusal(cells, kYear1850),
      "time 1850-01-01T00:00:00Z: table 's' has the times in the timestamps of its cells, which count "
      "from 1970-01-01T00:00:00Z; earlier times take an earlier origin, as in time: { origin: 0001-01-01 "
      "}, or layout row with a calendar format such as yyyymmdd in the key");
  const SeriesSchema row = Parse("layout: row\nkey: [host, { time: epoch_s, width: 10 }]\n");
  EXPECT_EQ(TimesText(row),
            "times from 1970-01-01T00:00:00Z to 2286-11-20T17:46:39.999999Z; the keys of table 's' have "
            "epoch_s of width 10, which counts from 1970-01-01T00:00:00Z");
  EXPECT_EQ(Refusal(row, kYear2300),
            "time 2300-01-01T00:00:00Z: the keys of table 's' have epoch_s of width 10, which counts from "
            "1970-01-01T00:00:00Z, and ends at 2286-11-20T17:46:39.999999Z; later times take a larger width, "
            "or a calendar format such as yyyymmdd");
  const SeriesSchema copied = Parse(
      "layout: row\nkey: [host, { time: yyyymmdd }]\ntime: { resolution: 1d, origin: 1900-01-01 }\n"
      "derive: [ latest: s_now ]\n");
  EXPECT_EQ(TimesText(copied),
            "times from 1900-01-01T00:00:00Z to the end of the year 9999; table 's_now' has the times in the "
            "timestamps of its cells, which count from the origin 1900-01-01T00:00:00Z");
  EXPECT_EQ(Refusal(cells, kTimeBeginMicros - 1),
            "time -62135596800000001 microseconds since 1970; allowed: the years 0001 to 9999");
  EXPECT_EQ(Refusal(cells, kTimeEndMicros),
            "time 253402300800000000 microseconds since 1970; allowed: the years 0001 to 9999");
}

TEST(TimeRange, NumbersAreAsWideAsTheirOriginWants) {
  const auto width = [](std::string_view part, std::string_view origin) {
    return Parse(fmt::format("layout: row\nkey: [host, {}]\ntime: {{ resolution: 1s{} }}\n", part, origin))
        .key[1]
        .width_bytes;
  };
  EXPECT_EQ(width("time", ""), 13);
  EXPECT_EQ(width("{ time: epoch_s }", ""), 10);
  EXPECT_EQ(width("time", ", origin: 1970-01-01"), 15);
  EXPECT_EQ(width("{ time: epoch_s }", ", origin: 0001-01-01"), 12);
  EXPECT_EQ(width("{ time: epoch_us }", ", origin: 0001-01-01"), 18);
  EXPECT_EQ(width("{ time: epoch_s, width: 10 }", ", origin: 2000-01-01"), 10);
  EXPECT_EQ(width("{ time: epoch_s, width: 11 }", ""), 11);
  EXPECT_EQ(width("time", ", origin: none"), 13);
}

TEST(TimeRange, RefusesOriginsThatAreNone) {
  EXPECT_EQ(Problem("bucket: day\nkey: [host, bucket]\ntime: { origin: soon }\n"),
            "s.yaml:6: 'origin' of 'time' is 'soon'; allowed: a time (UTC) of the years 0001 to 9999, as "
            "1850-01-01 or 1850-01-01-1204");
  EXPECT_EQ(Problem("bucket: day\nkey: [host, bucket]\ntime: { resolution: 7d, origin: 1850-01-01 }\n"),
            "s.yaml:6: 'origin' of 'time' is 1850-01-01, which times that are rounded down to 7d never are");
}

// Bigtable's rule goes by timestamps, so that it must be as much shorter or longer as the origin moves these.
TEST(TimeRange, TheRuleOfTheTableTellsTheAgeOfPoints) {
  const auto rule = [](std::string_view more) {
    const GcRule made = Parse(fmt::format("bucket: day\nkey: [host, bucket]\n{}", more)).MakeGcRule();
    return std::get<GcRule::MaxAge>(made.rule).micros;
  };
  EXPECT_EQ(rule("retention: { max_age: 90d }\n"), 90 * kMicrosPerDay);
  EXPECT_EQ(rule("retention: { max_age: 90d }\ntime: { origin: 1971-01-01 }\n"), (90 + 365) * kMicrosPerDay);
  EXPECT_EQ(rule("retention: { max_age: 400d }\ntime: { origin: 1969-01-01 }\n"),
            (400 - 365) * kMicrosPerDay);
  EXPECT_EQ(Problem("bucket: day\nkey: [host, bucket]\nretention: { max_age: 365d }\n"
                    "time: { origin: 1969-01-01 }\n"),
            "s.yaml:6: max_age 1y with the origin 1969-01-01T00:00:00Z: table 's' has the times in the "
            "timestamps of its cells, which are so far ahead of the clock that no rule can tell their age; "
            "allowed with this origin: no max_age, one of more than 1y, or layout: row");
  // Where the key says the time, timestamps are times since 1970, whatever the origin.
  const SeriesSchema row =
      Parse("layout: row\nkey: [host, time]\nretention: { max_age: 90d }\ntime: { origin: 1850-01-01 }\n");
  EXPECT_EQ(std::get<GcRule::MaxAge>(row.MakeGcRule().rule).micros, 90 * kMicrosPerDay);
  EXPECT_EQ(row.TimestampOf(kYear1850), 0);
  EXPECT_EQ(row.TimestampOf(kMicrosPerDay), kMicrosPerDay);
  EXPECT_EQ(
      Problem("layout: row\nkey: [host, { time: yyyymmdd }]\ntime: { resolution: 1d, origin: 1850-01-01 }\n"
              "retention: { max_age: 90d }\n"
              "derive:\n  - order: { table: o, key: [host, bucket], bucket: month, layout: cells }\n"),
      "s.yaml:9: max_age 90d with the origin 1850-01-01T00:00:00Z: table 'o' has the times in the "
      "timestamps of its cells, which are so far ahead of the clock that no rule can tell their age; "
      "allowed with this origin: no max_age, one of more than 43829d, or layout: row");
}

TEST(TimeRange, AnEarlierVersionMayHaveCountedFromElsewhere) {
  const SeriesSchema schema = Parse(
      "table: s_2\nlayout: row\nkey: [host, time]\ntime: { resolution: 1s, origin: 0001-01-01 }\n"
      "versions:\n  - { until: 2020-01-01, table: s, origin: none }\n");
  EXPECT_FALSE(schema.earlier[0].origin_micros);
  EXPECT_EQ(schema.earlier[0].resolution_micros, kMicrosPerSecond);
  EXPECT_EQ(schema.earlier[0].key[1].width_bytes, 13);
  EXPECT_EQ(schema.origin_micros, kTimeBeginMicros);
  EXPECT_EQ(TimesOfSeries(schema), (TimeRange{0, kTimeEndMicros}));
}

}  // namespace
}  // namespace sonde::series

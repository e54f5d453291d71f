#include "series/schema/schema_parser.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sonde::series {
namespace {

constexpr std::string_view kBalloon = R"(series: weather_balloon
table: balloon
tags:
  location: string
  balloon_id: { type: int, width: 6 }
fields:
  pressure: int
  temperature: { type: double, as: t, encoding: float64_be }
  note: string
time: { resolution: 1m, interval: 5m, zone: UTC }
key: [location, balloon_id, bucket]
bucket: week
layout: cells
family: measurements
retention: { max_age: 90d, max_versions: all }
derive:
  - latest: balloon_now
queries:
  - one balloon, last 24 h
)";

std::string ErrorOf(std::string_view text) {
  const auto schema = ParseSchema(text, "x.yaml");
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(schema.status().message());
}

// The error of kBalloon with its line `line` replaced.
std::string ErrorWithLine(int line, std::string_view replacement) {
  std::string text;
  std::string_view rest = kBalloon;
  for (int i = 1; !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    text += std::string(i == line ? replacement : rest.substr(0, end)) + "\n";
    rest.remove_prefix(end + 1);
  }
  return ErrorOf(text);
}

TEST(SchemaParser, ReadsEverything) {
  const auto schema = ParseSchema(kBalloon, "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->name, "weather_balloon");
  EXPECT_EQ(schema->table, "balloon");
  ASSERT_EQ(schema->tags.size(), 2);
  EXPECT_EQ(schema->tags[1].width_bytes, 6);
  EXPECT_EQ(schema->tags[1].pad, '0');
  ASSERT_EQ(schema->fields.size(), 3);
  EXPECT_EQ(schema->fields[1].qualifier, "t");
  EXPECT_EQ(schema->fields[1].encoding, FieldEncoding::kFloat64BigEndian);
  EXPECT_EQ(schema->resolution_micros, kMicrosPerMinute);
  EXPECT_TRUE(schema->assume_utc);
  ASSERT_EQ(schema->key.size(), 3);
  EXPECT_EQ(schema->key[2].format, TimeFormat::kIsoWeek);
  EXPECT_EQ(schema->MakeGcRule(), GcRule{GcRule::MaxAge{90 * kMicrosPerDay}});
  ASSERT_EQ(schema->latest.size(), 1);
  const SeriesSchema latest = MakeLatestSchema(*schema, schema->latest[0]);
  EXPECT_EQ(latest.table, "balloon_now");
  EXPECT_EQ(latest.key.size(), 2);
  EXPECT_EQ(latest.MakeGcRule(), GcRule{GcRule::MaxVersions{1}});
}

TEST(SchemaParser, ReadsEveryKindOfKeyPart) {
  const auto schema = ParseSchema(R"(
series: metric
tags: { host: { width: 8, pad: "_" } }
fields: { cpu: double }
layout: row
key: [{ const: METRIC }, { tag: host }, { time: epoch_ms, reverse: true }, { time: yyyymmddhhmmss }]
time: { resolution: 1s }
retention: { max_age: 1y, max_versions: 3 }
)",
                                  "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->table, "metric");
  EXPECT_EQ(schema->key[0].text, "METRIC");
  EXPECT_EQ(schema->tags[0].pad, '_');
  EXPECT_EQ(schema->key[2].width_bytes, 19);
  EXPECT_TRUE(schema->key[2].reverse);
  EXPECT_EQ(schema->key[3].format, TimeFormat::kSecondCompact);
  EXPECT_EQ(std::get<GcRule::Union>(schema->MakeGcRule().rule).rules.size(), 2);
}

TEST(SchemaParser, SaysLineAndWhatIsAllowed) {
  EXPECT_EQ(
      ErrorWithLine(2, "tabel: balloon"),
      "x.yaml:2: unknown key 'tabel' in the declaration; allowed: series, table, tags, fields, time, key, "
      "bucket, layout, delimiter, family, retention, derive, queries, csv");
  EXPECT_EQ(ErrorWithLine(4, "  location: text"),
            "x.yaml:4: type 'text' of tag 'location'; allowed: string, int");
  EXPECT_EQ(ErrorWithLine(5, "  balloon_id: { type: int, width: 60 }"),
            "x.yaml:5: 'width' of tag 'balloon_id' is '60'; allowed: a whole number from 1 to 18");
  EXPECT_EQ(ErrorWithLine(5, "  balloon_id: { type: int, width: 6, pad: x }"),
            "x.yaml:5: 'pad' of tag 'balloon_id' is 'x'; allowed for an int: 0");
  EXPECT_EQ(ErrorWithLine(7, "  pressure: float"),
            "x.yaml:7: type 'float' of field 'pressure'; allowed: int, double, string");
  EXPECT_EQ(ErrorWithLine(8, "  temperature: { type: int, encoding: float64_be }"),
            "x.yaml:8: encoding 'float64_be' of field 'temperature' of type int; allowed: text, int64_be");
  EXPECT_EQ(ErrorWithLine(9, "  location: string"),
            "x.yaml:9: field 'location': a tag or field of this name was declared before");
  EXPECT_EQ(ErrorWithLine(9, "  note: { type: string, as: t }"),
            "x.yaml:9: field 'note' is written as column 't', as another field is");
  EXPECT_EQ(ErrorWithLine(10, "time: { resolution: fast }"),
            "x.yaml:10: 'resolution' of 'time': 'fast' is not a duration; allowed: a whole number from 1 and "
            "a unit "
            "(us, ms, s, m, h, d, w, y), as in 15m");
  EXPECT_EQ(ErrorWithLine(11, "key: [location, balloon, bucket]"),
            "x.yaml:11: unknown part 'balloon' in 'key'; allowed: location, balloon_id, time, bucket, "
            "{ const: TEXT }, { time: FORMAT }, { bucket: WIDTH }");
  EXPECT_EQ(ErrorWithLine(12, "bucket: fortnight"),
            "x.yaml:11: 'bucket' is in the key, but the declaration has no key 'bucket': its width\n"
            "x.yaml:12: 'bucket': 'fortnight' is not a width of time; allowed: minute, hour, day, week, "
            "month, or a "
            "duration such as 15m");
  EXPECT_EQ(ErrorWithLine(13, "layout: blob"),
            "x.yaml:13: layout 'blob' is not written by this build yet; allowed: cells, row");
  EXPECT_EQ(ErrorWithLine(13, "layout: tall"), "x.yaml:13: layout 'tall'; allowed: cells, row");
  EXPECT_EQ(
      ErrorWithLine(15, "retention: { max_versions: none }"),
      "x.yaml:15: 'max_versions' of 'retention' is 'none'; allowed: a whole number from 1 to 2147483647");
  EXPECT_EQ(ErrorWithLine(17, "  - rollup: { table: x }"),
            "x.yaml:17: derived table 'rollup' is not written by this build yet; allowed: latest");
  EXPECT_EQ(ErrorWithLine(17, "  - latest: balloon"),
            "x.yaml:17: table 'balloon' is used twice by this declaration");
}

TEST(SchemaParser, ReadsHowCsvFilesLook) {
  const auto schema = ParseSchema(std::string(kBalloon) + "csv:\n  time: when\n  format: '%b %d %Y'\n" +
                                      "  columns: { hPa: pressure }\n  set: { location: here }\n",
                                  "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->csv.time_column, "when");
  EXPECT_EQ(schema->csv.time_format, "%b %d %Y");
  EXPECT_EQ(schema->csv.columns.at("hPa"), "pressure");
  EXPECT_EQ(schema->csv.constants.at("location"), "here");
  EXPECT_EQ(
      ErrorWithLine(14, "csv: { columns: { a: b }, set: { note: x } }"),
      "x.yaml:14: column 'a' is to be 'b', which is no tag or field; allowed: balloon_id, location, note, "
      "pressure, temperature\nx.yaml:14: 'set' of 'csv' names 'note', which is no tag");
}

TEST(SchemaParser, SaysWhatTheKeyCanNot) {
  EXPECT_EQ(ErrorWithLine(11, "key: [balloon_id, bucket]"),
            "x.yaml:4: tag 'location' is not in 'key': this build keeps tags in the key only");
  EXPECT_EQ(ErrorWithLine(11, "key: [location, balloon_id, location, bucket]"),
            "x.yaml:11: tag 'location' comes twice in 'key'");
  EXPECT_EQ(
      ErrorWithLine(11, "key: [location, balloon_id, bucket, time]"),
      "x.yaml:11: layout cells with 'time' in 'key' makes a row of each event; use 'bucket' (as in { bucket: "
      "day, format: yyyymmdd }), or layout: row");
  EXPECT_EQ(ErrorWithLine(13, "layout: row"),
            "x.yaml:11: layout row needs 'time' in 'key': else two events of one series are one row");
  EXPECT_EQ(ErrorWithLine(11, "key: [location, balloon_id, { bucket: week, format: yyyy-mm }]"),
            "x.yaml:11: time format 'yyyy-mm' can't tell buckets of one week apart");
  EXPECT_EQ(
      ErrorWithLine(11, "key: [location, balloon_id, { bucket: week, format: yyyymmdd, reverse: true }]"),
      "x.yaml:11: time format 'yyyymmdd' can't be reversed; allowed with reverse: epoch_s, epoch_ms, "
      "epoch_us");
  EXPECT_EQ(ErrorWithLine(11, "key: [location, balloon_id, { bucket: day }]"),
            "x.yaml:11: the key's bucket is day, but the declaration's is week");
  EXPECT_EQ(ErrorWithLine(11, "key: [{ salt: 3 }, location, balloon_id, bucket]"),
            "x.yaml:11: a salt in 'key' is not written by this build yet");
  EXPECT_EQ(ErrorWithLine(14, "delimiter: '-'"), "x.yaml:11: time format 'yyyy-www' holds the delimiter '-'");
  EXPECT_EQ(ErrorWithLine(14, "delimiter: ''"),
            "x.yaml:11: tag 'location' has no width, so that a key without a delimiter can't be decoded");
  EXPECT_EQ(
      ErrorWithLine(14, "delimiter: ab"),
      "x.yaml:14: 'delimiter' is 'ab'; allowed: one printable ASCII character that is no letter, digit or "
      "blank, or '' where all parts have a width");
}

TEST(SchemaParser, SaysSeveralThingsAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(ErrorOf("series: 1a\nfields: { x: foo }\n"),
            "x.yaml:1: series name '1a'; allowed: 1 to 64 letters, digits and _ - . /, starting with a "
            "letter or _, and not "
            "'time' or 'bucket'\n"
            "x.yaml:1: key 'key' is missing: the parts of the row key, in order\n"
            "x.yaml:2: type 'foo' of field 'x'; allowed: int, double, string");
  EXPECT_EQ(ErrorOf("series: a\nseries: b\nfields: { x: int }\nkey: [time]\nlayout: row\n"),
            "x.yaml:2: key 'series' comes twice in the declaration");
}

TEST(SchemaParser, SaysWhereYamlEnds) {
  EXPECT_EQ(ErrorOf("series: a\n  b: [\n"), "x.yaml:2: not YAML: illegal map value");
  EXPECT_EQ(ErrorOf("- a\n"),
            "x.yaml:1: the declaration must be a map; allowed keys: series, table, tags, fields, time, key, "
            "bucket, "
            "layout, delimiter, family, retention, derive, queries, csv");
}

TEST(SchemaParser, NeverThrowsOnDamagedText) {
  SeededRandom random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text(kBalloon);
    const int damages = 1 + static_cast<int>(random.Uniform(4));
    for (int d = 0; d < damages; ++d) {
      const size_t at = random.Uniform(text.size());
      switch (random.Uniform(3)) {
        case 0:
          text[at] = static_cast<char>(random.Uniform(256));
          break;
        case 1:
          text.erase(at, 1 + random.Uniform(10));
          break;
        default:
          text.insert(at, 1, ":[]{}#-,'\n"[random.Uniform(10)]);
          break;
      }
    }
    const auto schema = ParseSchema(text, "x.yaml");
    if (!schema.ok()) {
      EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_TRUE(schema.status().message().substr(0, 7) == "x.yaml:") << schema.status();
    }
  }
}

}  // namespace
}  // namespace sonde::series

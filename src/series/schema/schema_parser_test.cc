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

TEST(SchemaParser, ReadsTheIndex) {
  const auto is_indexed = [](std::string text, std::string_view more) {
    const auto schema = ParseSchema(text.append(more), "x.yaml");
    EXPECT_TRUE(schema.ok()) << schema.status();
    return schema.ok() && schema->is_indexed;
  };
  const std::string balloon(kBalloon);
  EXPECT_FALSE(is_indexed(balloon, ""));
  EXPECT_FALSE(is_indexed(balloon, "index: no\n"));
  EXPECT_TRUE(is_indexed(balloon, "index: yes\n"));
  const auto indexed = ParseSchema(balloon + "index: yes\n", "x.yaml");
  EXPECT_EQ(indexed->index_line, 20);
  EXPECT_FALSE(MakeLatestSchema(*indexed, indexed->latest[0]).is_indexed);
  EXPECT_EQ(ErrorOf(balloon + "index: maybe\n"), "x.yaml:20: 'index' is 'maybe'; allowed: yes, no");
  const std::string untagged = "series: s\nfields: { x: int }\nlayout: row\nkey: [time]\nindex: yes\n";
  EXPECT_EQ(ErrorOf(untagged),
            "x.yaml:5: 'index' is yes, and the series has no tags that it could be asked for");
  const std::string head = "series: s\ntags: { a: string }\nfields: { x: int }\nindex: yes\n";
  EXPECT_EQ(ErrorOf(head + "layout: row\nkey: [time, a]\n"),
            "x.yaml:4: 'index' is yes, and the time stands in front of a tag in 'key', in pieces of less "
            "than 1m: the points of "
            "a series lie too far apart for an index to say where; put the tags in front of the time, or a "
            "bucket of 1m and "
            "more in its place");
  EXPECT_TRUE(is_indexed(head, "bucket: hour\nkey: [bucket, a]\n"));
  EXPECT_TRUE(is_indexed(head, "layout: row\nkey: [{ time: yyyymmdd }, a, time]\n"));
  // Earlier versions may have any key.
  const auto versions = ParseSchema(head +
                                        "bucket: hour\nkey: [a, bucket]\nversions:\n  - { until: 2021-03-05, "
                                        "table: t, layout: row, key: [time, a] }\n",
                                    "x.yaml");
  ASSERT_TRUE(versions.ok()) << versions.status();
  EXPECT_TRUE(versions->is_indexed);
  EXPECT_FALSE(versions->earlier[0].is_indexed);
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
      "bucket, layout, slot, blob, corrections, index, delimiter, family, families, retention, derive, "
      "queries, "
      "csv, "
      "versions");
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
            "x.yaml:11: unknown part 'balloon' in 'key'; allowed: location, balloon_id, time, bucket, field, "
            "salt, { const: TEXT }, { time: FORMAT }, { bucket: WIDTH }, { salt: N, of: TAGS }");
  EXPECT_EQ(ErrorWithLine(12, "bucket: fortnight"),
            "x.yaml:12: 'bucket': 'fortnight' is not a width of time; allowed: minute, hour, day, week, "
            "month, or a "
            "duration such as 15m");
  EXPECT_EQ(ErrorWithLine(13, "layout: tall"),
            "x.yaml:13: layout 'tall'; allowed: cells, columns, offsets, row, blob");
  EXPECT_EQ(
      ErrorWithLine(15, "retention: { max_versions: none }"),
      "x.yaml:15: 'max_versions' of 'retention' is 'none'; allowed: a whole number from 1 to 2147483647");
  EXPECT_EQ(ErrorWithLine(17, "  - view: x"),
            "x.yaml:17: derived table 'view'; allowed: latest, period, order, rollup");
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
            "x.yaml:4: tag 'location' is not in 'key': tags name a series, so that all of them are; make it "
            "a field "
            "(of type string) to keep it in a column");
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
  EXPECT_EQ(ErrorWithLine(11, "key: [{ salt: 1 }, location, balloon_id, bucket]"),
            "x.yaml:11: 'salt' of a part of 'key' is '1'; allowed: a whole number from 2 to 1000");
  EXPECT_EQ(ErrorWithLine(11, "key: [{ salt: 3, of: pressure }, location, balloon_id, bucket]"),
            "x.yaml:11: a salt of 'pressure', which is neither a tag nor 'time'");
  EXPECT_EQ(ErrorWithLine(11, "key: [salt, location, salt, balloon_id, bucket]"),
            "x.yaml:11: 'salt' comes twice in 'key'");
  EXPECT_EQ(ErrorWithLine(11, "key: [location, balloon_id, field, bucket]"),
            "x.yaml:11: 'field' in 'key' is for the layouts columns and offsets; the layout is cells");
  EXPECT_EQ(ErrorWithLine(14, "delimiter: '-'"), "x.yaml:11: time format 'yyyy-www' holds the delimiter '-'");
  EXPECT_EQ(ErrorWithLine(14, "delimiter: ''"),
            "x.yaml:11: tag 'location' has no width, so that a key without a delimiter can't be decoded");
  EXPECT_EQ(
      ErrorWithLine(14, "delimiter: ab"),
      "x.yaml:14: 'delimiter' is 'ab'; allowed: one printable ASCII character that is no letter, digit or "
      "blank, or '' where all parts have a width");
}

TEST(SchemaParser, SaysWhatALayoutCanNot) {
  EXPECT_EQ(
      ErrorWithLine(13, "layout: columns"),
      "x.yaml:11: layout columns with several fields needs 'field' in 'key': a column is only a reading, and "
      "does not say of what");
  EXPECT_EQ(
      ErrorWithLine(13, "layout: offsets"),
      "x.yaml:13: layout offsets needs a 'bucket' in 'key' and a 'slot' that divides it, as in bucket: day, "
      "slot: 15m");
  EXPECT_EQ(ErrorWithLine(13, "layout: offsets\nslot: 11h"),
            "x.yaml:14: a slot of 11h does not divide the bucket of one week");
  EXPECT_EQ(ErrorWithLine(13, "layout: offsets\nslot: { every: 1h, format: hhmm }"),
            "x.yaml:14: slot format 'hhmm' can't tell the slots of the bucket apart; allowed: index, d, dd, "
            "ddhhmm, "
            "hh, hhmm, hhmmss, mm, mmss");
  EXPECT_EQ(ErrorWithLine(13, "layout: offsets\nslot: 1h"),
            "x.yaml:13: a resolution of 1m is finer than a slot of 1h: two events of one slot would be one");
  EXPECT_EQ(ErrorWithLine(13, "layout: blob"),
            "x.yaml:8: field 'temperature' is a part of the blob: it has no encoding or family of its own");
  EXPECT_EQ(ErrorWithLine(13, "layout: cells\nslot: 1m"),
            "x.yaml:14: 'slot' belongs to layout offsets; the layout is cells");
  EXPECT_EQ(ErrorWithLine(13, "corrections: keep"),
            "x.yaml:1: corrections: keep needs a row or column that says the time of its event; in this "
            "layout cells "
            "only the cell's timestamp does");
  EXPECT_EQ(ErrorWithLine(4, "  location: { column: t }"),
            "x.yaml:4: 'column' of tag 'location' is 't', which is a field's column too");
}

TEST(SchemaParser, ReadsDerivedTablesAndRankedQueries) {
  const auto schema = ParseSchema(std::string(kBalloon).substr(0, kBalloon.find("derive:")) + R"(derive:
  - latest: balloon_now
  - period: { table: "balloon_{yyyy-www}", every: week, max_age: 1y }
  - rollup: { table: balloon_1h, every: 1h, aggregates: [count, sum], retention: 5y }
  - order: { table: balloon_by_time, key: [salt, time, location, balloon_id] }
queries:
  - { ask: "one balloon, last day", tags: [location, balloon_id], range: 24h, fields: pressure, rate: 10/s }
  - { ask: every balloon now, range: latest, rate: 2/m }
  - anything else
)",
                                  "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_EQ(schema->periods.size(), 1);
  EXPECT_EQ(schema->periods[0].TableAt(1'614'945'873'001'000), "balloon_2021-w09");
  EXPECT_EQ(schema->periods[0].PeriodOf("balloon_2021-w09"), 18687 * kMicrosPerDay);
  EXPECT_EQ(schema->periods[0].PeriodOf("balloon_2021-w54"), std::nullopt);
  ASSERT_EQ(schema->rollups.size(), 1);
  const SeriesSchema rollup = MakeRollupSchema(*schema, schema->rollups[0]);
  ASSERT_EQ(rollup.fields.size(), 4);
  EXPECT_EQ(rollup.fields[3].name, "temperature_sum");
  EXPECT_EQ(rollup.fields[3].qualifier, "t_sum");
  EXPECT_EQ(rollup.retention.max_age_micros, 5 * 365 * kMicrosPerDay);
  ASSERT_EQ(schema->orders.size(), 1);
  const SeriesSchema order = MakeOrderSchema(*schema, schema->orders[0]);
  EXPECT_EQ(order.layout, Layout::kRow);
  EXPECT_EQ(order.key[0].salts, 8);
  EXPECT_EQ(order.retention.max_age_micros, 90 * kMicrosPerDay);
  ASSERT_EQ(schema->queries.size(), 3);
  EXPECT_EQ(schema->queries[0].tags, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(schema->queries[0].range_micros, kMicrosPerDay);
  EXPECT_EQ(schema->queries[0].times_per_day, 864'000);
  EXPECT_EQ(schema->queries[1].range, DeclaredQuery::Range::kLatest);
  EXPECT_TRUE(schema->queries[2].is_text_only);
  EXPECT_EQ(ErrorWithLine(17, "  - period: { table: balloon_now, every: day }"),
            "x.yaml:17: 'table' of 'period' is 'balloon_now'; allowed: a name with one time format in "
            "braces, as in "
            "SENSOR_{yyyymmdd}");
  EXPECT_EQ(ErrorWithLine(17, "  - period: { table: 'b_{yyyymmdd}', every: day }"),
            "x.yaml:17: a period of one day cuts rows: it must be made of whole buckets");
  EXPECT_EQ(ErrorWithLine(17, "  - order: { table: o, key: [time] }"),
            "x.yaml:4: tag 'location' is not in 'key': tags name a series, so that all of them are; make it "
            "a field "
            "(of type string) to keep it in a column\n"
            "x.yaml:5: tag 'balloon_id' is not in 'key': tags name a series, so that all of them are; make "
            "it a field "
            "(of type string) to keep it in a column");
  EXPECT_EQ(ErrorWithLine(19, "  - { ask: x, tags: [who], range: soon, rate: often }"),
            "x.yaml:19: query 'x' fixes 'who', which is no tag\n"
            "x.yaml:19: 'range' of a query is 'soon'; allowed: latest, all, a duration such as 24h, day, "
            "week, month\n"
            "x.yaml:19: 'rate' of a query is 'often'; allowed: such as 5/s, 20/m, 3/h, 1/d");
}

TEST(SchemaParser, ReadsVersions) {
  const std::string versions =
      "versions:\n  - { until: 2020-01-01, table: balloon_1, bucket: month, key: [location, balloon_id, "
      "bucket] }\n"
      "  - { until: 2021-01-01-1200, table: balloon_2, layout: row, key: [location, balloon_id, time] }\n";
  const auto schema = ParseSchema(std::string(kBalloon) + versions, "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_EQ(schema->earlier.size(), 2);
  EXPECT_EQ(schema->earlier[0].table, "balloon_1");
  EXPECT_EQ(schema->earlier[0].bucket->Name(), "month");
  EXPECT_EQ(schema->earlier[1].layout, Layout::kRow);
  EXPECT_EQ(schema->earlier[1].bucket, std::nullopt);
  EXPECT_EQ(schema->earlier[1].fields[1].qualifier, "t");
  const int64_t first = 18262 * kMicrosPerDay;
  const std::vector<VersionSpan> spans = schema->VersionsIn(first - 5, first + 5);
  ASSERT_EQ(spans.size(), 2);
  EXPECT_EQ(spans[0].schema->table, "balloon_1");
  EXPECT_EQ(spans[0].to_micros, first);
  EXPECT_EQ(spans[1].schema->table, "balloon_2");
  EXPECT_EQ(spans[1].from_micros, first);
  const auto error = [](const std::string& text) {
    return ErrorOf(std::string(kBalloon) + "versions:\n" + text);
  };
  EXPECT_EQ(error("  - { table: b, until: soon }\n"),
            "x.yaml:21: 'until' of a version is 'soon'; allowed: the time (UTC) from which the next one "
            "applies, as "
            "2021-03-05 or 2021-03-05-1204");
  EXPECT_EQ(
      error("  - { table: b }\n"),
      "x.yaml:21: a version has no 'until': the time (UTC) from which the next one applies, as 2021-03-05 or "
      "2021-03-05-1204");
  EXPECT_EQ(error("  - { until: 2020-01-01, key: [location, balloon_id, bucket] }\n"),
            "x.yaml:21: a version has no 'table': each version has a table of its own");
  EXPECT_EQ(error("  - { until: 2020-01-01, table: balloon }\n"),
            "x.yaml:21: table 'balloon' is that of another version; each version has a table of its own");
  EXPECT_EQ(error("  - { until: 2020-01-01, table: a }\n  - { until: 2019-01-01, table: b }\n"),
            "x.yaml:22: 'versions' must be in the order of their 'until', the oldest first");
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
            "bucket, layout, slot, blob, corrections, index, delimiter, family, families, retention, derive, "
            "queries, "
            "csv, versions");
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

TEST(SchemaParser, ReadsUnits) {
  const std::string rest =
      "key: [h, time]\nlayout: row\nderive: [{ rollup: { table: r, every: 1h, aggregates: [max, count] } "
      "}]\n";
  const auto schema = ParseSchema(
      "series: s\ntags: { h: string }\nfields: { a: { type: double, unit: \"\xC2\xB0"
      "C\" }, b: int }\n" +
          rest,
      "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->fields[0].unit,
            "\xC2\xB0"
            "C");
  EXPECT_EQ(schema->fields[1].unit, "");
  // A roll-up's values have the unit of the field, and its counts have none.
  const SeriesSchema rollup = MakeRollupSchema(*schema, schema->rollups[0]);
  EXPECT_EQ(rollup.fields[0].unit,
            "\xC2\xB0"
            "C");
  EXPECT_EQ(rollup.fields[1].unit, "");
  for (const std::string& unit : {std::string(33, 'x'), std::string("\"a\\nb\"")}) {
    EXPECT_NE(ErrorOf("series: s\nfields: { a: { unit: " + unit + " } }\nkey: [time]\nlayout: row\n")
                  .find("allowed: 1 to 32 bytes without control characters"),
              std::string::npos)
        << unit;
  }
  EXPECT_NE(ErrorOf("series: s\nfields: { a: { unit: '' } }\nkey: [time]\nlayout: row\n")
                .find("'unit' of field 'a'"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde::series

#include "series/schema/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

std::vector<std::string> Findings(const std::string& text) {
  const auto schema = ParseSchema(text, "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  std::vector<std::string> result;
  for (const Finding& finding : CheckSchema(*schema)) {
    EXPECT_FALSE(finding.remedy.empty());
    result.push_back(fmt::format("{} {}: {}", finding.line, SeverityName(finding.severity), finding.reason));
  }
  return result;
}

using Lines = std::vector<std::string>;

TEST(Check, IsSilentOnAGoodDeclaration) {
  EXPECT_EQ(Findings("series: s\ntags: { host: string }\nfields: { cpu: double }\nkey: [host, bucket]\n"
                     "bucket: day\nretention: { max_age: 30d }\n"),
            Lines{});
}

TEST(Check, RefusesATimestampInFront) {
  const std::string text =
      "series: s\ntags: { host: string }\nfields: { cpu: double }\nlayout: row\nkey: [time, host]\n";
  EXPECT_EQ(Findings(text),
            Lines{"5 error: the key starts with a timestamp: keys only ever grow, so that one node "
                  "takes all writes"});
  EXPECT_EQ(RefuseErrors(*ParseSchema(text, "x.yaml")).message(),
            "x.yaml:5: the key starts with a timestamp: keys only ever grow, so that one node takes all "
            "writes; put a "
            "tag in front of it, as in [host, ...]");
}

TEST(Check, SeesThroughConstants) {
  EXPECT_EQ(
      Findings("series: s\ntags: { user: string }\nfields: { pct: int }\nlayout: row\n"
               "key: [{ const: BATTERY }, time, user]\n"),
      Lines{"5 error: the key has nothing but constants before a timestamp: keys only ever grow, so that one "
            "node takes all writes"});
}

TEST(Check, FindsASaltThatABucketShares) {
  EXPECT_EQ(Findings("series: s\nfields: { pct: int }\nretention: { max_age: 1d }\n"
                     "key: [{ salt: 8, of: time }, bucket]\nbucket: hour\n"),
            Lines{"4 warning: the salt is of the bucket's start, which all points of one hour share: all "
                  "writes of it go to neighbouring rows, on one node"});
  EXPECT_EQ(Findings("series: s\nfields: { pct: int }\nlayout: row\nkey: [{ salt: 8, of: time }, time]\n"),
            Lines{});
}

TEST(Check, FindsTwoEventsInOneRow) {
  EXPECT_EQ(
      Findings("series: s\ntags: { game: string }\nfields: { win: string }\nlayout: row\n"
               "key: [game, { time: yyyymmdd }]\ntime: { resolution: 1s }\n"),
      Lines{
          "5 error: the key is not unique: yyyymmdd tells times of one day apart, but points come every 1s, "
          "and two events of one day would be one row"});
}

TEST(Check, WarnsOfCellsThatNothingForgets) {
  EXPECT_EQ(
      Findings("series: s\ntags: { host: string }\nfields: { cpu: double }\nkey: [host]\nlayout: cells\n"),
      (Lines{
          "4 warning: layout cells without a bucket: the row of a series grows as long as points come",
          "5 warning: layout cells without 'retention': each event is a version of a cell, and nothing ever "
          "forgets one"}));
}

TEST(Check, WarnsOfRowsThatGrowTooBig) {
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { host: string }\nfields: { cpu: double }\nkey: [host, bucket]\nbucket: month\n"
          "retention: { max_age: 1y }\ntime: { interval: 250ms }\nlayout: cells\n"),
      Lines{"8 warning: a row of one month will hold about 193 MB; the recommended maximum is 100 MB"});
}

TEST(Check, SizesCountWhatFieldsAreDeclaredToTake) {
  const std::string keys = "key: [host, bucket]\nretention: { max_age: 1y }\ntime: { interval: 1m }\n";
  const std::string text =
      "series: s\ntags: { host: string }\nfields: { photo: { type: string, bytes: 200000 } }\nbucket: day\n";
  EXPECT_EQ(Findings(text + keys),
            Lines{"1 error: a row of one day will hold about 288 MB; more than 256 MiB can't be read"});
  const std::string order =
      "derive:\n  - order: { table: by_hour, bucket: hour, key: [host, bucket] }\n"
      "  - order: { table: by_month, bucket: month, key: [host, bucket] }\n";
  EXPECT_EQ(Findings("series: s\ntags: { host: string }\nfields: { x: { type: string, bytes: 3000 } }\n"
                     "bucket: day\n" +
                     keys + order),
            Lines{"10 warning: a row of one month in table 'by_month' will hold about 134 MB; the "
                  "recommended maximum is 100 MB"});
}

TEST(Check, FindsCellsThatAreTooBig) {
  const auto findings = [](std::string_view layout, std::string_view fields) {
    return Findings(
        fmt::format("series: s\ntags: {{ host: string }}\nfields:\n{}key: [host, time]\n"
                    "layout: {}\ntime: {{ resolution: 1s }}\n",
                    fields, layout));
  };
  const std::string photo = "  photo: { type: string, bytes: 12000000 }\n";
  EXPECT_EQ(findings("row", photo),
            Lines{"4 warning: a value of field 'photo' takes about 12 MB, in one cell; the recommended "
                  "maximum is 10 MB"});
  EXPECT_EQ(findings("row", "  p: { type: string, bytes: 9999999 }\n"), Lines{});
  EXPECT_EQ(findings("row", "  p: { type: string, bytes: 104857601 }\n")[0],
            "4 error: a value of field 'p' takes about 105 MB, in one cell; more than 100 MiB can't be "
            "written");
  EXPECT_EQ(
      findings("blob", "  p: { type: string, bytes: 6000000 }\n  q: { type: string, bytes: 6000000 }\n"),
      Lines{"7 warning: the value that holds all fields of a point takes about 12 MB, in one cell; the "
            "recommended maximum is 10 MB"});
  EXPECT_EQ(Findings("series: s\ntags: { h: string }\nfields: { p: { type: string, bytes: 20000 } }\n"
                     "layout: columns\nbucket: day\nkey: [h, field, bucket]\nretention: { max_age: 1y }\n"),
            Lines{"3 error: a value of field 'p' takes about 20 kB; layout columns writes it as a column's "
                  "name, of up to 16384 bytes"});
}

TEST(Check, CountsLongNames) {
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { host: string }\nfields: { cellphone_number: string }\nkey: [host, bucket]\n"
          "bucket: day\nretention: { max_age: 1y }\ntime: { interval: 5s }\n"),
      Lines{
          "3 note: the names of field 'cellphone_number' take 17 bytes with each cell that is sent: 294 MB a "
          "day for each 1000 series"});
}

TEST(Check, FindsQueriesWithoutAKeyPrefix) {
  EXPECT_EQ(Findings("series: s\ntags: { site: string, host: string }\nfields: { cpu: double }\n"
                     "key: [site, host, bucket]\nbucket: day\nretention: { max_age: 1y }\n"
                     "queries: [one host of a site, one host over all, everything]\n"),
            Lines{"7 warning: query 'one host over all' names 'host' but not 'site', which comes first in "
                  "the key: it "
                  "reads the whole table"});
}

TEST(Check, WantsAReasonToReverseTime) {
  const std::string text =
      "series: s\ntags: { host: string }\nfields: { cpu: double }\nlayout: row\n"
      "key: [host, { time: epoch_ms, reverse: true }]\n";
  EXPECT_EQ(Findings(text),
            Lines{"5 warning: time is reversed, but no query asks for the latest: reversed keys help "
                  "only those, and are hard to read"});
  EXPECT_EQ(Findings(text + "queries: [the latest 10 points of a host]\n"), Lines{});
}

TEST(Check, CountsThePlacesThatWritesGoTo) {
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { dc: { count: 3 } }\nfields: { x: double }\nlayout: row\nkey: [dc, time]\n"),
      Lines{"5 warning: in front of the time, the key has only 3 values (dc): writes go to so few places at "
            "a time"});
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { dc: { count: 3 }, host: { count: 50 } }\nfields: { x: double }\nlayout: row\n"
          "key: [dc, host, time]\n"),
      Lines{});
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { dc: { count: 3 } }\nfields: { x: double }\nlayout: row\nkey: [{ salt: 8 , of: "
          "time }, dc, time]\n"),
      Lines{});
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { sym: { count: 300, busy: { count: 2, share: 90 } } }\nfields: { x: double }\n"
          "layout: row\nkey: [sym, time]\n"),
      Lines{
          "2 warning: 90% of the points have one of 2 values of 'sym': so few rows take most of the writes"});
}

TEST(Check, FindsTextThatIsNoTag) {
  EXPECT_EQ(
      Findings("series: games\ntags: { game: string }\nfields: { player: string, kda: double }\nlayout: row\n"
               "time: { resolution: 1d }\nkey: [game, { time: yyyymmdd }]\n"),
      Lines{"6 warning: the key may not be unique: two events of one series and day are one row, and one is "
            "lost, "
            "even where their 'player' differs"});
  EXPECT_EQ(
      Findings("series: s\ntags: { h: string }\nfields: { x: double }\nlayout: row\n"
               "time: { resolution: 1m, interval: 1s }\nkey: [h, { time: epoch_s }]\n"),
      Lines{"6 error: the key is not unique: points come every 1s, but their times are rounded down to 1m"});
}

TEST(Check, KnowsWhatEachLayoutSuffersFrom) {
  EXPECT_EQ(
      Findings("series: s\ntags: { h: string }\nfields: { x: int }\nlayout: columns\nbucket: day\nkey: [h, "
               "bucket]\nretention: { max_versions: 1 }\n"),
      Lines{
          "4 warning: max_versions: 1 keeps only that many events with equal readings; the others are lost"});
  EXPECT_EQ(Findings("series: s\ntags: { h: string }\nfields: { x: int }\nlayout: blob\nbucket: day\nkey: "
                     "[h, bucket]\n"),
            Lines{"4 warning: layout blob without 'retention': each event is a version of a cell, and "
                  "nothing ever forgets "
                  "one"});
  EXPECT_EQ(
      Findings("series: s\ntags: { h: string }\nfields: { x: int }\ntime: { interval: 1ms }\nbucket: month\n"
               "key: [h, bucket]\nretention: { max_age: 1y }\n")[0],
      "1 error: a row of one month will hold about 42.9 GB; more than 256 MiB can't be read");
  std::string fields;
  for (int i = 0; i < 101; ++i) fields += fmt::format("  f{0}: {{ family: g{0} }}\n", i);
  EXPECT_EQ(Findings("series: s\ntags: { h: string }\nfields:\n" + fields + "layout: row\nkey: [h, time]\n"),
            Lines{"4 warning: 101 column families; the recommended maximum is 100"});
}

TEST(Check, HoldsRankedQueriesAgainstTheKey) {
  const std::string head =
      "series: s\ntags: { dc: string, host: string }\nfields: { x: double }\nlayout: row\nkey: [dc, host, "
      "time]\n";
  const std::string by_host = "queries:\n  - { ask: one host, tags: host, range: 1h }\n";
  EXPECT_EQ(
      Findings(head + by_host),
      Lines{
          "7 warning: query 'one host' fixes nothing that comes first in the key: it reads the whole table"});
  EXPECT_EQ(
      Findings(head + "queries:\n  - { ask: one dc, tags: dc, range: 1h }\n  - { ask: all, range: all }\n"),
      Lines{});
  EXPECT_EQ(Findings(head + "derive: [ order: { table: o, key: [host, dc, time] } ]\n" + by_host), Lines{});
  EXPECT_EQ(
      Findings(head + "queries:\n  - { ask: all now, range: latest }\n"),
      Lines{
          "7 warning: query 'all now' fixes nothing that comes first in the key: it reads the whole table"});
  EXPECT_EQ(Findings(head + "derive: [ latest: l ]\nqueries:\n  - { ask: all now, range: latest }\n"),
            Lines{});
}

// Which of two points is the newer one, timestamps of cells say, and these count milliseconds.
TEST(Check, LatestNeedsMilliseconds) {
  const auto findings = [](std::string_view resolution) {
    return Findings(
        fmt::format("series: s\ntags: {{ h: string }}\nfields: {{ x: double }}\nlayout: row\nkey: [h, "
                    "{{ time: epoch_us }}]\ntime: {{ resolution: {} }}\nderive: [ latest: s_now ]\n",
                    resolution));
  };
  EXPECT_EQ(
      findings("1us"),
      Lines{
          "7 error: 'latest' with a resolution of 1us: table 's_now' tells which value is newer by the "
          "timestamps of cells, which count milliseconds; a point that comes late would hide a newer one of "
          "its millisecond"});
  EXPECT_EQ(findings("1500us").size(), 1);
  EXPECT_EQ(findings("2ms"), Lines{});
}

TEST(Check, WithoutADelimiterRollupsNeedTheWidthOfEveryTag) {
  const auto findings = [](std::string_view tag, std::string_view rest) {
    return Findings(
        fmt::format("series: s\ntags: {{ h: {} }}\nfields: {{ x: double }}\nbucket: day\nkey: [bucket, h]\n{}"
                    "derive: [ latest: s_now, rollup: {{ table: r, retention: 5y }} ]\n",
                    tag, rest));
  };
  const auto has_error = [&](std::string_view tag, std::string_view rest) {
    for (const std::string& line : findings(tag, rest)) {
      if (line.find("error") != std::string::npos) return line;
    }
    return std::string();
  };
  EXPECT_EQ(
      has_error("string", "delimiter: ''\n"),
      "7 error: tag 'h' has no width, so that a key of roll-up 'r', where the time stands behind it without "
      "a delimiter, can't be decoded");
  EXPECT_EQ(has_error("{ type: string, width: 8 }", "delimiter: ''\n"), "");
  EXPECT_EQ(has_error("string", ""), "");
}

TEST(Check, KeepsPointsLongEnoughForRollups) {
  const auto findings = [](std::string_view age, std::string_view rollup) {
    return Findings(
        fmt::format("series: s\ntags: {{ h: string }}\nfields: {{ x: double }}\nlayout: row\nkey: [h, time]\n"
                    "retention: {{ max_age: {} }}\nderive: [ rollup: {{ table: r, {} }} ]\n",
                    age, rollup));
  };
  const auto longer = [](std::string_view span) {
    return fmt::format(
        "6 note: the tables keep points for {} longer than max_age 7d, for roll-ups that points come late "
        "for; "
        "queries do not find them",
        span);
  };
  EXPECT_EQ(findings("7d", "every: 1h, retention: 5y"), Lines{longer("2h")});
  EXPECT_EQ(findings("7d", "every: month, retention: 5y"), Lines{longer("745h")});
  EXPECT_EQ(findings("7d", "every: 1h, retention: 3d"),
            (Lines{longer("2h"), "7 note: roll-up 'r' is forgotten before its points are"}));
  EXPECT_EQ(findings("7d", "every: 1h"),
            (Lines{longer("2h"), "7 note: roll-up 'r' without 'retention' is kept for ever"}));
}

}  // namespace
}  // namespace sonde::series

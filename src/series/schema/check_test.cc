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

TEST(Check, CountsLongNames) {
  EXPECT_EQ(
      Findings(
          "series: s\ntags: { host: string }\nfields: { cellphone_number: string }\nkey: [host, bucket]\n"
          "bucket: day\nretention: { max_age: 1y }\ntime: { interval: 5s }\n"),
      Lines{
          "3 note: the names of field 'cellphone_number' take 17 bytes with each cell that is sent: 294 MB a "
          "day for each 1,000 series"});
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

}  // namespace
}  // namespace sonde::series

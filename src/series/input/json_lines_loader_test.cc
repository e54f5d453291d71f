#include "series/input/json_lines_loader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

TEST(JsonLinesLoader, KeepsTheGoodLines) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string, rack: int }\nfields: { x: double, note: "
                                  "string }\nkey: [host, rack, bucket]\n"
                                  "bucket: day\n",
                                  "s.yaml")
                                  .value();
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  std::vector<std::string> bad;
  JsonLinesLoader loader(
      {.names = {{"machine", "host"}}, .constants = {{"rack", "7"}}, .time_format = "epoch_ms"},
      {[&](int64_t line, std::string_view why) { bad.push_back(fmt::format("{}: {}", line, why)); }, {}, {}});
  const auto totals = loader.Load(
      SourceOfText("{\"machine\":\"a\",\"time\":1000,\"x\":1.50,\"note\":\"ü\",\"extra\":[1]}\n"
                   "\r\n"
                   "{\"host\":\"a\",\"time\":2000,\"x\":null,\"note\":\"n\",\"rack\":8}\n"
                   "{\"host\":\"a\",\"x\":1}\n[1]\n{\"host\":\"a\",\"time\":3,\"x\":[1]}\n"
                   "{\"host\":\"a\",\"time\":\"soon\",\"x\":1}\n{\"time\":4000,\"x\":1}\n"
                   "{\"host\":\"a\",\"time\":1,\"x\":1e999}\n{\"host\":\"b\",\"time\":5000,\"x\":-2e3}"),
      &writer);
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(totals->points, 3);
  EXPECT_EQ(totals->ignored_columns, std::vector<std::string>{"extra"});
  EXPECT_EQ(bad, (std::vector<std::string>{"4: the object has no time", "5: not a JSON object",
                                           "6: member 'x' is a list or an object; allowed: one value",
                                           "7: time 'soon' is not as in 'epoch_ms'",
                                           "8: tag 'host': value '' is empty",
                                           "9: a number that no double can hold"}));
  EXPECT_EQ(totals->ignored_values, 1);
  EXPECT_EQ((tables.tables["s"].rows["a#7#19700101"][{"m", "x"}][1'000'000]), "1.5");
  EXPECT_EQ((tables.tables["s"].rows["a#8#19700101"][{"m", "note"}][2'000'000]), "n");
  EXPECT_TRUE(tables.tables["s"].rows.contains("b#7#19700101"));
}

TEST(JsonLinesLoader, AnEmptyTextIsAValueOfAStringOnly) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: double, note: string }\nkey: [host, bucket]\n"
          "bucket: day\n",
          "s.yaml")
          .value();
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  std::vector<std::string> bad;
  JsonLinesLoader loader(
      {.time_format = "epoch_ms"},
      {[&](int64_t line, std::string_view why) { bad.push_back(fmt::format("{}: {}", line, why)); }, {}, {}});
  ASSERT_TRUE(loader
                  .Load(SourceOfText("{\"host\":\"a\",\"time\":1,\"note\":\"\"}\n"
                                     "{\"host\":\"a\",\"time\":2,\"note\":null,\"x\":\"\"}\n"
                                     "{\"host\":\"a\",\"time\":3,\"note\":\"\",\"x\":\"\"}\n"),
                        &writer)
                  .ok());
  EXPECT_EQ(bad, std::vector<std::string>{"2: the point has no field"});
  auto& row = tables.tables["s"].rows["a#19700101"];
  ASSERT_EQ(row.size(), 1);
  EXPECT_EQ((row[{"m", "note"}].size()), 2);
  EXPECT_EQ((row[{"m", "note"}][1'000]), "");
}

std::vector<std::string> BadLines(std::string_view lines, CsvMapping mapping) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: double }\nkey: [host, bucket]\nbucket: day\n",
          "s.yaml")
          .value();
  MemoryTables tables;
  EXPECT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  std::vector<std::string> bad;
  mapping.time_format = "epoch_ms";
  JsonLinesLoader loader(
      mapping,
      {[&](int64_t line, std::string_view why) { bad.push_back(fmt::format("{}: {}", line, why)); }, {}, {}});
  EXPECT_TRUE(loader.Load(SourceOfText(lines), &writer).ok());
  return bad;
}

TEST(JsonLinesLoader, NamesWhatNoJsonIs) {
  EXPECT_EQ(
      BadLines(
          "{\"host\":\"a\",\"time\":1,\"x\":NaN}\n{\"host\":\"a\",\"time\":1,\"x\": -Infinity }\n{\"host\"\n"
          "{\"host\":\"a\",\"time\":1,\"x\":01}\nnonsense\n",
          {}),
      (std::vector<std::string>{"1: not JSON: 'NaN' at byte 26", "2: not JSON: '-Infinity' at byte 27",
                                "3: not JSON, at byte 8", "4: not JSON: '01' at byte 26",
                                "5: not JSON: 'nonsense' at byte 1"}));
}

TEST(JsonLinesLoader, RefusesUnknownMembersWhenToldTo) {
  constexpr std::string_view kLines =
      "{\"host\":\"a\",\"time\":1,\"x\":1}\n{\"host\":\"a\",\"time\":2,\"x\":1,\"y\":2}\n";
  EXPECT_EQ(BadLines(kLines, {.refuses_unknown = true}),
            std::vector<std::string>{"2: member 'y' is not in series 's'"});
  EXPECT_EQ(BadLines(kLines, {}), std::vector<std::string>{});
}

}  // namespace
}  // namespace sonde::series

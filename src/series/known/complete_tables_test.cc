#include "series/known/complete_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

#include "series/known/declaration_store.h"
#include "series/known/row_match.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr std::string_view kHead =
    "series: s\ntags: { host: string }\nfields: { x: int }\nbucket: day\nkey: [host, bucket]\n"
    "retention: { max_versions: all }\n";
constexpr std::string_view kOrder =
    "derive:\n  - order: { table: by_time, key: [{ salt: 4 }, time, host] }\n";
constexpr std::string_view kPeriod = "  - period: { table: \"s_{yyyymmdd}\", every: day }\n";
using Names = std::set<std::string>;

SeriesSchema Parse(const std::string& text) { return ParseSchema(text, "s.yaml").value(); }

void Write(const SeriesSchema& schema, MemoryTables* tables) {
  PointWriter writer(schema, tables);
  const std::vector<std::string_view> tags = {"a"};
  const std::vector<std::string_view> fields = {"1"};
  EXPECT_TRUE(writer.Add({tags, kMicrosPerDay, fields}).ok());
  EXPECT_TRUE(writer.Flush().ok());
}

TEST(CompleteTables, AreThoseThatBeginWithTheSeries) {
  const SeriesSchema schema = Parse(std::string(kHead) + std::string(kOrder) + std::string(kPeriod));
  MemoryTables tables;
  EXPECT_EQ(*CompleteTables(schema, &tables), Names{});
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), (Names{"by_time", "s_{yyyymmdd}"}));
  Write(schema, &tables);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), (Names{"by_time", "s_{yyyymmdd}"}));
}

TEST(CompleteTables, AreNotThoseThatCameLaterUntilTheyAreRebuilt) {
  const SeriesSchema before = Parse(std::string(kHead));
  const SeriesSchema schema = Parse(std::string(kHead) + std::string(kOrder) + std::string(kPeriod));
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(before, &tables).ok());
  Write(before, &tables);
  // Another declaration is stored: what is written by that one would be missing.
  ASSERT_TRUE(NoteComplete(schema, &tables, SystemClock()).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), Names{});
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), Names{});
  ASSERT_TRUE(NoteComplete(schema, &tables, SystemClock()).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), (Names{"by_time", "s_{yyyymmdd}"}));
}

TEST(CompleteTables, AreNoMoreAfterAWriterWithoutThem) {
  const SeriesSchema schema = Parse(std::string(kHead) + std::string(kOrder));
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  const SeriesSchema without = Parse(std::string(kHead));
  ASSERT_TRUE(EnsureSeriesTables(without, &tables).ok());
  Write(without, &tables);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), Names{});
}

TEST(CompleteTables, KeepTheirKeyAndMayGetOtherCompany) {
  const std::string text = std::string(kHead) + std::string(kOrder);
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(Parse(text), &tables).ok());
  Write(Parse(text), &tables);
  const SeriesSchema more = Parse("# More.\n" + text);
  EXPECT_EQ(*CompleteTables(more, &tables), Names{"by_time"});
  ASSERT_TRUE(EnsureSeriesTables(more, &tables).ok());
  EXPECT_EQ(*CompleteTables(more, &tables), Names{"by_time"});
  const SeriesSchema other =
      Parse(std::string(kHead) + "derive:\n  - order: { table: by_time, key: [{ salt: 8 }, time, host] }\n");
  EXPECT_EQ(*CompleteTables(other, &tables), Names{});
  EXPECT_FALSE(EnsureSeriesTables(other, &tables).ok()) << "it has rows with the other key";
  EXPECT_FALSE(
      CheckRows(MakeOrderSchema(Parse(std::string(kHead) + "derive:\n  - order: { table: by_time, layout: "
                                                           "cells, key: [host] }\n"),
                                OrderTable{.table = "by_time"}),
                &tables)
          .ok());
}

constexpr std::string_view kLatest = "  - latest: now\n";
constexpr std::string_view kRollup = "  - rollup: { table: by_hour, every: 1h, aggregates: [count, sum] }\n";

std::string All(std::string_view rollup = kRollup) {
  return std::string(kHead) + std::string(kOrder) + std::string(kPeriod) + std::string(kLatest) +
         std::string(rollup);
}
const Names kAll = {"by_hour", "by_time", "now", "s_{yyyymmdd}"};

std::vector<std::string> Told(const SeriesSchema& schema, TableAccess* tables) {
  std::vector<std::string> told;
  const absl::StatusOr<std::vector<Finding>> findings = FindIncompleteTables(schema, tables);
  EXPECT_TRUE(findings.ok()) << findings.status();
  for (const Finding& finding : *findings) told.push_back(finding.remedy);
  return told;
}

// One mechanism for every kind: what was added later, or left out for a while, is not taken for complete.
TEST(CompleteTables, AreOfEveryKind) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(All());
  const SeriesSchema without = Parse(std::string(kHead));
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  Write(schema, &tables);
  EXPECT_EQ(*CompleteTables(schema, &tables), kAll);
  EXPECT_EQ(Told(schema, &tables), std::vector<std::string>{});
  ASSERT_TRUE(EnsureSeriesTables(without, &tables).ok());
  Write(without, &tables);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), Names{});
  EXPECT_EQ(Told(schema, &tables),
            (std::vector<std::string>{"fill it: sonde series rebuild stored:s --table 'now'",
                                      "fill it: sonde series rebuild stored:s --table 'by_time'",
                                      "fill it: sonde series rebuild stored:s --table 's_{yyyymmdd}'",
                                      "fill it: sonde series rebuild stored:s --table 'by_hour'"}));
  ASSERT_TRUE(NoteComplete(schema, &tables, SystemClock()).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), kAll);
}

// Between two requests of a change the process dies, and the next one writes by what is stored.
TEST(CompleteTables, AreNotNotedWronglyByWhoDies) {
  const SeriesSchema schema = Parse(All());
  const SeriesSchema without = Parse(std::string(kHead));
  for (int writes = 0; writes < 8; ++writes) {
    MemoryTables tables;
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    DyingTables dying(&tables, writes);
    const bool is_stored = EnsureSeriesTables(without, &dying).ok();
    EXPECT_EQ(is_stored, writes > 5) << writes;  // four notes, then the declaration
    Write(*FindDeclaration("s", &tables), &tables);
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    const absl::StatusOr<Names> complete = CompleteTables(schema, &tables);
    ASSERT_TRUE(complete.ok());
    for (const std::string& table : *complete) {
      EXPECT_FALSE(tables.tables[table == "s_{yyyymmdd}" ? "s_19700102" : table].rows.empty())
          << table << " after " << writes;
    }
  }
}

TEST(CompleteTables, AreNotThoseThatWereDropped) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(All());
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  Write(schema, &tables);
  for (const char* table : {"now", "by_time"}) ASSERT_TRUE(tables.DropTable(table).ok());
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  EXPECT_EQ(*CompleteTables(schema, &tables), (Names{"by_hour", "s_{yyyymmdd}"}));
}

TEST(CompleteTables, AreNotThoseThatShouldHaveMoreNow) {
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(Parse(All()), &tables).ok());
  Write(Parse(All()), &tables);
  const SeriesSchema fewer = Parse(All("  - rollup: { table: by_hour, every: 1h, aggregates: [count] }\n"));
  ASSERT_TRUE(EnsureSeriesTables(fewer, &tables).ok());
  EXPECT_EQ(*CompleteTables(fewer, &tables), kAll);
  ASSERT_TRUE(EnsureSeriesTables(Parse(All()), &tables).ok());  // it had sums, and some are missing now
  EXPECT_EQ(*CompleteTables(Parse(All()), &tables), (Names{"by_time", "now", "s_{yyyymmdd}"}));
}

// A copy that was kept for a shorter time has forgotten what it is to have for a longer one.
TEST(CompleteTables, AreNotThoseThatForgotMore) {
  const auto keeping = [](std::string_view series_age, std::string_view age) {
    return Parse(
        fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ x: int }}\nbucket: day\nkey: "
                    "[host, bucket]\nretention: {{ {} }}\nderive:\n  - order: {{ table: by_time, key: "
                    "[{{ salt: 4 }}, time, host], retention: {{ max_age: {} }} }}\n  - period: {{ "
                    "table: \"s_{{yyyymmdd}}\", every: day, max_age: {} }}\n",
                    series_age, age, age));
  };
  const Names all = {"by_time", "s_{yyyymmdd}"};
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(keeping("max_age: 90d", "7d"), &tables).ok());
  Write(keeping("max_age: 90d", "7d"), &tables);
  EXPECT_EQ(*CompleteTables(keeping("max_age: 90d", "7d"), &tables), all);
  EXPECT_EQ(*CompleteTables(keeping("max_age: 90d", "6d"), &tables), all);
  EXPECT_EQ(*CompleteTables(keeping("max_age: 90d", "8d"), &tables), Names{});
  EXPECT_EQ(*CompleteTables(keeping("max_versions: all", "7d"), &tables), all);
  // What the series itself has forgotten is nowhere missing.
  MemoryTables alike;
  ASSERT_TRUE(EnsureSeriesTables(keeping("max_age: 7d", "7d"), &alike).ok());
  Write(keeping("max_age: 7d", "7d"), &alike);
  EXPECT_EQ(*CompleteTables(keeping("max_age: 90d", "90d"), &alike), all);
}

}  // namespace
}  // namespace sonde::series

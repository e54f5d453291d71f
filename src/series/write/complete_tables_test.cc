#include "series/write/complete_tables.h"

#include <gtest/gtest.h>

#include <string_view>

#include "series/schema/schema_parser.h"
#include "series/write/declaration_store.h"
#include "series/write/memory_tables.h"
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
  ASSERT_TRUE(EnsureSeriesTables(other, &tables).ok());
  EXPECT_EQ(*CompleteTables(other, &tables), Names{});
  EXPECT_FALSE(
      CheckRows(MakeOrderSchema(Parse(std::string(kHead) + "derive:\n  - order: { table: by_time, layout: "
                                                           "cells, key: [host] }\n"),
                                OrderTable{.table = "by_time"}),
                &tables)
          .ok());
}

}  // namespace
}  // namespace sonde::series

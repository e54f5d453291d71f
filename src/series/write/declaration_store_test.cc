#include "series/write/declaration_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/write/memory_tables.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

SeriesSchema Parse(std::string_view text) {
  const auto schema = ParseSchema(text, "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *schema;
}

constexpr std::string_view kHead = "series: s\ntags: { host: string }\nfields: { cpu: double }\n";

std::string Declared(std::string_view rest) { return std::string(kHead) + std::string(rest); }

class Stored : public testing::Test {
 protected:
  void SetUp() override {
    const SeriesSchema schema = Parse(Declared("table: a\nbucket: day\nkey: [host, bucket]\n"));
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables_).ok());
    PointWriter writer(schema, &tables_);
    ASSERT_TRUE(writer.Add({{"h"}, kDay + 5'000, {"1"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  }

  std::string ErrorOf(const std::string& text) {
    const absl::Status status = EnsureSeriesTables(Parse(text), &tables_);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << text;
    return std::string(TextOfStatus(status));
  }

  MemoryTables tables_;
};

TEST_F(Stored, AnybodyCanAskForIt) {
  const auto all = ListDeclarations(&tables_);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1);
  EXPECT_EQ((*all)[0].series, "s");
  EXPECT_EQ((*all)[0].text, Declared("table: a\nbucket: day\nkey: [host, bucket]\n"));
  EXPECT_EQ((*all)[0].tables, std::vector<std::string>{"a"});
  EXPECT_EQ(FindDeclaration("s", &tables_)->table, "a");
  EXPECT_EQ(FindDeclaration("t", &tables_).status().message(),
            "no declaration of series 't' is stored; there are: s");
  MemoryTables empty;
  EXPECT_TRUE(ListDeclarations(&empty)->empty());
}

TEST_F(Stored, AChangeThatReadsEverythingIsTaken) {
  EXPECT_TRUE(
      EnsureSeriesTables(Parse(Declared("table: a\nbucket: day\nkey: [host, bucket]\nqueries: [one host]\n")),
                         &tables_)
          .ok());
  EXPECT_EQ(FindDeclaration("s", &tables_)->queries.size(), 1);
  EXPECT_TRUE(
      EnsureSeriesTables(Parse(Declared("table: b\nlayout: row\nkey: [host, time]\nversions:\n"
                                        "  - { until: 2022-01-01, table: a, layout: cells, bucket: day, key: "
                                        "[host, bucket] }\n")),
                         &tables_)
          .ok());
  EXPECT_EQ(FindDeclaration("s", &tables_)->earlier.size(), 1);
}

TEST_F(Stored, AChangeThatLosesPointsIsRefused) {
  EXPECT_EQ(ErrorOf(Declared("table: b\nbucket: day\nkey: [host, bucket]\n")),
            "x.yaml: points that are in table 'a' could not be read any more; name it under 'versions', with "
            "the time "
            "until which it holds them and how its rows are");
  EXPECT_EQ(ErrorOf(Declared("table: a\nbucket: hour\nkey: [host, bucket]\n")),
            "x.yaml:6: the key is not the one that the points in table 'a' were written with; declare what "
            "was under "
            "'versions', and another table for what is to come");
  EXPECT_EQ(ErrorOf("series: s\ntags: { host: string }\nfields: { cpu: { type: double, as: c } }\ntable: a\n"
                    "bucket: day\nkey: [host, bucket]\n"),
            "x.yaml:3: the column of field 'cpu' is not the one that the points in table 'a' were written "
            "with; declare "
            "what was under 'versions', and another table for what is to come");
  EXPECT_EQ(
      ErrorOf(Declared("table: b\nbucket: day\nkey: [host, bucket]\nversions:\n"
                       "  - { until: 2021-03-04, table: a, bucket: day, key: [host, bucket] }\n")),
      "x.yaml: table 'a' has points of 2021-03-04T00:00:00Z to now, which this declaration looks for "
      "elsewhere; "
      "leave each 'until' as it is stored (sonde series show s); where points lie can only be changed by a "
      "new version");
  EXPECT_EQ(ErrorOf(Declared("table: a\nbucket: day\nkey: [host, bucket]\ntime: { origin: 1850-01-01 }\n")),
            "x.yaml:6: the origin of 'time' is not the one that the points in table 'a' were written with; "
            "declare what was under 'versions', and another table for what is to come");
  // Another series over the same rows.
  EXPECT_EQ(
      ErrorOf("series: t\ntable: a\nfields: { cpu: double }\nlayout: row\nkey: [{ const: x }, { time: "
              "yyyymmdd }]\n"),
      "x.yaml:5: table 'a' has other rows: 'h' is not the constant 'x': this row was not written by this "
      "declaration; declare another table");
}

TEST(StoredOrigins, MatterWhereTablesCountFromThem) {
  MemoryTables tables;
  const auto declare = [&](std::string_view time, std::string_view derive) {
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ cpu: double }}\nlayout: row\n"
                        "key: [host, {{ time: yyyymmdd }}]\ntime: {{ resolution: 1d{} }}\nderive: [{}]\n",
                        time, derive),
            "x.yaml")
            .value();
    absl::Status status = EnsureSeriesTables(schema, &tables);
    if (!status.ok()) return std::string(status.message());
    PointWriter writer(schema, &tables);
    status = writer.Add({{"h"}, 18690 * kMicrosPerDay, {"1"}});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(writer.Flush().ok());
    return std::string();
  };
  EXPECT_EQ(declare("", ""), "");
  EXPECT_EQ(declare(", origin: 1900-01-01", ""), "");  // keys that say the day do not count
  EXPECT_EQ(declare(", origin: 1900-01-01", "latest: s_now"), "");
  EXPECT_EQ(declare(", origin: 1850-01-01", "latest: s_now"),
            "x.yaml: the origin of 'time' is not the one that table 's_now' was written with; name another "
            "table there, and fill it by sonde series rebuild");
  EXPECT_EQ(declare(", origin: 1850-01-01", "latest: s_now_2"), "");
}

}  // namespace
}  // namespace sonde::series

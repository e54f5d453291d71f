#include "series/known/declaration_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"
#include "series/write/rollup_refresher.h"

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
  EXPECT_EQ(ErrorOf("series: t\ntable: a\nfields: { cpu: double }\nlayout: row\nkey: [{ const: x }, { time: "
                    "yyyymmdd }]\n"),
            "x.yaml:5: table 'a' is one of series 's'; declare another table");
}

TEST_F(Stored, RowsOfAnotherKindAreRefused) {
  tables_.tables["b"].rows["h#20210304"][{"m", "cpu"}][kDay] = "1";
  EXPECT_EQ(
      ErrorOf("series: t\ntable: b\nfields: { cpu: double }\nlayout: row\nkey: [{ const: x }, { time: "
              "yyyymmdd }]\n"),
      "x.yaml:5: table 'b' has other rows: 'h' is not the constant 'x': this row was not written by this "
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
            "x.yaml:7: table 's_now' has rows of when it was declared otherwise: the origin of 'time' is "
            "another; declare another table, which 'sonde series rebuild' fills, or drop this one first");
  EXPECT_EQ(declare(", origin: 1850-01-01", "latest: s_now_2"), "");
}

TEST_F(Stored, AFieldWithValuesStays) {
  const std::string more =
      "series: s\ntags: { host: string }\nfields: { cpu: double, mem: int, never: int }\ntable: a\n"
      "bucket: day\nkey: [host, bucket]\n";
  ASSERT_TRUE(EnsureSeriesTables(Parse(more), &tables_).ok());
  PointWriter writer(Parse(more), &tables_);
  ASSERT_TRUE(writer.Add({{"h"}, kDay, {"", "7", ""}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(ErrorOf("series: s\ntags: { host: string }\nfields: { cpu: double, never: int }\ntable: a\n"
                    "bucket: day\nkey: [host, bucket]\n"),
            "x.yaml: values of field 'mem' that are in table 'a' could not be read any more; leave the field "
            "declared: points need not have it");
  EXPECT_TRUE(
      EnsureSeriesTables(Parse("series: s\ntags: { host: string }\nfields: { cpu: double, mem: int }\n"
                               "table: a\nbucket: day\nkey: [host, bucket]\n"),
                         &tables_)
          .ok());
}

// A change of types is checked against the stored values, too, so that a mistaken change can be taken back.
TEST_F(Stored, ATypeThatReadsAllValuesIsTaken) {
  const auto typed = [](std::string_view type, std::string_view table, std::string_view shape) {
    return fmt::format("series: {}\ntable: {}\ntags: {{ host: string }}\nfields: {{ cpu: {} }}\n{}\n", table,
                       table, type, shape);
  };
  const auto write = [&](const std::string& text, std::string_view cpu) {
    PointWriter writer(Parse(text), &tables_);
    ASSERT_TRUE(writer.Add({{"h"}, kDay + 1'000 * static_cast<int64_t>(cpu.size()), {cpu}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  };
  const std::string_view row = "layout: row\nkey: [host, time]";
  ASSERT_TRUE(EnsureSeriesTables(Parse(typed("int", "r", row)), &tables_).ok());
  write(typed("int", "r", row), "12");
  for (const char* type : {"string", "int", "double", "string"})
    ASSERT_TRUE(EnsureSeriesTables(Parse(typed(type, "r", row)), &tables_).ok()) << type;
  write(typed("string", "r", row), "1.5");
  EXPECT_EQ(
      ErrorOf(typed("int", "r", row)),
      "x.yaml:4: values in table 'r' could not be read any more: field 'cpu': the cell '1.5' is not an int; "
      "leave the type as it is stored (sonde series show r)");
  EXPECT_TRUE(EnsureSeriesTables(Parse(typed("double", "r", row)), &tables_).ok());
  // In a blob a number is not written as a text is.
  const std::string_view blob = "layout: blob\nblob: { format: protobuf }\nkey: [host, time]";
  ASSERT_TRUE(EnsureSeriesTables(Parse(typed("int", "b", blob)), &tables_).ok());
  write(typed("int", "b", blob), "12");
  EXPECT_FALSE(EnsureSeriesTables(Parse(typed("string", "b", blob)), &tables_).ok());
}

// What was acknowledged last counts, whatever the clock says.
TEST_F(Stored, ADeclarationTakesThePlaceOfOneFromTheFuture) {
  const ManualClock ahead(kDay + 20'000 * kMicrosPerDay);
  const ManualClock behind(kDay);
  const std::string text = Declared("table: a\nbucket: day\nkey: [host, bucket]\n");
  ASSERT_TRUE(StoreDeclaration(Parse("# first\n" + text), &tables_, ahead).ok());
  ASSERT_TRUE(StoreNote("s", kCopiedNote, "a", "first", &tables_, ahead).ok());
  ASSERT_TRUE(StoreDeclaration(Parse("# second\n" + text), &tables_, behind).ok());
  ASSERT_TRUE(StoreNote("s", kCopiedNote, "a", "second", &tables_, behind).ok());
  EXPECT_EQ(FindDeclaration("s", &tables_)->text, "# second\n" + text);
  EXPECT_EQ(*FindNote("s", kCopiedNote, "a", &tables_), "second");
}

// No two series see each other's points, whichever of their tables it is.
TEST_F(Stored, TablesAreOfOneSeries) {
  const auto other = [](std::string_view table, std::string_view derive) {
    return fmt::format(
        "series: t\ntable: {}\ntags: {{ host: string }}\nfields: {{ cpu: double }}\nbucket: "
        "day\nkey: [host, bucket]\nderive: [{}]\n",
        table, derive);
  };
  EXPECT_EQ(ErrorOf(other("a", "")), "x.yaml:6: table 'a' is one of series 's'; declare another table");
  EXPECT_EQ(ErrorOf(other("b", "latest: a")),
            "x.yaml:7: table 'a' is one of series 's'; declare another table");
  EXPECT_EQ(ErrorOf(other("timeseries", "")),
            "x.yaml:6: table 'timeseries' is that of all series that nobody declares; declare another table");
  EXPECT_EQ(ErrorOf(other("b", "latest: sonde_series")),
            "x.yaml:7: table 'sonde_series' is kept for what is known of series; declare another table");
  ASSERT_TRUE(
      EnsureSeriesTables(Parse(other("b", "period: { table: \"c_{yyyymmdd}\", every: day }")), &tables_)
          .ok());
  const std::string third =
      "series: u\ntable: c_20210304\ntags: { host: string }\nfields: { cpu: double }\nbucket: day\nkey: "
      "[host, bucket]\n";
  EXPECT_EQ(ErrorOf(third), "x.yaml:6: table 'c_20210304' is one of series 't'; declare another table");
}

// Rows of two definitions in one table would be counted twice, or be errors.
TEST_F(Stored, ADerivedTableIsNotRedeclaredOverItsRows) {
  const auto derived = [](std::string_view derive) {
    return Declared(fmt::format("table: a\nbucket: day\nkey: [host, bucket]\nderive: [{}]\n", derive));
  };
  const auto write = [&](const std::string& text) {
    ASSERT_TRUE(EnsureSeriesTables(Parse(text), &tables_).ok());
    PointWriter writer(Parse(text), &tables_);
    ASSERT_TRUE(writer.Add({{"h"}, kDay + 5'000, {"1"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  };
  const std::string rollup = "rollup: { table: r, every: day }";
  const std::string order = "order: { table: o, key: [{ salt: 4 }, time, host] }";
  const std::string period = "period: { table: \"p_{yyyymmdd}\", every: day }";
  write(derived(rollup + ", " + order + ", " + period));
  const auto refused = [](std::string_view table, std::string_view what) {
    return fmt::format(
        "x.yaml:7: table '{}' has rows of when it was declared otherwise: {}; declare another table, which "
        "'sonde series rebuild' fills, or drop this one first",
        table, what);
  };
  const std::string by_hour = derived("rollup: { table: r, every: 1h }");
  EXPECT_EQ(ErrorOf(by_hour), refused("r", "it had pieces of one day"));
  EXPECT_EQ(ErrorOf(derived("order: { table: o, key: [{ salt: 8 }, time, host] }")),
            refused("o", "the key is another"));
  EXPECT_EQ(ErrorOf(derived("period: { table: \"p_{yyyymmdd}\", every: week }")),
            refused("p_{yyyymmdd}", "it had pieces of one day"));
  EXPECT_EQ(ErrorOf(derived("latest: o")), refused("o", "it was an order"));
  // Nor in two steps.
  ASSERT_TRUE(EnsureSeriesTables(Parse(derived("")), &tables_).ok());
  EXPECT_EQ(ErrorOf(by_hour), refused("r", "it had pieces of one day"));
  EXPECT_TRUE(
      EnsureSeriesTables(Parse(derived("rollup: { table: r, every: day, aggregates: [max] }")), &tables_)
          .ok())
      << "other columns";
  ASSERT_TRUE(tables_.DropTable("r").ok());
  EXPECT_TRUE(EnsureSeriesTables(Parse(by_hour), &tables_).ok());
}

// Rows of roll-ups come later than their points.
TEST_F(Stored, ARollupIsNotRedeclaredBeforeItsRowsHaveCome) {
  const auto every = [](std::string_view width) {
    return Parse(Declared(fmt::format(
        "table: a\nbucket: day\nkey: [host, bucket]\nderive: [rollup: {{ table: r, every: {} }}]\n", width)));
  };
  const std::string refused =
      "x.yaml:7: table 'r' {} rows of when it was declared otherwise: it had pieces of one month; declare "
      "another table, which 'sonde series rebuild' fills, or drop this one first";
  const auto error_of = [&](std::string_view width) {
    return std::string(EnsureSeriesTables(every(width), &tables_).message());
  };
  ASSERT_TRUE(EnsureSeriesTables(every("month"), &tables_).ok());
  EXPECT_EQ(error_of("week"), "") << "nothing was written yet";
  EXPECT_EQ(error_of("month"), "");
  const SystemClock clock;
  RollupRefresher refresher(&tables_, &clock);
  PointWriter writer(every("month"), &tables_, {}, &clock, PointWriter::Target::kAll,
                     {.refresher = &refresher});
  ASSERT_TRUE(writer.Add({{"h"}, kDay + 5'000, {"1"}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_TRUE(tables_.tables["r"].rows.empty());
  EXPECT_EQ(error_of("day"), fmt::format(fmt::runtime(refused), "is about to get"));
  ASSERT_TRUE(refresher.Refresh().ok());
  EXPECT_EQ(error_of("day"), fmt::format(fmt::runtime(refused), "has"));
  ASSERT_TRUE(tables_.DropTable("r").ok());
  EXPECT_EQ(error_of("day"), "");
}

}  // namespace
}  // namespace sonde::series

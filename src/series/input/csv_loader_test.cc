#include "series/input/csv_loader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

constexpr std::string_view kStocks =
    "series: stocks\ntags: { symbol: string }\nfields: { price: double, note: string }\nlayout: row\n"
    "key: [symbol, { time: yyyymmdd }]\ntime: { resolution: 1d, zone: UTC }\n";

struct Loaded {
  std::string error;
  CsvTotals totals;
  std::vector<std::string> bad_lines;
  MemoryTables tables;
};

Loaded Load(std::string_view csv, CsvMapping mapping = {}, bool is_writing = true) {
  Loaded result;
  const SeriesSchema schema = ParseSchema(kStocks, "x.yaml").value();
  EXPECT_TRUE(EnsureSeriesTables(schema, &result.tables).ok());
  PointWriter writer(schema, &result.tables);
  CsvLoader loader(std::move(mapping), {[&](int64_t line, std::string_view reason) {
                                          result.bad_lines.push_back(fmt::format("{}: {}", line, reason));
                                        },
                                        {},
                                        {}});
  const auto totals =
      is_writing ? loader.Load(SourceOfText(csv), &writer) : loader.Validate(SourceOfText(csv), &writer);
  if (totals.ok()) result.totals = *totals;
  result.error = std::string(totals.status().message());
  return result;
}

TEST(CsvLoader, LoadsColumnsByName) {
  Loaded loaded = Load("symbol,date,price,extra\nMSFT,Jan 1 2000,39.81,x\nMSFT,Feb 1 2000, 36.35 ,\n",
                       {.time_format = "%b %d %Y"});
  EXPECT_EQ(loaded.error, "");
  EXPECT_EQ(loaded.totals.points, 2);
  EXPECT_EQ(loaded.totals.ignored_columns, std::vector<std::string>{"extra"});
  EXPECT_EQ(loaded.totals.ignored_values, 1);
  EXPECT_EQ(Load("symbol,date,price,extra\nMSFT,2000-01-01,39.81,x\n", {.refuses_unknown = true}).error,
            "line 1: column 'extra' is not in series 'stocks'; allowed: symbol, price, note");
  auto& rows = loaded.tables.tables["stocks"].rows;
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ((rows["MSFT#20000201"][{"m", "price"}].begin()->second), "36.35");
}

TEST(CsvLoader, MapsAndSets) {
  Loaded loaded =
      Load("when,Close,comment\n2000-01-01,1,\"a,b\"\n", {.names = {{"Close", "price"}, {"comment", "note"}},
                                                          .constants = {{"symbol", "A"}},
                                                          .time_column = "when"});
  EXPECT_EQ(loaded.error, "");
  EXPECT_EQ((loaded.tables.tables["stocks"].rows["A#20000101"][{"m", "note"}].begin()->second), "a,b");
}

TEST(CsvLoader, KeepsTheGoodLines) {
  Loaded loaded = Load(
      "symbol,date,price\nA,2000-01-01,1\nA,2000-01-02\nA,yesterday,1\nA,2000-01-03,much\n,2000-01-04,1\nA,"
      "2000-01-05,\n"
      "A,2000-01-06,6\n\"A\"x,2000-01-07,1\n");
  EXPECT_EQ(loaded.totals.points, 2);
  EXPECT_EQ(loaded.totals.bad_lines, 6);
  EXPECT_EQ(loaded.bad_lines,
            (std::vector<std::string>{
                "3: 2 values; the header has 3",
                "4: time 'yesterday' is not as in RFC 3339, such as 2021-03-05T12:04:00Z",
                "5: field 'price': value 'much' is not a finite number", "6: tag 'symbol': value '' is empty",
                "7: the point has no field", "9: text behind a closing quote"}));
  EXPECT_EQ(loaded.tables.tables["stocks"].rows.size(), 2);
}

TEST(CsvLoader, ValidatesWithoutWriting) {
  Loaded loaded = Load("symbol,date,price\nA,2000-01-01,1\nA,x,1\n", {}, false);
  EXPECT_EQ(loaded.totals.points, 1);
  EXPECT_EQ(loaded.totals.bad_lines, 1);
  EXPECT_TRUE(loaded.tables.tables["stocks"].rows.empty());
}

TEST(CsvLoader, RefusesAHeaderThatDoesNotFit) {
  EXPECT_EQ(Load("").error, "the file is empty; its first line must name the columns");
  EXPECT_EQ(
      Load("symbol,price\n").error,
      "no column 'time' or 'timestamp' or 'datetime' or 'date' for the time; the file has: symbol, price");
  EXPECT_EQ(
      Load("date,price\n").error,
      "no column for tag 'symbol'; say --map COLUMN=symbol or --set symbol=VALUE; the file has: date, price");
  EXPECT_EQ(Load("symbol,date,cost\n").error,
            "no column is a field of series 'stocks'; the file has: symbol, date, cost");
  EXPECT_EQ(Load("symbol,date,price\n", {.names = {{"x", "price"}}}).error,
            "--map x=price: no such column; the file has: symbol, date, price");
  EXPECT_EQ(Load("symbol,date,price\n", {.names = {{"price", "cost"}}}).error,
            "--map price=cost: 'cost' is not in series 'stocks'; allowed: symbol, price, note");
  EXPECT_EQ(Load("symbol,date,price\n", {.constants = {{"symbol", "A"}}}).error,
            "--set symbol=A: the file has a column for this tag");
  EXPECT_EQ(Load("symbol,date,price\n", {.constants = {{"host", "A"}}}).error,
            "--set host=A: 'host' is not a tag of series 'stocks'");
  EXPECT_EQ(
      Load("\x01\xFF,b\n").error,
      "no column 'time' or 'timestamp' or 'datetime' or 'date' for the time; the file has: \\x01\\xff, b");
  EXPECT_TRUE(Load(std::string(99, ',') + "\n").error.ends_with(", , ,  and 70 more"));
  EXPECT_EQ(Load("symbol,date,price,price\n").error, "two columns of the file are 'price'");
}

}  // namespace
}  // namespace sonde::series

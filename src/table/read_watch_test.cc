#include "table/read_watch.h"

#include <gtest/gtest.h>

#include <map>

namespace sonde {
namespace {

class Told final : public AccessObserver {
 public:
  void OnAccess(TableId, const AccessPart& part) override {
    for (const AccessedRow& row : part.rows) {
      rows += row.rows;
      bytes += row.bytes * row.rows;
      ++noted[std::string(row.row_key)];
    }
    latencies += part.latency_micros.has_value() ? 1 : 0;
    errors += part.errors;
  }
  void OnFullScan(TableId, const FullScan& scan) override { scans.push_back(scan); }
  std::vector<std::string> TabletStarts(TableId) override { return {}; }

  uint64_t rows = 0, bytes = 0, latencies = 0, errors = 0;
  std::map<std::string, int> noted;
  std::vector<FullScan> scans;
};

void See(ReadWatch* watch, int rows) {
  FilterCell cell;
  cell.cell.qualifier = "q";
  cell.cell.value = "12345";
  for (int i = 0; i < rows; ++i) {
    watch->Saw("row" + std::to_string(i));
    watch->Returned({cell});
  }
}

TEST(ReadWatch, TellsOfEachOfAFewRows) {
  Told told;
  {
    ReadWatch watch(&told, 1);
    See(&watch, 10);
    watch.End(false, 10, nullptr);
  }
  EXPECT_EQ(told.rows, 10);
  EXPECT_EQ(told.bytes, 60);
  EXPECT_EQ(told.noted.size(), 10);
  EXPECT_EQ(told.latencies, 1);
  EXPECT_TRUE(told.scans.empty());
}

TEST(ReadWatch, CountsAllRowsOfALongScanAndNamesSome) {
  Told told;
  {
    ReadWatch watch(&told, 1);
    See(&watch, 10'007);
    watch.End(true, 10'007, [] { return std::string("me"); });
    watch.End(true, 10'007, [] { return std::string("me"); });
  }
  EXPECT_EQ(told.rows, 10'007);
  EXPECT_NEAR(static_cast<double>(told.bytes), 60'042, 100);
  EXPECT_LT(told.noted.size(), 700);
  EXPECT_EQ(told.latencies, 1);
  ASSERT_EQ(told.scans.size(), 1);
  EXPECT_EQ(told.scans[0].rows, 10'007);
  EXPECT_EQ(told.scans[0].caller, "me");
}

TEST(ReadWatch, TellsOfAReadThatIsGivenUp) {
  Told told;
  {
    ReadWatch watch(&told, 1);
  }
  EXPECT_EQ(told.latencies, 0);
  {
    ReadWatch watch(&told, 1);
    See(&watch, 5);
  }
  EXPECT_EQ(told.rows, 5);
}

TEST(ReadWatch, TellsOfAFailure) {
  Told told;
  {
    ReadWatch watch(&told, 1);
    See(&watch, 2);
    watch.Fail("row2");
  }
  EXPECT_EQ(told.rows, 2);
  EXPECT_EQ(told.errors, 1);
  EXPECT_EQ(told.noted.count("row2"), 1);
}

}  // namespace
}  // namespace sonde

#include "bench/data/bulk_request.h"

#include <gmock/gmock.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace sonde::bench {
namespace {

using google::bigtable::v2::MutateRowsRequest;

// Every cell, as text.
std::multiset<std::string> Cells(BulkRequests requests, std::vector<int>* rows_of_requests = nullptr) {
  std::multiset<std::string> cells;
  for (std::string_view bytes = requests.Next(); !bytes.empty(); bytes = requests.Next()) {
    MutateRowsRequest request;
    EXPECT_TRUE(request.ParseFromString(std::string(bytes)));
    if (rows_of_requests != nullptr) rows_of_requests->push_back(request.entries_size());
    for (const auto& entry : request.entries()) {
      for (const auto& mutation : entry.mutations()) {
        cells.insert(entry.row_key() + " " + mutation.set_cell().ShortDebugString());
      }
    }
  }
  return cells;
}

TEST(BulkRequests, AreTheBytesThatProtobufMakes) {
  for (const Schema schema : {Schema::kTall, Schema::kBucket}) {
    BulkRequests requests({.schema = schema, .hosts = 3, .cells_per_row = 12},
                          "projects/p/instances/i/tables/t", 0, 3, 5, 4);
    const std::string_view bytes = requests.Next();
    MutateRowsRequest request;
    ASSERT_TRUE(request.ParseFromString(std::string(bytes)));
    EXPECT_EQ(request.SerializeAsString(), bytes);
    EXPECT_EQ(request.table_name(), "projects/p/instances/i/tables/t");
    ASSERT_EQ(request.entries_size(), 4);
    EXPECT_EQ(request.entries(1).row_key(), "host_00001#1451606400");
    EXPECT_EQ(request.entries(3).row_key(),
              schema == Schema::kTall ? "host_00000#1451606410" : "host_00000#1451606400");
    ASSERT_EQ(request.entries(3).mutations_size(), 12);
    const auto& cell = request.entries(3).mutations(10).set_cell();
    EXPECT_EQ(cell.family_name(), "m");
    EXPECT_EQ(cell.column_qualifier(), "usage_0010");
    EXPECT_EQ(cell.timestamp_micros(), 1'451'606'410'000'000);
  }
}

TEST(BulkRequests, HaveNumbersOfEightBytesThatAreTheTexts) {
  DataShape shape{.hosts = 1, .cells_per_row = 1};
  const auto value_of = [](const DataShape& of) {
    BulkRequests requests(of, "t", 0, 1, 1, 1);
    MutateRowsRequest request;
    EXPECT_TRUE(request.ParseFromString(std::string(requests.Next())));
    return request.entries(0).mutations(0).set_cell().value();
  };
  const std::string text = value_of(shape);
  shape.big_endian = true;
  EXPECT_EQ(value_of(shape), std::string(7, '\0') + static_cast<char>(std::stoi(text)));
}

TEST(BulkRequests, FillRequestsAndEndWithTheRest) {
  std::vector<int> rows;
  const auto cells = Cells(BulkRequests({.hosts = 3, .cells_per_row = 2}, "t", 0, 3, 3, 4), &rows);
  EXPECT_THAT(rows, ::testing::ElementsAre(4, 4, 1));
  EXPECT_EQ(cells.size(), 18);
}

TEST(BulkRequests, AreTheSameDataForAnyNumberOfClients) {
  const DataShape shape{.schema = Schema::kTall, .hosts = 4, .cells_per_row = 10};
  const auto whole = [&] { return BulkRequests(shape, "t", 0, 4, 20, 7); };
  const auto first = [&] { return BulkRequests(shape, "t", 0, 1, 20, 3); };
  const auto second = [&] { return BulkRequests(shape, "t", 1, 4, 20, 100); };
  auto halves = Cells(first());
  halves.merge(Cells(second()));
  EXPECT_EQ(Cells(whole()), halves);
  const auto sum_of = [](BulkRequests requests) {
    while (!requests.Next().empty()) continue;
    return requests.sum();
  };
  CellSum sum = sum_of(first());
  sum.Merge(sum_of(second()));
  EXPECT_EQ(sum.sum(), sum_of(whole()).sum());
  EXPECT_EQ(sum.cells(), 800);
}

TEST(BulkRequests, AreBytesOfTheWireForEveryKindOfData) {
  for (const DataKind kind :
       {DataKind::kDevops, DataKind::kIot, DataKind::kMachines, DataKind::kMeters, DataKind::kMarket}) {
    BulkRequests requests({.kind = kind, .hosts = 50}, "t", 0, 50, 2, 30);
    uint64_t cells = 0;
    uint64_t cell_bytes = 0;
    for (std::string_view bytes = requests.Next(); !bytes.empty(); bytes = requests.Next()) {
      MutateRowsRequest request;
      ASSERT_TRUE(request.ParseFromString(std::string(bytes)));
      EXPECT_EQ(request.SerializeAsString(), bytes);
      for (const auto& entry : request.entries()) {
        cells += entry.mutations_size();
        for (const auto& mutation : entry.mutations()) {
          const auto& cell = mutation.set_cell();
          cell_bytes += entry.row_key().size() + cell.family_name().size() + cell.column_qualifier().size() +
                        8 + cell.value().size();
        }
      }
    }
    EXPECT_GT(cells, 0);
    EXPECT_EQ(requests.sum().cells(), cells);
    EXPECT_EQ(requests.cell_bytes(), cell_bytes);
  }
}

TEST(BulkRequests, GoOnWhereTheyAreToldTo) {
  const DataShape shape{.hosts = 3};
  auto cells = Cells(BulkRequests(shape, "t", 0, 3, 5, 4));
  BulkRequests rest(shape, "t", 0, 3, 9, 4);
  rest.SkipTo(5);
  cells.merge(Cells(std::move(rest)));
  EXPECT_EQ(cells, Cells(BulkRequests(shape, "t", 0, 3, 9, 4)));
}

TEST(BulkRequests, DifferWithTheSeed) {
  EXPECT_NE(Cells(BulkRequests({.seed = 1}, "t", 0, 1, 20, 7)),
            Cells(BulkRequests({.seed = 2}, "t", 0, 1, 20, 7)));
}

TEST(HostWalk, MovesLikeTheNormalDistribution) {
  DataShape shape{.cells_per_row = 10};
  HostWalk walk(shape, 7);
  std::vector<uint8_t> before, after;
  walk.Next(&before);
  int64_t squares = 0;
  int64_t moves = 0;
  for (int i = 0; i < 20'000; ++i) {
    walk.Next(&after);
    for (size_t j = 0; j < after.size(); ++j) {
      ASSERT_LE(after[j], 100);
      if (before[j] < 10 || before[j] > 90) continue;
      squares += (after[j] - before[j]) * (after[j] - before[j]);
      ++moves;
    }
    before = after;
  }
  // Rounding down before and after adds 1/6 to the variance of 1.
  EXPECT_NEAR(static_cast<double>(squares) / static_cast<double>(moves), 7.0 / 6.0, 0.03);
}

TEST(CellSum, DependsOnEveryPartOfACellButNotOnTheOrder) {
  const auto sum = [](std::vector<std::tuple<std::string, std::string, int64_t, std::string>> cells) {
    CellSum result;
    for (const auto& [row, qualifier, micros, value] : cells) {
      result.Add(CellSum::Hash(row), CellSum::Hash(qualifier), micros, CellSum::Hash(value));
    }
    return result.sum();
  };
  EXPECT_EQ(sum({{"a", "q", 1, "x"}, {"b", "q", 1, "y"}}), sum({{"b", "q", 1, "y"}, {"a", "q", 1, "x"}}));
  const std::set<uint64_t> sums = {sum({{"a", "q", 1, "x"}}), sum({{"b", "q", 1, "x"}}),
                                   sum({{"a", "r", 1, "x"}}), sum({{"a", "q", 2, "x"}}),
                                   sum({{"a", "q", 1, "y"}}), sum({{"a", "q", 1, ""}}),
                                   sum({{"q", "a", 1, "x"}})};
  EXPECT_EQ(sums.size(), 7);
}

}  // namespace
}  // namespace sonde::bench

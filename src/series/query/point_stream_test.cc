#include "series/query/point_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

// One line a layout or key, behind what all of them share.
constexpr std::string_view kLayouts[] = {
    "key: [a, b, bucket]\nbucket: hour",
    "key: [a, b, {time: epoch_s}]\nlayout: row",
    "key: [{salt: 3}, a, b, bucket]\nbucket: hour",
    "key: [a, b, bucket]\nbucket: hour\nlayout: offsets\nslot: 1s",
    "key: [a, b, bucket]\nbucket: hour\nlayout: blob",
    "key: [b, bucket, a]\nbucket: hour",
};

std::string LineOf(const rows::Batch& batch, size_t row) {
  std::string line;
  for (const ColumnView& column : batch.columns) {
    const size_t place = column.PlaceOf(row);
    if (!column.IsThere(row)) {
      line += "- ";
    } else if (column.type() == ColumnType::kBytes) {
      line += fmt::format("{} ", column.bytes()[place]);
    } else if (column.type() == ColumnType::kDouble) {
      line += fmt::format("{} ", column.doubles()[place]);
    } else {
      line += fmt::format("{} ", column.ints()[place]);
    }
  }
  return line;
}

class PointStreamTest : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    const absl::StatusOr<SeriesSchema> schema = ParseSchema(
        fmt::format(
            "series: s\ntable: t\ntags: {{ a: string, b: int }}\nfields: {{ x: double, n: int, w: string "
            "}}\nretention: {{ max_versions: all }}\n{}\n",
            GetParam()),
        "x.yaml");
    ASSERT_TRUE(schema.ok()) << schema.status();
    known_ = std::make_shared<const KnownSeries>(KnownSeries{*schema, "text", {}});
    ASSERT_TRUE(EnsureSeriesTables(known_->schema, &tables_).ok());
    PointWriter writer(known_->schema, &tables_);
    for (int i = 0; i < 5'000; ++i) {
      const std::string a = fmt::format("a{}", i % 7);
      const std::string b = fmt::format("{}", i % 3);
      const std::string x = i % 4 == 0 ? "" : fmt::format("{}.5", i);
      const std::string n = i % 4 == 0 || i % 5 == 0 ? fmt::format("{}", i) : "";
      ASSERT_TRUE(
          writer.Add({{a, b}, 1'600'000'000'000'000 + i * 2'000'000LL, {x, n, i % 9 == 0 ? "w" : ""}}).ok());
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  }

  std::vector<std::string> Expected(const Query& query) {
    std::vector<std::string> lines;
    const auto stats = RunQueryInBatches(*known_, query, &tables_, [&](const rows::Batch& batch) {
      for (size_t row = 0; row < batch.rows; ++row) lines.push_back(LineOf(batch, row));
      return absl::StatusOr<bool>(true);
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    return lines;
  }

  // Reads on in a new stream behind every `points` points; 0: in one stream.
  std::vector<std::string> Streamed(const Query& query, size_t points) {
    std::vector<std::string> lines;
    std::string place;
    while (true) {
      absl::StatusOr<std::unique_ptr<PointStream>> stream = PointStream::Open(known_, query, &tables_);
      EXPECT_TRUE(stream.ok()) << stream.status();
      if (!stream.ok()) return lines;
      (*stream)->KeepPlaces();
      std::string_view at = place;
      EXPECT_TRUE(place.empty() || (*stream)->RestorePlace(&at));
      EXPECT_TRUE(at.empty());
      rows::Batch batch;
      size_t given = 0;
      while (points == 0 || given < points) {
        const absl::StatusOr<bool> more = (*stream)->Next(&batch);
        EXPECT_TRUE(more.ok()) << more.status();
        if (!more.ok() || !*more) return lines;
        EXPECT_LE(batch.rows, rows::kBatchRowsMax);
        const size_t wanted = points == 0 ? batch.rows : std::min(batch.rows, points - given);
        for (size_t row = 0; row < wanted; ++row) lines.push_back(LineOf(batch, row));
        given += wanted;
        place.clear();
        (*stream)->SavePlace(wanted, &place);
      }
    }
  }

  MemoryTables tables_;
  KnownSeriesRef known_;
};

TEST_P(PointStreamTest, GivesThePointsOfAQuery) {
  Query all;
  all.selection.tags.resize(2);
  Query some = all;
  some.selection.tags[0].values = {"a3", "a5", "nope"};
  some.selection.from_micros = 1'600'001'000'000'000;
  some.selection.to_micros = 1'600'008'000'000'000;
  Query numbers = all;
  numbers.fields = {1, 0};
  for (const Query& query : {all, some, numbers}) {
    std::vector<std::string> expected = Expected(query);
    EXPECT_GT(expected.size(), 100u);
    std::vector<std::string> streamed = Streamed(query, 0);
    EXPECT_EQ(streamed.size(), expected.size());
    for (const size_t points : {1'000u, 333u}) EXPECT_EQ(Streamed(query, points), streamed);
    // Rows of several salts are merged there, and come salt by salt here.
    std::sort(expected.begin(), expected.end());
    std::sort(streamed.begin(), streamed.end());
    EXPECT_EQ(streamed, expected);
  }
}

TEST_P(PointStreamTest, ReadsNoMoreThanItIsAskedFor) {
  Query query;
  query.selection.tags.resize(2);
  absl::StatusOr<std::unique_ptr<PointStream>> stream = PointStream::Open(known_, query, &tables_);
  ASSERT_TRUE(stream.ok()) << stream.status();
  (*stream)->LimitRows(5);
  rows::Batch batch;
  size_t rows = 0;
  while (*(*stream)->Next(&batch)) rows += batch.rows;
  EXPECT_EQ(rows, 5u);
  EXPECT_LT((*stream)->stats().rows_read, 20);
}

TEST_P(PointStreamTest, EndsWhereItIsInterruptedOrMayHoldNoMore) {
  Query query;
  query.selection.tags.resize(2);
  query.interrupted = [] { return absl::CancelledError("enough"); };
  rows::Batch batch;
  const auto interrupted = PointStream::Open(known_, query, &tables_);
  ASSERT_TRUE(interrupted.ok());
  EXPECT_EQ((*interrupted)->Next(&batch).status().ToString(), "CANCELLED: enough");
  query.interrupted = nullptr;
  query.hold = [](int64_t more) {
    return more > 0 ? absl::ResourceExhaustedError("no room") : absl::OkStatus();
  };
  const auto held = PointStream::Open(known_, query, &tables_);
  ASSERT_TRUE(held.ok());
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*held)->Next(&batch);
  EXPECT_TRUE(more.ok() || more.status().ToString() == "RESOURCE_EXHAUSTED: no room") << more.status();
}

INSTANTIATE_TEST_SUITE_P(Layouts, PointStreamTest, testing::ValuesIn(kLayouts));

}  // namespace
}  // namespace sonde::series

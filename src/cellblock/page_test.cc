#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "cellblock/page_fuzz.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_writer.h"
#include "cellblock/rows_for_tests.h"

namespace sonde {
namespace {

TEST(Page, GivesBackWhatItWasMadeOf) {
  SeededRandom random(1);
  for (int round = 0; round < 10; ++round) {
    for (const Kind kind : kKinds) {
      const Rows rows = MakeRows(&random, kind, static_cast<int>(1 + random.Uniform(200)));
      ASSERT_EQ(ReadAll(MakePages(rows)), rows) << "kind " << static_cast<int>(kind);
    }
  }
}

TEST(Page, EndsAnywhere) {
  SeededRandom random(2);
  for (int round = 0; round < 8; ++round) {
    for (const Kind kind : kKinds) {
      const Rows rows = MakeRows(&random, kind, 30);
      const PageLimits limits{.cells_max = static_cast<size_t>(1 + random.Uniform(100)),
                              .plain_bytes_max = static_cast<size_t>(1 + random.Uniform(2000))};
      const std::vector<std::string> pages = MakePages(rows, limits);
      EXPECT_GT(pages.size(), 1u);
      ASSERT_EQ(ReadAll(pages), rows);
      for (const std::string& page : pages) EXPECT_LE(ReadPageHeader(page)->cells, limits.cells_max);
    }
  }
}

TEST(Page, WholeRowsAreKeptTogether) {
  SeededRandom random(3);
  const Rows rows = MakeRows(&random, Kind::kTall, 100);
  for (const std::string& page : MakePages(rows, {.cells_max = 101})) {
    EXPECT_EQ(ReadPageHeader(page)->cells % 10, 0u);
  }
}

TEST(Page, HeaderSaysWhatIsInIt) {
  const Rows rows = {{"a", {{"x", 30, "1"}, {"x", 20, "2"}}}, {"ab", {{"y", 10, "3"}}}};
  const std::vector<std::string> pages = MakePages(rows);
  ASSERT_EQ(pages.size(), 1u);
  const absl::StatusOr<PageHeader> header = ReadPageHeader(pages[0]);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->rows, 2u);
  EXPECT_EQ(header->cells, 3u);
  EXPECT_EQ(header->columns, 2u);
  EXPECT_EQ(header->timestamp_micros_min, 10);
  EXPECT_EQ(header->timestamp_micros_max, 30);
  EXPECT_EQ(header->first_row_key, "a");
  EXPECT_EQ(header->last_row_key, "ab");
  const std::unique_ptr<PageReader> reader = OpenPage(pages[0]);
  EXPECT_THAT(reader->columns(), testing::ElementsAre("x", "y"));
  EXPECT_EQ(reader->CellsOf(0), 2u);
  EXPECT_EQ(reader->CellsOf(1), 1u);
}

TEST(Page, ARowOfAMillionColumnsAndOneOfAMillionTimes) {
  Row wide{"row", {}}, long_row{"row", {}};
  for (int i = 0; i < 1'000'000; ++i) {
    wide.cells.push_back({fmt::format("column{:07}", i), kStart, std::to_string(i % 100)});
    long_row.cells.push_back({"value", kStart - i * kSecond, std::to_string(i % 100)});
  }
  for (const Row& row : {wide, long_row}) {
    const std::vector<std::string> pages = MakePages({row});
    EXPECT_GT(pages.size(), 7u);
    size_t bytes = 0;
    for (const std::string& page : pages) bytes += page.size();
    EXPECT_LT(bytes, 100'000u);
    EXPECT_EQ(ReadAll(pages), Rows{row});
  }
}

TEST(Page, OneValueOfAHundredMegabytes) {
  const Rows rows = {{"a", {{"q", 3, "small"}}},
                     {"b", {{"q", 2, std::string(size_t{100} << 20, 'x')}}},
                     {"c", {{"q", 1, "small"}}}};
  const std::vector<std::string> pages = MakePages(rows);
  EXPECT_EQ(pages.size(), 3u);
  EXPECT_TRUE(ReadAll(pages) == rows);
}

TEST(Page, TallAndBucketRowsTakeLessThanThreeTenthsOfAByteACell) {
  // Ten walks of whole numbers, a step a ten seconds, for half a day; the entropy of a step is 2.1 bits.
  SeededRandom random(6);
  const auto step = [&random] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.UniformReal();
    return sum - 6;
  };
  constexpr int kSteps = 4320, kStepsPerHour = 360, kHosts = 4, kColumns = 10;
  Rows tall, bucket;
  for (int host = 0; host < kHosts; ++host) {
    std::vector<double> levels(kColumns, 50);
    for (int i = 0; i < kSteps; ++i) {
      const int64_t time = kStart + i * 10 * kSecond;
      const int64_t hour = kStart + i / kStepsPerHour * 3600 * kSecond;
      if (i % kStepsPerHour == 0) bucket.push_back({fmt::format("host_{}#cpu#{}", host, hour / kSecond), {}});
      tall.push_back({fmt::format("host_{}#cpu#{}", host, time / kSecond), {}});
      for (int column = 0; column < kColumns; ++column) {
        levels[column] = std::clamp(levels[column] + step(), 0.0, 100.0);
        const Cell cell{Name(column), time, std::to_string(static_cast<int>(levels[column]))};
        tall.back().cells.push_back(cell);
        bucket.back().cells.push_back(cell);
      }
    }
  }
  for (Row& row : bucket) Sort(&row);
  for (const Rows& rows : {tall, bucket}) {
    size_t bytes = 0;
    for (const std::string& page : MakePages(rows)) bytes += page.size();
    EXPECT_LT(static_cast<double>(bytes) / (kHosts * kSteps * kColumns), 0.30);
  }
}

// Whichever of them a trial looks at, columns that have nothing in common stay apart.
TEST(Page, ARowOfManyColumnsTakesNoMoreThanTwoOfFewer) {
  constexpr int kColumns = 128, kTimes = 360;
  SeededRandom random(7);
  for (const int period : {2, 4, 8, 16, 32}) {
    Row whole{"h", {}};
    Rows halves{{"h", {}}, {"h", {}}};
    for (int column = 0; column < kColumns; ++column) {
      const bool is_constant = column % period < period / 4 + 1;
      int64_t level = int64_t{1} << (column % 40);
      for (int i = kTimes; i > 0; --i) {
        level += static_cast<int64_t>(random.Uniform(8));
        const Cell cell{fmt::format("m{:03}", column), kStart + i * kSecond,
                        is_constant ? "idle" : std::to_string(level)};
        whole.cells.push_back(cell);
        halves[column * 2 / kColumns].cells.push_back(cell);
      }
    }
    size_t bytes = 0;
    for (const Row& half : halves) bytes += MakePages({half}).front().size();
    EXPECT_LT(MakePages({whole}).front().size(), bytes) << "period " << period;
  }
}

TEST(Page, EveryDamageIsFound) {
  SeededRandom random(7);
  for (const Kind kind : kKinds) {
    const std::string page = MakePages(MakeRows(&random, kind, 20))[0];
    for (int round = 0; round < 300; ++round) {
      std::string damaged = page;
      if (random.Uniform(3) == 0) {
        damaged.resize(random.Uniform(damaged.size()));
      } else if (random.Uniform(3) == 0) {
        damaged.insert(random.Uniform(damaged.size()), 1, static_cast<char>(random.Next()));
      } else {
        damaged[random.Uniform(damaged.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
      if (damaged == page) continue;
      EXPECT_EQ(ReadAnyPage(damaged).status().code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST(Page, DamageThatTheChecksumsHideIsSurvived) {
  SeededRandom random(8);
  int refused = 0;
  for (int round = 0; round < 50; ++round) {
    const Kind kind = kKinds[random.Uniform(std::size(kKinds))];
    const std::string whole = MakePages(MakeRows(&random, kind, static_cast<int>(1 + random.Uniform(30))))[0];
    for (int i = 0; i < 60; ++i) {
      std::string page = whole;
      for (uint64_t flips = 1 + random.Uniform(3); flips > 0; --flips) {
        page[random.Uniform(page.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
      SealPage(&page);
      const absl::StatusOr<size_t> cells = ReadAnyPage(page);
      if (!cells.ok()) {
        EXPECT_EQ(cells.status().code(), absl::StatusCode::kDataLoss);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Page, AWriterIsUsedAgain) {
  SeededRandom random(9);
  PageWriter writer;
  for (const Kind kind : kKinds) {
    const Rows rows = MakeRows(&random, kind, 30);
    for (const Row& row : rows) ASSERT_EQ(writer.Add(row.key, Views(row.cells)), row.cells.size());
    std::string page;
    writer.Finish(&page);
    EXPECT_EQ(writer.cells(), 0u);
    ASSERT_EQ(ReadAll({page}), rows);
  }
}

TEST(PageWriterDeathTest, CellsOutOfOrderEndTheProgram) {
  const CellView newer{"q", 20, "v"}, older{"q", 10, "v"}, later_column{"r", 10, "v"};
  PageWriter writer;
  ASSERT_EQ(writer.Add("row b", {newer}), 1u);
  EXPECT_DEATH(writer.Add("row a", {newer}), "CHECK failed: .*key < row_key");
  EXPECT_DEATH(writer.Add("row b", {newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(writer.Add("row c", {older, newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(writer.Add("row c", {later_column, older}), "CHECK failed: .*qualifier");
  EXPECT_EQ(writer.Add("row b", {older, later_column}), 2u);
}

TEST(PageWriterDeathTest, NoCellsAreNoPage) {
  std::string page;
  EXPECT_DEATH(PageWriter().Finish(&page), "CHECK failed: .*timestamps_");
}

}  // namespace
}  // namespace sonde

#include "engine/rocks/settle/page_space.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"

namespace sonde {
namespace {

constexpr TableId kTable = 1, kDroppedTable = 2, kLastTable = 3;
constexpr FamilyId kFamily = 2, kDroppedFamily = 3, kLastFamily = 4;
constexpr int kRows = 40;
constexpr size_t kValueBytes = 50'000;
constexpr uint64_t kBytes = kRows * kValueBytes;  // of what one Write writes
constexpr absl::Duration kPatience = absl::Seconds(60);

class PageSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "/sonde_page_space_" + info->name() + "_" + std::to_string(getpid());
    std::filesystem::remove_all(path_);
    Open(/*settles=*/false);
    for (const TableId table : {kTable, kDroppedTable, kLastTable}) {
      ASSERT_TRUE(engine_->CreateTable({.id = table}).ok());
    }
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(path_);
  }

  void Open(bool settles, absl::Duration visit_interval = absl::Hours(1)) {
    engine_.reset();
    auto engine = RocksEngine::Open({.data_dir = path_,
                                     .memory_bytes = 64 << 20,
                                     .sync = false,
                                     .settles = settles,
                                     .page = {.cells_max = 2},
                                     .visit_interval = visit_interval});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }

  // Rows of random values, in tables of their own, as if they had been there for long.
  void Write(TableId table, const std::string& name, FamilyId family = kFamily,
             int64_t timestamp_micros = 1000, int rows = kRows, bool settles = true) {
    for (int i = 0; i < rows; ++i) {
      std::string value(kValueBytes, '\0');
      for (char& c : value) c = static_cast<char>(random_.Uniform(256));
      const std::string row_key = fmt::format("{}{:04}", name, i);
      ASSERT_EQ(
          engine_->Apply(
              table,
              {RowChange{row_key,
                         {.families = {{.family = family, .puts = {{"q", timestamp_micros, value}}}}}}}),
          absl::OkStatus());
    }
    if (settles) {
      ASSERT_EQ(engine_->SettleAll(), absl::OkStatus());
    }
    ASSERT_EQ(engine_->CompactAll(), absl::OkStatus());
  }

  size_t CountRows(TableId table, const RowRange& range = RowRange::All()) {
    auto stream = engine_->Scan(table, {range}, {});
    EXPECT_TRUE(stream.ok()) << stream.status();
    return stream.ok() ? CountRows(stream->get()) : 0;
  }
  static size_t CountRows(RowStream* stream) {
    size_t rows = 0;
    RowPiece piece;
    while (true) {
      const auto more = stream->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return rows;
      ++rows;
    }
  }

  // The sample of a figure with such a label.
  double FigureOf(std::string_view name, std::string_view label) const {
    for (const Figure& figure : engine_->Figures()) {
      if (figure.name != name) continue;
      for (const Figure::Sample& sample : figure.samples) {
        if (sample.labels.front().second == label) return sample.value;
      }
    }
    ADD_FAILURE() << name << " " << label;
    return 0;
  }

  // Tables of the cells, by name.
  std::map<std::string, uint64_t> Tables() const {
    std::map<std::string, uint64_t> tables;
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "/cells")) {
      std::error_code gone;
      const uint64_t bytes = entry.file_size(gone);
      if (!gone && entry.path().extension() == ".sst") tables[entry.path().filename()] = bytes;
    }
    return tables;
  }
  uint64_t TableBytes() const {
    uint64_t bytes = 0;
    for (const auto& [_, size] : Tables()) bytes += size;
    return bytes;
  }
  // Waits until the tables have no more bytes than this.
  void AwaitTableBytes(uint64_t bytes_max) {
    const absl::Time give_up = absl::Now() + kPatience;
    while (TableBytes() > bytes_max && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(20));
    EXPECT_LE(TableBytes(), bytes_max);
  }
  // Those that hold pages and are still there.
  static std::vector<std::string> Large(const std::map<std::string, uint64_t>& tables) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : tables) {
      if (bytes >= kBytes / 2) names.push_back(name);
    }
    return names;
  }

  std::string path_;
  SeededRandom random_{1};
  std::unique_ptr<RocksEngine> engine_;
};

TEST_F(PageSpaceTest, OfADeletedTableIsFreed) {
  Write(kTable, "a");
  const std::vector<std::string> others = Large(Tables());
  Write(kDroppedTable, "a");
  Open(/*settles=*/true);
  ASSERT_GE(TableBytes(), 2 * kBytes);
  ASSERT_EQ(engine_->DropTable(kDroppedTable), absl::OkStatus());
  AwaitTableBytes(kBytes * 11 / 10);
  EXPECT_EQ(Large(Tables()), others) << "the same files";
  EXPECT_EQ(CountRows(kTable), kRows);
}

TEST_F(PageSpaceTest, OfADeletedTableAmongOthersIsFreed) {
  Write(kTable, "a");
  const std::vector<std::string> others = Large(Tables());
  Write(kDroppedTable, "a", kFamily, 1000, kRows, /*settles=*/false);
  Write(kLastTable, "a");
  Open(/*settles=*/true);
  ASSERT_GE(TableBytes(), 3 * kBytes);
  ASSERT_EQ(engine_->DropTable(kDroppedTable), absl::OkStatus());
  AwaitTableBytes(kBytes * 22 / 10);
  EXPECT_THAT(Large(Tables()), testing::IsSupersetOf(others)) << "the same files";
  EXPECT_EQ(CountRows(kTable), kRows);
  EXPECT_EQ(CountRows(kLastTable), kRows);
}

// It shares a file with the last one.
TEST_F(PageSpaceTest, OfADroppedFamilyIsFreed) {
  Write(kTable, "a", kFamily);
  const std::vector<std::string> others = Large(Tables());
  Write(kTable, "a", kDroppedFamily, 1000, kRows, /*settles=*/false);
  Write(kTable, "a", kLastFamily);
  Open(/*settles=*/true);
  ASSERT_GE(TableBytes(), 3 * kBytes);
  ASSERT_EQ(engine_->DropFamily(kTable, kDroppedFamily), absl::OkStatus());
  AwaitTableBytes(kBytes * 22 / 10);
  EXPECT_THAT(Large(Tables()), testing::IsSupersetOf(others)) << "the same files";
  EXPECT_EQ(CountRows(kTable), 2u * kRows);
}

TEST_F(PageSpaceTest, OfDroppedRowsIsFreed) {
  Write(kTable, "a");
  Write(kTable, "c");
  const std::vector<std::string> others = Large(Tables());
  Write(kTable, "b");
  Open(/*settles=*/true);
  ASSERT_GE(TableBytes(), 3 * kBytes);
  ASSERT_EQ(engine_->DropRange(kTable, {"b", "c"}), absl::OkStatus());
  AwaitTableBytes(kBytes * 22 / 10);
  EXPECT_EQ(Large(Tables()), others) << "the same files";
  EXPECT_EQ(CountRows(kTable), 2u * kRows);
  Open(/*settles=*/false);
  EXPECT_EQ(CountRows(kTable), 2u * kRows);
}

TEST_F(PageSpaceTest, IsNotFreedWhileReadersSeeIt) {
  Write(kTable, "a");
  Write(kTable, "b");
  Open(/*settles=*/true, /*visit_interval=*/absl::Milliseconds(20));
  auto reader = engine_->Scan(kTable, {RowRange::All()}, {});
  ASSERT_TRUE(reader.ok());
  RowPiece piece;
  ASSERT_TRUE(*(*reader)->Next(&piece));
  ASSERT_EQ(engine_->DropRange(kTable, {"b", "c"}), absl::OkStatus());
  absl::SleepFor(absl::Seconds(1));  // some rounds of the schedule
  EXPECT_GE(TableBytes(), 2 * kBytes);
  EXPECT_EQ(CountRows(reader->get()), 2u * kRows - 1);
  reader->reset();
  AwaitTableBytes(kBytes * 11 / 10);
  EXPECT_EQ(CountRows(kTable), kRows);
}

// In a table that they share with others: that is made again without them, and no other.
TEST_F(PageSpaceTest, OfDroppedRowsAmongOthersIsFreed) {
  Write(kTable, "a");
  const std::vector<std::string> others = Large(Tables());
  Write(kTable, "b");
  Open(/*settles=*/true);
  ASSERT_EQ(engine_->DropRange(kTable, {"b0010", "b0030"}), absl::OkStatus());
  AwaitTableBytes(kBytes * 165 / 100);
  EXPECT_THAT(Large(Tables()), testing::IsSupersetOf(others));
  EXPECT_EQ(CountRows(kTable), kRows + 20u);
  EXPECT_GE(engine_->space_counts().bytes_compacted, kBytes * 4 / 10);
}

TEST_F(PageSpaceTest, OfExpiredPagesIsFreedWhereNobodyWrites) {
  constexpr int64_t kOld = 1'000, kNew = 1'000'000'000;
  Write(kTable, "a", kFamily, kNew);
  const std::vector<std::string> others = Large(Tables());
  Write(kTable, "b", kFamily, kOld);  // all of it
  Write(kTable, "c", kFamily, kOld, kRows / 2);
  Write(kTable, "d", kFamily, kNew, kRows / 2);
  Open(/*settles=*/true, /*visit_interval=*/absl::Milliseconds(100));
  ASSERT_GE(TableBytes(), 3 * kBytes);
  const int64_t age_micros = absl::ToUnixMicros(absl::Now()) - kNew / 2;
  ASSERT_TRUE(
      engine_->AlterTable({.id = kTable, .families = {{kFamily, GcRule{GcRule::MaxAge{age_micros}}}}}).ok());
  AwaitTableBytes(kBytes * 165 / 100);
  EXPECT_THAT(Large(Tables()), testing::IsSupersetOf(others));
  EXPECT_EQ(CountRows(kTable), kRows + kRows / 2);
  EXPECT_EQ(CountRows(kTable, {"b", "d"}), 0u);
  // How far the visit is; this one is the next.
  const auto visit_pages = [&] {
    return FigureOf("sonde_gc_visit_pages", "done") + FigureOf("sonde_gc_visit_pages", "waiting");
  };
  constexpr double kPages = kRows / 2 + kRows / 4;
  const absl::Time give_up = absl::Now() + kPatience;
  while (visit_pages() != kPages && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(visit_pages(), kPages);
  EXPECT_GE(FigureOf("sonde_space_freed_bytes_total", "files") +
                FigureOf("sonde_space_freed_bytes_total", "compacted"),
            1.4 * kBytes);
}

TEST_F(PageSpaceTest, OfDroppedRowsThatHaveNotSettledIsFreed) {
  Write(kTable, "a");
  Write(kTable, "b", kFamily, 1000, kRows, /*settles=*/false);
  Open(/*settles=*/true);
  ASSERT_GE(TableBytes(), 2 * kBytes);
  ASSERT_EQ(engine_->DropRange(kTable, {"b", "c"}), absl::OkStatus());
  AwaitTableBytes(kBytes * 11 / 10);
  EXPECT_EQ(CountRows(kTable), kRows);
}

// Nobody tells a new process of the drops before it.
TEST_F(PageSpaceTest, IsFreedAfterARestart) {
  Write(kTable, "a");
  Write(kTable, "b");
  ASSERT_EQ(engine_->DropRange(kTable, {"b", "c"}), absl::OkStatus());
  ASSERT_GE(TableBytes(), 2 * kBytes);
  Open(/*settles=*/true);
  AwaitTableBytes(kBytes * 11 / 10);
  EXPECT_EQ(CountRows(kTable), kRows);
}

// A tenth is not worth the rewrite of the rest.
TEST_F(PageSpaceTest, OfFewPagesWaits) {
  Write(kTable, "a");
  const std::vector<std::string> before = Large(Tables());
  Open(/*settles=*/true, /*visit_interval=*/absl::Milliseconds(20));
  ASSERT_EQ(engine_->DropRange(kTable, {"a0000", "a0004"}), absl::OkStatus());
  const uint64_t passes = engine_->space_counts().passes;
  const absl::Time give_up = absl::Now() + kPatience;
  while (engine_->space_counts().passes < passes + 3 && absl::Now() < give_up) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_GE(engine_->space_counts().passes, passes + 3);
  EXPECT_EQ(Large(Tables()), before);
  EXPECT_EQ(engine_->space_counts().bytes_compacted, 0u);
}

// The disk has less room than compactions and settling would need.
TEST_F(PageSpaceTest, OfWholeTablesIsFreedOnAFullDisk) {
  Write(kTable, "a");
  Write(kTable, "b");
  engine_.reset();
  auto engine = RocksEngine::Open({.data_dir = path_,
                                   .memory_bytes = 64 << 20,
                                   .sync = false,
                                   .measure_disk =
                                       [](const std::string&) {
                                         return DiskSpace{.size_bytes = uint64_t{100} << 30,
                                                          .free_bytes = uint64_t{1} << 20};
                                       },
                                   .page = {.cells_max = 2}});
  ASSERT_TRUE(engine.ok()) << engine.status();
  engine_ = *std::move(engine);
  ASSERT_EQ(engine_->DropRange(kTable, {"b", "c"}), absl::OkStatus());
  AwaitTableBytes(kBytes * 11 / 10);
  EXPECT_GE(engine_->space_counts().bytes_of_tables, kBytes);
  EXPECT_EQ(CountRows(kTable), kRows);
}

}  // namespace
}  // namespace sonde

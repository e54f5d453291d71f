#include "engine/rocks/rocks_engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/time/clock.h"
#include "base/random.h"
#include "engine/rocks/store/key.h"
#include "model/expiring_family.h"
#include "model/row_range.h"

namespace sonde {
namespace {

class RocksEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "/sonde_rocks_" + info->name() + "_" + std::to_string(getpid());
    std::filesystem::remove_all(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  absl::StatusOr<std::unique_ptr<RocksEngine>> Open() {
    return RocksEngine::Open({.data_dir = path_, .memory_bytes = 64 << 20, .sync = false});
  }

  std::string path_;
};

RowChange Put(std::string_view row, FamilyId family, std::vector<CellView> cells) {
  RowChange change{row, {}};
  change.delta.families.push_back({.family = family, .puts = std::move(cells)});
  return change;
}

// "row family:qualifier@timestamp=value ..." of a whole table.
std::string Dump(Engine* engine, TableId table, Engine::ScanOptions options = {}) {
  auto stream = engine->Scan(table, {RowRange::All()}, options);
  EXPECT_TRUE(stream.ok()) << stream.status();
  std::string result;
  RowPiece piece;
  while (*(*stream)->Next(&piece)) {
    for (const CellView& cell : piece.cells) {
      result += piece.row_key + " " + std::to_string(piece.family) + ":" + std::string(cell.qualifier) + "@" +
                std::to_string(cell.timestamp_micros) + "=" + std::string(cell.value) + "\n";
    }
  }
  return result;
}

TEST_F(RocksEngineTest, OnlyAnUpdateOfItsRowKeepsAWriteWaiting) {
  auto engine = *Open();
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const auto write = [&](const char* row_key) {
    absl::Status status;
    std::thread([&] {
      status = engine->Apply(1, {Put(row_key, 2, {{"q", 1000, "1"}})}, {.may_wait = false});
    }).join();
    return status.code();
  };
  EXPECT_EQ(write("r"), absl::StatusCode::kOk);
  const absl::Status status = engine->Update(1, "r", {}, [&](const std::vector<RowFamily>&) {
    EXPECT_EQ(write("r"), absl::StatusCode::kAborted);
    EXPECT_EQ(write("other"), absl::StatusCode::kOk);
    return std::optional<RowDelta>();
  });
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(write("r"), absl::StatusCode::kOk);
}

TEST_F(RocksEngineTest, KeepsRowsAndShapesOverARestart) {
  {
    auto engine = *Open();
    ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
    for (int i = 0; i < 20; ++i) {
      const std::string row = "row" + std::to_string(10 + i);
      ASSERT_TRUE(engine->Apply(1, {Put(row, 2, {{"cpu", 1000, "1"}, {"memory", 1000, "2"}})}).ok());
    }
    ASSERT_TRUE(engine->DropRange(1, {"row11", ""}).ok());
  }
  auto engine = *Open();
  EXPECT_EQ(Dump(engine.get(), 1), "row10 2:cpu@1000=1\nrow10 2:memory@1000=2\n");
}

TEST_F(RocksEngineTest, CompactionsDropWhatHasExpired) {
  auto engine = *Open();
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const int64_t now_micros = absl::ToUnixMicros(absl::Now());
  Engine::ScanOptions options;
  options.hints.families.emplace();
  for (const int64_t periods_ago : {0, 1, 2, 3, 100}) {
    const FamilyId family = ExpiringFamily(now_micros - periods_ago * kExpiryPeriodMicros, 7);
    options.hints.families->push_back(family);
    ASSERT_TRUE(engine->Apply(1, {Put("r", family, {{std::to_string(periods_ago), 0, ""}})}).ok());
  }
  const auto count = [&] {
    const std::string dump = Dump(engine.get(), 1, options);
    return std::count(dump.begin(), dump.end(), '\n');
  };
  EXPECT_EQ(count(), 5);
  ASSERT_TRUE(engine->CompactAll().ok());
  EXPECT_EQ(count(), 2);
}

TEST_F(RocksEngineTest, TellsOfItsMemoryAndItsWork) {
  auto engine = *Open();
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const auto value = [&](const std::string& name, const Figure::Labels& labels = {}) {
    for (const Figure& figure : engine->Figures()) {
      if (figure.name != name) continue;
      for (const Figure::Sample& sample : figure.samples) {
        if (sample.labels == labels) return sample.value;
      }
    }
    ADD_FAILURE() << "no " << name;
    return -1.0;
  };
  const double log_before = value("sonde_rocksdb_log_bytes_total");
  SeededRandom random(1);
  for (int i = 0; i < 100; ++i) {
    std::string noise(10'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random.Uniform(256));
    ASSERT_TRUE(engine->Apply(1, {Put("row" + std::to_string(i), 2, {{"q", 1000, noise}})}).ok());
  }
  EXPECT_GT(value("sonde_rocksdb_log_bytes_total") - log_before, 1'000'000);
  EXPECT_GT(value("sonde_rocksdb_write_buffer_bytes", {{"kind", "first_head"}}), 1'000'000);
  EXPECT_GT(value("sonde_memory_used_bytes", {{"user", "write_buffers"}}), 1'000'000);
  EXPECT_EQ(value("sonde_memory_limit_bytes", {{"user", "write_buffers"}}), 8 << 20);
  EXPECT_EQ(value("sonde_memory_limit_bytes", {{"user", "blocks"}}), 32 << 20);
  EXPECT_EQ(value("sonde_memory_limit_bytes", {{"user", "opened_pages"}}), 8 << 20);
  EXPECT_GT(value("sonde_settling_waiting_bytes", {{"head", "open"}}), 1'000'000);
  EXPECT_EQ(value("sonde_settling_waiting_cells"), 100);
  EXPECT_EQ(value("sonde_rocksdb_files", {{"kind", "pages"}}), 0);

  ASSERT_TRUE(engine->SettleAll().ok());
  ASSERT_TRUE(engine->CompactAll().ok());
  EXPECT_GT(value("sonde_rocksdb_flush_written_bytes_total"), 1'000'000);
  EXPECT_GE(value("sonde_settling_steps_total"), 1);
  EXPECT_EQ(value("sonde_settling_cells_total", {{"from", "head"}}), 100);
  EXPECT_EQ(value("sonde_settling_waiting_cells"), 0);
  EXPECT_GT(value("sonde_rocksdb_files", {{"kind", "pages"}}), 0);
  EXPECT_GT(value("sonde_rocksdb_file_bytes", {{"kind", "pages"}}), 1'000'000);
  const double misses_before = value("sonde_rocksdb_block_cache_misses_total");
  EXPECT_FALSE(Dump(engine.get(), 1).empty());
  EXPECT_GT(value("sonde_rocksdb_block_cache_misses_total"), misses_before);
  EXPECT_GT(value("sonde_disk_free_bytes"), 0);
  EXPECT_GE(value("sonde_disk_size_bytes"), value("sonde_disk_free_bytes"));
  EXPECT_EQ(value("sonde_disk_full"), 0);
  EXPECT_EQ(value("sonde_writes_stopped"), 0);
  ASSERT_TRUE(engine->Scrub().ok());
  EXPECT_EQ(value("sonde_scrub_passes_total"), 1);
  EXPECT_GT(value("sonde_scrub_files", {{"state", "done"}}), 0);
}

TEST_F(RocksEngineTest, DividesRangesWherePagesBegin) {
  auto engine = *RocksEngine::Open(
      {.data_dir = path_, .memory_bytes = 64 << 20, .sync = false, .page = {.cells_max = 10}});
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const auto key = [](int row) { return fmt::format("row{:04}", row); };
  for (int row = 0; row < 1'000; ++row) {
    ASSERT_TRUE(engine->Apply(1, {Put(key(row), 2, {{"a", 1000, "1"}, {"b", 1000, "2"}})}).ok());
  }
  const auto divide = [&](FamilyId family, const std::vector<RowRange>& ranges) {
    const absl::StatusOr<DividedRanges> divided = engine->range_sizes()->Divide(1, family, ranges);
    EXPECT_TRUE(divided.ok() && divided->rest.empty());
    // The parts are the ranges.
    std::vector<RowRange> all;
    for (const auto& part : divided->parts) all.insert(all.end(), part.begin(), part.end());
    EXPECT_EQ(NormalizeRanges(all), NormalizeRanges(ranges));
    return divided->parts;
  };
  EXPECT_EQ(divide(2, {RowRange::All()}).size(), 1);  // in the head
  ASSERT_TRUE(engine->SettleAll().ok());
  const auto parts = divide(2, {RowRange::All()});
  EXPECT_GT(parts.size(), 15);
  EXPECT_LT(parts.size(), 30);
  EXPECT_EQ(divide(3, {RowRange::All()}).size(), 1);
  EXPECT_EQ(divide(2, {{key(500), key(502)}}).size(), 1);
  EXPECT_GT(divide(2, {{key(100), key(300)}, {key(300) + "x", key(301)}, {key(700), ""}}).size(), 7);
  EXPECT_EQ(divide(2, {}).size(), 0);
  EXPECT_TRUE(absl::IsNotFound(engine->range_sizes()->Divide(9, 2, {RowRange::All()}).status()));
}

// Where RocksDB's estimates are coarser than the table: beside others in one buffer, and in one block of a
// file.
TEST_F(RocksEngineTest, MeasuresASmallTableBesideALargeOne) {
  constexpr TableId kSmall = 1, kLarge = 2, kEmpty = 3;
  constexpr uint64_t kValueBytes = 1'000;
  const auto check = [&](Engine* engine) {
    const auto whole = engine->Ranges(kSmall);
    ASSERT_TRUE(whole.ok() && !whole->empty());
    uint64_t bytes = 0;
    for (const RangeStats& range : *whole) bytes += range.bytes;
    EXPECT_GT(bytes, 10 * kValueBytes);
    EXPECT_LT(bytes, 20 * kValueBytes);
    const auto parts = engine->range_sizes()->Measure(kSmall, {"", "row3", "row8"}, "row9");
    ASSERT_TRUE(parts.ok());
    EXPECT_NEAR(static_cast<double>((*parts)[0]), 3 * kValueBytes, kValueBytes / 2.0);
    EXPECT_NEAR(static_cast<double>((*parts)[1]), 5 * kValueBytes, kValueBytes);
    EXPECT_NEAR(static_cast<double>((*parts)[2]), 1 * kValueBytes, kValueBytes / 2.0);
    EXPECT_EQ((*engine->Ranges(kEmpty))[0].bytes, 0);
  };
  SeededRandom random(1);
  const auto noise = [&] {
    std::string bytes(kValueBytes, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Uniform(256));
    return bytes;
  };
  {
    auto engine = *Open();
    for (const TableId table : {kSmall, kLarge, kEmpty}) ASSERT_TRUE(engine->CreateTable({.id = table}).ok());
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(engine->Apply(kSmall, {Put("row" + std::to_string(i), 2, {{"q", 1000, noise()}})}).ok());
    for (int i = 0; i < 2'000; ++i)
      ASSERT_TRUE(engine->Apply(kLarge, {Put("row" + std::to_string(i), 2, {{"q", 1000, "1"}})}).ok());
    check(engine.get());
  }
  auto engine = *Open();
  check(engine.get());
  ASSERT_TRUE(engine->CompactAll().ok());
  check(engine.get());
}

// Tables with long and with short rows in one buffer, and ranges of such rows in one table.
TEST_F(RocksEngineTest, MeasuresByBytesWhatHasNotSettled) {
  constexpr TableId kLong = 1, kShort = 2;
  constexpr uint64_t kRows = 500, kLongBytes = 10'000, kShortBytes = 50;
  SeededRandom random(1);
  const auto noise = [&](size_t count) {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Uniform(256));
    return bytes;
  };
  const auto key = [](uint64_t row) { return fmt::format("row{:05}", row); };
  auto engine = *Open();
  for (const TableId table : {kLong, kShort}) ASSERT_TRUE(engine->CreateTable({.id = table}).ok());
  uint64_t long_bytes = 0;
  for (uint64_t row = 0; row < kRows; ++row) {
    // In the first half, one row in ten is long: the halves weigh differently.
    const size_t bytes = row < kRows / 2 && row % 10 != 0 ? kShortBytes : kLongBytes;
    long_bytes += bytes;
    ASSERT_TRUE(engine->Apply(kLong, {Put(key(row), 2, {{"q", 1000, noise(bytes)}})}).ok());
    for (uint64_t i = 0; i < 10; ++i) {
      ASSERT_TRUE(engine->Apply(kShort, {Put(key(10 * row + i), 2, {{"q", 1000, noise(kShortBytes)}})}).ok());
    }
  }
  const double first_half = static_cast<double>(kRows / 20 * kLongBytes + kRows * 9 / 20 * kShortBytes);
  const double whole = static_cast<double>(long_bytes);
  const auto check = [&](const char* when, double overhead) {
    const auto bytes_of = [&](TableId table) {
      const auto ranges = engine->Ranges(table);
      double bytes = 0;
      for (const RangeStats& range : *ranges) bytes += static_cast<double>(range.bytes);
      return bytes;
    };
    EXPECT_NEAR(bytes_of(kLong), whole, whole / 5) << when;
    const double short_bytes = 10.0 * kRows * (static_cast<double>(kShortBytes) + overhead);
    EXPECT_NEAR(bytes_of(kShort), short_bytes, short_bytes / 5) << when;
    if (std::string_view(when) == "in pages") return;  // which are longer than these ranges
    const auto halves = engine->range_sizes()->Measure(kLong, {"", key(kRows / 2)}, "");
    ASSERT_TRUE(halves.ok());
    EXPECT_NEAR(static_cast<double>((*halves)[0]), first_half, first_half / 5) << when;
    EXPECT_NEAR(static_cast<double>((*halves)[1]), whole - first_half, (whole - first_half) / 5) << when;
  };
  // A value has its key and its fragment beside it; in memory, the buffer's own parts of an entry, too.
  constexpr double kFragmentBytes = 25, kBufferBytes = 20;
  check("in memory", kFragmentBytes + kBufferBytes);
  ASSERT_TRUE(engine->CompactAll().ok());
  check("in files", kFragmentBytes);
  ASSERT_TRUE(engine->SettleAll().ok());
  check("in pages", 10);
}

TEST_F(RocksEngineTest, RefusesAForeignDirectory) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/photo.jpg") << "x";
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("'photo.jpg'"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 1);
}

TEST_F(RocksEngineTest, RefusesANewerFormat) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/FORMAT") << "sonde data format 4\n";
  EXPECT_THAT(std::string(Open().status().message()), testing::HasSubstr("written by a newer Sonde"));
}

TEST_F(RocksEngineTest, RefusesASecondProcess) {
  auto engine = *Open();
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("in use by another process"));
}

TEST_F(RocksEngineTest, HidesADroppedFamilyAndFreesItsSpace) {
  auto engine = *Open();
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  ASSERT_TRUE(engine->Apply(1, {Put("r", 1, {{"q", 1000, "a"}}), Put("r", 300, {{"q", 1000, "b"}})}).ok());
  ASSERT_TRUE(engine->DropFamily(1, 1).ok());
  EXPECT_EQ(Dump(engine.get(), 1), "r 300:q@1000=b\n");
  ASSERT_TRUE(engine->CompactAll().ok());
  EXPECT_EQ(Dump(engine.get(), 1), "r 300:q@1000=b\n");
}

TEST_F(RocksEngineTest, RefusesALogThatIsDamagedInTheMiddle) {
  {
    auto engine = *RocksEngine::Open({.data_dir = path_, .memory_bytes = 64 << 20, .sync = true});
    ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(
          engine->Apply(1, {Put("row" + std::to_string(i), 2, {{"q", 1000, std::string(100, 'v')}})}).ok());
    }
    // Leaves as a killed process does: with its log, not flushed.
    std::filesystem::copy(path_, path_ + ".killed", std::filesystem::copy_options::recursive);
  }
  std::filesystem::remove_all(path_);
  std::filesystem::rename(path_ + ".killed", path_);
  std::string log;
  for (const auto& entry : std::filesystem::directory_iterator(path_ + "/cells")) {
    if (entry.path().extension() == ".log" && std::filesystem::file_size(entry.path()) > 0)
      log = entry.path();
  }
  ASSERT_FALSE(log.empty());
  {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(2000);
    file.put('\x55');
  }
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);
}

TEST(Key, SortsAsRowsDoAndComesBack) {
  SeededRandom random(1);
  const std::string bytes = std::string(
      "\0\x01\xff"
      "ab",
      5);
  std::vector<std::string> rows;
  for (int i = 0; i < 2000; ++i) {
    std::string& row = rows.emplace_back();
    for (uint64_t n = 1 + random.Uniform(6); n > 0; --n) row.push_back(bytes[random.Uniform(bytes.size())]);
  }
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    std::string a, b, start;
    AppendCellsKey(7, rows[i], i % 2 ? 300 : 3, &a);
    AppendCellsKey(7, rows[i + 1], 3, &b);
    AppendRowStart(7, rows[i + 1], &start);
    if (rows[i] != rows[i + 1]) {
      EXPECT_EQ(a < b, rows[i] < rows[i + 1]);
      EXPECT_EQ(a < start, rows[i] < rows[i + 1]);
    }
    ParsedKey parsed;
    ASSERT_TRUE(ParseKey(a, &parsed));
    EXPECT_EQ(parsed.table, 7u);
    EXPECT_EQ(parsed.family, i % 2 ? 300u : 3u);
    std::string row;
    DecodeRowKey(parsed.row_prefix, &row);
    EXPECT_EQ(row, rows[i]);
    EXPECT_GT(EndOfRowPrefix(parsed.row_prefix), a);
  }
}

}  // namespace
}  // namespace sonde

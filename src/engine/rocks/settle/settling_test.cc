#include "engine/rocks/settle/settling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/page_key.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr TableId kTable = 1;
constexpr FamilyId kFamily = 2;

class SettlingTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "/sonde_settling_" + info->name() + "_" + std::to_string(getpid());
    std::filesystem::remove_all(path_);
    Open();
    ASSERT_TRUE(engine_->CreateTable({.id = kTable}).ok());
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(path_);
  }

  void Open() {
    engine_.reset();
    auto engine = RocksEngine::Open({.data_dir = path_,
                                     .memory_bytes = 64 << 20,
                                     .sync = false,
                                     .settles = settles_,
                                     .long_row_bytes_max = long_row_bytes_max_,
                                     .page = {.cells_max = cells_max_},
                                     .settling_head_cells_min = head_cells_min_});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }

  void Apply(std::string_view row_key, FamilyDelta delta) {
    delta.family = delta.family == 0 ? kFamily : delta.family;
    ASSERT_EQ(engine_->Apply(kTable, {RowChange{row_key, {.families = {std::move(delta)}}}}),
              absl::OkStatus());
  }
  void Put(std::string_view row_key, std::string_view qualifier, int64_t timestamp_micros,
           std::string_view value) {
    Apply(row_key, {.puts = {{qualifier, timestamp_micros, value}}});
  }
  void Settle() { ASSERT_EQ(engine_->SettleAll(), absl::OkStatus()); }

  // Entries that RocksDB steps over for a read of the row.
  uint64_t EntriesPassed(const std::string& row_key) {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    Cells({}, RowRange::Single(row_key));
    rocksdb::SetPerfLevel(rocksdb::kDisable);
    return rocksdb::get_perf_context()->next_on_memtable_count +
           rocksdb::get_perf_context()->internal_key_skipped_count;
  }

  // "row qualifier@timestamp=value", line by line.
  std::string Cells(Engine::ScanOptions options = {}, RowRange range = RowRange::All()) {
    auto stream = engine_->Scan(kTable, {range}, std::move(options));
    EXPECT_TRUE(stream.ok()) << stream.status();
    std::string result;
    RowPiece piece;
    while (true) {
      const auto more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return result;
      for (const CellView& cell : piece.cells) {
        result +=
            fmt::format("{} {}@{}={}\n", piece.row_key, cell.qualifier, cell.timestamp_micros, cell.value);
      }
      for (const NumberColumn& numbers : piece.numbers) {
        numbers_seen_ += numbers.numbers.size();
        for (size_t i = 0; i < numbers.numbers.size(); ++i) {
          result += fmt::format("{} {}@{}={}\n", piece.row_key, numbers.qualifier,
                                numbers.timestamps_micros[i], numbers.numbers.ints()[i]);
        }
      }
    }
  }

  size_t numbers_seen_ = 0;  // by Cells
  size_t cells_max_ = 10;
  bool settles_ = false;
  uint64_t long_row_bytes_max_ = uint64_t{16} << 20;
  uint64_t head_cells_min_ = 100;
  std::string path_;
  std::unique_ptr<RocksEngine> engine_;
};

TEST_F(SettlingTest, AScanCountsThePagesThatItOpensAndTheBlocksThatItReads) {
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);  // which is a thread's default
  for (int row = 0; row < 100; ++row) Put(fmt::format("r{:03}", row), "q", 1'000, "value");
  ScanCost of_heads;
  Cells({.cost = &of_heads});
  EXPECT_EQ(of_heads.pages, 0);
  Settle();
  Open();  // without anything in a cache
  ScanCost of_row, of_all;
  EXPECT_EQ(Cells({.cost = &of_row}, RowRange::Single("r055")), "r055 q@1000=value\n");
  EXPECT_EQ(of_row.pages, 1);
  EXPECT_GT(of_row.block_reads, 0);
  Cells({.cost = &of_all});
  EXPECT_EQ(of_all.pages, 10);
}

TEST(PageKey, SortsAsCellsDoAndComesBack) {
  SeededRandom random(1);
  const std::string_view bytes(
      "\0\x01\xff"
      "ab",
      5);
  const auto some = [&] {
    std::string text;
    for (uint64_t n = random.Uniform(5); n > 0; --n) text.push_back(bytes[random.Uniform(bytes.size())]);
    return text;
  };
  struct Place {
    FamilyId family;
    std::string row_key, qualifier;
    int64_t newer_first;
    auto operator<=>(const Place&) const = default;
  };
  std::pair<Place, std::string> before;
  for (int i = 0; i < 5000; ++i) {
    const Place place{
        random.Uniform(2) == 0 ? 3u : 300u, some(), some(),
        -static_cast<int64_t>(random.Uniform(5)) * (random.Uniform(2) == 0 ? 1 : int64_t{1} << 60)};
    const std::string key = PageKey(7, place.family, place.row_key, place.qualifier, -place.newer_first);
    ASSERT_EQ(place <=> before.first, key <=> before.second) << i;
    ParsedPageKey parsed;
    ASSERT_TRUE(ParsePageKey(key, &parsed));
    ASSERT_EQ(parsed.table, 7u);
    ASSERT_EQ((Place{parsed.family, parsed.row_key, parsed.qualifier, -parsed.timestamp_micros}), place);
    ASSERT_LE(StartOfPageRow(7, place.family, place.row_key), key);
    ASSERT_GT(EndOfPageRow(7, place.family, place.row_key), key);
    ASSERT_LT(StartOfPages(7, place.family), key);
    ASSERT_GT(EndOfPages(7, place.family), key);
    before = {place, key};
  }
}

TEST_F(SettlingTest, IsSeenThroughARestart) {
  Put("a", "q", 1000, "settled");
  Settle();
  Put("a", "q", 2000, "rests");
  ASSERT_TRUE(engine_->SwitchHeads().ok());
  Put("a", "q", 3000, "open");
  const std::string all = "a q@3000=open\na q@2000=rests\na q@1000=settled\n";
  EXPECT_EQ(Cells(), all);
  Open();
  EXPECT_EQ(Cells(), all);
  Settle();
  EXPECT_EQ(Cells(), all);
  EXPECT_EQ(Cells({.reverse = true}), all);
}

// A page of a row begins and ends at it, too.
TEST_F(SettlingTest, PagesEndAtTheGreatestTimestampAsAtAnyOther) {
  std::string all;
  for (const char* qualifier : {"a", "b", "c"}) {
    for (int64_t i = 0; i < 7; ++i) {
      Put("r", qualifier, INT64_MAX - i, "v");
      all += fmt::format("r {}@{}=v\n", qualifier, INT64_MAX - i);
    }
  }
  Settle();
  EXPECT_EQ(Cells(), all);
  EXPECT_EQ(Cells({.hints = {.time_range = {INT64_MAX, 0}, .newest_per_column = 1}}).substr(0, 24),
            "r a@9223372036854775807=");
  Apply("r", {.deletes = {{"a", {INT64_MAX - 5, INT64_MAX}}, {"b", {INT64_MAX, 0}}, {"c", {}}}});
  std::string left = fmt::format("r a@{}=v\nr a@{}=v\n", INT64_MAX, INT64_MAX - 6);
  for (int64_t i = 1; i < 7; ++i) left += fmt::format("r b@{}=v\n", INT64_MAX - i);
  EXPECT_EQ(Cells(), left);
  Open();
  EXPECT_EQ(Cells(), left);
  Settle();
  EXPECT_EQ(Cells(), left);
  EXPECT_EQ(Cells({.reverse = true}), left);
}

TEST_F(SettlingTest, AppendingToALongRowLeavesMostOfItsPages) {
  for (int i = 0; i < 1000; ++i) Put("long", fmt::format("{:04}", i), 1000, "v");
  Settle();
  const SettlingCounts before = engine_->settling_counts();
  EXPECT_GE(before.pages, 100u);
  Put("long", "0500", 2000, "new");
  Put("long", "2000", 1000, "new");
  Apply("long", {.deletes = {{"0700", {}}}});
  Settle();
  const SettlingCounts after = engine_->settling_counts();
  // Each touches a page or, where one begins, two.
  EXPECT_LE(after.cells_old - before.cells_old, 4u * 10);
  EXPECT_LE(after.pages - before.pages, 6u);
  const std::string cells = Cells();
  EXPECT_THAT(cells, testing::HasSubstr("long 0500@2000=new\nlong 0500@1000=v\n"));
  EXPECT_THAT(cells, testing::Not(testing::HasSubstr("long 0700")));
  EXPECT_EQ(std::count(cells.begin(), cells.end(), '\n'), 1001);
}

// Its fragments stay apart in the head, and its pages are written in parts: no read may see the difference.
TEST_F(SettlingTest, ALongEntryIsTheSameAtEachMomentOfItsSettling) {
  cells_max_ = 1000;
  Open();
  Put("before", "q", 1000, "x");
  for (int64_t i = 1; i <= 30; ++i) Put("row", "q", i * 1000, std::string(100'000, 'o'));
  Put("row", "a", 1000, "away");
  Settle();
  constexpr size_t kValueBytes = 500'000;
  const auto write = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      FamilyDelta delta{.family = kFamily};
      const std::string value = fmt::format("{:08}", i) + std::string(kValueBytes, 'n');
      if (i == first) delta.deletes = {{"a", {}}, {"q", {3000, 5000}}};
      const std::string other = fmt::format("r{}", i % 7);
      delta.puts = {{"q", i * 1000, value}, {other, i * 1000, value}};
      absl::Status status = absl::UnavailableError("");
      for (int tries = 0; absl::IsUnavailable(status) && tries < 600; ++tries) {
        FamilyDelta again = delta;
        status = engine_->Apply(kTable, {RowChange{"row", {.families = {std::move(again)}}}});
        if (!status.ok()) absl::SleepFor(absl::Milliseconds(50));
      }
      ASSERT_EQ(status, absl::OkStatus());
    }
  };
  write(20, 60);
  Put("row2", "q", 1000, "y");
  const std::string cells = Cells();
  ASSERT_GT(cells.size(), 2 * kCombinedBytesMax);
  const Engine::ScanOptions one_family = {.hints = {.families = std::vector<FamilyId>{kFamily}}};
  Open();
  EXPECT_TRUE(Cells() == cells);
  EXPECT_EQ(Cells({.reverse = true}).size(), cells.size());
  const std::string row = Cells(one_family, RowRange::Single("row"));
  EXPECT_EQ(row.size() + std::string_view("before q@1000=x\nrow2 q@1000=y\n").size(), cells.size());

  std::atomic<bool> settled = false;
  size_t reads = 0, different = 0;
  std::thread reader([&] {
    while (!settled) {
      ++reads;
      if (Cells(one_family, RowRange::Single("row")) != row) ++different;
    }
  });
  Settle();
  settled = true;
  reader.join();
  EXPECT_GT(reads, 0u);
  EXPECT_EQ(different, 0u);
  EXPECT_TRUE(Cells() == cells);
  Open();
  EXPECT_TRUE(Cells() == cells);
}

TEST_F(SettlingTest, RowsAtTheEndsOfSeriesLeaveFullPages) {
  cells_max_ = 100;
  Open();
  const auto append = [&](int from, int to) {
    for (int host = 0; host < 5; ++host) {
      for (int i = from; i < to; ++i) Put(fmt::format("host{}#{:05}", host, i), "cpu", 1000 * i, "7");
    }
  };
  append(0, 1000);
  Settle();
  uint64_t in = 0, old = 0;
  for (int i = 1000; i < 3000; i += 250) {
    const SettlingCounts before = engine_->settling_counts();
    append(i, i + 250);
    Settle();
    const SettlingCounts after = engine_->settling_counts();
    in += after.cells_in - before.cells_in;
    old += after.cells_old - before.cells_old;
  }
  EXPECT_EQ(in, 10'000u);
  EXPECT_LE(old, in / 2) << "cells that were written again";
  const std::string cells = Cells();
  EXPECT_EQ(std::count(cells.begin(), cells.end(), '\n'), 15'000);
}

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Where pages hold them so; edits above pages, other columns, and values that are no numbers come as cells.
// Between two steps and after them, a read of a row passes none of the edits of other rows that have settled.
TEST_F(SettlingTest, WhatHasSettledIsNotInTheWay) {
  constexpr int kRows = 200, kEdits = 20;
  for (int edit = 0; edit < kEdits; ++edit) {
    for (int row = 0; row < kRows; ++row) Put(fmt::format("row{:03}", row), "q", edit * 1000, "value");
  }
  const uint64_t in_head = EntriesPassed("row000");
  EXPECT_GE(in_head, kEdits);  // that it counts
  ASSERT_EQ(engine_->SwitchHeads(), absl::OkStatus());
  EXPECT_LE(EntriesPassed("row000"), in_head);
  ASSERT_TRUE(*engine_->SettleStep());
  EXPECT_LE(EntriesPassed("row000"), in_head);
  Settle();
  EXPECT_LE(EntriesPassed("row000"), in_head);
}

// Nor of what was dropped, soon after.
TEST_F(SettlingTest, WhatWasDroppedIsNotInTheWay) {
  constexpr int kRows = 3'000;
  for (int row = 0; row < kRows; ++row) Put(fmt::format("row{:04}", row), "q", 1000, std::string(500, 'v'));
  ASSERT_EQ(engine_->DropRange(kTable, {"row0001", "row2999"}), absl::OkStatus());
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (EntriesPassed("row0000") > 10 && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_LE(EntriesPassed("row0000"), 10u);
  EXPECT_EQ(SortedLines(Cells()).size(), 3u);  // the first row, the last, and the end of the text
}

TEST_F(SettlingTest, NumbersAreTheCellsOfColumns) {
  SeededRandom random(11);
  const std::vector<std::string> qualifiers = {"number", "mixed", "text"};
  for (int round = 0; round < 30; ++round) {
    for (uint64_t n = 1 + random.Uniform(150); n > 0; --n) {
      const std::string row_key = fmt::format("row{:02}", random.Uniform(12));
      const size_t column = random.Uniform(3);
      const auto timestamp_micros = static_cast<int64_t>(random.Uniform(200)) * 1000;
      if (random.Uniform(20) == 0) {
        Apply(row_key, {.deletes = {{qualifiers[column], {timestamp_micros, timestamp_micros + 20'000}}}});
      }
      const bool is_number = column == 0 || (column == 1 && random.Uniform(50) != 0);
      Put(row_key, qualifiers[column], timestamp_micros,
          is_number ? fmt::format("{}", static_cast<int64_t>(random.Uniform(2'000)) - 1'000) : "x");
    }
    if (random.Uniform(3) != 0) Settle();
    for (const std::string& qualifier : qualifiers) {
      ReadHints hints{.families = std::vector<FamilyId>{kFamily}};
      hints.columns = {{qualifier, qualifier + std::string(1, '\0')}};
      if (random.Uniform(2) == 0)
        hints.time_range = {static_cast<int64_t>(random.Uniform(100)) * 1000, 150'000};
      RowRange range = random.Uniform(3) == 0 ? RowRange::Single("row05") : RowRange{"row02", "row09"};
      const bool reverse = random.Uniform(2) == 0;
      const std::string wanted = Cells({.reverse = reverse, .hints = hints}, range);
      const size_t numbers_before = numbers_seen_;
      hints.numbers = {NumberBytes::kDecimalText};
      ASSERT_EQ(Cells({.reverse = reverse, .hints = hints}, range), wanted) << "round " << round;
      EXPECT_TRUE(qualifier != "text" || numbers_seen_ == numbers_before);
    }
    Engine::ScanOptions options{.reverse = random.Uniform(2) == 0,
                                .hints = {.families = std::vector<FamilyId>{kFamily}}};
    options.hints.columns = {{"mixed", "n"}, {"number", ""}};
    if (random.Uniform(2) == 0) options.hints.time_range = {50'000, 150'000};
    const std::string wanted = Cells(options);
    options.hints.numbers = {NumberBytes::kDecimalText, NumberBytes::kDecimalText};
    ASSERT_EQ(SortedLines(Cells(options)), SortedLines(wanted)) << "round " << round;
  }
  EXPECT_GT(numbers_seen_, 1'000u);
}

TEST_F(SettlingTest, DropsWhatTheRulesForget) {
  ASSERT_TRUE(
      engine_->AlterTable({.id = kTable, .families = {{kFamily, GcRule{GcRule::MaxVersions{2}}}}}).ok());
  for (int i = 1; i <= 5; ++i) Put("a", "q", 1000 * i, "v");
  Settle();
  EXPECT_EQ(Cells(), "a q@5000=v\na q@4000=v\n");
  Put("a", "q", 6000, "v");
  EXPECT_EQ(Cells(), "a q@6000=v\na q@5000=v\na q@4000=v\n");
  Settle();
  EXPECT_EQ(Cells(), "a q@6000=v\na q@5000=v\n");
  EXPECT_EQ(engine_->settling_counts().cells_forgotten, 4u);
  EXPECT_EQ(engine_->settling_counts().bytes_forgotten, 8u);
}

TEST_F(SettlingTest, TokensStayUntilTheyExpire) {
  const int64_t now_micros = absl::ToUnixMicros(absl::Now());
  const FamilyId young = ExpiringFamily(now_micros, 7);
  const FamilyId old = ExpiringFamily(now_micros - 5 * kExpiryPeriodMicros, 7);
  Put("a", "q", 1000, "v");
  for (const FamilyId family : {young, old}) Apply("a", {.family = family, .puts = {{"token", 0, ""}}});
  Settle();
  EXPECT_EQ(Cells(), "a q@1000=v\n");
  for (const RowRange& range : {RowRange::All(), RowRange::Single("a")}) {
    EXPECT_EQ(Cells({.hints = {.families = {{young, old}}}}, range), "a token@0=\n");
  }
}

TEST_F(SettlingTest, DroppingRowsCutsThePagesAtTheEnds) {
  for (int i = 0; i < 100; ++i) Put(fmt::format("{:02}", i), "q", 1000, "v");
  Settle();
  const uint64_t pages = engine_->settling_counts().pages;
  ASSERT_TRUE(engine_->DropRange(kTable, {"15", "16"}).ok());  // inside one page
  ASSERT_TRUE(engine_->DropRange(kTable, {"27", "83"}).ok());
  EXPECT_EQ(engine_->settling_counts().pages, pages);
  std::string left;
  for (int i = 0; i < 100; ++i) {
    if (i != 15 && (i < 27 || i >= 83)) left += fmt::format("{:02} q@1000=v\n", i);
  }
  EXPECT_EQ(Cells(), left);
  Open();
  EXPECT_EQ(Cells(), left);
  ASSERT_TRUE(engine_->DropRange(kTable, {"", ""}).ok());
  EXPECT_EQ(Cells(), "");
}

TEST_F(SettlingTest, DropsPagesUnreadOnceAllOfThemHasExpired) {
  constexpr int64_t kHourMicros = int64_t{3'600} * 1'000'000;
  for (int i = 0; i < 100; ++i) Put(fmt::format("{:02}", i), "q", kHourMicros * (i + 1), "v");
  Settle();
  const uint64_t pages = engine_->settling_counts().pages;
  ASSERT_TRUE(engine_->VisitPages().ok());
  EXPECT_EQ(engine_->page_totals().pages, static_cast<int64_t>(pages));
  EXPECT_EQ(engine_->page_totals().cells, 100);
  // Those before the 57th hour are forgotten: five pages, and most of the sixth.
  const int64_t age_micros = absl::ToUnixMicros(absl::Now()) - 57 * kHourMicros + kHourMicros / 2;
  ASSERT_TRUE(
      engine_->AlterTable({.id = kTable, .families = {{kFamily, GcRule{GcRule::MaxAge{age_micros}}}}}).ok());
  ASSERT_TRUE(engine_->VisitPages().ok());
  EXPECT_EQ(engine_->settling_counts().pages_expired, 5u);
  EXPECT_EQ(engine_->settling_counts().cells_expired, 50u);
  EXPECT_GT(engine_->settling_counts().bytes_expired, 50u);
  EXPECT_EQ(engine_->settling_counts().cells_forgotten, 6u);
  ASSERT_TRUE(engine_->VisitPages().ok());
  EXPECT_EQ(engine_->page_totals().cells, 44);
  const std::string cells = Cells();
  EXPECT_EQ(std::count(cells.begin(), cells.end(), '\n'), 44);
}

TEST_F(SettlingTest, GoesOnByItself) {
  settles_ = true;
  Open();
  for (int i = 0; i < 150; ++i) Put(fmt::format("{:03}", i), "q", 1000, "v");
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (engine_->settling_counts().cells_in < 100 && absl::Now() < deadline)
    absl::SleepFor(absl::Milliseconds(10));
  EXPECT_GE(engine_->settling_counts().cells_in, 100u);
  const std::string cells = Cells();
  EXPECT_EQ(std::count(cells.begin(), cells.end(), '\n'), 150);
}

TEST_F(SettlingTest, ACheckpointIsOfOneMoment) {
  settles_ = true;
  Open();
  constexpr int kBefore = 300, kAll = 2000;
  const auto put = [this](int i) { Put(fmt::format("{:05}", i), "q", 1000, "v"); };
  for (int i = 0; i < kBefore; ++i) put(i);
  std::thread writer([&] {
    for (int i = kBefore; i < kAll; ++i) put(i);
  });
  std::string copy = path_ + ".copy";
  std::filesystem::remove_all(copy);
  const absl::Status status = engine_->Checkpoint(copy);
  writer.join();
  ASSERT_EQ(status, absl::OkStatus());
  EXPECT_EQ(engine_->Checkpoint(copy).code(), absl::StatusCode::kFailedPrecondition) << "it is there already";
  const std::string all = Cells();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), kAll);

  std::swap(path_, copy);
  Open();
  const std::string cells = Cells();
  EXPECT_GE(std::count(cells.begin(), cells.end(), '\n'), kBefore);
  EXPECT_TRUE(all.starts_with(cells)) << "what was written first is there first";
  put(kAll);  // and it is a data directory
  Settle();
  std::filesystem::remove_all(copy);
}

TEST_F(SettlingTest, SettlesSoonWhatReadsFindLong) {
  settles_ = true;
  head_cells_min_ = 1'000'000;
  cells_max_ = 1'000;
  Open();
  const std::string value(100, 'v');
  const auto write = [&](const std::string& row_key) {
    std::vector<CellView> puts;
    for (int64_t i = 5'000; i > 0; --i) puts.push_back({"q", i * 1'000, value});
    Apply(row_key, {.puts = std::move(puts)});
  };
  const Engine::ScanOptions newest{
      .hints = {.families = std::vector<FamilyId>{kFamily}, .newest_per_column = 1}};
  const std::string wanted = fmt::format("a q@5000000={}\n", value);
  for (const bool single : {true, false}) {  // looked up by its key, and met on the way
    write("a");
    const RowRange range = single ? RowRange::Single("a") : RowRange::All();
    const uint64_t settled_before = engine_->settling_counts().cells_in;
    absl::SleepFor(absl::Milliseconds(600));
    EXPECT_EQ(engine_->settling_counts().cells_in, settled_before) << "nobody has read it";
    for (int tries = 0; tries < 200 && engine_->settling_counts().cells_in < settled_before + 5'000;
         ++tries) {
      EXPECT_THAT(Cells(newest, range), testing::StartsWith(wanted));
      absl::SleepFor(absl::Milliseconds(50));
    }
    EXPECT_EQ(engine_->settling_counts().cells_in, settled_before + 5'000);
    EXPECT_THAT(Cells(newest, range), testing::StartsWith(wanted));
  }
}

TEST_F(SettlingTest, ARowThatGetsMoreThanSettlesMakesItsWritersWait) {
  settles_ = true;
  head_cells_min_ = 1'000'000;
  cells_max_ = 1'000;
  constexpr size_t kValueBytes = 100'000;
  long_row_bytes_max_ = 2 * kValueBytes;
  Open();
  std::string wanted;
  for (int i = 0; i < 12; ++i) {
    const std::string qualifier = fmt::format("q{:02}", i), value(kValueBytes, static_cast<char>('a' + i));
    const RowChange change{"long", {.families = {{.family = kFamily, .puts = {{qualifier, 1'000, value}}}}}};
    absl::Status status;
    for (int tries = 0; tries < 100; ++tries) {
      const absl::Time begin = absl::Now();
      status = engine_->Apply(kTable, {change});
      if (status.ok()) break;
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(std::string(status.message()), testing::HasSubstr("Row 'long' got"));
      EXPECT_GE(absl::Now() - begin, absl::Milliseconds(250));
    }
    ASSERT_EQ(status, absl::OkStatus());
    wanted += fmt::format("long {}@1000={}\n", qualifier, value);
    // It was not full, so that it has one more at most.
    EXPECT_LT(engine_->open_head_load().long_bytes, long_row_bytes_max_ + 2 * kValueBytes);
    if (engine_->open_head_load().has_full_row) Put("other", "q", 1'000, "does not wait");
  }
  EXPECT_GT(engine_->settling_counts().pages, 0u) << "it has settled meanwhile";
  EXPECT_EQ(Cells({}, RowRange::Single("long")), wanted);
}

// A writer that waits for a row must not keep the heads from changing roles.
TEST_F(SettlingTest, WhatComesInPartsDoesNotWaitForAFullRow) {
  settles_ = true;
  head_cells_min_ = 1'000'000;
  constexpr size_t kValueBytes = 100'000;
  long_row_bytes_max_ = kValueBytes;
  Open();
  const std::string value(kValueBytes, 'v');
  const RowChange small{"other", {.families = {{.family = kFamily, .puts = {{"q", 1'000, "small"}}}}}};
  bool aborted = false;
  for (int i = 0; i < 50 && !aborted; ++i) {
    const RowChange large{"long", {.families = {{.family = kFamily, .puts = {{"q", 1'000 * i, value}}}}}};
    if (!engine_->Apply(kTable, {large}).ok()) continue;  // it is still full of what came before
    const WriteOptions options{.may_wait = false};
    ASSERT_EQ(engine_->Apply(kTable, {&small, 1}, options), absl::OkStatus()) << "another row has room";
    const absl::Status status = engine_->Apply(kTable, {&large, 1}, options);
    aborted = status.code() == absl::StatusCode::kAborted;
    ASSERT_TRUE(aborted || status.ok()) << status;
  }
  EXPECT_TRUE(aborted);
}

TEST_F(SettlingTest, UpgradesADirectoryWithoutPages) {
  Put("a", "q", 1000, "v");
  engine_.reset();
  std::ofstream(path_ + "/FORMAT") << "sonde data format 2\n";
  Open();
  EXPECT_EQ(Cells(), "a q@1000=v\n");
  std::string line;
  std::ifstream file(path_ + "/FORMAT");
  std::getline(file, line);
  EXPECT_EQ(line, "sonde data format 3");
}

}  // namespace
}  // namespace sonde

// What is done to a data directory that was left as a killed process leaves it, and what opening it says.
#include "engine/rocks/files/open_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/log_scan.h"
#include "engine/rocks/rocks_engine.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kRows = 60;

class OpenCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/sonde_open_check_" + std::to_string(getpid());
    killed_ = path_ + ".killed";
    fs::remove_all(path_);
    fs::remove_all(killed_);
  }
  void TearDown() override {
    fs::remove_all(path_);
    fs::remove_all(killed_);
  }

  absl::StatusOr<std::unique_ptr<RocksEngine>> Open() {
    told_.clear();
    return RocksEngine::Open({.data_dir = path_,
                              .memory_bytes = 64 << 20,
                              .sync = sync_,
                              .inventory_interval = inventory_interval_,
                              .tell = [&](TellLevel level, auto& text) {
                                told_ += (level == TellLevel::kInfo ? "info: " : "warning: ") + text + "\n";
                              }});
  }

  static absl::Status PutRow(Engine* engine, int row) {
    const std::string key = "row" + std::to_string(row);
    RowChange change{key, {}};
    const std::string value(1000, 'v');
    change.delta.families.push_back({.family = 1, .puts = {{"q", 1000, value}}});
    return engine->Apply(1, {change});
  }

  // Tables with kRows rows, and as many more in the log.  `then` does what is left before the process dies.
  void WriteAndDie(const std::function<void(RocksEngine*)>& then = [](RocksEngine*) {}) {
    auto opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.status();
    RocksEngine* const engine = opened->get();
    ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
    for (int row = 0; row < kRows; ++row) ASSERT_TRUE(PutRow(engine, row).ok());
    ASSERT_TRUE(engine->CompactAll().ok());
    for (int row = kRows; row < 2 * kRows; ++row) ASSERT_TRUE(PutRow(engine, row).ok());
    then(engine);
    // The inventory may be replaced meanwhile.
    std::error_code error(1, std::generic_category());
    for (int attempt = 0; error && attempt < 10; ++attempt) {
      fs::remove_all(killed_);
      fs::copy(path_, killed_, fs::copy_options::recursive, error);
    }
    ASSERT_FALSE(error) << error.message();
    opened->reset();
    fs::remove_all(path_);
    fs::rename(killed_, path_);
  }
  // Until the inventory tells of all writes; a disk may need longer than usual.
  void WaitForInventory() {
    const fs::path log = Find("cells", ".log");
    std::string note;
    uint64_t last = 0, number = std::stoull(log.stem());
    const auto visit = [&](std::string_view start, uint64_t) {
      last = ParseLogRecordHeader(start).LastSequence();
    };
    ASSERT_TRUE(ScanLog(rocksdb::Env::Default(), log, visit, nullptr).ok());
    for (int attempt = 0; attempt < 1000; ++attempt) {
      auto inventory = ReadInventory(rocksdb::Env::Default(), path_, &note);
      if (inventory.ok() && inventory->has_value()) {
        const DatabaseInventory& cells = (*inventory)->databases["cells"];
        if (cells.sequence >= last && cells.logs.contains(number)) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    FAIL() << "the inventory does not tell of " << log << " up to " << last;
  }

  // The newest file of `database` with this beginning or extension; with bytes, if it is a log.
  fs::path Find(const std::string& database, const std::string& kind) const {
    fs::path found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/" + database)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with(kind) && entry.path().extension() != kind) continue;
      if (kind == ".log" && entry.file_size() == 0) continue;
      if (found.empty() || name > found.filename()) found = entry.path();
    }
    EXPECT_FALSE(found.empty()) << database << " has no " << kind;
    return found;
  }
  static void Flip(const fs::path& path, uint64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  }
  static void Cut(const fs::path& path, uint64_t bytes) {
    fs::resize_file(path, fs::file_size(path) - bytes);
  }

  int CountRows() {
    auto engine = Open();
    EXPECT_TRUE(engine.ok()) << engine.status();
    if (!engine.ok()) return -1;
    auto stream = (*engine)->Scan(1, {RowRange::All()}, {});
    RowPiece piece;
    int count = 0;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return count;
      ++count;
    }
  }
  void ExpectRefused(const testing::Matcher<std::string>& message) {
    const absl::Status status = Open().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), message);
  }

  std::string path_, killed_, told_;
  bool sync_ = true;
  absl::Duration inventory_interval_ = absl::Milliseconds(50);
};

TEST_F(OpenCheckTest, WhatAKilledProcessLeftOpens) {
  WriteAndDie();
  EXPECT_EQ(CountRows(), 2 * kRows);
  EXPECT_EQ(told_, "");
  EXPECT_EQ(CountRows(), 2 * kRows);
}

TEST_F(OpenCheckTest, ATornTailIsCutOffAndTold) {
  inventory_interval_ = absl::Hours(1);
  WriteAndDie();
  const fs::path log = Find("cells", ".log");
  Cut(log, 10);
  EXPECT_EQ(CountRows(), 2 * kRows - 1);
  EXPECT_THAT(told_, AllOf(testing::StartsWith("info: "), HasSubstr(log), HasSubstr("never acknowledged")));
}

TEST_F(OpenCheckTest, GarbageBehindTheLastRecordIsATornTail) {
  WriteAndDie();
  std::ofstream(Find("cells", ".log"), std::ios::app) << std::string(5000, 'g');
  EXPECT_EQ(CountRows(), 2 * kRows);
  EXPECT_THAT(told_, HasSubstr("never acknowledged"));
}

TEST_F(OpenCheckTest, AFlipInALogIsRefused) {
  WriteAndDie();
  const fs::path log = Find("cells", ".log");
  Flip(log, 3000);
  ExpectRefused(AllOf(HasSubstr(log), HasSubstr("is damaged behind byte")));
}

TEST_F(OpenCheckTest, ACutLogIsRefusedOnceTheInventoryKnowsOfItsEnd) {
  WriteAndDie([&](auto*) { WaitForInventory(); });
  Cut(Find("cells", ".log"), 10);
  ExpectRefused(HasSubstr("were acknowledged, but are there up to"));
}

TEST_F(OpenCheckTest, AMissingLogIsRefused) {
  WriteAndDie([&](auto*) { WaitForInventory(); });
  fs::remove(Find("cells", ".log"));
  ExpectRefused(HasSubstr("cells"));
}

// The inventory sees such a log only once, as nothing is written any more.
TEST_F(OpenCheckTest, AMissingLogOfOneWriteIsRefused) {
  WriteAndDie([&](RocksEngine* engine) {
    ASSERT_TRUE(engine->CompactAll().ok());
    ASSERT_TRUE(PutRow(engine, 0).ok());
    WaitForInventory();
  });
  const fs::path log = Find("cells", ".log");
  fs::remove(log);
  ExpectRefused(HasSubstr(std::string(log.filename()) + " is missing"));
}

TEST_F(OpenCheckTest, AMissingTableIsRefusedByName) {
  WriteAndDie();
  const fs::path table = Find("cells", ".sst");
  fs::remove(table);
  ExpectRefused(HasSubstr(table.filename()));
}

TEST_F(OpenCheckTest, ACutTableIsRefusedByName) {
  WriteAndDie();
  const fs::path table = Find("cells", ".sst");
  Cut(table, 1);
  ExpectRefused(HasSubstr(table.filename()));
}

TEST_F(OpenCheckTest, AnyFlipInAManifestIsRefusedAndDeletesNothing) {
  WriteAndDie([&](auto*) { WaitForInventory(); });
  const fs::path manifest = Find("cells", "MANIFEST");
  const auto tables_count = [&] {
    return std::count_if(fs::directory_iterator(path_ + "/cells"), {},
                         [](const auto& entry) { return entry.path().extension() == ".sst"; });
  };
  const auto count = tables_count();
  for (uint64_t at = 0; at < fs::file_size(manifest); at += 1 + at % 17) {
    Flip(manifest, at);
    ExpectRefused(HasSubstr(manifest.filename()));
    EXPECT_EQ(tables_count(), count);
    Flip(manifest, at);
  }
  EXPECT_EQ(CountRows(), 2 * kRows);
}

TEST_F(OpenCheckTest, ACurrentThatIsMissingOrPointsElsewhereIsRefused) {
  WriteAndDie();
  const std::string current = path_ + "/cells/CURRENT";
  Flip(current, 12);
  ExpectRefused(HasSubstr("CURRENT"));
  fs::remove(current);
  ExpectRefused(HasSubstr("CURRENT is missing"));
  fs::remove_all(path_ + "/cells");
  ExpectRefused(HasSubstr("CURRENT is missing"));
}

TEST_F(OpenCheckTest, TheRecordsAreGuardedLikeTheCells) {
  WriteAndDie([&](auto*) { WaitForInventory(); });
  Flip(Find("records", "MANIFEST"), 20);
  ExpectRefused(HasSubstr("records/MANIFEST"));
}

TEST_F(OpenCheckTest, AMissingInventoryIsRefused) {
  WriteAndDie();
  fs::remove(path_ + "/" + kInventoryFile);
  fs::remove(path_ + "/" + kInventoryBeforeFile);
  ExpectRefused(HasSubstr("INVENTORY is missing"));
}

TEST_F(OpenCheckTest, ADirectoryOfFormat1IsUpgraded) {
  WriteAndDie();
  fs::remove(path_ + "/" + kInventoryFile);
  fs::remove(path_ + "/" + kInventoryBeforeFile);
  std::ofstream(path_ + "/FORMAT") << "sonde data format 1\n";
  EXPECT_EQ(CountRows(), 2 * kRows);
  std::string line;
  std::getline(std::ifstream(path_ + "/FORMAT") >> std::ws, line);
  EXPECT_EQ(line, "sonde data format 3");
  EXPECT_TRUE(fs::exists(path_ + "/" + kInventoryFile));
  fs::remove(Find("cells", ".sst"));
  ExpectRefused(HasSubstr(".sst"));
}

TEST_F(OpenCheckTest, AHoleBehindWhatWasSyncedIsLeftOutIfWritesWereNotSynced) {
  sync_ = false;
  inventory_interval_ = absl::Hours(1);  // it knows nothing of the last rows
  WriteAndDie();
  const fs::path log = Find("cells", ".log");
  Flip(log, fs::file_size(log) - 2000);
  const int count = CountRows();
  EXPECT_LT(count, 2 * kRows);
  EXPECT_GT(count, kRows);
  EXPECT_THAT(told_, AllOf(testing::StartsWith("warning: "), HasSubstr("never synced")));
  EXPECT_EQ(CountRows(), count);
}

TEST_F(OpenCheckTest, AHoleBeforeWhatWasSyncedIsRefusedThoughWritesWereNotSynced) {
  sync_ = false;
  WriteAndDie([&](auto*) { WaitForInventory(); });
  Flip(Find("cells", ".log"), 2000);
  ExpectRefused(HasSubstr("were acknowledged"));
}

}  // namespace
}  // namespace sonde

// A backup that is made while rows are written is the state of one moment, and so is the table that is restored from it.
//
// SONDE_BACKUP_TRIALS and SONDE_TEST_SEED in the environment: how many backups, and which random numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "backup/store/backups.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "model/row_range.h"

namespace sonde {
namespace {

constexpr int kRows = 300;
constexpr char kTableName[] = "projects/p/instances/i/tables/t";

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class BackupMomentTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / fmt::format("backup-moment-{}", getpid());
    std::filesystem::remove_all(directory_);
    Open();
    schema_ = *catalog_->Create({.name = kTableName, .families = {{.name = "f"}}});
  }
  void TearDown() override {
    backups_.reset();
    catalog_.reset();
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Open() {
    RocksOptions options;
    options.data_dir = directory_;
    options.memory_bytes = uint64_t{64} << 20;
    options.sync = false;  // no power is cut here
    options.settling_head_cells_min = 2'000;
    auto engine = RocksEngine::Open(options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    catalog_ = *Catalog::Open(engine_.get());
    backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_);
  }

  // The n-th write: it sets a row, or deletes it.
  static int RowOf(int64_t n) { return static_cast<int>((n * 7'919) % kRows); }
  static bool Deletes(int64_t n) { return n % 11 == 0; }
  void Write(int64_t n) {
    const std::string row = fmt::format("row-{:04}", RowOf(n)), value = std::to_string(n);
    RowDelta delta;
    FamilyDelta& family = delta.families.emplace_back();
    family.family = schema_->families[0].id;
    if (Deletes(n)) {
      family.deletes.push_back({"q", {0, 0}});
    } else {
      family.deletes.push_back({"q", {0, 0}});
      family.puts.push_back({"q", n * 1'000, value});
    }
    const absl::Status status = engine_->Apply(schema_->id, {{{row, delta}}});
    ASSERT_TRUE(status.ok()) << status;
  }
  static std::map<std::string, std::string> StateAfter(int64_t n) {
    std::map<std::string, std::string> state;
    for (int64_t i = std::max<int64_t>(1, n - kRows + 1); i <= n; ++i) {
      const std::string row = fmt::format("row-{:04}", RowOf(i));
      if (Deletes(i)) {
        state.erase(row);
      } else {
        state[row] = std::to_string(i);
      }
    }
    return state;
  }
  std::map<std::string, std::string> Read(TableId table) {
    std::map<std::string, std::string> state;
    auto stream = engine_->Scan(table, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok()) << stream.status();
    RowPiece piece;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return state;
      EXPECT_EQ(piece.cells.size(), 1u) << piece.row_key;
      state[std::string(piece.row_key)] = std::string(piece.cells[0].value);
    }
  }

  SystemClock clock_;
  std::filesystem::path directory_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Backups> backups_;
  TableSchemaRef schema_;
};

TEST_F(BackupMomentTest, IsAStateOfTheTable) {
  const uint64_t trials = FromEnvironment("SONDE_BACKUP_TRIALS", 4);
  SeededRandom random(FromEnvironment("SONDE_TEST_SEED", 1));
  std::atomic<int64_t> begun = 0, done = 0;
  std::atomic<bool> stops = false;
  std::thread writer([&] {
    while (!stops) {
      const int64_t n = ++begun;
      Write(n);
      done = n;
    }
  });
  for (uint64_t trial = 0; trial < trials && !HasFailure(); ++trial) {
    const int64_t wait_until = done + 1 + static_cast<int64_t>(random.Uniform(3'000));
    while (done < wait_until && !HasFailure()) std::this_thread::yield();
    const std::string name = fmt::format("projects/p/instances/i/clusters/c/backups/b{}", trial);
    const int64_t before = done;
    ASSERT_TRUE(backups_->Begin({.name = name, .expire = absl::Now() + absl::Hours(6)}, kTableName).ok());
    const absl::StatusOr<Backup> made = backups_->Make(name);
    const int64_t after = begun;
    ASSERT_TRUE(made.ok()) << made.status();
    const std::string restored_name = fmt::format("projects/p/instances/i/tables/r{}", trial);
    const auto restored = backups_->Restore(name, restored_name);
    ASSERT_TRUE(restored.ok()) << restored.status();
    const std::map<std::string, std::string> state = Read((*restored)->id);
    int64_t moment = before;
    while (moment <= after && state != StateAfter(moment)) ++moment;
    EXPECT_LE(moment, after) << "trial " << trial << ": the state is that of no moment from " << before
                             << " on";
    ASSERT_EQ(backups_->Delete(name), absl::OkStatus());
    ASSERT_EQ(catalog_->Delete(restored_name), absl::OkStatus());
  }
  stops = true;
  writer.join();
  EXPECT_EQ(Read(schema_->id), StateAfter(done));
}

}  // namespace
}  // namespace sonde

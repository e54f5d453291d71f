// What the engine does when the disk is full, fails or rots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

// Each change is a part; null: a part of none.  The last comes first.
struct PartsOfOne final : RowSource {
  ~PartsOfOne() = default;
  std::optional<absl::Span<const RowChange>> Next() override {
    if (left.empty()) return std::nullopt;
    const RowChange* const part = left.back();
    left.pop_back();
    return part == nullptr ? absl::Span<const RowChange>() : absl::MakeConstSpan(part, 1);
  }
  void OnRefused(size_t, const absl::Status& why) override { ADD_FAILURE() << why; }
  std::vector<const RowChange*> left;
};

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Syncs of logs fail when told so.
class FailingSyncEnv final : public rocksdb::EnvWrapper {
 public:
  FailingSyncEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "FailingSyncEnv"; }

  rocksdb::Status NewWritableFile(const std::string& name, std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    const rocksdb::Status status = EnvWrapper::NewWritableFile(name, file, options);
    if (status.ok() && name.ends_with(".log")) *file = std::make_unique<File>(std::move(*file), this);
    return status;
  }

  std::atomic<bool> failing = false;

 private:
  class File final : public rocksdb::WritableFileWrapper {
   public:
    File(std::unique_ptr<rocksdb::WritableFile> file, const FailingSyncEnv* env)
        : WritableFileWrapper(file.get()), file_(std::move(file)), env_(env) {}
    rocksdb::Status Sync() override {
      return env_->failing ? rocksdb::Status::IOError("planted") : file_->Sync();
    }
    rocksdb::Status Fsync() override { return Sync(); }

   private:
    const std::unique_ptr<rocksdb::WritableFile> file_;
    const FailingSyncEnv* const env_;
  };
};

// Holds the work of a pool of threads back while told so: LOW compacts, HIGH flushes.
class HeldWorkEnv final : public rocksdb::EnvWrapper {
 public:
  HeldWorkEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "HeldWorkEnv"; }

  void Schedule(void (*work)(void*), void* argument, Priority pool, void* tag,
                void (*forget)(void*)) override {
    const absl::MutexLock lock(&mutex_);
    if (pool == held_) {
      waiting_.push_back({work, argument, tag, forget});
    } else {
      EnvWrapper::Schedule(work, argument, pool, tag, forget);
    }
  }
  int UnSchedule(void* tag, Priority pool) override {
    std::vector<Work> forgotten;
    {
      const absl::MutexLock lock(&mutex_);
      const auto others = std::stable_partition(waiting_.begin(), waiting_.end(),
                                                [&](const Work& work) { return work.tag != tag; });
      if (pool == held_) {
        forgotten.assign(others, waiting_.end());
        waiting_.erase(others, waiting_.end());
      }
    }
    for (const Work& work : forgotten) work.forget(work.argument);
    return static_cast<int>(forgotten.size()) + EnvWrapper::UnSchedule(tag, pool);
  }

  void Hold(Priority pool) {
    const absl::MutexLock lock(&mutex_);
    held_ = pool;
  }
  void Release() {
    const absl::MutexLock lock(&mutex_);
    for (const Work& work : waiting_)
      EnvWrapper::Schedule(work.work, work.argument, held_, work.tag, work.forget);
    waiting_.clear();
    held_ = TOTAL;
  }

 private:
  struct Work {
    void (*work)(void*);
    void* argument;
    void* tag;
    void (*forget)(void*);
  };
  absl::Mutex mutex_;
  Priority held_ ABSL_GUARDED_BY(mutex_) = TOTAL;
  std::vector<Work> waiting_ ABSL_GUARDED_BY(mutex_);
};

class RocksEngineFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/sonde_faults_" + std::to_string(getpid());
    fs::remove_all(path_);
  }
  void TearDown() override {
    engine_.reset();
    fs::remove_all(path_);
  }

  // `memory_bytes` as small as here makes write buffers of 4 MiB.
  void Open(RocksOptions options = {}) {
    options.data_dir = path_;
    options.memory_bytes = 64 << 20;
    auto engine = RocksEngine::Open(options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    ASSERT_TRUE(engine_->CreateTable({.id = 1}).ok());
  }

  absl::Status Put(const std::string& row, const std::string& value = "v") {
    RowChange change{row, {}};
    change.delta.families.push_back({.family = 1, .puts = {{"q", 1000, value}}});
    return engine_->Apply(1, {change});
  }
  absl::Status Delete(const std::string& row) {
    RowChange change{row, {}};
    change.delta.families.push_back({.family = 1, .delete_all = true});
    return engine_->Apply(1, {change});
  }
  // The value of the row; "none" when it is not there.
  absl::StatusOr<std::string> Get(const std::string& row) {
    auto stream = engine_->Scan(1, {RowRange::Single(row)}, {});
    if (!stream.ok()) return stream.status();
    RowPiece piece;
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    return *more ? std::string(piece.cells[0].value) : "none";
  }
  template <typename Condition>
  static bool Soon(const Condition& condition) {
    for (int i = 0; i < 200 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
  }

  void MeetBackPressure(rocksdb::Env::Priority held);

  std::string path_;
  FailingSyncEnv env_;  // of some tests
  std::unique_ptr<RocksEngine> engine_;
};

TEST_F(RocksEngineFaultsTest, AFullDiskRefusesWhatAddsCellsAndNothingElse) {
  std::atomic<uint64_t> free_bytes = uint64_t{50} << 30;
  const auto measure = [&](const std::string&) -> absl::StatusOr<DiskSpace> {
    return DiskSpace{.size_bytes = uint64_t{100} << 30, .free_bytes = free_bytes};
  };
  Open({.measure_disk = measure});
  for (const char* const row : {"a", "b", "c", "e"}) ASSERT_TRUE(Put(row).ok());
  free_bytes = uint64_t{1} << 30;
  ASSERT_TRUE(Soon([&] { return !Put("a").ok(); }));
  const absl::Status refused = Put("d");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is full"));
  EXPECT_EQ(engine_->CheckWrites(), refused);
  const auto put = [](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
    RowDelta delta;
    delta.families.push_back({.family = 1, .puts = {{"q", 1000, "u"}}});
    return delta;
  };
  EXPECT_EQ(engine_->Update(1, "d", {}, put).code(), absl::StatusCode::kResourceExhausted);
  // What only deletes is not refused for those who add, nor is anything of a commit that is.
  const RowChange add{"d", **put({})}, remove{"b", {.families = {{.family = 1, .delete_all = true}}}};
  for (const bool adds : {true, false}) {
    PartsOfOne parts;
    parts.left = {adds ? &add : nullptr, &remove};
    const absl::Status status = engine_->Apply(1, &parts, {.may_wait = false});
    EXPECT_EQ(status.code(), adds ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kOk);
    EXPECT_EQ(*Get("b"), adds ? "v" : "none");
  }
  EXPECT_EQ(*Get("d"), "none");
  EXPECT_TRUE(Delete("a").ok());
  EXPECT_EQ(*Get("a"), "none");
  EXPECT_TRUE(engine_->DropRange(1, {"c", "d"}).ok());
  EXPECT_EQ(*Get("c"), "none");
  engine_.reset();
  Open({.measure_disk = measure});  // a restart
  EXPECT_EQ(*Get("e"), "v");
  EXPECT_FALSE(Put("d").ok());
  free_bytes = uint64_t{50} << 30;
  EXPECT_TRUE(Soon([&] { return Put("d").ok(); }));
}

TEST_F(RocksEngineFaultsTest, ACompactionThatCouldTakeTheReserveIsNotBegun) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  std::atomic<uint64_t> free_bytes = 500 * kMiB;
  Open({.sync = false, .measure_disk = [&](const std::string&) -> absl::StatusOr<DiskSpace> {
          return DiskSpace{.size_bytes = 1000 * kMiB, .free_bytes = free_bytes};
        }});
  SeededRandom random(1);
  const auto put_some = [&] {
    for (int i = 0; i < 100; ++i) {
      std::string value(100'000, '\0');
      for (char& byte : value) byte = static_cast<char>(random.Next());
      if (absl::Status status = Put("row" + std::to_string(i), value); !status.ok()) return status;
    }
    return absl::OkStatus();
  };
  ASSERT_TRUE(put_some().ok());
  ASSERT_TRUE(engine_->CompactAll().ok());
  ASSERT_TRUE(put_some().ok());
  ASSERT_TRUE(engine_->CompactAll().ok());
  ASSERT_TRUE(put_some().ok());
  // Compactions may take all but 25 MiB of the reserve of 50 MiB, so 5 MiB here: less than the tables have.
  free_bytes = 30 * kMiB;
  ASSERT_TRUE(Soon([&] { return !Put("a").ok(); }));
  absl::Status status = engine_->CompactAll();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no room for a compaction"));
  EXPECT_TRUE(Delete("row1").ok());
  EXPECT_EQ(Get("row2")->size(), 100'000u);
  free_bytes = 500 * kMiB;
  ASSERT_TRUE(Soon([&] { return Put("a").ok(); }));
  EXPECT_TRUE(engine_->CompactAll().ok()) << engine_->CompactAll();
}

// Writes until a write is refused, while background work is held back, and lets it go on.
void RocksEngineFaultsTest::MeetBackPressure(rocksdb::Env::Priority held) {
  HeldWorkEnv env;
  Open({.sync = false, .env = &env, .settles = false});
  env.Hold(held);
  SeededRandom random(1);
  std::string value(500'000, '\0');
  for (char& byte : value) byte = static_cast<char>(random.Next());
  EXPECT_EQ(engine_->WritePressure(), 0);
  double pressure_before = 0;
  int rows = 0;
  absl::Status status;
  for (; rows < 1000 && status.ok(); ++rows) {
    // Not older than a look.
    if (rows % 8 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
      pressure_before = engine_->WritePressure();
    }
    status = Put("row" + std::to_string(rows), value);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Put("refused", value).code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nothing was done, try again"));
  EXPECT_GE(pressure_before, 0.5);  // it was told in time
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  EXPECT_EQ(engine_->WritePressure(), 1);
  EXPECT_EQ(*Get("refused"), "none");
  EXPECT_EQ(*Get("row" + std::to_string(rows - 1)), "none");
  EXPECT_EQ(Get("row" + std::to_string(rows - 2))->size(), value.size());
  EXPECT_TRUE(Delete("row0").ok());  // may be slow, but is taken
  env.Release();
  bool is_calm = false;
  for (int i = 0; i < 30 && !is_calm; ++i) is_calm = Soon([&] { return engine_->WritePressure() < 0.5; });
  EXPECT_TRUE(is_calm);
  EXPECT_TRUE(Put("again", value).ok());
  EXPECT_EQ(*Get("row0"), "none");
  engine_.reset();
}

TEST_F(RocksEngineFaultsTest, WritesAreRefusedEarlyWhenCompactionsAreBehind) {
  MeetBackPressure(rocksdb::Env::LOW);
}

TEST_F(RocksEngineFaultsTest, WritesAreRefusedEarlyWhenFlushesAreBehind) {
  MeetBackPressure(rocksdb::Env::HIGH);
}

TEST_F(RocksEngineFaultsTest, WritesGoOnWhenThereAreFileDescriptorsAgain) {
#if defined(__SANITIZE_ADDRESS__)
  // UndefinedBehaviorSanitizer opens a pipe to look at an object's type, and calls the object invalid if it
  // gets none.
  GTEST_SKIP() << "the sanitizer needs file descriptors";
#endif
  Open({.sync = false});
  ASSERT_TRUE(Put("a").ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = dup(STDERR_FILENO);
  close(lowest_free);
  const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  SeededRandom random(1);
  std::string value(500'000, '\0');
  for (char& byte : value) byte = static_cast<char>(random.Next());
  absl::Status status;
  int rows = 0;
  for (; rows < 200 && status.ok(); ++rows) status = Put("row" + std::to_string(rows), value);
  const absl::Status next = Put("b");
  const absl::Status checked = engine_->CheckWrites();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_FALSE(next.ok());
  EXPECT_EQ(checked.code(), absl::StatusCode::kUnavailable) << checked;
  bool goes_on = false;
  for (int i = 0; i < 15 && !goes_on; ++i) goes_on = Soon([&] { return engine_->CheckWrites().ok(); });
  EXPECT_TRUE(goes_on) << engine_->CheckWrites();
  goes_on = Soon([&] { return Put("c").ok(); });
  EXPECT_TRUE(goes_on) << Put("c");
  // What was acknowledged is there, and what was refused is not.
  for (int i = 0; i + 1 < rows; ++i) EXPECT_EQ(Get("row" + std::to_string(i))->size(), value.size());
  EXPECT_EQ(*Get("row" + std::to_string(rows - 1)), "none");
  engine_.reset();
  Open({.sync = false});
  EXPECT_EQ(*Get("a"), "v");
  EXPECT_EQ(*Get("c"), "v");
}

TEST_F(RocksEngineFaultsTest, AfterAFailedSyncNothingIsAcknowledgedUntilTheNextOpen) {
  Open({.env = &env_});
  ASSERT_TRUE(Put("a").ok());
  env_.failing = true;
  // It may be there after the next open, so nobody may try again as if nothing had been done.
  const absl::Status unsynced = Put("b");
  EXPECT_EQ(unsynced.code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(unsynced.message()), HasSubstr("may or may not have been applied"));
  env_.failing = false;  // as disks do: the next sync says that all is well
  for (int i = 0; i < 10; ++i) {
    const absl::Status status = Put("c");
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("have stopped"), HasSubstr("planted")));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(Delete("a").ok());
  EXPECT_FALSE(engine_->CreateTable({.id = 2}).ok());
  EXPECT_EQ(*Get("a"), "v");
  engine_.reset();
  Open({.env = &env_});
  EXPECT_EQ(*Get("a"), "v");
  EXPECT_EQ(*Get("c"), "none");
  EXPECT_TRUE(Put("c").ok());
}

TEST_F(RocksEngineFaultsTest, ADamagedBlockIsDataLossForItsRowsAndFoundByTheScrub) {
  absl::Mutex mutex;
  std::string told;
  const Tell tell = [&](TellLevel level, const std::string& text) {
    const absl::MutexLock lock(&mutex);
    told += (level == TellLevel::kInfo ? "info: " : "warning: ") + text + "\n";
  };
  const auto take_told = [&] {
    const absl::MutexLock lock(&mutex);
    return std::exchange(told, "");
  };
  Open({.sync = false, .tell = tell});
  constexpr int kRows = 200;
  const auto row = [](int i) { return "row" + std::to_string(1000 + i); };
  for (int i = 0; i < kRows; ++i) {
    std::string value;  // that does not compress
    for (uint64_t state = i; value.size() < 1000;
         state = state * 6364136223846793005u + 1442695040888963407u) {
      value.push_back(static_cast<char>(state >> 56));
    }
    ASSERT_TRUE(Put(row(i), value).ok());
  }
  ASSERT_TRUE(engine_->CompactAll().ok());
  take_told();
  EXPECT_TRUE(engine_->Scrub().ok());
  EXPECT_THAT(take_told(), AllOf(testing::StartsWith("info: Scrubbed "), HasSubstr("all are as they were"),
                                 testing::Not(HasSubstr("warning"))));
  EXPECT_GE(engine_->scrub_progress().tables_done, 1u);
  EXPECT_GT(engine_->scrub_progress().bytes_done, kRows * 1000u);
  engine_.reset();

  fs::path table;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/cells")) {
    if (entry.path().extension() == ".sst" && entry.file_size() > kRows * 900) table = entry.path();
  }
  ASSERT_FALSE(table.empty());
  {
    std::fstream file(table, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(50'000);
    file.write("damage", 6);
  }
  Open({.sync = false, .tell = tell});
  int lost = 0;
  for (int i = 0; i < kRows; ++i) {
    const auto value = Get(row(i));
    if (value.ok()) {
      EXPECT_EQ(value->size(), 1000u);
    } else {
      ++lost;
      EXPECT_EQ(value.status().code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(value.status().message()), HasSubstr(table.filename()));
    }
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, kRows / 4);
  EXPECT_TRUE(Put("another", "v").ok());
  take_told();
  const absl::Status scrubbed = engine_->Scrub();
  EXPECT_THAT(take_told(), AllOf(testing::StartsWith("warning: "), HasSubstr("warning: Scrubbed "),
                                 testing::Not(HasSubstr("info"))));
  EXPECT_EQ(scrubbed.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(scrubbed.message()), HasSubstr(table.filename()));
  EXPECT_THAT(engine_->scrub_progress().damaged_files, testing::ElementsAre(table));
  engine_.reset();  // which tells
}

// The end of the table says where all else is in it.
TEST_F(RocksEngineFaultsTest, ATableThatCannotBeOpenedIsDataLossForItsRowsOnly) {
  const RocksOptions options{.sync = false, .settles = false, .page = {.cells_max = 10}};
  Open(options);
  const auto row = [](int i) { return "row" + std::to_string(1000 + i); };
  constexpr int kSettled = 100, kRows = 150;
  SeededRandom random(1);
  for (int i = 0; i < kSettled; ++i) {
    std::string value(1000, '\0');
    for (char& byte : value) byte = static_cast<char>(random.Next());
    ASSERT_TRUE(Put(row(i), value).ok());
  }
  ASSERT_TRUE(engine_->SettleAll().ok());
  ASSERT_TRUE(engine_->CompactAll().ok());
  for (int i = kSettled; i < kRows; ++i) ASSERT_TRUE(Put(row(i), "v").ok());
  engine_.reset();

  fs::path pages;  // the largest: values
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/cells")) {
    if (entry.path().extension() != ".sst") continue;
    if (pages.empty() || entry.file_size() > fs::file_size(pages)) pages = entry.path();
  }
  ASSERT_FALSE(pages.empty());
  const auto bytes = static_cast<std::streamoff>(fs::file_size(pages));
  {
    std::fstream file(pages, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(bytes - 53);
    file << std::string(53, 'x');
  }
  absl::Mutex mutex;
  std::string told;
  RocksOptions telling = options;
  telling.tell = [&](TellLevel, const std::string& text) {
    const absl::MutexLock lock(&mutex);
    told += text;
  };
  for (int restart = 0; restart < 2; ++restart) {
    Open(telling);
    {
      const absl::MutexLock lock(&mutex);
      EXPECT_THAT(told, AllOf(HasSubstr("cannot be opened"), HasSubstr(pages.filename())));
    }
    for (int i = 0; i < kRows; ++i) {
      const auto value = Get(row(i));
      if (i < kSettled) {
        EXPECT_EQ(value.status().code(), absl::StatusCode::kDataLoss) << row(i);
        EXPECT_THAT(std::string(value.status().message()), HasSubstr(pages.filename()));
      } else {
        EXPECT_EQ(*value, "v");
      }
    }
    // Also when a compaction has come upon the table: RocksDB begins one with it at times, as soon as it is
    // open.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(Put(row(kRows), "new"), absl::OkStatus());
    EXPECT_EQ(*Get(row(kRows)), "new");
    EXPECT_EQ(engine_->Scrub().code(), absl::StatusCode::kDataLoss);
    engine_.reset();
    EXPECT_TRUE(fs::exists(pages));
    EXPECT_EQ(fs::file_size(pages), static_cast<uintmax_t>(bytes));
  }
}

}  // namespace
}  // namespace sonde

// What holds when several threads call at once.
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "apply_in_parts.h"
#include "base/random.h"
#include "engine_conformance.h"
#include "fmt/format.h"

namespace sonde {
namespace {

constexpr int kThreads = 4;
constexpr int kRows = 3;
constexpr FamilyId kFamilyA = 1;
constexpr FamilyId kFamilyB = 2;

std::string RowKeyOf(uint64_t number) { return fmt::format("row{}", number % kRows); }

// The first thing that went wrong in any thread.
class FirstError {
 public:
  void Note(const absl::Status& status) {
    if (status.ok()) return;
    const absl::MutexLock guard(&lock_);
    if (status_.ok()) status_ = status;
  }
  bool ok() {
    const absl::MutexLock guard(&lock_);
    return status_.ok();
  }
  absl::Status status() {
    const absl::MutexLock guard(&lock_);
    return status_;
  }

 private:
  absl::Mutex lock_;
  absl::Status status_ ABSL_GUARDED_BY(lock_);
};

// The number that every cell of the row holds; INTERNAL when they differ.
absl::StatusOr<std::string> OneValueOf(const ObservedRow& row, size_t cells_count) {
  std::optional<std::string> value;
  size_t count = 0;
  for (const auto& [family, cells] : row.families) {
    for (const ObservedCell& cell : cells) {
      if (value.value_or(cell.value) != cell.value)
        return absl::InternalError("a torn row: " + Describe(row));
      value = cell.value;
      ++count;
    }
  }
  if (count != cells_count) return absl::InternalError(fmt::format("{} cells: {}", count, Describe(row)));
  return value.value_or("");
}

// Replaces the row by cells in two families that all hold `value`, at a time of their own.
struct WholeRow {
  WholeRow(std::string text, int64_t timestamp_micros) : value(std::move(text)) {
    static const std::vector<std::string> qualifiers = {"", "a", "b", "c"};
    for (const FamilyId family : {kFamilyA, kFamilyB}) {
      FamilyDelta& change = delta.families.emplace_back();
      change.family = family;
      change.delete_all = true;
      for (const std::string& qualifier : qualifiers)
        change.puts.push_back({qualifier, timestamp_micros, value});
    }
  }
  WholeRow(const WholeRow&) = delete;
  static constexpr size_t kCells = 8;

  const std::string value;
  RowDelta delta;
};

// Adds one to the row's number.  Both cells of the counter are always written together.
absl::Status Increment(Engine* engine, TableId table, const std::string& row_key) {
  std::string value;  // outlives the delta
  ReadHints hints;
  hints.families = {kFamilyA};
  return engine->Update(
      table, row_key, hints,
      [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
        std::optional<std::string> left, right;
        for (const RowFamily& family : row) {
          for (const CellView& cell : family.cells) {
            if (family.family == kFamilyA && cell.qualifier == "left") left = cell.value;
            if (family.family == kFamilyA && cell.qualifier == "right") right = cell.value;
          }
        }
        if (left != right) {
          return absl::InternalError(
              fmt::format("torn: {} and {}", left.value_or("none"), right.value_or("none")));
        }
        value = std::to_string(std::stoi(left.value_or("0")) + 1);
        return RowDelta{.families = {PutsOf(kFamilyA, {{"left", 1000, value}, {"right", 1000, value}})}};
      });
}

TEST_P(EngineConformance, ConcurrentUpdatesLoseNothing) {
  constexpr int kUpdates = 150;
  FirstError error;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      SeededRandom random(thread);
      for (int i = 0; i < kUpdates && error.ok(); ++i) {
        const std::string row_key = RowKeyOf(i);
        error.Note(Increment(engine_.get(), kTable, row_key));
        // A blind neighbour in the same row and family.
        const std::string value = std::to_string(random.Next());
        const RowChange blind{row_key, {.families = {PutsOf(kFamilyA, {{"blind", 1000, value}})}}};
        error.Note(i % 2 == 0 ? engine_->Apply(kTable, {blind})
                              : ApplyInParts(engine_.get(), kTable, {blind}, [](size_t) { return 1; }));
      }
    });
  }
  for (int i = 0; i < 5; ++i) FlushOrCompact();
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(error.status(), absl::OkStatus());
  for (int row = 0; row < kRows; ++row) {
    const std::string count = std::to_string(kThreads * kUpdates / kRows);
    const std::string cells = Cells(RowKeyOf(row));
    EXPECT_NE(cells.find(fmt::format("left@1000={} right@1000={}", count, count)), std::string::npos)
        << cells;
  }
}

TEST_P(EngineConformance, ConcurrentAddsLoseNothing) {
  constexpr int kAdds = 150;
  FirstError error;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      const FamilyDelta add{.family = kSum, .aggregate = AggregateKind::kSum, .adds = {{"q", 1000, 1}}};
      for (int i = 0; i < kAdds && error.ok(); ++i) {
        // Twice the same row in one batch: both count.
        error.Note(engine_->Apply(kTable, {{"row0", {.families = {add}}}, {"row0", {.families = {add}}}}));
      }
    });
  }
  for (int i = 0; i < 5; ++i) FlushOrCompact();
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(error.status(), absl::OkStatus());
  EXPECT_EQ(Cells("row0", kSum), "q@1000=" + StateBytes(2 * kThreads * kAdds));
  FlushOrCompact();
  EXPECT_EQ(Cells("row0", kSum), "q@1000=" + StateBytes(2 * kThreads * kAdds));
}

TEST_P(EngineConformance, ReadersSeeWholeRowsWhileTheyAreReplaced) {
  constexpr int kWrites = 200;
  for (int row = 0; row < kRows; ++row) {
    const WholeRow whole("first", 1000);
    ASSERT_EQ(engine_->Apply(kTable, {{RowKeyOf(row), whole.delta}}), absl::OkStatus());
  }
  FirstError error;
  std::atomic<bool> writing = true;
  std::vector<std::thread> writers, readers;
  for (int thread = 0; thread < 2; ++thread) {
    writers.emplace_back([&, thread] {
      SeededRandom random(thread);
      for (int i = 0; i < kWrites && error.ok(); ++i) {
        const WholeRow whole(fmt::format("{}/{}", thread, i),
                             1000 * static_cast<int64_t>(random.Uniform(50)));
        error.Note(engine_->Apply(kTable, {{RowKeyOf(random.Next()), whole.delta}}));
      }
    });
  }
  const auto check = [&](const std::vector<ObservedRow>& rows) {
    if (rows.size() != kRows) error.Note(absl::InternalError(fmt::format("{} rows", rows.size())));
    for (const ObservedRow& row : rows) error.Note(OneValueOf(row, WholeRow::kCells).status());
  };
  for (const bool reverse : {false, true}) {
    readers.emplace_back([&, reverse] {
      while (writing && error.ok()) {
        const auto rows = ScanRows(engine_.get(), kTable, {RowRange::All()}, {.reverse = reverse});
        error.Note(rows.status());
        if (rows.ok()) check(*rows);
      }
    });
  }
  readers.emplace_back([&] {
    for (uint64_t i = 0; writing && error.ok(); ++i) {
      const std::string row_key = RowKeyOf(i);
      error.Note(
          engine_->Update(kTable, row_key, {},
                          [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
                            const auto observed = ObserveRow(row_key, row);
                            if (!observed.ok()) return observed.status();
                            if (const auto value = OneValueOf(*observed, WholeRow::kCells); !value.ok())
                              return value.status();
                            return std::nullopt;
                          }));
    }
  });
  for (int i = 0; i < 5; ++i) FlushOrCompact();
  for (std::thread& thread : writers) thread.join();
  writing = false;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(error.status(), absl::OkStatus());
}

// Rows come and go between scans of many ranges: nothing crashes, and rows that nobody touches are always
// seen.
TEST_P(EngineConformance, ScansSeeUntouchedRowsWhileOthersComeAndGo) {
  for (int i = 0; i < 50; ++i) Put(fmt::format("still{:02}", i), "q", 1000, "v");
  FirstError error;
  std::atomic<bool> scanning = true;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < 2; ++thread) {
    writers.emplace_back([&, thread] {
      SeededRandom random(thread);
      for (uint64_t i = 0; scanning && error.ok(); ++i) {
        const std::string row_key = fmt::format("still{:02}!{}", random.Uniform(50), random.Uniform(5));
        const RowDelta put{.families = {PutsOf(kPlain, {{"q", 1000, "w"}})}};
        const RowDelta clear{.families = {{.family = kPlain, .delete_all = true}}};
        error.Note(engine_->Apply(kTable, {{row_key, i % 2 == 0 ? put : clear}}));
        if (i % 64 == 63) error.Note(engine_->DropRange(kTable, RowRange::Prefix("still07!")));
      }
    });
  }
  for (int scan = 0; scan < 60 && error.ok(); ++scan) {
    const auto rows = ScanRows(engine_.get(), kTable, {RowRange::All()}, {.reverse = scan % 2 == 1});
    error.Note(rows.status());
    size_t still_count = 0;
    for (const ObservedRow& row : rows.value_or(std::vector<ObservedRow>()))
      still_count += row.row_key.size() == 7;
    if (still_count != 50) error.Note(absl::InternalError(fmt::format("{} of 50 rows", still_count)));
    if (scan % 20 == 19) FlushOrCompact();
  }
  scanning = false;
  for (std::thread& thread : writers) thread.join();
  EXPECT_EQ(error.status(), absl::OkStatus());
}

}  // namespace
}  // namespace sonde

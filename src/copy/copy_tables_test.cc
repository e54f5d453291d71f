#include "copy/copy_tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "base/random.h"
#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

using testing::HasSubstr;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr int64_t kMilli = 1'000;

// A place in memory, whose calls fail where a test says so.
class Place final : public CopyAccess {
 public:
  explicit Place(const Clock* clock)
      : engine_(MemoryEngine::Create()),
        catalog_(*Catalog::Open(engine_.get())),
        tables_(engine_.get(), catalog_.get(), clock, /*seed=*/1),
        local_(&tables_, kInstance) {}

  // What a write or a read of rows answers, by its number among both; null: nothing fails.
  std::function<absl::Status(int call)> fails;
  int writes = 0;

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return local_.EnsureTable(table, families);
  }
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override {
    return local_.ListFamilies(table);
  }
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return local_.UpdateFamilies(table, families);
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return local_.ListTables(); }
  absl::Status DropTable(const std::string& table) override { return local_.DropTable(table); }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    return local_.MutateRows(table, rows);
  }
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override {
    if (absl::Status status = Fail(); !status.ok()) return status;
    return local_.ReadRows(table, read, row);
  }
  NumberAccess* numbers() override { return nullptr; }
  absl::StatusOr<Described> Describe(const std::string& table) override { return local_.Describe(table); }
  absl::StatusOr<std::vector<std::string>> Create(const TableSchema& schema) override {
    return local_.Create(schema);
  }
  absl::StatusOr<std::vector<absl::Status>> MergeRows(const std::string& table,
                                                      const std::vector<RowWrite>& rows,
                                                      const std::set<std::string>& merged) override {
    ++writes;
    // What fails may have been done.
    absl::StatusOr<std::vector<absl::Status>> written = local_.MergeRows(table, rows, merged);
    if (absl::Status status = Fail(); !status.ok()) return status;
    return written;
  }

  Catalog& catalog() { return *catalog_; }
  Tables& tables() { return tables_; }

  // All cells as text.
  std::string Text(const std::string& table) {
    std::string text;
    RowRead read;
    read.ranges = {RowRange::All()};
    const absl::Status status = local_.ReadRows(table, read, [&](const ReadRow& row) {
      for (const ReadCell& cell : row.cells) {
        text += fmt::format("{} {}:{} @{} {}\n", row.row_key, cell.family, cell.qualifier,
                            cell.timestamp_micros, cell.value.size() > 20 ? "..." : cell.value);
      }
      return true;
    });
    EXPECT_TRUE(status.ok()) << status;
    return text;
  }

 private:
  absl::Status Fail() { return fails ? fails(++calls_) : absl::OkStatus(); }

  const std::unique_ptr<MemoryEngine> engine_;
  const std::unique_ptr<Catalog> catalog_;
  Tables tables_;
  LocalTables local_;
  int calls_ = 0;
};

class CopyTablesTest : public testing::Test {
 protected:
  CopyTablesTest() {
    options_.range_bytes = 2'000;
    options_.wait = [this](absl::Duration) { ++waits_; };
  }

  void MakeTable(const std::string& table) {
    ASSERT_TRUE(
        from_.catalog()
            .Create({.name = fmt::format("{}/tables/{}", kInstance, table),
                     .granularity = TimestampGranularity::kMicros,
                     .families = {{.name = "all"},
                                  {.name = "newest", .gc_rule = {GcRule::MaxVersions{2}}},
                                  {.name = "young", .gc_rule = {GcRule::MaxAge{int64_t{3600} * 1'000'000}}},
                                  {.name = "sum", .aggregate = AggregateKind::kSum}}})
            .ok());
  }
  void Fill(const std::string& table, int rows, uint64_t seed = 1) {
    SeededRandom random(seed);
    std::vector<RowWrite> writes;
    for (int i = 0; i < rows; ++i) {
      RowWrite write{.row_key = fmt::format("row{:05}", i)};
      const uint64_t cells = 1 + random.Uniform(6);
      for (uint64_t c = 0; c < cells; ++c) {
        const char* const family = random.Uniform(2) == 0 ? "all" : "newest";
        write.cells.push_back({family, fmt::format("q{}", random.Uniform(3)),
                               static_cast<int64_t>(random.Uniform(100)), std::to_string(random.Next())});
      }
      write.cells.push_back({"sum", "s", 7, std::string("\0\0\0\0\0\0\1", 7) + static_cast<char>(i % 100)});
      // Some are about to expire while they are copied.
      const int64_t age_micros = static_cast<int64_t>(random.Uniform(int64_t{4000} * 1'000'000));
      write.cells.push_back({"young", "y", clock_.NowMicros() - age_micros, "x"});
      writes.push_back(std::move(write));
    }
    ASSERT_TRUE(from_.MergeRows(table, writes, {"sum"}).ok());
    from_.writes = 0;
  }
  absl::StatusOr<std::vector<TableReport>> Copy(std::vector<std::string> tables = {}) {
    return CopyTables(&from_, &to_, std::move(tables), options_, &clock_, &state_);
  }

  ManualClock clock_{int64_t{1'700'000'000} * 1'000'000};
  Place from_{&clock_};
  Place to_{&clock_};
  CopyState state_ = *CopyState::Open("", "a", "b");
  CopyOptions options_;
  int waits_ = 0;
};

TEST_F(CopyTablesTest, CopiesFamiliesRulesAndAllCellsAtTheirTimes) {
  MakeTable("t");
  MakeTable("u");
  Fill("t", 300);
  const auto reports = Copy();
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].table, "t");
  EXPECT_EQ((*reports)[0].done.rows, 300);
  EXPECT_EQ((*reports)[1].done.rows, 0);
  EXPECT_EQ(to_.Text("t"), from_.Text("t"));
  EXPECT_EQ(to_.Describe("t")->schema, from_.Describe("t")->schema);
  EXPECT_GT(to_.writes, 5);  // ranges
  // The copy is a table like any other: its sums go on.
  EXPECT_THAT(to_.Text("t"),
              HasSubstr(fmt::format("row00003 sum:s @7 {}", std::string("\0\0\0\0\0\0\1\3", 8))));
}

TEST_F(CopyTablesTest, TakesUpWhatFailedAndLeavesNothingTwice) {
  MakeTable("t");
  Fill("t", 200);
  SeededRandom random(3);
  to_.fails = [&](int) {
    return random.Uniform(6) == 0 ? absl::UnknownError("the answer was lost") : absl::OkStatus();
  };
  from_.fails = [&](int) {
    return random.Uniform(6) == 0 ? absl::UnavailableError("away") : absl::OkStatus();
  };
  const auto reports = Copy();
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ((*reports)[0].done.rows, 200);
  EXPECT_EQ(to_.Text("t"), from_.Text("t"));
  EXPECT_GT(waits_, 0);
}

TEST_F(CopyTablesTest, EndsWhenAPlaceStaysAway) {
  MakeTable("t");
  Fill("t", 200);
  to_.fails = [](int call) { return call > 4 ? absl::UnavailableError("away") : absl::OkStatus(); };
  EXPECT_EQ(Copy().status(), absl::UnavailableError("away"));
  EXPECT_EQ(waits_, TableCopy::kTriesMax - 1);
  to_.fails = [](int) { return absl::PermissionDeniedError("no"); };
  EXPECT_EQ(Copy().status(), absl::PermissionDeniedError("no"));
}

TEST_F(CopyTablesTest, GoesOnWhereItWasBrokenOff) {
  MakeTable("t");
  MakeTable("u");
  Fill("t", 200);
  Fill("u", 50);
  const char* const parent = std::getenv("TEST_TMPDIR");
  const std::string file = std::filesystem::path(parent != nullptr ? parent : testing::TempDir()) /
                           fmt::format("copy_{}.json", getpid());
  std::filesystem::remove(file);
  int ends = 0;
  for (int tries = 1;; ++tries) {
    ASSERT_LT(tries, 100);
    state_ = *CopyState::Open(file, "a", "b");  // as another process would
    to_.fails = [](int call) { return call % 5 == 4 ? absl::InternalError("killed") : absl::OkStatus(); };
    const auto reports = Copy();
    if (reports.ok()) {
      EXPECT_EQ((*reports)[0].done.rows, 200);
      EXPECT_EQ((*reports)[1].done.rows, 50);
      break;
    }
    ++ends;
    ASSERT_EQ(reports.status(), absl::InternalError("killed"));
  }
  EXPECT_GT(ends, 3);
  EXPECT_EQ(to_.Text("t"), from_.Text("t"));
  EXPECT_EQ(to_.Text("u"), from_.Text("u"));
  EXPECT_EQ(CopyState::Open(file, "a", "c").status(),
            absl::InvalidArgumentError(
                fmt::format("--resume '{}': left by a copy from a to b, not from a to c", file)));
  to_.fails = nullptr;
  ASSERT_TRUE(to_.DropTable("t").ok());
  EXPECT_THAT(std::string(Copy().status().message()), HasSubstr("but the target has no such table"));
  std::ofstream(file, std::ios::trunc) << "{\"copy_version\": 2}";
  EXPECT_EQ(CopyState::Open(file, "a", "b").status(),
            absl::InvalidArgumentError(fmt::format("--resume '{}': not a file that a copy has left", file)));
  state_.Remove();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CopyTablesTest, TellsARangeThatIsWrittenMeanwhile) {
  MakeTable("t");
  Fill("t", 20);
  // Before each comparison of the copy, somebody writes to it.
  to_.fails = [&](int call) {
    const RowWrite write{.row_key = "row00003x", .cells = {{"all", "other", call, "v"}}};
    EXPECT_TRUE(to_.MutateRows("t", {write}).ok());
    return absl::OkStatus();
  };
  const absl::Status status = Copy().status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("table 't', rows from '' to 'row000"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is one of them being written?"));
}

TEST_F(CopyTablesTest, RefusesATargetThatIsInUse) {
  MakeTable("t");
  Fill("t", 3);
  const FamilyRequest all{"all", {}};
  ASSERT_TRUE(to_.EnsureTable("t", {all}).ok());
  EXPECT_THAT(std::string(Copy().status().message()),
              HasSubstr("the target's table 't' has no family 'newest'"));
  ASSERT_TRUE(to_.DropTable("t").ok());
  ASSERT_TRUE(Copy().ok());
  state_.tables.clear();
  EXPECT_TRUE(absl::IsFailedPrecondition(Copy().status()));
  EXPECT_THAT(std::string(Copy().status().message()), HasSubstr("the target's table 't' has rows"));
  EXPECT_EQ(Copy({"v"}).status(), absl::NotFoundError("the source has no table 'v'"));
  ASSERT_TRUE(from_.DropTable("t").ok());
  EXPECT_EQ(Copy().status(), absl::NotFoundError("the source has no tables in this project and instance"));
}

// A row of many requests, and values that fill one each.
TEST_F(CopyTablesTest, CutsLargeRows) {
  MakeTable("t");
  RowWrite wide{.row_key = "wide"};
  for (int i = 0; i < 120'000; ++i) wide.cells.push_back({"all", fmt::format("q{:06}", i / 2), i % 2, "v"});
  RowWrite heavy{.row_key = "heavy"};
  for (int i = 0; i < 3; ++i) heavy.cells.push_back({"all", std::to_string(i), 0, std::string(5 << 20, 'x')});
  ASSERT_TRUE(from_.MutateRows("t", {wide, heavy}).ok());
  const auto reports = Copy();
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ((*reports)[0].done.cells, 120'003);
  EXPECT_EQ(to_.writes, 6);
  EXPECT_EQ(to_.Text("t"), from_.Text("t"));
}

}  // namespace
}  // namespace sonde

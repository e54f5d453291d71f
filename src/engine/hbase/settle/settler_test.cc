// The settler beside writers, on an HBase in this process that loses calls and answers.
#include "engine/hbase/settle/settler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <thread>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/packed_edit.h"
#include "engine/hbase/stored_row.h"
#include "hbase/fake_hbase_test_support.h"
#include "hbase/row_version.h"

namespace sonde {
namespace {

using hbase::FakeHBase;

constexpr CellStorage kStorage = CellStorage::kPackedAtOnce;
constexpr FamilyId kFamily = 1;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

class SettlerTest : public testing::Test {
 protected:
  SettlerTest() : client_(*hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(1)})) {}

  // Applies a change as the engine does, until it is made.
  void Apply(const std::string& row_key, const RowDelta& delta, RandomSource* random) {
    absl::StatusOr<EditNeeds> needs = NeedsOf(delta);
    ASSERT_TRUE(needs.ok()) << needs.status();
    AddPackedNeeds(delta, kStorage, &*needs);
    absl::Status status;
    do {
      status = needs->is_guarded ? ApplyGuarded(row_key, delta, *needs) : ApplyBlind(row_key, delta, random);
      ASSERT_TRUE(status.ok() || absl::IsUnknown(status) || absl::IsUnavailable(status)) << status;
    } while (!status.ok());
  }
  absl::Status ApplyBlind(const std::string& row_key, const RowDelta& delta, RandomSource* random) {
    RowEdit edit;
    const int64_t now_micros = absl::ToUnixMicros(absl::Now());
    if (!MakePackedPuts(row_key, delta, kStorage, now_micros, random, &edit)) ADD_FAILURE();
    const std::string version = hbase::FirstVersion(random);
    edit.change.puts.push_back(
        {{}, kVersionFamily, kVersionQualifier, kVersionTime, hbase::CellType::kPut, version});
    return client_->rows()->Apply(FakeHBase::kTableName, {&edit.change, 1}, Soon())[0];
  }
  absl::Status ApplyGuarded(const std::string& row_key, const RowDelta& delta, const EditNeeds& needs) {
    std::atomic<uint64_t> conflicts = 0;
    const auto read = [&] {
      return ReadStoredRow(client_.get(), FakeHBase::kTableName, row_key, needs.choice, Soon());
    };
    const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
      if (absl::Status status = MakeEdit(row_key, delta, row, edit); !status.ok()) return status;
      AddPackedEdit(delta, row, edit);
      return Made::kEdit;
    };
    return CommitGuarded(client_.get(), FakeHBase::kTableName, row_key, read, make, Soon(), &conflicts);
  }
  StoredRow Read(const std::string& row_key) {
    absl::StatusOr<StoredRow> row =
        ReadStoredRow(client_.get(), FakeHBase::kTableName, row_key, ChoiceOf({}, kStorage), Soon());
    EXPECT_TRUE(row.ok()) << row.status();
    return row.ok() ? *std::move(row) : StoredRow();
  }
  absl::StatusOr<std::string> Settle(Settler* settler, const RowRange& range = RowRange::All(),
                                     size_t rows_max = SIZE_MAX) {
    return settler->SettleRange(
        FakeHBase::kTableName, kStorage, range, {}, rows_max, [] { return true; }, Soon());
  }

  FakeHBase hbase_;
  const std::unique_ptr<hbase::Client> client_;
};

// Each writer has columns of its own in rows that it shares with others, and knows what must be there.  A row's cells are packed when they
// are written, and by themselves where the change deletes, too.
TEST_F(SettlerTest, LosesNothingThatIsWrittenMeanwhile) {
  constexpr int kWriters = 3, kRows = 5, kSteps = 150;
  hbase_.Split("row2", 1);
  hbase_.SetFaults({.lost_calls = 10, .lost_answers = 10, .refusals = 10, .moves = 10});
  std::vector<std::map<std::pair<std::string, std::string>, std::string>> wanted(kWriters);
  std::atomic<bool> is_over = false;
  Settler settler(client_.get(), "space", {});
  Settler other(client_.get(), "space", {});
  const auto settle = [&](Settler* one) {
    while (!is_over) {
      const absl::Status status = Settle(one).status();
      EXPECT_TRUE(status.ok() || absl::IsUnknown(status) || absl::IsUnavailable(status)) << status;
    }
  };
  std::vector<std::thread> settlers;
  for (Settler* const one : {&settler, &other}) settlers.emplace_back(settle, one);
  const auto write = [&](int writer) {
    SeededRandom random(static_cast<uint64_t>(writer) + 1);
    for (int step = 0; step < kSteps; ++step) {
      const std::string row_key = fmt::format("row{}", random.Uniform(kRows));
      const std::string column = fmt::format("{}.{}", writer, random.Uniform(4));
      const std::string value = fmt::format("{}", step);
      FamilyDelta family{.family = kFamily};
      const bool is_there = wanted[writer].contains({row_key, column});
      if (is_there) family.deletes.push_back({column, {}});
      const bool is_put = !is_there || random.Uniform(2) == 0;
      if (is_put) family.puts.push_back({column, 1, value});
      Apply(row_key, {.families = {std::move(family)}}, &random);
      if (is_put)
        wanted[writer][{row_key, column}] = value;
      else
        wanted[writer].erase({row_key, column});
    }
  };
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) writers.emplace_back(write, writer);
  for (std::thread& writer : writers) writer.join();
  is_over = true;
  for (std::thread& one : settlers) one.join();
  hbase_.SetFaults({});

  for (const bool is_settled : {false, true}) {
    if (is_settled) {
      ASSERT_TRUE(Settle(&settler).ok());
    }
    std::map<std::pair<std::string, std::string>, std::string> all, seen;
    for (const auto& some : wanted) all.insert(some.begin(), some.end());
    for (int i = 0; i < kRows; ++i) {
      const std::string row_key = fmt::format("row{}", i);
      const StoredRow row = Read(row_key);
      for (const SeamCell& cell : row.cells()) {
        seen[{row_key, std::string(cell.cell.qualifier)}] = std::string(cell.cell.value);
        EXPECT_TRUE(cell.is_packed || !is_settled);
      }
    }
    EXPECT_EQ(seen, all);
  }
  EXPECT_GT(settler.cells_settled(), 0u);
}

TEST_F(SettlerTest, GoesOnWhereItsRowsWereUsedUp) {
  SeededRandom random(1);
  for (int i = 0; i < 600; ++i)
    Apply(fmt::format("row{:03}", i), {.families = {{.family = kFamily, .puts = {{"q", 1, "v"}}}}}, &random);
  Settler settler(client_.get(), "space", {});
  const absl::StatusOr<std::string> next = Settle(&settler, RowRange::All(), 100);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(settler.cells_settled(), 256u);  // a batch
  EXPECT_EQ(*next, Successor("row255"));
  const absl::StatusOr<std::string> end = Settle(&settler, {*next, ""});
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, "");
  EXPECT_EQ(settler.cells_settled(), 600u);
  EXPECT_EQ(*Settle(&settler), "");
  EXPECT_EQ(settler.cells_settled(), 600u);
}

}  // namespace
}  // namespace sonde

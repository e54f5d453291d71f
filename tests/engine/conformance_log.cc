// The change log.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "engine_conformance.h"
#include "fmt/format.h"

namespace sonde {
namespace {

constexpr int64_t kEnd = INT64_MAX;

struct LoggedPiece {
  int64_t position = 0;
  uint32_t index = 0;
  std::string bytes;
};

std::vector<LoggedPiece> Read(Engine* engine, TableId table, int64_t start = 0, uint32_t start_index = 0,
                              int64_t through = kEnd) {
  std::vector<LoggedPiece> pieces;
  EXPECT_EQ(engine->log()->Read(table, RowRange::All(), start, start_index, through,
                                [&](const RowLog::Piece& piece) {
                                  pieces.push_back({piece.position, piece.index, std::string(piece.bytes)});
                                  return true;
                                }),
            absl::OkStatus());
  return pieces;
}

// "position/index=bytes ..."
std::string Text(const std::vector<LoggedPiece>& pieces) {
  std::string text;
  for (const LoggedPiece& piece : pieces) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}/{}={}", piece.position, piece.index, piece.bytes);
  }
  return text;
}

// The text, and for an engine whose positions are of the clock the same with numbers from 1 on in the place of positions.
std::string Told(const EngineUnderTest& under_test, std::string_view text) {
  if (!under_test.logs_by_clock) return std::string(text);
  std::string told;
  std::string_view before;
  int number = 0;
  while (!text.empty()) {
    const size_t slash = text.find('/');
    const std::string_view position = text.substr(0, slash);
    if (std::exchange(before, position) != position) ++number;
    const size_t end = std::min(text.find(' '), text.size());
    told += fmt::format("{}{}{}", told.empty() ? "" : " ", number, text.substr(slash, end - slash));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return told;
}

// The positions of the records, ascending.
std::vector<int64_t> Positions(const std::vector<LoggedPiece>& pieces) {
  std::vector<int64_t> positions;
  for (const LoggedPiece& piece : pieces) {
    if (positions.empty() || positions.back() != piece.position) positions.push_back(piece.position);
  }
  return positions;
}

// Waits until all that was written is told to be complete.
void WaitForFrontier(Engine* engine, TableId table, int64_t position) {
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (absl::Now() < end) {
    const absl::StatusOr<RowLog::End> found = engine->log()->FindEnd(table, RowRange::All(), 0);
    ASSERT_EQ(found.status(), absl::OkStatus());
    if (found->frontier >= position) return;
    absl::SleepFor(absl::Milliseconds(20));
  }
  FAIL() << "The frontier does not come to " << position;
}

// Puts `value` into the row's one cell, and logs `pieces`.
absl::Status PutLogged(Engine* engine, TableId table, std::string_view row_key, std::string_view value,
                       int64_t position_min, const std::vector<std::string>& pieces) {
  RowDelta delta{.families = {PutsOf(1, {{"q", 1000, value}})}};
  delta.log = {position_min, pieces};
  return engine->Apply(table, {{row_key, delta}});
}

TEST_P(EngineConformance, AChangeIsLoggedInOneCommitWithIt) {
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 100, {"one"}), absl::OkStatus());
  Put("a", "q", 1000, "unlogged");
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "b", "2", 200, {"two", "", "tail"}), absl::OkStatus());
  const std::string wanted = Told(under_test_, "100/0=one 200/0=two 200/1= 200/2=tail");
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), wanted);
  EXPECT_EQ(Cells("b"), "q@1000=2");
  FlushOrCompact();
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), wanted);
}

TEST_P(EngineConformance, PositionsAscendWhateverIsAskedFor) {
  for (const int64_t position_min : {500, 0, 400, 501}) {
    ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", position_min, {"x"}), absl::OkStatus());
  }
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))),
            Told(under_test_, "500/0=x 501/0=x 502/0=x 503/0=x"));
}

TEST_P(EngineConformance, EveryRowOfABatchHasARecord) {
  const std::vector<std::string> one = {"one"}, two = {"two"}, three = {"three"};
  const auto change = [](std::string_view row_key, std::string_view value,
                         const std::vector<std::string>& pieces) {
    RowChange result{row_key, {.families = {PutsOf(kPlain, {{"q", 1000, value}})}}};
    result.delta.log = {10, pieces};
    return result;
  };
  ASSERT_EQ(engine_->Apply(kTable, {change("b", "1", one), change("a", "2", two), change("b", "3", three)}),
            absl::OkStatus());
  const std::string told = Told(under_test_, Text(Read(engine_.get(), kTable)));
  if (under_test_.logs_by_clock) {
    // Rows are changed at once, each in its order.
    EXPECT_LT(told.find("one"), told.find("three"));
    EXPECT_NE(told.find("two"), std::string::npos);
    EXPECT_EQ(Positions(Read(engine_.get(), kTable)).size(), 3u);
  } else {
    EXPECT_EQ(told, "10/0=one 11/0=two 12/0=three");
  }
  EXPECT_EQ(Cells("b"), "q@1000=3");
}

TEST_P(EngineConformance, AnUpdateIsLoggedIfItChangesTheRow) {
  const std::vector<std::string> pieces = {"update"};
  const auto update = [&](std::optional<RowDelta> delta) {
    return engine_->Update(kTable, "r", {},
                           [&](const auto&) -> absl::StatusOr<std::optional<RowDelta>> { return delta; });
  };
  ASSERT_EQ(update(std::nullopt), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "");
  ASSERT_EQ(update(RowDelta{.families = {PutsOf(kPlain, {{"q", 1000, "v"}})}, .log = {7, pieces}}),
            absl::OkStatus());
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), Told(under_test_, "7/0=update"));
  EXPECT_EQ(engine_
                ->Update(kTable, "r", {},
                         [](const auto&) -> absl::StatusOr<std::optional<RowDelta>> {
                           return absl::AbortedError("no");
                         })
                .code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), Told(under_test_, "7/0=update"));
}

TEST_P(EngineConformance, TheLogIsReadFromWhereOneLikes) {
  for (const int64_t position : {10, 20, 30}) {
    ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", position, {"x", "y"}), absl::OkStatus());
  }
  const std::vector<int64_t> at = Positions(Read(engine_.get(), kTable));
  ASSERT_EQ(at.size(), 3u);
  EXPECT_TRUE(under_test_.logs_by_clock || at == (std::vector<int64_t>{10, 20, 30}));
  EXPECT_EQ(Text(Read(engine_.get(), kTable, at[0] + 1, 0, at[2])),
            fmt::format("{0}/0=x {0}/1=y {1}/0=x {1}/1=y", at[1], at[2]));
  EXPECT_EQ(Text(Read(engine_.get(), kTable, at[1], 1, at[2] - 1)), fmt::format("{}/1=y", at[1]));
  EXPECT_EQ(Text(Read(engine_.get(), kTable, at[1], 2, at[2])), fmt::format("{0}/0=x {0}/1=y", at[2]));
  EXPECT_EQ(Text(Read(engine_.get(), kTable, at[2] + 1, 0, kEnd)), "");
  EXPECT_EQ(Text(Read(engine_.get(), kTable, at[1], 0, at[1] - 1)), "");
  int visits_count = 0;
  ASSERT_EQ(engine_->log()->Read(kTable, RowRange::All(), 0, 0, kEnd,
                                 [&](const auto&) { return ++visits_count < 3; }),
            absl::OkStatus());
  EXPECT_EQ(visits_count, 3);
}

TEST_P(EngineConformance, TheFrontierKeepsLaterRecordsAboveIt) {
  if (under_test_.logs_by_clock) {
    int64_t before = 0;
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 0, {"x"}), absl::OkStatus());
      const std::vector<int64_t> positions = Positions(Read(engine_.get(), kTable));
      ASSERT_EQ(positions.size(), i + 1u);
      EXPECT_GT(positions.back(), before) << "it is above the frontier that was told before it was written";
      WaitForFrontier(engine_.get(), kTable, positions.back());
      const absl::StatusOr<RowLog::End> end = engine_->log()->FindEnd(kTable, RowRange::All(), 0);
      ASSERT_EQ(end.status(), absl::OkStatus());
      EXPECT_GE(end->last_record, positions.back());
      before = end->frontier;
    }
    return;
  }
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 1000)->frontier, 1000);
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 5)->frontier, 1000) << "it never goes back";
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 5)->last_record, 0);
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 10, {"x"}), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "1001/0=x");
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 0)->frontier, 1001);
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 2000)->last_record, 1001);
}

TEST_P(EngineConformance, TrimmingForgetsWhatIsBelow) {
  for (const int64_t position : {10, 20, 30}) {
    ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", position, {"x", "y"}), absl::OkStatus());
  }
  ASSERT_EQ(engine_->log()->Trim(kTable, 0), absl::OkStatus());
  FlushOrCompact();
  if (under_test_.logs_by_clock) {
    // Records are forgotten by their age, and none of these is old.
    ASSERT_EQ(engine_->log()->Trim(kTable, kEnd), absl::OkStatus());
    EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), "1/0=x 1/1=y 2/0=x 2/1=y 3/0=x 3/1=y");
    return;
  }
  ASSERT_EQ(engine_->log()->Trim(kTable, 30), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "30/0=x 30/1=y");
  FlushOrCompact();
  ASSERT_EQ(engine_->log()->Trim(kTable, 30), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "30/0=x 30/1=y");
  ASSERT_EQ(engine_->log()->Trim(kTable, 1000), absl::OkStatus());
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 0, {"z"}), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "31/0=z");
}

TEST_P(EngineConformance, LogsOfTablesDoNotMeet) {
  for (const TableId table : {6u, 8u, 0xFFFFFFFEu}) {
    ASSERT_EQ(engine_->CreateTable({.id = table}), absl::OkStatus());
    ASSERT_EQ(PutLogged(engine_.get(), table, "a", "1", table, {"x"}), absl::OkStatus());
  }
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "");
  EXPECT_TRUE(under_test_.logs_by_clock ||
              engine_->log()->FindEnd(kTable, RowRange::All(), 0)->frontier == 0);
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 7, {"y"}), absl::OkStatus());
  ASSERT_EQ(engine_->log()->Trim(kTable, 100), absl::OkStatus());
  ASSERT_EQ(engine_->DropTable(6), absl::OkStatus());
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), 8))), Told(under_test_, "8/0=x"));
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), 0xFFFFFFFEu))), Told(under_test_, "4294967294/0=x"));
  constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
  EXPECT_EQ(engine_->log()->FindEnd(6, RowRange::All(), 0).status().code(), kNotFound);
  EXPECT_EQ(engine_->log()->Trim(6, 0).code(), kNotFound);
  EXPECT_EQ(engine_->log()->Read(6, RowRange::All(), 0, 0, kEnd, [](const auto&) { return true; }).code(),
            kNotFound);
}

TEST_P(EngineConformance, DropsOfRowsAndFamiliesLeaveTheLog) {
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 7, {"x"}), absl::OkStatus());
  ASSERT_EQ(engine_->DropRange(kTable, RowRange::All()), absl::OkStatus());
  ASSERT_EQ(engine_->DropFamily(kTable, kPlain), absl::OkStatus());
  EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), Told(under_test_, "7/0=x"));
}

TEST_P(PersistentEngineConformance, TheLogOutlivesARestart) {
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 100, {"x"}), absl::OkStatus());
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "2", 200, {"y", "z"}), absl::OkStatus());
  ASSERT_EQ(engine_->log()->Trim(kTable, 200), absl::OkStatus());
  Restart();
  if (under_test_.logs_by_clock) {
    ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "3", 0, {"w"}), absl::OkStatus());
    EXPECT_EQ(Told(under_test_, Text(Read(engine_.get(), kTable))), "1/0=x 2/0=y 2/1=z 3/0=w");
    return;
  }
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "200/0=y 200/1=z");
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 0)->frontier, 200);
  EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 0)->last_record, 200);
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "3", 0, {"w"}), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable)), "200/0=y 200/1=z 201/0=w");
}

TEST_P(PersistentEngineConformance, ARestartTakesNoFrontierBack) {
  const int64_t told = engine_->log()->FindEnd(kTable, RowRange::All(), 1000)->frontier;
  EXPECT_TRUE(under_test_.logs_by_clock || told == 1000) << told;
  Restart();
  if (!under_test_.logs_by_clock) {
    EXPECT_GE(engine_->log()->FindEnd(kTable, RowRange::All(), 0)->frontier, told);
    EXPECT_EQ(engine_->log()->FindEnd(kTable, RowRange::All(), 0)->last_record, 0);
  }
  ASSERT_EQ(PutLogged(engine_.get(), kTable, "a", "1", 10, {"x"}), absl::OkStatus());
  EXPECT_EQ(Text(Read(engine_.get(), kTable, 0, 0, told)), "");
  EXPECT_EQ(Positions(Read(engine_.get(), kTable, told + 1, 0, kEnd)).size(), 1u);
  EXPECT_TRUE(under_test_.logs_by_clock ||
              engine_->log()->FindEnd(kTable, RowRange::All(), 0)->last_record > told);
}

// Writers on a few rows, by batches and by read-modify-writes, while a reader follows the frontier: it sees
// every record once and in order, and the last record of each row is the row's state.
TEST_P(EngineConformance, WhoFollowsTheFrontierMissesNothing) {
  constexpr int kWriters = 4;
  constexpr int kWrites = 300;
  constexpr int kRows = 5;
  std::atomic<int> writing = kWriters;
  std::atomic<bool> failed = false;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      SeededRandom random(writer);
      for (int i = 0; i < kWrites; ++i) {
        std::vector<std::string> keys, values;
        std::vector<std::vector<std::string>> logs;
        for (int row = 0; row < kRows; ++row) {
          if (row > 0 && random.Uniform(3) != 0) continue;
          keys.push_back(fmt::format("row{}", (random.Next() + row) % kRows));
          values.push_back(fmt::format("{}.{}.{}", writer, i, row));
          logs.push_back({fmt::format("{}={}", keys.back(), values.back())});
        }
        std::vector<RowChange> changes;
        for (size_t k = 0; k < keys.size(); ++k) {
          RowChange& change = changes.emplace_back();
          change.row_key = keys[k];
          change.delta.families = {PutsOf(kPlain, {{"q", 1000, values[k]}})};
          change.delta.log = {static_cast<int64_t>(random.Uniform(1'000'000)), logs[k]};
        }
        absl::Status status;
        if (changes.size() == 1) {
          status = engine_->Update(
              kTable, keys[0], {},
              [&](const auto&) -> absl::StatusOr<std::optional<RowDelta>> { return changes[0].delta; });
        } else {
          status = engine_->Apply(kTable, changes);
        }
        if (!status.ok()) failed = true;
      }
      --writing;
    });
  }
  std::vector<LoggedPiece> followed;
  int64_t frontier = 0;
  while (true) {
    const bool last_round = writing == 0;
    const absl::StatusOr<RowLog::End> end = engine_->log()->FindEnd(kTable, RowRange::All(), frontier);
    ASSERT_EQ(end.status(), absl::OkStatus());
    ASSERT_GE(end->frontier, frontier);
    for (LoggedPiece& piece : Read(engine_.get(), kTable, frontier + 1, 0, end->frontier)) {
      followed.push_back(std::move(piece));
    }
    frontier = end->frontier;
    if (!last_round) continue;
    const std::vector<int64_t> positions = Positions(Read(engine_.get(), kTable));
    if (positions.empty() || frontier >= positions.back()) break;
  }
  for (std::thread& thread : writers) thread.join();
  EXPECT_FALSE(failed);

  const std::vector<LoggedPiece> all = Read(engine_.get(), kTable);
  EXPECT_EQ(Text(followed), Text(all));
  EXPECT_GE(all.size(), size_t{kWriters * kWrites});
  std::map<std::string, std::string> last;
  for (const LoggedPiece& piece : all) {
    const size_t equals = piece.bytes.find('=');
    last[piece.bytes.substr(0, equals)] = piece.bytes.substr(equals + 1);
  }
  for (const auto& [row_key, value] : last) EXPECT_EQ(Cells(row_key), "q@1000=" + value);
}

}  // namespace
}  // namespace sonde

// Guards, versions of records, snapshots, deadlines, what may be forgotten.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "apply_in_parts.h"
#include "engine_conformance.h"

namespace sonde {
namespace {

using absl::StatusCode;

RowChange Guarded(std::string_view row_key, FamilyDelta delta, RowGuard guard) {
  return {row_key, {.families = {std::move(delta)}}, std::move(guard)};
}

std::vector<std::pair<size_t, StatusCode>> Codes(const ChangesInParts& parts) {
  std::vector<std::pair<size_t, StatusCode>> codes;
  for (const auto& [index, why] : parts.refused) codes.emplace_back(index, why.code());
  return codes;
}

TEST_P(EngineConformance, AGuardedChangeIsAppliedUnlessItsRowHasTheColumn) {
  const RowGuard guard{.families = {kOther, kPlain}, .qualifier = "token", .newest_old_micros = 1'000};
  const auto set = [&](std::string_view row_key) {
    return Guarded(row_key, PutsOf(kPlain, {{"q", 5'000, "v"}}), guard);
  };
  Put("has", "token", 1'001, "", kOther);
  Put("has, old", "token", 1'000, "", kOther);
  Put("has another", "token2", 2'000, "", kOther);
  Put("has elsewhere", "token", 2'000, "", kSum);
  for (const bool rests : {false, true}) {
    if (rests) FlushOrCompact();
    EXPECT_EQ(engine_->Apply(kTable, {set("has")}).code(), StatusCode::kAlreadyExists);
    EXPECT_EQ(Cells("has"), "");
  }
  for (const char* row_key : {"has, old", "has another", "has elsewhere", "has none"}) {
    EXPECT_EQ(engine_->Apply(kTable, {set(row_key)}), absl::OkStatus()) << row_key;
    EXPECT_EQ(Cells(row_key), "q@5000=v");
  }
}

TEST_P(EngineConformance, AGuardRefusesItsChangeAlone) {
  Put("b", "token", 1'000, "");
  const RowGuard guard{.families = {kPlain}, .qualifier = "token"};
  const std::vector<RowChange> changes = {Guarded("a", PutsOf(kPlain, {{"q", 1'000, "1"}}), guard),
                                          Guarded("b", PutsOf(kPlain, {{"q", 1'000, "2"}}), guard),
                                          {"b", {.families = {PutsOf(kPlain, {{"r", 1'000, "3"}})}}},
                                          {"c", {.families = {PutsOf(kPlain, {{"q", 1'000, "4"}})}}}};
  ChangesInParts parts(changes, [](size_t) { return size_t{2}; });
  EXPECT_EQ(engine_->Apply(kTable, &parts, {}), absl::OkStatus());
  EXPECT_EQ(Codes(parts), (std::vector<std::pair<size_t, StatusCode>>{{1, StatusCode::kAlreadyExists}}));
  EXPECT_EQ(Cells("a"), "q@1000=1");
  EXPECT_EQ(Cells("b"), "r@1000=3 token@1000=");
  EXPECT_EQ(Cells("c"), "q@1000=4");
}

TEST_P(EngineConformance, RecordsHaveVersions) {
  const auto version = [this](std::string_view key) -> int64_t {
    const auto records = engine_->ReadRecords(key);
    return records.ok() && !records->empty() ? records->front().version : 0;
  };
  const auto write = [this](const std::string& key, std::optional<std::string> value, int64_t expected) {
    return engine_->WriteRecords({{key, std::move(value), expected}, {"beside", "1"}}).code();
  };
  const int64_t before = *engine_->RecordsVersion();
  EXPECT_EQ(write("a", "1", 7), StatusCode::kAborted) << "it is not there";
  EXPECT_EQ(*engine_->RecordsVersion(), before);
  EXPECT_EQ(version("beside"), 0) << "all or nothing";
  EXPECT_EQ(write("a", "1", 0), StatusCode::kOk);
  EXPECT_GT(*engine_->RecordsVersion(), before);
  const int64_t first = version("a");
  EXPECT_GT(first, 0);
  EXPECT_EQ(write("a", "2", 0), StatusCode::kAborted);
  EXPECT_EQ(write("a", "2", first), StatusCode::kOk);
  EXPECT_NE(version("a"), first);
  EXPECT_EQ(write("a", std::nullopt, first), StatusCode::kAborted);
  const int64_t second = version("a");
  EXPECT_EQ(write("a", std::nullopt, second), StatusCode::kOk);
  EXPECT_EQ(version("a"), 0);
  EXPECT_EQ(write("a", "3", second), StatusCode::kAborted) << "it was deleted since";
  EXPECT_EQ(write("a", "3", 0), StatusCode::kOk);
  EXPECT_NE(version("a"), second);
}

TEST_P(PersistentEngineConformance, RecordsHaveVersionsAfterARestart) {
  ASSERT_EQ(engine_->WriteRecords({{"a", "1"}}), absl::OkStatus());
  Restart();
  const int64_t version = engine_->ReadRecords("a")->front().version;
  EXPECT_EQ(engine_->WriteRecords({{"a", "2", version + 1}}).code(), StatusCode::kAborted);
  EXPECT_EQ(engine_->WriteRecords({{"a", "2", 0}}).code(), StatusCode::kAborted);
  EXPECT_EQ(engine_->WriteRecords({{"a", "2", version}}), absl::OkStatus());
}

TEST_P(EngineConformance, ADeadlineThatHasPassedIsTold) {
  const absl::Time past = absl::Now() - absl::Seconds(1);
  const RowChange change{"r", {.families = {PutsOf(kPlain, {{"q", 0, "v"}})}}};
  const auto decide = [&](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
    ADD_FAILURE() << "it is too late";
    return change.delta;
  };
  const StatusCode kLate = StatusCode::kDeadlineExceeded;
  EXPECT_EQ(engine_->Apply(kTable, {&change, 1}, {.deadline = past}).code(), kLate);
  EXPECT_EQ(engine_->Update(kTable, "r", {}, decide, {.deadline = past}).code(), kLate);
  EXPECT_EQ(engine_->CheckWrites(past).code(), kLate);
  EXPECT_TRUE(engine_->CheckWrites().ok());
  EXPECT_EQ(engine_->CreateTable({.id = kTable + 1}, past).code(), kLate);
  EXPECT_EQ(engine_->AlterTable({.id = kTable}, past).code(), kLate);
  EXPECT_EQ(engine_->DropTable(kTable, past).code(), kLate);
  EXPECT_EQ(engine_->DropFamily(kTable, kPlain, past).code(), kLate);
  EXPECT_EQ(engine_->DropRange(kTable, RowRange::All(), past).code(), kLate);
  EXPECT_EQ(engine_->Ranges(kTable, past).status().code(), kLate);
  EXPECT_EQ(engine_->WriteRecords({{"a", "1"}}, past).code(), kLate);
  EXPECT_EQ(engine_->ReadRecords("", past).status().code(), kLate);
  EXPECT_EQ(RowKeys(), std::vector<std::string>());
  EXPECT_EQ(ReadRecords(""), Records());
}

TEST_P(EngineConformance, ASnapshotIsRestoredIntoAnotherTable) {
  Snapshots* const snapshots = engine_->snapshots();
  if (snapshots == nullptr) GTEST_SKIP() << "the engine has none";
  Put("a", "q", 1'000, "1");
  Put("a", "q", 2'000, "2");
  Put("b", "r", 1'000, "3", kOther);
  Apply("c", {.family = kSum, .aggregate = AggregateKind::kSum, .adds = {{"q", 1'000, 5}}});
  EXPECT_EQ(snapshots->Make("no/name", kTable).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(snapshots->Make("first", kTable + 100).code(), StatusCode::kNotFound);
  ASSERT_EQ(snapshots->Make("first", kTable), absl::OkStatus());
  EXPECT_EQ(snapshots->Make("first", kTable).code(), StatusCode::kAlreadyExists);
  Put("a", "q", 3'000, "later");
  FlushOrCompact();
  const auto listed = snapshots->List();
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().name, "first");
  EXPECT_EQ(listed->front().table, kTable);
  EXPECT_GT(listed->front().bytes, 0u);

  constexpr TableId kInto = 11;
  EXPECT_EQ(snapshots->Restore("first", kInto).code(), StatusCode::kNotFound) << "there is no such table";
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  EXPECT_EQ(snapshots->Restore("none", kInto).code(), StatusCode::kNotFound);
  ASSERT_EQ(snapshots->Restore("first", kInto), absl::OkStatus());
  ASSERT_EQ(snapshots->Restore("first", kInto), absl::OkStatus()) << "repeating it is fine";
  std::string rows;
  for (const ObservedRow& row : Rows({RowRange::All()}, false, kInto)) rows += Describe(row) + "\n";
  Apply("a", {.family = kPlain, .deletes = {{"q", {3'000, 0}}}});
  std::string wanted;
  for (const ObservedRow& row : Rows()) wanted += Describe(row) + "\n";
  EXPECT_EQ(rows, wanted);

  ASSERT_EQ(snapshots->Drop("first"), absl::OkStatus());
  ASSERT_EQ(snapshots->Drop("first"), absl::OkStatus()) << "repeating it is fine";
  EXPECT_TRUE(snapshots->List()->empty());
  EXPECT_EQ(Rows({RowRange::All()}, false, kInto).size(), 3u);
}

TEST_P(EngineConformance, ARestoreTellsItsProgressAndIsEnded) {
  Snapshots* const snapshots = engine_->snapshots();
  if (snapshots == nullptr) GTEST_SKIP() << "the engine has none";
  Put("a", "q", 1'000, "1");
  ASSERT_EQ(snapshots->Make("s", kTable), absl::OkStatus());
  constexpr TableId kInto = 11;
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  const auto end = [](double done) { return absl::CancelledError(done <= 1 ? "enough" : "too much"); };
  EXPECT_EQ(snapshots->Restore("s", kInto, {.on_progress = end}), absl::CancelledError("enough"));
  EXPECT_TRUE(Rows({RowRange::All()}, false, kInto).empty());
  EXPECT_EQ(snapshots->Restore("s", kInto, {.deadline = absl::Now() - absl::Seconds(1)}).code(),
            StatusCode::kDeadlineExceeded);
  std::vector<double> told;
  const auto note = [&](double done) {
    told.push_back(done);
    return absl::OkStatus();
  };
  ASSERT_EQ(snapshots->Restore("s", kInto, {.on_progress = note}), absl::OkStatus());
  EXPECT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(Rows({RowRange::All()}, false, kInto).size(), 1u);
}

TEST_P(EngineConformance, SeveralSnapshotsAreRestoredAtATime) {
  Snapshots* const snapshots = engine_->snapshots();
  if (snapshots == nullptr) GTEST_SKIP() << "the engine has none";
  Put("a", "q", 1'000, "1");
  ASSERT_EQ(snapshots->Make("s", kTable), absl::OkStatus());
  ASSERT_EQ(snapshots->Make("s2", kTable), absl::OkStatus());
  constexpr TableId kInto = 11, kInto2 = 12;
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  ASSERT_EQ(engine_->CreateTable({.id = kInto2}), absl::OkStatus());
  bool is_first = true;
  const auto restore_other = [&](double) {
    return std::exchange(is_first, false) ? snapshots->Restore("s2", kInto2) : absl::OkStatus();
  };
  ASSERT_EQ(snapshots->Restore("s", kInto, {.on_progress = restore_other}), absl::OkStatus());
  EXPECT_FALSE(is_first);
  EXPECT_EQ(Rows({RowRange::All()}, false, kInto).size(), 1u);
  EXPECT_EQ(Rows({RowRange::All()}, false, kInto2).size(), 1u);
}

TEST_P(EngineConformance, OptimizingATableChangesNoCell) {
  Snapshots* const snapshots = engine_->snapshots();
  if (snapshots == nullptr) GTEST_SKIP() << "the engine has none";
  for (int i = 0; i < 300; ++i) Put(fmt::format("row-{:05}", i), "q", 1'000 + i, std::string(100, 'v'));
  ASSERT_EQ(snapshots->Make("s", kTable), absl::OkStatus());
  constexpr TableId kInto = 11;
  EXPECT_EQ(snapshots->Optimize(kInto, {}).code(), StatusCode::kNotFound);
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  ASSERT_EQ(snapshots->Restore("s", kInto), absl::OkStatus());
  const auto describe = [this] {
    std::string rows;
    for (const ObservedRow& row : Rows({RowRange::All()}, false, kInto)) rows += Describe(row) + "\n";
    return rows;
  };
  const std::string before = describe();
  std::vector<double> told;
  const auto note = [&](double done) {
    told.push_back(done);
    return absl::OkStatus();
  };
  ASSERT_EQ(snapshots->Optimize(kInto, {.on_progress = note}), absl::OkStatus());
  ASSERT_EQ(snapshots->Optimize(kTable, {}), absl::OkStatus())
      << "of a table that has cells outside of pages";
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 1);
  EXPECT_EQ(describe(), before);
  EXPECT_EQ(Rows().size(), 300u);
  const auto end = [](double) { return absl::CancelledError("enough"); };
  EXPECT_EQ(snapshots->Optimize(kInto, {.on_progress = end}), absl::CancelledError("enough"));
  EXPECT_EQ(snapshots->Optimize(kInto, {.deadline = absl::Now() - absl::Seconds(1)}).code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_EQ(describe(), before);
}

TEST_P(PersistentEngineConformance, SnapshotsOutliveARestartAndTheirTable) {
  Put("a", "q", 1'000, "1");
  ASSERT_EQ(engine_->snapshots()->Make("s", kTable), absl::OkStatus());
  ASSERT_EQ(engine_->DropTable(kTable), absl::OkStatus());
  FlushOrCompact();
  Restart();
  constexpr TableId kInto = 11;
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  ASSERT_EQ(engine_->snapshots()->Restore("s", kInto), absl::OkStatus());
  EXPECT_EQ(Rows({RowRange::All()}, false, kInto).size(), 1u);
}

TEST_P(PersistentEngineConformance, RestoredRowsOutliveARestartAndTheirSnapshot) {
  for (int i = 0; i < 3'000; ++i) Put(fmt::format("row-{:05}", i), "q", 1'000 + i, std::string(100, 'v'));
  FlushOrCompact();
  for (int i = 0; i < 3'000; i += 7) Put(fmt::format("row-{:05}", i), "q", 9'000'000, "new");
  ASSERT_EQ(engine_->snapshots()->Make("s", kTable), absl::OkStatus());
  constexpr TableId kInto = 11;
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  ASSERT_EQ(engine_->snapshots()->Restore("s", kInto), absl::OkStatus());
  ASSERT_EQ(engine_->snapshots()->Drop("s"), absl::OkStatus());
  const auto describe = [this](TableId table) {
    std::string rows;
    for (const ObservedRow& row : Rows({RowRange::All()}, false, table)) rows += Describe(row) + "\n";
    return rows;
  };
  const std::string wanted = describe(kTable);
  EXPECT_EQ(describe(kInto), wanted);
  ASSERT_EQ(engine_->DropTable(kTable), absl::OkStatus());
  FlushOrCompact();
  EXPECT_EQ(describe(kInto), wanted);
  Restart();
  ASSERT_EQ(engine_->CreateTable({.id = kInto}), absl::OkStatus());
  EXPECT_EQ(describe(kInto), wanted);
}

TEST_P(EngineConformance, WhatMayBeForgottenIsAltered) {
  EXPECT_EQ(engine_->AlterTable({.id = kTable + 100}).code(), StatusCode::kNotFound);
  const TableSpec spec{.id = kTable, .families = {{kPlain, GcRule{GcRule::MaxVersions{1}}}}};
  ASSERT_EQ(engine_->AlterTable(spec), absl::OkStatus());
  for (const FamilyId family : {kPlain, kOther}) {
    for (int i = 1; i <= 3; ++i) Put("r", "q", 1'000 * i, "v", family);
  }
  FlushOrCompact();
  EXPECT_TRUE(Cells("r").starts_with("q@3000=v")) << "the newest stays";
  EXPECT_EQ(Cells("r", kOther), "q@3000=v q@2000=v q@1000=v") << "nothing else may be forgotten";
}

}  // namespace
}  // namespace sonde

// Scan and Update, one caller at a time.
#include <optional>
#include <string>

#include "engine_conformance.h"
#include "fmt/format.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

using std::string_literals::operator""s;
using Keys = std::vector<std::string>;

TEST_P(EngineConformance, RowsComeByBytesInBothDirections) {
  const Keys ordered = {"\0"s,      "\0\0"s, "\0\1"s, "a", "a\0"s,  "a\0\0"s,  "a\0\1"s,
                        "a\0\xff"s, "a\1"s,  "aa",    "b", "\xff"s, "\xff\0"s, "\xff\xff"s};
  for (auto key = ordered.rbegin(); key != ordered.rend(); ++key) Put(*key, "q", 1000, "v");
  const Keys reversed(ordered.rbegin(), ordered.rend());
  EXPECT_EQ(RowKeys(), ordered);
  EXPECT_EQ(RowKeys({RowRange::All()}, true), reversed);
  FlushOrCompact();
  EXPECT_EQ(RowKeys(), ordered);
  EXPECT_EQ(RowKeys({RowRange::All()}, true), reversed);
}

TEST_P(EngineConformance, AReverseScanOfOneKeyWithZeroBytes) {
  for (const std::string& key : {"a"s, "a\0"s, "a\0\0"s, "a\0\xff"s, "b"s}) Put(key, "q", 1000, "v");
  EXPECT_EQ(RowKeys({RowRange::Single("a")}, true), (Keys{"a"}));
  EXPECT_EQ(RowKeys({RowRange::Single("a\0"s)}, true), (Keys{"a\0"s}));
  EXPECT_EQ(RowKeys({RowRange::Prefix("a\0"s)}, true), (Keys{"a\0\xff"s, "a\0\0"s, "a\0"s}));
  EXPECT_EQ(RowKeys({{"a\0"s, "a\0\xff"s}}, true), (Keys{"a\0\0"s, "a\0"s}));
  EXPECT_EQ(RowKeys({{"a\0"s, "a\0\xff"s}}, false), (Keys{"a\0"s, "a\0\0"s}));
}

TEST_P(EngineConformance, AReverseScanStartsEachRowAtItsFirstCell) {
  for (int i = 0; i < 100; ++i) Put("r", fmt::format("q{:02}", i), 1000, "v", i % 2 == 0 ? kPlain : kOther);
  EXPECT_EQ(Rows({RowRange::All()}, true), Rows());
}

TEST_P(EngineConformance, EmptyRangesHoldNoRows) {
  Put("b", "q", 1000, "v");
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(RowKeys({}, reverse), Keys());
    EXPECT_EQ(RowKeys({{"a", "b"}}, reverse), Keys());
    EXPECT_EQ(RowKeys({{"b\0"s, ""}}, reverse), Keys());
    EXPECT_EQ(RowKeys({{"", "b"}}, reverse), Keys());
  }
}

TEST_P(EngineConformance, SeveralRangesComeInTheOrderOfTheScan) {
  for (const char c : std::string("abcdefgh")) Put(std::string(1, c), "q", 1000, "v");
  const std::vector<RowRange> ranges = {{"", "b"}, {"bb", "bc"}, {"c", "c\0"s}, {"e", "g"}, {"h", ""}};
  EXPECT_EQ(RowKeys(ranges), (Keys{"a", "c", "e", "f", "h"}));
  EXPECT_EQ(RowKeys(ranges, true), (Keys{"h", "f", "e", "c", "a"}));
}

TEST_P(EngineConformance, AFullScanSeesTheRowsOfOtherFamilies) {
  Put("a", "q", 1000, "1", kPlain);
  Put("a", "q", 1000, "2", kOther);
  Put("a", "q", 1000, "3", 300);
  Put("b", "q", 1000, "4", 300);
  const std::vector<ObservedRow> rows = Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].families.size(), 3u);
  EXPECT_EQ(rows[0].families.at(300)[0].value, "3");
  EXPECT_EQ(rows[1].families.at(300)[0].value, "4");
}

TEST_P(EngineConformance, HintsNeverLoseACell) {
  for (const std::string& row_key : {"a"s, "b"s, "c"s, "d"s}) {
    for (const std::string& qualifier : {""s, "p"s, "q"s}) {
      for (const int64_t timestamp_micros : {1000, 2000, 3000}) {
        Put(row_key, qualifier, timestamp_micros, row_key, row_key == "b" ? kOther : kPlain);
      }
    }
  }
  FlushOrCompact();
  const std::vector<std::pair<std::string, ReadHints>> cases = {
      {"no family", {.families = std::vector<FamilyId>()}},
      {"a family, its first two rows", {.families = std::vector<FamilyId>{kPlain}, .rows_max = 2}},
      {"an unknown family", {.families = std::vector<FamilyId>{55}}},
      {"no column", {.columns = std::vector<ReadHints::ColumnRange>()}},
      {"the empty qualifier", {.columns = std::vector<ReadHints::ColumnRange>{{.start = "", .end = "\0"s}}}},
      {"the rest", {.columns = std::vector<ReadHints::ColumnRange>{{.start = "\0"s, .end = ""}}}},
      {"times", {.time_range = {1001, 3000}}},
      {"the newest of the old", {.time_range = {0, 3000}, .newest_per_column = 1}},
      {"keys", {.newest_per_column = 1, .keys_only = true, .rows_max = 3}},
      {"no row", {.rows_max = 0}}};
  for (const auto& [name, hints] : cases) {
    for (const bool reverse : {false, true}) {
      const auto observed =
          ScanRows(engine_.get(), kTable, {RowRange::All()}, {.reverse = reverse, .hints = hints});
      ASSERT_EQ(observed.status(), absl::OkStatus()) << name;
      EXPECT_EQ(CheckRows(Rows({RowRange::All()}, reverse), *observed, hints), absl::OkStatus()) << name;
    }
  }
}

// Whatever is in one tier, and what was put over it later in another.
TEST_P(EngineConformance, WhoAsksForTheNewestGetsNoCellOfThePast) {
  for (const int settled : {0, 1, 2}) {
    const std::string row = "row" + std::to_string(settled);
    Put(row, "q", 1, "old");
    Put(row, "q", 2, "old");
    Put(row, "q", 5, "v");
    if (settled >= 1) FlushOrCompact();
    Put(row, "q", 2, "new");
    Put(row, "q", 3, "v");
    Put(row, "q", 4, "v");
    if (settled >= 2) FlushOrCompact();
    Put(row, "q", 1, "new");
    Put(row, "q", 6, "v");
    for (const int64_t newest : {1, 2, 3, 4, 5, 6}) {
      for (const bool reverse : {false, true}) {
        const ReadHints hints{.time_range = {0, 6}, .newest_per_column = newest};
        const auto observed =
            ScanRows(engine_.get(), kTable, {RowRange::Single(row)}, {.reverse = reverse, .hints = hints});
        ASSERT_EQ(observed.status(), absl::OkStatus());
        EXPECT_EQ(CheckRows(Rows({RowRange::Single(row)}, reverse), *observed, hints), absl::OkStatus())
            << row << ", the newest " << newest;
      }
    }
  }
}

TEST_P(EngineConformance, ExpiringFamiliesComeOnlyToThoseWhoNameThem) {
  const int64_t now_micros = absl::ToUnixMicros(absl::Now());
  const FamilyId hidden = ExpiringFamily(now_micros, 5);
  for (const std::string& row_key : {"a"s, "b"s, "c"s}) {
    Put(row_key, "q", 1000, "v", kPlain);
    for (uint32_t shard = 0; shard < 10; ++shard) {
      Put(row_key, "token", now_micros, "", ExpiringFamily(now_micros, shard));
    }
  }
  Put("only tokens", "token", now_micros, "", hidden);
  for (int round = 0; round < 2; ++round) {
    for (const bool reverse : {false, true}) {
      const std::vector<ObservedRow> all = Rows({RowRange::All()}, reverse);
      EXPECT_EQ(RowKeys({RowRange::All()}, reverse), reverse ? (Keys{"c", "b", "a"}) : (Keys{"a", "b", "c"}));
      for (const ObservedRow& row : all) EXPECT_EQ(row.families.size(), 1u);
      const auto plain = ScanRows(engine_.get(), kTable, {RowRange::All()},
                                  {.reverse = reverse, .hints = {.families = std::vector<FamilyId>{kPlain}}});
      ASSERT_EQ(plain.status(), absl::OkStatus());
      EXPECT_EQ(*plain, all);
      const auto tokens =
          ScanRows(engine_.get(), kTable, {RowRange::All()},
                   {.reverse = reverse, .hints = {.families = std::vector<FamilyId>{kPlain, hidden}}});
      ASSERT_EQ(tokens.status(), absl::OkStatus());
      ASSERT_EQ(tokens->size(), 4u);
      for (const ObservedRow& row : *tokens) EXPECT_EQ(row.families.count(hidden), 1u) << row.row_key;
    }
    EXPECT_EQ(RowKeys({RowRange::Single("only tokens")}), Keys());
    bool is_seen = false;
    const auto look = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
      is_seen = row.size() == 1 && row[0].family == hidden && row[0].cells[0].qualifier == "token";
      return std::nullopt;
    };
    ASSERT_EQ(engine_->Update(kTable, "b", {.families = std::vector<FamilyId>{hidden}}, look),
              absl::OkStatus());
    EXPECT_TRUE(is_seen);
    FlushOrCompact();
  }
}

TEST_P(EngineConformance, WhatHasNotExpiredIsKept) {
  const int64_t now_micros = absl::ToUnixMicros(absl::Now());
  const FamilyId before = ExpiringFamily(now_micros - kExpiryPeriodMicros, 1);
  Put("r", "token", now_micros - kExpiryPeriodMicros, "", before);
  Put("r", "token", now_micros, "", ExpiringFamily(now_micros, 1));
  FlushOrCompact();
  const auto rows = ScanRows(engine_.get(), kTable, {RowRange::All()},
                             {.hints = {.families = std::vector<FamilyId>{before}}});
  ASSERT_EQ(rows.status(), absl::OkStatus());
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].families.count(before), 1u);
}

TEST_P(EngineConformance, APassedDeadlineIsTold) {
  constexpr size_t kRows = 1000;
  for (size_t i = 0; i < kRows; ++i) Put(fmt::format("r{}", i), "q", 1000, "v");
  const auto scan = [&](absl::Time deadline) {
    return ScanRows(engine_.get(), kTable, {RowRange::All()}, {.deadline = deadline});
  };
  EXPECT_EQ(scan(absl::Now() - absl::Seconds(1)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(scan(absl::Now() + absl::Hours(1))->size(), kRows);

  const absl::Time deadline = absl::Now() + absl::Seconds(1);
  auto stream = engine_->Scan(kTable, {RowRange::All()}, {.deadline = deadline});
  ASSERT_EQ(stream.status(), absl::OkStatus());
  RowPiece piece;
  absl::StatusOr<bool> more = (*stream)->Next(&piece);
  ASSERT_EQ(more.status(), absl::OkStatus());
  absl::SleepFor(deadline + absl::Milliseconds(5) - absl::Now());
  while (more.ok() && *more) more = (*stream)->Next(&piece);
  EXPECT_EQ(more.status().code(), absl::StatusCode::kDeadlineExceeded);
}

// Enough for several pieces of every engine: 3 MiB in two families.
constexpr int kBigRowCells = 3000;
void FillBigRow(Engine* engine, TableId table, std::string_view row_key, char fill) {
  const std::string value(1000, fill);
  for (const FamilyId family : {FamilyId{1}, FamilyId{2}}) {
    std::vector<std::string> qualifiers;
    for (int i = 0; i < kBigRowCells / 2; ++i) qualifiers.push_back(fmt::format("q{:06}", i));
    FamilyDelta delta{.family = family};
    for (const std::string& qualifier : qualifiers) delta.puts.push_back({qualifier, 1000, value});
    ASSERT_EQ(engine->Apply(table, {{row_key, {.families = {delta}}}}), absl::OkStatus());
  }
}

void ExpectBigRow(const ObservedRow& row, char fill) {
  ASSERT_EQ(row.families.size(), 2u);
  for (const auto& [family, cells] : row.families) {
    ASSERT_EQ(cells.size(), size_t{kBigRowCells / 2});
    for (const ObservedCell& cell : cells)
      ASSERT_TRUE(cell.value == std::string(1000, fill)) << cell.qualifier;
  }
}

TEST_P(EngineConformance, AStartedRowStaysAsItWas) {
  for (const bool reverse : {false, true}) {
    FillBigRow(engine_.get(), kTable, "b", 'o');
    RowGatherer gatherer({RowRange::All()}, reverse);
    auto stream = engine_->Scan(kTable, {RowRange::All()}, {.reverse = reverse});
    ASSERT_EQ(stream.status(), absl::OkStatus());
    RowPiece piece;
    ASSERT_TRUE((*stream)->Next(&piece).value());
    const auto writes = [&] {
      FillBigRow(engine_.get(), kTable, "b", 'n');
      FlushOrCompact();
      Apply("b", {.family = kPlain, .delete_all = true});
      FlushOrCompact();
    };
    writes();
    ASSERT_EQ(gatherer.Add(piece), absl::OkStatus()) << "a piece holds until the next call of Next";
    while ((*stream)->Next(&piece).value()) ASSERT_EQ(gatherer.Add(piece), absl::OkStatus());
    ASSERT_EQ(gatherer.rows().size(), 1u);
    ExpectBigRow(gatherer.rows()[0], 'o');
  }
}

TEST_P(EngineConformance, AStreamOutlivesDropRange) {
  for (int i = 0; i < 100; ++i) Put(fmt::format("r{:02}", i), "q", 1000, "v");
  auto stream = engine_->Scan(kTable, {RowRange::All()}, {});
  ASSERT_EQ(stream.status(), absl::OkStatus());
  RowPiece piece;
  ASSERT_TRUE((*stream)->Next(&piece).value());
  EXPECT_EQ(piece.row_key, "r00");
  ASSERT_EQ(engine_->DropRange(kTable, RowRange::All()), absl::OkStatus());
  FlushOrCompact();
  RowGatherer gatherer({RowRange::All()}, false);
  ASSERT_EQ(gatherer.Add(piece), absl::OkStatus());
  while ((*stream)->Next(&piece).value()) ASSERT_EQ(gatherer.Add(piece), absl::OkStatus());
  for (const ObservedRow& row : gatherer.rows()) EXPECT_EQ(row.families.at(kPlain)[0].value, "v");
  EXPECT_EQ(RowKeys(), Keys());
}

TEST_P(EngineConformance, AStreamMayEndEarly) {
  for (int i = 0; i < 100; ++i) Put(fmt::format("r{:02}", i), "q", 1000, "v");
  for (int i = 0; i < 100; ++i) {
    auto stream = engine_->Scan(kTable, {RowRange::All()}, {.reverse = i % 2 == 1});
    ASSERT_EQ(stream.status(), absl::OkStatus());
    RowPiece piece;
    for (int pieces = 0; pieces < i % 3; ++pieces) ASSERT_TRUE((*stream)->Next(&piece).value());
  }
  EXPECT_EQ(RowKeys().size(), 100u);
}

TEST_P(EngineConformance, UpdateSeesTheRowAndChangesIt) {
  Put("r", "q", 1000, "old", kPlain);
  Put("r", "q", 1000, "other", kOther);
  Put("r\0"s, "q", 1000, "neighbour");
  ObservedRow seen;
  const RowDelta change{.families = {PutsOf(kPlain, {{"q", 1000, "new"}})}};
  const auto decide = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    seen = ObserveRow("r", row).value();
    return change;
  };
  ASSERT_EQ(engine_->Update(kTable, "r", {}, decide), absl::OkStatus());
  EXPECT_EQ(Describe(seen), "'r' | 1: 'q'@1000='old' | 2: 'q'@1000='other'");
  EXPECT_EQ(Cells("r"), "q@1000=new");
  EXPECT_EQ(Cells("r\0"s), "q@1000=neighbour");
}

TEST_P(EngineConformance, UpdateOfAMissingRowSeesNothingAndMakesIt) {
  std::optional<size_t> families_count;
  const RowDelta change{.families = {PutsOf(kPlain, {{"q", 1000, "new"}})}};
  const auto decide = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    families_count = row.size();
    return change;
  };
  ASSERT_EQ(engine_->Update(kTable, "r", {}, decide), absl::OkStatus());
  EXPECT_EQ(families_count, 0u);
  EXPECT_EQ(Cells("r"), "q@1000=new");
}

TEST_P(EngineConformance, UpdateWithoutAChangeLeavesTheRowAlone) {
  Put("r", "q", 1000, "v");
  const auto decide = [](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
    return std::nullopt;
  };
  EXPECT_EQ(engine_->Update(kTable, "r", {}, decide), absl::OkStatus());
  EXPECT_EQ(engine_->Update(kTable, "missing", {}, decide), absl::OkStatus());
  EXPECT_EQ(RowKeys(), (Keys{"r"}));
}

TEST_P(EngineConformance, AnErrorOfDecideIsTheAnswerAndLeavesTheRowAlone) {
  Put("r", "q", 1000, "v");
  const absl::Status error = absl::InvalidArgumentError("not a number: 'v'");
  const auto decide = [&](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
    return error;
  };
  EXPECT_EQ(engine_->Update(kTable, "r", {}, decide), error);
  EXPECT_EQ(Cells("r"), "q@1000=v");
  EXPECT_EQ(engine_->Update(kTable, "r", {}, decide), error) << "and no lock is left behind";
}

TEST_P(EngineConformance, UpdateMayDeleteTheRow) {
  Put("r", "q", 1000, "v");
  const RowDelta change{.families = {{.family = kPlain, .delete_all = true}}};
  const auto decide = [&](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
    return change;
  };
  ASSERT_EQ(engine_->Update(kTable, "r", {}, decide), absl::OkStatus());
  EXPECT_EQ(RowKeys(), Keys());
}

}  // namespace
}  // namespace sonde

#include "engine_conformance.h"

#include "base/varint.h"
#include "fmt/format.h"

namespace sonde {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineConformance);

void EngineConformance::SetUp() {
  under_test_ = GetParam().make(/*seed=*/1);
  engine_ = under_test_.open();
  ASSERT_NE(engine_, nullptr);
  const bool is_partial = under_test_.is_partial;
  ASSERT_NE(engine_->log(), nullptr);
  ASSERT_NE(engine_->range_sizes(), nullptr);
  if (under_test_.persistent) {
    ASSERT_NE(engine_->snapshots(), nullptr);
    ASSERT_EQ(under_test_.checkpoint == nullptr, is_partial);
  }
  ASSERT_EQ(engine_->CreateTable({.id = kTable}), absl::OkStatus());
}

void EngineConformance::Restart() {
  engine_.reset();
  engine_ = under_test_.open();
  ASSERT_NE(engine_, nullptr);
}

void EngineConformance::FlushOrCompact() {
  if (under_test_.flush_or_compact) under_test_.flush_or_compact(*engine_);
}

void EngineConformance::Apply(std::string_view row_key, FamilyDelta delta) {
  const RowChange change{row_key, {.families = {std::move(delta)}}};
  ASSERT_EQ(engine_->Apply(kTable, {change}), absl::OkStatus());
}

void EngineConformance::Put(std::string_view row_key, std::string_view qualifier, int64_t timestamp_micros,
                            std::string_view value, FamilyId family) {
  Apply(row_key, PutsOf(family, {{qualifier, timestamp_micros, value}}));
}

std::vector<ObservedRow> EngineConformance::Rows(std::vector<RowRange> ranges, bool reverse, TableId table) {
  auto rows = ScanRows(engine_.get(), table, std::move(ranges), {.reverse = reverse});
  EXPECT_EQ(rows.status(), absl::OkStatus());
  return rows.ok() ? *std::move(rows) : std::vector<ObservedRow>();
}

EngineConformance::Records EngineConformance::ReadRecords(std::string_view prefix) {
  const absl::StatusOr<std::vector<Record>> read = engine_->ReadRecords(prefix);
  EXPECT_EQ(read.status(), absl::OkStatus());
  Records records;
  if (!read.ok()) return records;
  for (const Record& record : *read) {
    EXPECT_GT(record.version, 0);
    records.emplace_back(record.key, record.value);
  }
  return records;
}

std::vector<std::string> EngineConformance::RowKeys(std::vector<RowRange> ranges, bool reverse) {
  std::vector<std::string> row_keys;
  for (const ObservedRow& row : Rows(std::move(ranges), reverse)) row_keys.push_back(row.row_key);
  return row_keys;
}

std::string EngineConformance::Cells(std::string_view row_key, FamilyId family) {
  std::string text;
  for (const ObservedRow& row : Rows({RowRange::Single(row_key)})) {
    const auto cells = row.families.find(family);
    if (cells == row.families.end()) continue;
    for (const ObservedCell& cell : cells->second) {
      if (!text.empty()) text += ' ';
      text += fmt::format("{}@{}={}", cell.qualifier, cell.timestamp_micros, cell.value);
    }
  }
  return text;
}

FamilyDelta PutsOf(FamilyId family, std::vector<CellView> puts) {
  return {.family = family, .puts = std::move(puts)};
}

std::string StateBytes(int64_t state) {
  std::string bytes;
  PutFixed64(&bytes, static_cast<uint64_t>(state));
  return bytes;
}

}  // namespace sonde

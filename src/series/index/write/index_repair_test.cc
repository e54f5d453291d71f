#include "series/index/write/index_repair.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "series/index/entity_index.h"
#include "series/index/write/index_writer.h"
#include "series/schema/calendar.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

constexpr int32_t kDay = 18'628;  // 2021-01-01

class IndexRepairTest : public testing::Test {
 protected:
  void SetUp() override {
    KnownSeries series = NewOpenSeries("cpu");
    series.labels = {"host", "zone"};
    AddOpenField("user", FieldType::kDouble, &series);
    AddOpenField("system", FieldType::kDouble, &series);
    series_ = std::make_shared<const KnownSeries>(series);
    ASSERT_TRUE(tables_.EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}).ok());
  }

  void WriteRow(const std::string& text, const std::string& hour, std::vector<std::string> fields) {
    RowWrite row;
    row.row_key = "cpu#" + text + "#" + hour;
    for (std::string& field : fields) row.cells.push_back({"m", std::move(field), 0, "1"});
    ASSERT_TRUE(tables_.MutateRows(kOpenSeriesTable, {row}).ok());
  }
  void Register(IndexWriter* writer, const std::string& text, int32_t day, uint64_t fields) {
    const EntityUse use = {&series_, text, writer->HashOf(text), {day}, {fields}};
    ASSERT_TRUE(writer->Register({use}).ok());
  }
  IndexReport Check() {
    const auto report = CheckIndex(*series_, &tables_);
    EXPECT_TRUE(report.ok()) << report.status();
    return *report;
  }
  std::vector<std::string> Select(int32_t day, const std::string& field) {
    EntityIndex index;
    EntityQuestion question;
    question.from_micros = day * kMicrosPerDay;
    question.to_micros = question.from_micros + kMicrosPerDay;
    question.fields = {field};
    const auto answer = index.Select(*series_, question, &tables_);
    EXPECT_TRUE(answer.ok());
    return answer.ok() && *answer ? TextsOf(**answer) : std::vector<std::string>{"none"};
  }

  KnownSeriesRef series_;
  MemoryTables tables_;
  ManualClock clock_{kDay * kMicrosPerDay};
};

TEST_F(IndexRepairTest, FillsTheIndexOfPointsThatWereThereBefore) {
  WriteRow("host=a", "2021010100", {"user"});
  WriteRow("host=a", "2021010200", {"system"});
  WriteRow("host=b,zone=z", "2021010123", {"user", "system"});
  WriteRow(",", "2021010205", {"user"});
  IndexReport report = Check();
  EXPECT_FALSE(report.is_whole);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.missing_entities, 3);
  EXPECT_FALSE(report.is_sound());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(RebuildIndex(*series_, &tables_, clock_, false).status()));  // no table
  const auto rebuilt = RebuildIndex(*series_, &tables_, clock_, /*is_alone=*/true);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_EQ(rebuilt->missing_entities, 3);
  report = Check();
  EXPECT_TRUE(report.is_whole);
  EXPECT_TRUE(report.is_sound());
  EXPECT_EQ(Select(kDay, "user"), (std::vector<std::string>{"host=a", "host=b,zone=z"}));
  EXPECT_EQ(Select(kDay + 1, "user"), (std::vector<std::string>{",", "host=a"}));
  EXPECT_EQ(Select(kDay + 1, "system"), (std::vector<std::string>{"host=a"}));
  // Once more, and nothing is written but the mark.
  const size_t rows = tables_.tables[kIndexTable].rows.size();
  ASSERT_TRUE(RebuildIndex(*series_, &tables_, clock_, false).ok());
  EXPECT_EQ(tables_.tables[kIndexTable].rows.size(), rows);
}

TEST_F(IndexRepairTest, AddsWhatCamePastTheWriter) {
  IndexWriter writer(&tables_, &clock_);
  Register(&writer, "host=a", kDay, 1);
  WriteRow("host=a", "2021010100", {"user"});
  EXPECT_TRUE(Check().is_sound());
  WriteRow("host=a", "2021010101", {"system"});
  WriteRow("host=a", "2021010301", {"user"});
  WriteRow("host=b", "2021010101", {"user"});
  const IndexReport report = Check();
  EXPECT_EQ(report.missing_entities, 1);
  EXPECT_EQ(report.missing_rows, 2);
  EXPECT_EQ(report.problems.size(), 3U);
  ASSERT_TRUE(RebuildIndex(*series_, &tables_, clock_, false).ok());
  EXPECT_TRUE(Check().is_sound());
  EXPECT_EQ(Select(kDay + 2, "user"), std::vector<std::string>{"host=a"});
  EXPECT_EQ(Select(kDay, "system"), std::vector<std::string>{"host=a"});
  EXPECT_EQ(Select(kDay, "user"), (std::vector<std::string>{"host=a", "host=b"}));
  // The writer goes on beside it.
  Register(&writer, "host=c", kDay, 2);
  WriteRow("host=c", "2021010101", {"system"});
  EXPECT_TRUE(Check().is_sound());
  EXPECT_EQ(Check().idle_entities, 0);
  Register(&writer, "host=idle", kDay, 2);
  EXPECT_EQ(Check().idle_entities, 1);
}

TEST_F(IndexRepairTest, WritesDamagedCellsAnewWhereNobodyElseIs) {
  IndexWriter writer(&tables_, &clock_);
  for (int i = 0; i < 70; ++i) {
    const std::string text = "host=h" + std::to_string(i);
    Register(&writer, text, kDay, 1);
    WriteRow(text, "2021010100", {"user"});
  }
  ASSERT_TRUE(writer.KeepUp().ok());
  const auto sound = tables_.tables[kIndexTable].rows;
  for (const auto& [key, columns] : sound) {
    for (const auto& [name, cells] : columns) {
      if (name.second == kWholeColumn) continue;
      tables_.tables[kIndexTable].rows = sound;
      tables_.tables[kIndexTable].rows[key][name].begin()->second.back() ^= 1;
      EXPECT_FALSE(Check().is_sound()) << key;
      const absl::Status refused = RebuildIndex(*series_, &tables_, clock_, false).status();
      EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << key;
      ASSERT_TRUE(RebuildIndex(*series_, &tables_, clock_, /*is_alone=*/true).ok()) << key;
      EXPECT_TRUE(Check().is_sound()) << key;
      EXPECT_EQ(Select(kDay, "user").size(), 70U);
    }
  }
}

TEST_F(IndexRepairTest, RefusesASeriesThatWritersPassOver) {
  IndexWriter writer(&tables_, &clock_, {.known_bytes_max = 100});
  for (const std::string text : {"host=a", "host=b", "host=c"}) {
    Register(&writer, text, kDay, 1);
    WriteRow(text, "2021010100", {"user"});
  }
  const absl::Status status = RebuildIndex(*series_, &tables_, clock_, false).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

}  // namespace
}  // namespace sonde::series

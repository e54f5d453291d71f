// Copies of one table, of one moment.
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine_conformance.h"
#include "fmt/format.h"

namespace sonde {
namespace {

constexpr TableId kOtherTable = 9;
constexpr int kWriters = 3;
constexpr int kRowsBefore = 50;
constexpr int kRowsMax = 5'000;

std::string Text(const std::vector<ObservedRow>& rows) {
  std::string text;
  for (const ObservedRow& row : rows) text += Describe(row) + "\n";
  return text;
}

std::string Log(Engine* engine, TableId table) {
  std::string text;
  EXPECT_EQ(engine->log()->Read(table, RowRange::All(), 0, 0, INT64_MAX,
                                [&](const RowLog::Piece& piece) {
                                  text += fmt::format("{}/{}={} ", piece.position, piece.index, piece.bytes);
                                  return true;
                                }),
            absl::OkStatus());
  return text;
}

TEST_P(PersistentEngineConformance, ACheckpointHoldsItsTableAndNothingElse) {
  if (under_test_.is_partial) GTEST_SKIP() << "the engine has none";
  ASSERT_EQ(engine_->CreateTable({.id = kOtherTable}), absl::OkStatus());
  ASSERT_EQ(engine_->WriteRecords({{"a record", "of the caller"}}), absl::OkStatus());
  const std::vector<std::string> logged = {"logged"};
  for (int i = 0; i < 40; ++i) {
    const std::string row_key = fmt::format("row{:02}", i);
    Put(row_key, "q", 1000 + i, "value");
    Put(row_key, "other", 1000, "value", kOther);
    const std::string state = StateBytes(i);
    RowDelta delta{.families = {PutsOf(kSum, {{"q", 1000, state}})}};
    delta.log = {100 + i, logged};
    ASSERT_EQ(engine_->Apply(kTable, {{row_key, delta}}), absl::OkStatus());
    ASSERT_EQ(engine_->Apply(kOtherTable, {{row_key, delta}}), absl::OkStatus());
    if (i % 10 == 7) FlushOrCompact();
  }
  Apply("row03", {.family = kPlain, .delete_all = true});
  ASSERT_EQ(engine_->DropRange(kTable, {"row10", "row12"}), absl::OkStatus());
  const std::string rows = Text(Rows()), log = Log(engine_.get(), kTable);

  ASSERT_EQ(under_test_.checkpoint(*engine_, kTable, under_test_.checkpoint_directory), absl::OkStatus());
  EXPECT_EQ(Text(Rows()), rows);
  EXPECT_EQ(Rows({RowRange::All()}, false, kOtherTable).size(), 40u) << "the engine itself keeps all";
  Put("row00", "q", 5000, "later");
  FlushOrCompact();

  engine_ = under_test_.open_checkpoint();
  ASSERT_NE(engine_, nullptr);
  EXPECT_EQ(Text(Rows()), rows);
  EXPECT_EQ(Log(engine_.get(), kTable), log);
  EXPECT_EQ(engine_->Scan(kOtherTable, {RowRange::All()}, {}).status().code(), absl::StatusCode::kNotFound);
  const auto records = engine_->ReadRecords("");
  ASSERT_TRUE(records.ok());
  EXPECT_TRUE(records->empty());
  Put("row00", "q", 6000, "in the copy");
  FlushOrCompact();
  EXPECT_EQ(Cells("row00"), "q@6000=in the copy q@1000=value");
  Restart();  // of the engine
  EXPECT_EQ(Cells("row00"), "q@5000=later q@1000=value");
}

// Each writer's rows are there up to one of them, and those that were acknowledged before all are.
TEST_P(PersistentEngineConformance, ACheckpointIsOfOneMomentWhileWritersRun) {
  if (under_test_.is_partial) GTEST_SKIP() << "the engine has none";
  std::vector<std::atomic<int>> written(kWriters);
  std::atomic<bool> ending = false;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kRowsMax && !ending; ++i) {
        const std::string row_key = fmt::format("{}/{:06}", writer, i);
        const RowDelta delta{.families = {PutsOf(kPlain, {{"a", 1000, "1"}, {"b", 1000, "2"}}),
                                          PutsOf(kOther, {{"c", 1000, "3"}})}};
        if (!engine_->Apply(kTable, {{row_key, delta}}).ok()) break;
        written[writer] = i + 1;
      }
    });
  }
  for (const std::atomic<int>& rows : written) {
    while (rows < kRowsBefore) std::this_thread::yield();
  }
  FlushOrCompact();
  std::vector<int> before(written.begin(), written.end());
  const absl::Status status = under_test_.checkpoint(*engine_, kTable, under_test_.checkpoint_directory);
  std::vector<int> after(written.begin(), written.end());
  ending = true;
  for (std::thread& writer : writers) writer.join();
  ASSERT_EQ(status, absl::OkStatus());

  engine_ = under_test_.open_checkpoint();
  ASSERT_NE(engine_, nullptr);
  std::map<int, int> found;
  for (const ObservedRow& row : Rows()) {
    const int writer = row.row_key[0] - '0';
    EXPECT_EQ(row.row_key, fmt::format("{}/{:06}", writer, found[writer]++)) << "a row is missing before it";
    size_t cells = 0;
    for (const auto& [family, of_family] : row.families) cells += of_family.size();
    EXPECT_EQ(cells, 3u) << "torn: " << Describe(row);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    EXPECT_GE(found[writer], before[writer]);
    EXPECT_LE(found[writer], after[writer] + 1);
  }
}

TEST_P(PersistentEngineConformance, ACheckpointThatCannotBeMadeLeavesNothing) {
  if (under_test_.is_partial) GTEST_SKIP() << "the engine has none";
  EXPECT_EQ(under_test_.checkpoint(*engine_, kOtherTable, under_test_.checkpoint_directory).code(),
            absl::StatusCode::kNotFound);
  std::filesystem::create_directories(under_test_.checkpoint_directory);
  EXPECT_EQ(under_test_.checkpoint(*engine_, kTable, under_test_.checkpoint_directory).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_empty(under_test_.checkpoint_directory));
  EXPECT_EQ(under_test_.checkpoint(*engine_, kTable, under_test_.checkpoint_directory + "/no/such").code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_empty(under_test_.checkpoint_directory));
}

}  // namespace
}  // namespace sonde

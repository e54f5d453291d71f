// A row of more than 100 MB, with real data, through the store: it is measured, found, and named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "server/local_store.h"
#include "table/mutate_row_test_support.h"

namespace sonde {
namespace {

constexpr char kTable[] = "projects/p/instances/i/tables/METRIC";
constexpr size_t kCellBytes = 4'000'000;

class LargeRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/sonde_large_rows_" + std::to_string(getpid());
    std::filesystem::remove_all(path_);
    Open();
    TableSchema schema;
    schema.name = kTable;
    schema.families = {{.name = "f"}};
    ASSERT_TRUE(store_->tables().catalog().Create(schema).ok());
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(path_);
  }
  void Open() {
    store_.reset();
    auto store =
        LocalStore::Open({.data_dir = path_, .memory_bytes = 64 << 20, .sync = false}, /*watch=*/true);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  TableSchemaRef Schema() { return *store_->tables().catalog().Find(kTable); }

  void Write(const std::string& row_key, int64_t first_cell, int64_t cells) {
    SeededRandom random(7);
    std::string noise(kCellBytes, '\0');
    for (char& byte : noise) byte = static_cast<char>(random.Uniform(256));
    for (int64_t i = first_cell; i < first_cell + cells; ++i) {
      noise.replace(0, 8, std::to_string(10'000'000 + i));
      const std::vector<Mutation> mutations = {SetCell{"f", "q", 1'000 * (i + 1), noise}};
      // On a slow disk the write buffers of so small a store are full at times: a client would try again.
      absl::Status status;
      for (int attempt = 0; attempt < 600; ++attempt) {
        status = MutateRow(store_->tables(), *Schema(), {row_key, mutations});
        if (!absl::IsUnavailable(status)) break;
        absl::SleepFor(absl::Milliseconds(50));
      }
      ASSERT_EQ(status, absl::OkStatus());
    }
  }
  // The visualizer measures one row a second, once it has seen much go into it; also while it is being
  // written.
  std::vector<LargeRow> WaitForLargeRow(uint64_t bytes_min) {
    std::vector<LargeRow> rows;
    for (int i = 0; i < 1200; ++i) {
      rows = store_->key_visualizer()->LargeRows(Schema()->id);
      if (!rows.empty() && rows[0].bytes >= bytes_min) break;
      absl::SleepFor(absl::Milliseconds(50));
    }
    return rows;
  }
  std::vector<Finding> Findings() {
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    return *store_->key_visualizer()->Findings(Schema()->id, "METRIC", now - 600, now, std::nullopt);
  }

  std::string path_;
  std::unique_ptr<LocalStore> store_;
};

TEST_F(LargeRowsTest, ARowOfMoreThan100MegabytesIsFoundAndNamed) {
  Write("small", 0, 2);
  Write("wide", 0, 28);
  std::vector<LargeRow> rows = WaitForLargeRow(28 * kCellBytes);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].row_key, "wide");
  EXPECT_NEAR(static_cast<double>(rows[0].bytes), 112e6, 5e6);
  std::vector<Finding> findings = Findings();
  ASSERT_THAT(findings, testing::SizeIs(testing::Ge(1)));
  EXPECT_EQ(findings[0].pattern, Pattern::kLargeRow);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_THAT(findings[0].text, testing::HasSubstr("Row 'wide' of METRIC has 112 MB"));

  // And it is known after a restart.
  Open();
  EXPECT_EQ(store_->key_visualizer()->LargeRows(Schema()->id).size(), 1u);

  // Most of it lies where the row is.
  const auto bytes = store_->engine().range_sizes()->Measure(Schema()->id, {"", "wide", "wide\x01"}, "");
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT((*bytes)[1], 5 * ((*bytes)[0] + (*bytes)[2]));
}

}  // namespace
}  // namespace sonde

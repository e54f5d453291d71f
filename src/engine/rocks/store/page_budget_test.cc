#include "engine/rocks/store/page_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/rocks/rocks_engine.h"
#include "rocksdb/advanced_cache.h"

namespace sonde {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(PageBudgetTest, LendsUpToItsLimitAndChargesTheCache) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 * kMiB);
  PageBudget budget(10 * kMiB, cache);
  const size_t usage_before = cache->GetUsage();
  {
    std::vector<PageBudget::Loan> loans;
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(budget.CheckRoom().ok());
      loans.push_back(budget.Lend(2 * kMiB));
    }
    EXPECT_EQ(budget.lent_bytes(), 10 * kMiB);
    EXPECT_GE(cache->GetUsage(), usage_before + 10 * kMiB);
    const absl::Status status = budget.CheckRoom();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("10485760 bytes of opened pages"));
    loans.pop_back();
    EXPECT_TRUE(budget.CheckRoom().ok());
  }
  EXPECT_EQ(budget.lent_bytes(), 0u);
  EXPECT_LT(cache->GetUsage(), usage_before + 5 * kMiB);
}

TEST(PageBudgetTest, SmallLoansLeaveTheChargeAsItIs) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 * kMiB);
  PageBudget budget(32 * kMiB, cache);
  const PageBudget::Loan kept = budget.Lend(3 * kMiB);
  const size_t usage = cache->GetUsage();
  EXPECT_GE(usage, 3 * kMiB);
  for (size_t bytes = 1; bytes <= kMiB; bytes *= 2) {
    const PageBudget::Loan loan = budget.Lend(bytes);
    EXPECT_EQ(cache->GetUsage(), usage) << bytes;
  }
  EXPECT_EQ(cache->GetUsage(), usage);
}

TEST(PageBudgetTest, OneReaderGetsAPageThatIsTooLarge) {
  PageBudget budget(kMiB, nullptr);
  EXPECT_TRUE(budget.CheckRoom().ok());
  const PageBudget::Loan loan = budget.Lend(5 * kMiB);
  EXPECT_FALSE(budget.CheckRoom().ok());
}

TEST(PageBudgetTest, ManyOpenScansStayWithinIt) {
  const std::string path = testing::TempDir() + "/sonde_page_budget_" + std::to_string(getpid());
  std::filesystem::remove_all(path);
  constexpr uint64_t kMemoryBytes = 64 * kMiB, kLimitBytes = kMemoryBytes / 4;
  auto engine =
      RocksEngine::Open({.data_dir = path, .memory_bytes = kMemoryBytes, .sync = false, .settles = false});
  ASSERT_TRUE(engine.ok()) << engine.status();
  ASSERT_TRUE((*engine)->CreateTable({.id = 1}).ok());
  for (int i = 0; i < 1000; ++i) {
    const std::string row_key = std::to_string(10'000 + i), value(100, static_cast<char>(i));
    RowDelta delta;
    delta.families.push_back({.family = 1, .puts = {{"q", 1000, value}}});
    ASSERT_TRUE((*engine)->Apply(1, {{row_key, delta}}).ok());
  }
  ASSERT_TRUE((*engine)->SettleAll().ok());

  std::vector<std::unique_ptr<RowStream>> scans;
  RowPiece piece;
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    auto scan = (*engine)->Scan(1, {RowRange::All()}, {});
    ASSERT_TRUE(scan.ok());
    const absl::StatusOr<bool> more = (*scan)->Next(&piece);
    if (more.ok()) {
      EXPECT_TRUE(*more);
      scans.push_back(*std::move(scan));
    } else {
      EXPECT_EQ(more.status().code(), absl::StatusCode::kUnavailable);
      ++refused;
    }
  }
  EXPECT_GT(scans.size(), 3u);
  EXPECT_GT(refused, 100);
  const size_t of_one = (*engine)->open_pages_bytes() / scans.size();
  EXPECT_GE((*engine)->open_pages_bytes(), kLimitBytes);
  EXPECT_LE((*engine)->open_pages_bytes(), kLimitBytes + of_one);
  // Those that were let in go on, and make room when they end.
  std::string last_row_key;
  while (true) {
    const absl::StatusOr<bool> more = scans.back()->Next(&piece);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    last_row_key = piece.row_key;
  }
  EXPECT_EQ(last_row_key, "10999");
  scans.pop_back();
  auto scan = (*engine)->Scan(1, {RowRange::All()}, {});
  ASSERT_TRUE(scan.ok());
  EXPECT_TRUE((*scan)->Next(&piece).ok());
  scan->reset();
  scans.clear();
  EXPECT_EQ((*engine)->open_pages_bytes(), 0u);
  engine->reset();
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace sonde

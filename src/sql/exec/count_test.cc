// Counting rows without their cells gives as many as there are, over a store that leaves cells out: whatever was deleted,
// added, has expired or is asked for.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "sql/exec/exec_test_support.h"
#include "work/idle_workers.h"

namespace sonde::sql {
namespace {

class CountTest : public ExecTest {
 protected:
  static constexpr int64_t kAge = 1000 * kSecond;

  void SetUp() override {
    path_ = fmt::format("{}/sonde_sql_count_{}", testing::TempDir(), getpid());
    std::filesystem::remove_all(path_);
    auto rocks = RocksEngine::Open(
        {.data_dir = path_, .memory_bytes = 64 << 20, .sync = false, .page = {.cells_max = 60}});
    ASSERT_TRUE(rocks.ok()) << rocks.status();
    rocks_ = *std::move(rocks);
    in_memory_ = std::exchange(catalog_, *Catalog::Open(rocks_.get()));
    tables_of_rocks_.emplace(rocks_.get(), catalog_.get(), &clock_, /*seed=*/1);
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    const GcRule old{GcRule::MaxAge{kAge}};
    const GcRule few{GcRule::MaxVersions{2}};
    schema.families = {{.name = "any"},
                       {.name = "new", .gc_rule = old},
                       {.name = "few", .gc_rule = few},
                       {.name = "both", .gc_rule = {GcRule::Intersection{{old, few}}}},
                       {.name = "sum", .aggregate = AggregateKind::kSum}};
    table_ = *catalog_->Create(schema);
  }
  void TearDown() override {
    tables_of_rocks_.reset();
    catalog_ = std::move(in_memory_);
    rocks_.reset();
    std::filesystem::remove_all(path_);
  }

  // Cells that come, go and are replaced, in rows that have few of them.
  void Change(SeededRandom* random) {
    static constexpr std::string_view kFamilies[] = {"any", "new", "few", "both"};
    const std::string key = fmt::format("r{:03}", random->Uniform(300));
    const std::string_view family = kFamilies[random->Uniform(4)];
    const std::string_view qualifier = random->Uniform(2) == 0 ? "p" : "q";
    // Half of the times are too old for `new`.
    const int64_t time = kNow - static_cast<int64_t>(random->Uniform(20)) * kAge / 10 / 1000 * 1000;
    Mutation mutation = SetCell{family, qualifier, time, "v"};
    switch (random->Uniform(12)) {
      case 0:
        mutation = DeleteFromRow{};
        break;
      case 1:
      case 2:
        mutation = DeleteFromFamily{family};
        break;
      case 3:
        mutation = DeleteFromColumn{family, qualifier, {time, 0}};
        break;
      case 4:
        mutation = DeleteFromColumn{family, qualifier, {}};
        break;
      case 5:
        mutation = AddToCell{"sum", qualifier, time, int64_t{1}};
        break;
      default:
        break;
    }
    const absl::Status status = MutateRow(*tables_of_rocks_, *table_, {key, {mutation}});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string Ask(std::string_view sql, IdleWorkers* workers = nullptr) {
    ExecutionEnvironment environment;
    environment.tables = &*tables_of_rocks_;
    environment.idle_workers = workers;
    return Query(sql, environment);
  }

  std::string path_;
  std::unique_ptr<RocksEngine> rocks_;
  std::unique_ptr<Catalog> in_memory_;
  std::optional<Tables> tables_of_rocks_;
};

TEST_F(CountTest, IsThatOfTheRowsThatHaveCells) {
  SeededRandom random(5);
  IdleWorkers workers(3);
  size_t counts_seen = 0;
  for (int round = 0; round < 30 * CampaignScale(); ++round) {
    for (int i = 0; i < 120; ++i) Change(&random);
    if (round % 3 == 1) {
      ASSERT_TRUE(rocks_->SettleAll().ok());
    }
    for (const std::string_view from :
         {"t", "t WHERE _key > 'r05' AND _key < 'r2'", "t WHERE ENDS_WITH(_key, b'7')",
          "t(with_history => TRUE, latest_n => 2)", "t(with_history => TRUE)",
          "t(as_of => TIMESTAMP_SUB(TIMESTAMP_SECONDS(1600000000), INTERVAL 500 SECOND))",
          "t(with_history => TRUE, after => TIMESTAMP_SUB(TIMESTAMP_SECONDS(1600000000), INTERVAL 300 "
          "SECOND))"}) {
      const std::string rows = Ask(fmt::format("SELECT * FROM {}", from));
      ASSERT_EQ(rows.find("[at "), std::string::npos) << rows;
      const std::string count = fmt::format("{}\n", std::ranges::count(rows, '\n'));
      counts_seen += count == "0\n" ? 0 : 1;
      ASSERT_EQ(Ask(fmt::format("SELECT COUNT(*) FROM {}", from)), count) << from << ", round " << round;
      ASSERT_EQ(Ask(fmt::format("SELECT COUNT(*) FROM {}", from), &workers), count)
          << from << " in parts, round " << round;
    }
    // Cells expire while nothing is written.
    if (round % 5 == 4) clock_.Advance(kAge / 20);
  }
  EXPECT_GT(counts_seen, 100u);
}

}  // namespace
}  // namespace sonde::sql

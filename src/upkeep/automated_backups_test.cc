#include "upkeep/automated_backups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "engine/memory/memory_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "model/names.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kCluster[] = "projects/p/instances/i/clusters/c";
const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

std::string NameOf(const std::string& id) { return std::string(kInstance) + "/tables/" + id; }

class AutomatedBackupsTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / "sonde_automated_XXXXXX").string();
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    auto engine = RocksEngine::Open({.data_dir = path_, .memory_bytes = uint64_t{64} << 20, .sync = false});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    catalog_ = *Catalog::Open(engine_.get());
    Restart();
  }
  void TearDown() override {
    automated_.reset();
    backups_.reset();
    catalog_.reset();
    engine_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // Forgets all that is not a record.
  void Restart() {
    backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_);
    automated_ =
        std::make_unique<AutomatedBackups>(catalog_.get(), backups_.get(), &clock_,
                                           [this](std::string_view instance) { return Cluster(instance); });
  }
  absl::StatusOr<std::string> Cluster(std::string_view instance) const {
    EXPECT_EQ(instance, kInstance);
    if (has_no_cluster_) return absl::NotFoundError("no cluster");
    return kCluster;
  }
  void Create(const std::string& id, absl::Duration retention = absl::Hours(72)) {
    TableSchema schema{.name = NameOf(id), .families = {{.name = "f"}}};
    schema.automated_backups = {.retention_micros = absl::ToInt64Microseconds(retention),
                                .since_micros = clock_.NowMicros()};
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }
  void Set(absl::Time now) { clock_.Set(absl::ToUnixMicros(now)); }
  std::vector<std::string> Ids() {
    const absl::StatusOr<std::vector<Backup>> all = backups_->List("");
    EXPECT_TRUE(all.ok()) << all.status();
    std::vector<std::string> ids;
    for (const Backup& backup : *all) ids.push_back(backup.name.substr(backup.name.rfind('/') + 1));
    return ids;
  }
  double Value(std::string_view name) {
    for (const Figure& figure : automated_->Figures()) {
      if (figure.name == name) return figure.samples.front().value;
    }
    return -1;
  }

  std::string path_;
  bool has_no_cluster_ = false;
  ManualClock clock_{absl::ToUnixMicros(kStart)};
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Backups> backups_;
  std::unique_ptr<AutomatedBackups> automated_;
};

TEST_F(AutomatedBackupsTest, MakesOneADayAtTheSecondOfTheTable) {
  Create("t");
  ASSERT_TRUE(catalog_->Create({.name = NameOf("without"), .families = {{.name = "f"}}}).ok());
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_THAT(Ids(), IsEmpty()) << "none is due before the first second of the table";
  const absl::Time first = DueTime(NameOf("t"), kStart) + absl::Hours(24);
  Set(first - absl::Seconds(1));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_THAT(Ids(), IsEmpty());
  Set(first);
  for (int run = 0; run < 3; ++run) ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_THAT(Ids(), ElementsAre(AutomatedBackupId(NameOf("t"), first)));
  const Backup backup = backups_->List("")->front();
  EXPECT_EQ(backup.type, BackupType::kStandard);
  EXPECT_EQ(backup.state, BackupState::kReady);
  EXPECT_EQ(backup.source_table, NameOf("t"));
  EXPECT_EQ(backup.expire, first + absl::Hours(72));
  Set(first + absl::Hours(24) - absl::Seconds(1));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 1u);
  Set(first + absl::Hours(24));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 2u);
  EXPECT_EQ(Value("sonde_automated_backups_total"), 2);
}

TEST_F(AutomatedBackupsTest, CatchesUpOnceWithWhatWasMissedAndMakesNoneTwice) {
  Create("t");
  const absl::Time later = DueTime(NameOf("t"), kStart) + absl::Hours(24 * 10) + absl::Hours(3);
  Set(later);
  Restart();
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 1u);
  Restart();
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 1u) << "its record says that it was made";
  Set(later + absl::Hours(21));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 2u);
}

TEST_F(AutomatedBackupsTest, TellsAFailureAndTriesAgainLater) {
  Create("t");
  const absl::Time due = DueTime(NameOf("t"), kStart) + absl::Hours(24);
  Set(due);
  has_no_cluster_ = true;
  EXPECT_EQ(automated_->Run(),
            absl::NotFoundError("Automated backup of table " + NameOf("t") + ": no cluster"));
  EXPECT_EQ(Value("sonde_automated_backups_failing"), 1);
  EXPECT_EQ(Value("sonde_automated_backup_failures_total"), 1);
  has_no_cluster_ = false;
  Set(due + AutomatedBackups::kRetryAfter - absl::Seconds(1));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_EQ(Value("sonde_automated_backups_failing"), 1) << "nothing has been tried since";
  Set(due + AutomatedBackups::kRetryAfter);
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  EXPECT_EQ(Ids().size(), 1u);
  EXPECT_EQ(Value("sonde_automated_backups_failing"), 0);
}

TEST_F(AutomatedBackupsTest, ATableOfALongNameHasNamesOfItsOwn) {
  const std::string stem(45, 't');
  Create(stem + "1");
  Create(stem + "2");
  Set(kStart + absl::Hours(48));
  ASSERT_EQ(automated_->Run(), absl::OkStatus());
  const std::vector<std::string> ids = Ids();
  ASSERT_EQ(ids.size(), 2u);
  for (const std::string& id : ids) EXPECT_EQ(CheckBackupId(id), absl::OkStatus()) << id;
  EXPECT_NE(ids[0], ids[1]);
}

TEST(DueTime, IsADayApartAndSpreadOverTheDay) {
  std::set<int64_t> hours;
  for (int table = 0; table < 1'000; ++table) {
    const std::string name = NameOf("t" + std::to_string(table));
    const absl::Time due = DueTime(name, kStart);
    EXPECT_LE(due, kStart);
    EXPECT_GT(due, kStart - absl::Hours(24));
    EXPECT_EQ(DueTime(name, due), due);
    EXPECT_EQ(DueTime(name, due - absl::Nanoseconds(1)), due - absl::Hours(24));
    hours.insert((absl::ToUnixSeconds(due) % 86'400) / 3'600);
  }
  EXPECT_EQ(hours.size(), 24u);
  const absl::Time before_1970 = absl::FromUnixSeconds(-1'000'000);
  EXPECT_LE(DueTime(NameOf("t"), before_1970), before_1970);
}

}  // namespace
}  // namespace sonde

#include "cli/store/check_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class CheckCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/sonde_check_" + std::to_string(getpid());
    fs::remove_all(path_);
    auto engine = RocksEngine::Open({.data_dir = path_, .memory_bytes = 32 << 20, .settles = false});
    ASSERT_TRUE(engine.ok()) << engine.status();
    ASSERT_TRUE((*engine)->CreateTable({.id = 1}).ok());
    RowDelta delta;
    delta.families.push_back({.family = 1, .puts = {{"q", 1000, "value"}}});
    ASSERT_TRUE((*engine)->Apply(1, {{"row", delta}}).ok());
    ASSERT_TRUE((*engine)->CompactAll().ok());
  }
  void TearDown() override { fs::remove_all(path_); }

  // The first file of the cells with this ending.
  std::string FileOf(const std::string& ending) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/cells")) {
      if (entry.path().extension() == ending) return entry.path();
    }
    ADD_FAILURE() << "no " << ending;
    return "";
  }
  static void Damage(const std::string& file, std::streamoff at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream << "damage";
  }
  absl::StatusOr<CheckReport> Check() {
    return CheckDirectory({.data_dir = path_, .memory_bytes = 32 << 20});
  }

  std::string path_;
};

TEST_F(CheckCommandTest, ReadsAllThatIsSound) {
  const auto report = Check();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->damage.empty());
  EXPECT_GE(report->tables_count, 1u);
  EXPECT_GT(report->bytes, 100u);
}

TEST_F(CheckCommandTest, NamesADamagedTable) {
  const std::string table = FileOf(".sst");
  Damage(table, 10);
  const auto report = Check();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, ElementsAre(HasSubstr(table)));
  EXPECT_TRUE(fs::exists(table));
}

TEST_F(CheckCommandTest, NamesAMissingTable) {
  const std::string table = FileOf(".sst");
  fs::remove(table);
  const auto report = Check();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, ElementsAre(HasSubstr(fs::path(table).filename().string())));
}

TEST_F(CheckCommandTest, RefusesADirectoryThatIsInUse) {
  auto engine = RocksEngine::Open({.data_dir = path_, .memory_bytes = 32 << 20, .settles = false});
  ASSERT_TRUE(engine.ok());
  const auto report = Check();
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("in use by another process"));
}

}  // namespace
}  // namespace sonde

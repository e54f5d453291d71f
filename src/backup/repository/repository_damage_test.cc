// Damage anywhere in a repository is named by a verification, and no restore takes it for data.
//
// SONDE_REPOSITORY_FLIPS and SONDE_TEST_SEED in the environment: how many bits are flipped, and which random numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backup/repository/prune_repository.h"
#include "backup/repository/repository_test_support.h"
#include "backup/repository/verify_repository.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class RepositoryDamageTest : public RepositoryTest {
 protected:
  void SetUp() override {
    RepositoryTest::SetUp();
    for (const char* version : {"1", "2"})
      backups_[CreateOf(SmallStore(version)).manifest.id] = SmallStore(version);
  }
  std::vector<std::string> FilesOfRepository() const {
    std::vector<std::string> files;
    for (const auto& [path, content] : ContentsOf(directory_)) files.push_back(directory_ + "/" + path);
    return files;
  }
  // The lines of damage; an error that names what is wrong is one.
  std::vector<std::string> Damage() {
    const auto repository = Repository::Open(tools(), directory_);
    if (!repository.ok()) return {std::string(repository.status().message())};
    const auto report = VerifyRepository(**repository, {.reads_data = true});
    if (!report.ok()) return {std::string(report.status().message())};
    return report->damage;
  }
  void ExpectNothingElseIsRestored() {
    for (const auto& [id, contents] : backups_) {
      const auto restored = Restored(id);
      if (restored.ok()) {
        EXPECT_EQ(*restored, contents);
      }
    }
  }

  std::map<std::string, FileContents> backups_;
};

TEST_F(RepositoryDamageTest, FlippedBitsAreNamed) {
  SeededRandom random(NumberFromEnvironment("SONDE_TEST_SEED", 1));
  const std::vector<std::string> files = FilesOfRepository();
  const uint64_t flips = NumberFromEnvironment("SONDE_REPOSITORY_FLIPS", 60);
  ASSERT_THAT(Damage(), IsEmpty());
  for (uint64_t flip = 0; flip < flips; ++flip) {
    const std::string& path = files[random.Uniform(files.size())];
    const uint64_t at = random.Uniform(fs::file_size(path)), bit = random.Uniform(8);
    SCOPED_TRACE(fmt::format("bit {} of byte {} of {}", bit, at, path));
    const auto flip_it = [&] {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ (1 << bit)));
    };
    flip_it();
    EXPECT_THAT(Damage(), Contains(HasSubstr(path)));
    ExpectNothingElseIsRestored();
    flip_it();
  }
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(RepositoryDamageTest, LostAndShortenedFilesAreNamedWithoutReadingThem) {
  for (const std::string& path : FilesOfRepository()) {
    if (!path.starts_with(directory_ + "/blobs/")) continue;
    SCOPED_TRACE(path);
    const std::string aside = root_ + "/aside";
    const auto damage = [&] { return VerifyRepository(**Repository::Open(tools(), directory_), {})->damage; };
    fs::rename(path, aside);
    EXPECT_THAT(damage(), Contains(HasSubstr(path + " is missing")));
    ExpectNothingElseIsRestored();
    fs::copy_file(aside, path);
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_THAT(damage(), Contains(HasSubstr(path)));
    ExpectNothingElseIsRestored();
    fs::rename(aside, path);
  }
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(RepositoryDamageTest, DamageOfOneBackupIsNotThatOfAnother) {
  const std::string first = backups_.begin()->first, second = backups_.rbegin()->first;
  const auto repository = OpenRepository();
  std::ofstream(repository->ManifestPath(first), std::ios::app) << " ";
  EXPECT_EQ(VerifyRepository(*repository, {.backup = first})->damage_count, 1u);
  EXPECT_EQ(VerifyRepository(*repository, {.backup = second, .reads_data = true})->damage_count, 0u);
  EXPECT_EQ(*Restored(second), backups_[second]);
}

}  // namespace
}  // namespace sonde

#include "server/temporary_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectoryTest() {
    std::string name = testing::TempDir() + "sonde_temporary_directory_XXXXXX";
    parent_ = mkdtemp(name.data());
  }
  ~TemporaryDirectoryTest() override { fs::remove_all(parent_); }

  void MakeFile(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }

  fs::path parent_;
};

TEST_F(TemporaryDirectoryTest, IsEmptyAndGoesWithAllThatIsInIt) {
  fs::path path;
  {
    const auto directory = TemporaryDirectory::Create(parent_);
    ASSERT_TRUE(directory.ok()) << directory.status();
    path = (*directory)->path();
    EXPECT_EQ(path.parent_path(), parent_);
    EXPECT_TRUE(fs::is_empty(path));
    MakeFile(path / "cells" / "CURRENT");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryDirectoryTest, RemovesWhatWasLeftAndNothingElse) {
  const auto other = *TemporaryDirectory::Create(parent_);  // whose process lives
  MakeFile(other->path() / "CURRENT");
  MakeFile(parent_ / "sonde-temporary-killed" / "cells" / "CURRENT");
  MakeFile(parent_ / "sonde-data" / "CURRENT");
  MakeFile(parent_ / "sonde-temporary-file");
  fs::create_directory_symlink(parent_ / "sonde-data", parent_ / "sonde-temporary-link");
  const auto directory = *TemporaryDirectory::Create(parent_);
  EXPECT_FALSE(fs::exists(parent_ / "sonde-temporary-killed"));
  EXPECT_TRUE(fs::exists(other->path() / "CURRENT"));
  EXPECT_TRUE(fs::exists(parent_ / "sonde-data" / "CURRENT"));
  EXPECT_TRUE(fs::exists(parent_ / "sonde-temporary-file"));
  EXPECT_TRUE(fs::is_symlink(parent_ / "sonde-temporary-link"));
  EXPECT_NE(directory->path(), other->path());
}

TEST_F(TemporaryDirectoryTest, SaysWhereNothingCanBeMade) {
  const auto directory = TemporaryDirectory::Create(parent_ / "absent");
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(directory.status().message()), testing::HasSubstr("absent"));
}

}  // namespace
}  // namespace sonde

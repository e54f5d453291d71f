// Support for tests of repositories: small stores.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "backup/repository/create_backup.h"
#include "backup/repository/file_system.h"
#include "backup/repository/repository.h"
#include "backup/repository/watched_files_test_support.h"
#include "base/clock.h"
#include "base/random.h"

namespace sonde {

// The paths of files and their contents.
using FileContents = std::map<std::string, std::string>;

// Reads all files below a directory; paths are relative.
FileContents ContentsOf(const std::string& directory);
uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise);

class RepositoryTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  RepositoryTools tools() { return {.files = files_, .clock = &clock_, .random = &random_}; }
  std::unique_ptr<Repository> OpenRepository();
  // Writes files as a store's copy would have them; FORMAT is among them.
  CopiedStore CopyOf(const FileContents& contents);
  CreatedBackup CreateOf(const FileContents& contents);
  absl::StatusOr<FileContents> Restored(const std::string& id);
  static FileContents SmallStore(const std::string& version);

  const std::string root_ =
      (std::filesystem::path(testing::TempDir()) / ("repository_" + std::to_string(getpid()))).native();
  const std::string directory_ = root_ + "/repository";
  LocalFileSystem local_;
  UnsyncedFiles unsynced_{&local_};
  FileSystem* const files_ = &unsynced_;
  ManualClock clock_{absl::ToUnixMicros(absl::FromUnixSeconds(1'800'000'000))};
  SeededRandom random_{7};
  int copies_ = 0;
};

}  // namespace sonde

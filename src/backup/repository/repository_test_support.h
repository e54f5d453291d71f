// Support for tests of repositories: small stores, and file systems that fail, end the process, or forget.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "backup/repository/create_backup.h"
#include "backup/repository/file_system.h"
#include "backup/repository/repository.h"
#include "base/clock.h"
#include "base/random.h"

namespace sonde {

// The paths of files and their contents.
using FileContents = std::map<std::string, std::string>;

// Reads all files below a directory; paths are relative.
FileContents ContentsOf(const std::string& directory);
uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise);

// Passes all operations on, and tells of each before it is made.
class WatchedFiles : public FileSystem {
 public:
  explicit WatchedFiles(FileSystem* files) : files_(files) {}

  absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<OutputFile>> CreateNew(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path) override;
  absl::StatusOr<FileFacts> Look(const std::string& path) override { return files_->Look(path); }
  absl::StatusOr<std::vector<FileFacts>> List(const std::string& directory) override {
    return files_->List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& path) override;

  struct Step {
    enum class Kind { kCreate, kAppend, kSync, kOpen, kMakeDirectory, kRename, kRemove, kSyncDirectory };
    Kind kind;
    std::string path;  // of a rename: to
    std::string from = {};
  };
  // An error is the result of the step, which is not made.
  virtual absl::Status Before(const Step& step) = 0;
  // Whether the step is passed over, as if it had been made.
  virtual bool Omits(const Step& /*step*/) { return false; }
  virtual void After(const Step& /*step*/) {}

 private:
  class Output;
  absl::Status Make(const Step& step, const std::function<absl::Status()>& make);
  absl::StatusOr<std::unique_ptr<OutputFile>> Wrap(const std::string& path,
                                                   absl::StatusOr<std::unique_ptr<OutputFile>> file);

  FileSystem* const files_;
};

// Does not wait for the disk: the tests end no power but that of VolatileFiles.
class UnsyncedFiles final : public WatchedFiles {
 public:
  using WatchedFiles::WatchedFiles;

 private:
  absl::Status Before(const Step& /*step*/) override { return absl::OkStatus(); }
  bool Omits(const Step& step) override {
    return step.kind == Step::Kind::kSync || step.kind == Step::Kind::kSyncDirectory;
  }
};

// Counts the steps that write, and does something at one of them.
class StepFiles final : public WatchedFiles {
 public:
  using WatchedFiles::WatchedFiles;
  // Steps count from 0.
  void At(int step, std::function<absl::Status()> action) {
    steps_ = 0;
    at_ = step;
    action_ = std::move(action);
  }
  int steps() const { return steps_; }

 private:
  absl::Status Before(const Step& step) override;
  int steps_ = 0;
  int at_ = -1;
  std::function<absl::Status()> action_;
};

// Knows what is not on the disk yet, and takes it away when the power is cut.
class VolatileFiles final : public WatchedFiles {
 public:
  using WatchedFiles::WatchedFiles;
  // Steps that this returns true for are not made: planted bugs.
  void Omit(std::function<bool(const Step&)> omits) { omits_ = std::move(omits); }
  void CutPower();

 private:
  absl::Status Before(const Step& /*step*/) override { return absl::OkStatus(); }
  bool Omits(const Step& step) override { return omits_ && omits_(step); }
  void After(const Step& step) override;

  std::function<bool(const Step&)> omits_;
  std::set<std::string> unsynced_;    // files with content that is in memory only
  std::vector<Step> unsynced_names_;  // in the order in which they were made
};

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

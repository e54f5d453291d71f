// Support for tests of what is written to files: file systems that fail, end the process, or forget.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/file_system.h"

namespace sonde {

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
  absl::Status RenameNew(const std::string& from, const std::string& to) override;
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

class WatchedFiles::Output final : public OutputFile {
 public:
  Output(WatchedFiles* watched, std::string path, std::unique_ptr<OutputFile> file)
      : watched_(watched), path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Append(std::string_view bytes) override {
    return watched_->Make({.kind = WatchedFiles::Step::Kind::kAppend, .path = path_},
                          [&] { return file_->Append(bytes); });
  }
  absl::Status Sync() override {
    return watched_->Make({.kind = WatchedFiles::Step::Kind::kSync, .path = path_},
                          [&] { return file_->Sync(); });
  }

 private:
  WatchedFiles* const watched_;
  const std::string path_;
  const std::unique_ptr<OutputFile> file_;
};

inline absl::Status WatchedFiles::Make(const Step& step, const std::function<absl::Status()>& make) {
  if (absl::Status status = Before(step); !status.ok()) return status;
  if (Omits(step)) return absl::OkStatus();
  absl::Status status = make();
  if (status.ok()) After(step);
  return status;
}

inline absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::Wrap(
    const std::string& path, absl::StatusOr<std::unique_ptr<OutputFile>> file) {
  if (!file.ok()) return file;
  After({.kind = WatchedFiles::Step::Kind::kCreate, .path = path});
  return std::make_unique<Output>(this, path, *std::move(file));
}

inline absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::Create(const std::string& path) {
  if (absl::Status status = Before({.kind = WatchedFiles::Step::Kind::kCreate, .path = path}); !status.ok())
    return status;
  return Wrap(path, files_->Create(path));
}

inline absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::CreateNew(const std::string& path) {
  if (absl::Status status = Before({.kind = WatchedFiles::Step::Kind::kCreate, .path = path}); !status.ok())
    return status;
  return Wrap(path, files_->CreateNew(path));
}

inline absl::StatusOr<std::unique_ptr<InputFile>> WatchedFiles::Open(const std::string& path) {
  if (absl::Status status = Before({.kind = WatchedFiles::Step::Kind::kOpen, .path = path}); !status.ok())
    return status;
  return files_->Open(path);
}

inline absl::Status WatchedFiles::MakeDirectory(const std::string& path) {
  if (files_->Look(path).ok()) return files_->MakeDirectory(path);
  return Make({.kind = WatchedFiles::Step::Kind::kMakeDirectory, .path = path},
              [&] { return files_->MakeDirectory(path); });
}

inline absl::Status WatchedFiles::Rename(const std::string& from, const std::string& to) {
  return Make({.kind = WatchedFiles::Step::Kind::kRename, .path = to, .from = from},
              [&] { return files_->Rename(from, to); });
}

inline absl::Status WatchedFiles::RenameNew(const std::string& from, const std::string& to) {
  return Make({.kind = WatchedFiles::Step::Kind::kRename, .path = to, .from = from},
              [&] { return files_->RenameNew(from, to); });
}

inline absl::Status WatchedFiles::Remove(const std::string& path) {
  return Make({.kind = WatchedFiles::Step::Kind::kRemove, .path = path},
              [&] { return files_->Remove(path); });
}

inline absl::Status WatchedFiles::SyncDirectory(const std::string& path) {
  return Make({.kind = WatchedFiles::Step::Kind::kSyncDirectory, .path = path},
              [&] { return files_->SyncDirectory(path); });
}

inline absl::Status StepFiles::Before(const Step& step) {
  if (step.kind == Step::Kind::kOpen) return absl::OkStatus();
  return steps_++ == at_ ? action_() : absl::OkStatus();
}

inline void VolatileFiles::After(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kAppend:
      unsynced_.insert(step.path);
      break;
    case Step::Kind::kSync:
      unsynced_.erase(step.path);
      break;
    case Step::Kind::kRename:
      if (unsynced_.erase(step.from) != 0) unsynced_.insert(step.path);
      break;
    case Step::Kind::kRemove:
      unsynced_.erase(step.path);
      std::erase_if(unsynced_names_, [&](const Step& name) { return name.path == step.path; });
      break;
    case Step::Kind::kSyncDirectory:
      std::erase_if(unsynced_names_, [&](const Step& name) {
        return std::filesystem::path(name.path).parent_path().native() == step.path;
      });
      break;
    default:
      break;
  }
  const bool is_name = step.kind == Step::Kind::kCreate || step.kind == Step::Kind::kMakeDirectory ||
                       step.kind == Step::Kind::kRename;
  if (is_name) unsynced_names_.push_back(step);
}

inline void VolatileFiles::CutPower() {
  std::error_code ignored;
  for (const std::string& path : unsynced_) {
    if (std::filesystem::exists(path, ignored)) std::filesystem::resize_file(path, 0, ignored);
  }
  for (size_t i = unsynced_names_.size(); i-- > 0;) {
    const Step& step = unsynced_names_[i];
    if (step.kind == Step::Kind::kRename) {
      std::filesystem::rename(step.path, step.from, ignored);
    } else {
      std::filesystem::remove_all(step.path, ignored);
    }
  }
  unsynced_.clear();
  unsynced_names_.clear();
}

}  // namespace sonde

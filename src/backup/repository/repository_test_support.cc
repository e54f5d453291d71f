#include "backup/repository/repository_test_support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "backup/repository/restore_backup.h"
#include "base/crc32c.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Kind = WatchedFiles::Step::Kind;

std::string DirectoryOf(const std::string& path) { return fs::path(path).parent_path().native(); }

bool IsNameOf(const WatchedFiles::Step& step) {
  return step.kind == Kind::kCreate || step.kind == Kind::kMakeDirectory || step.kind == Kind::kRename;
}

}  // namespace

FileContents ContentsOf(const std::string& directory) {
  FileContents contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    contents[fs::relative(entry.path(), directory)] = {std::istreambuf_iterator<char>(file), {}};
  }
  return contents;
}

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class WatchedFiles::Output final : public OutputFile {
 public:
  Output(WatchedFiles* watched, std::string path, std::unique_ptr<OutputFile> file)
      : watched_(watched), path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Append(std::string_view bytes) override {
    return watched_->Make({.kind = Kind::kAppend, .path = path_}, [&] { return file_->Append(bytes); });
  }
  absl::Status Sync() override {
    return watched_->Make({.kind = Kind::kSync, .path = path_}, [&] { return file_->Sync(); });
  }

 private:
  WatchedFiles* const watched_;
  const std::string path_;
  const std::unique_ptr<OutputFile> file_;
};

absl::Status WatchedFiles::Make(const Step& step, const std::function<absl::Status()>& make) {
  if (absl::Status status = Before(step); !status.ok()) return status;
  if (Omits(step)) return absl::OkStatus();
  absl::Status status = make();
  if (status.ok()) After(step);
  return status;
}

absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::Wrap(
    const std::string& path, absl::StatusOr<std::unique_ptr<OutputFile>> file) {
  if (!file.ok()) return file;
  After({.kind = Kind::kCreate, .path = path});
  return std::make_unique<Output>(this, path, *std::move(file));
}

absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::Create(const std::string& path) {
  if (absl::Status status = Before({.kind = Kind::kCreate, .path = path}); !status.ok()) return status;
  return Wrap(path, files_->Create(path));
}

absl::StatusOr<std::unique_ptr<OutputFile>> WatchedFiles::CreateNew(const std::string& path) {
  if (absl::Status status = Before({.kind = Kind::kCreate, .path = path}); !status.ok()) return status;
  return Wrap(path, files_->CreateNew(path));
}

absl::StatusOr<std::unique_ptr<InputFile>> WatchedFiles::Open(const std::string& path) {
  if (absl::Status status = Before({.kind = Kind::kOpen, .path = path}); !status.ok()) return status;
  return files_->Open(path);
}

absl::Status WatchedFiles::MakeDirectory(const std::string& path) {
  if (files_->Look(path).ok()) return files_->MakeDirectory(path);
  return Make({.kind = Kind::kMakeDirectory, .path = path}, [&] { return files_->MakeDirectory(path); });
}

absl::Status WatchedFiles::Rename(const std::string& from, const std::string& to) {
  return Make({.kind = Kind::kRename, .path = to, .from = from}, [&] { return files_->Rename(from, to); });
}

absl::Status WatchedFiles::Remove(const std::string& path) {
  return Make({.kind = Kind::kRemove, .path = path}, [&] { return files_->Remove(path); });
}

absl::Status WatchedFiles::SyncDirectory(const std::string& path) {
  return Make({.kind = Kind::kSyncDirectory, .path = path}, [&] { return files_->SyncDirectory(path); });
}

absl::Status StepFiles::Before(const Step& step) {
  if (step.kind == Step::Kind::kOpen) return absl::OkStatus();
  return steps_++ == at_ ? action_() : absl::OkStatus();
}

void VolatileFiles::After(const Step& step) {
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
      std::erase_if(unsynced_names_, [&](const Step& name) { return DirectoryOf(name.path) == step.path; });
      break;
    default:
      break;
  }
  if (IsNameOf(step)) unsynced_names_.push_back(step);
}

void VolatileFiles::CutPower() {
  std::error_code ignored;
  for (const std::string& path : unsynced_) {
    if (fs::exists(path, ignored)) fs::resize_file(path, 0, ignored);
  }
  for (size_t i = unsynced_names_.size(); i-- > 0;) {
    const Step& step = unsynced_names_[i];
    if (step.kind == Step::Kind::kRename) {
      fs::rename(step.path, step.from, ignored);
    } else {
      fs::remove_all(step.path, ignored);
    }
  }
  unsynced_.clear();
  unsynced_names_.clear();
}

void RepositoryTest::SetUp() {
  fs::remove_all(root_);
  fs::create_directories(root_);
}

void RepositoryTest::TearDown() { fs::remove_all(root_); }

std::unique_ptr<Repository> RepositoryTest::OpenRepository() {
  absl::StatusOr<std::unique_ptr<Repository>> repository =
      Repository::Open(tools(), directory_, Repository::IfNone::kMake);
  EXPECT_TRUE(repository.ok()) << repository.status();
  return repository.ok() ? *std::move(repository) : nullptr;
}

FileContents RepositoryTest::SmallStore(const std::string& version) {
  return {{"FORMAT", "sonde data format 3\n"},
          {"cells/000001.sst", "these cells stay as they are"},
          {"cells/000002.sst", "these cells are of version " + version},
          {"cells/MANIFEST-000003", "a list of version " + version},
          {"records/000001.log", std::string(5'000, 'r')}};
}

CopiedStore RepositoryTest::CopyOf(const FileContents& contents) {
  const std::string source = fmt::format("{}/source-{}", root_, copies_++);
  CopiedStore copy{.server = "test",
                   .moment = absl::FromUnixMicros(clock_.NowMicros()),
                   .store = "store",
                   .tables = {"projects/p/instances/i/tables/t"}};
  for (const auto& [path, content] : contents) {
    const std::string from = source + "/" + path;
    fs::create_directories(fs::path(from).parent_path());
    std::ofstream(from, std::ios::binary) << content;
    CopiedFile file{.path = path, .from = from, .bytes = content.size()};
    if (path.ends_with(".sst")) file.crc32c = Crc32c(content);
    copy.files.push_back(std::move(file));
  }
  return copy;
}

CreatedBackup RepositoryTest::CreateOf(const FileContents& contents) {
  const std::unique_ptr<Repository> repository = OpenRepository();
  absl::StatusOr<CreatedBackup> created = CreateBackup(*repository, CopyOf(contents));
  EXPECT_TRUE(created.ok()) << created.status();
  clock_.Advance(1'000'000);
  return created.ok() ? *std::move(created) : CreatedBackup();
}

absl::StatusOr<FileContents> RepositoryTest::Restored(const std::string& id) {
  const absl::StatusOr<std::unique_ptr<Repository>> repository = Repository::Open(tools(), directory_);
  if (!repository.ok()) return repository.status();
  const absl::StatusOr<Manifest> manifest = (*repository)->Find(id);
  if (!manifest.ok()) return manifest.status();
  const std::string to = fmt::format("{}/restored-{}", root_, copies_++);
  const auto nothing_to_check = [](const std::string&) { return absl::OkStatus(); };
  if (absl::Status status = RestoreBackup(**repository, *manifest, to, nothing_to_check); !status.ok())
    return status;
  return ContentsOf(to);
}

}  // namespace sonde

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

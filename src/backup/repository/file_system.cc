#include "backup/repository/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sonde {
namespace {

constexpr mode_t kFileMode = 0600, kDirectoryMode = 0700;

absl::Status Failed(int error, std::string_view operation, const std::string& path) {
  return absl::ErrnoToStatus(error, fmt::format("{} {}", operation, path));
}

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  const int number_;
};

class LocalOutputFile final : public OutputFile {
 public:
  LocalOutputFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  absl::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed(errno, "Writing", path_);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  absl::Status Sync() override {
    return fsync(descriptor_.number()) == 0 ? absl::OkStatus() : Failed(errno, "Syncing", path_);
  }

 private:
  const Descriptor descriptor_;
  const std::string path_;
};

class LocalInputFile final : public InputFile {
 public:
  LocalInputFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) override {
    while (true) {
      const ssize_t count = read(descriptor_.number(), buffer, bytes_max);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return Failed(errno, "Reading", path_);
    }
  }

 private:
  const Descriptor descriptor_;
  const std::string path_;
};

absl::StatusOr<std::unique_ptr<OutputFile>> OpenToWrite(const std::string& path, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, kFileMode);
  if (descriptor < 0) return Failed(errno, "Making", path);
  return std::make_unique<LocalOutputFile>(descriptor, path);
}

FileFacts FactsOf(std::string name, const struct stat& found) {
  return {.name = std::move(name),
          .is_directory = S_ISDIR(found.st_mode),
          .bytes = static_cast<uint64_t>(found.st_size),
          .modified = absl::TimeFromTimespec(found.st_mtim)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> LocalFileSystem::Create(const std::string& path) {
  return OpenToWrite(path, O_TRUNC);
}

absl::StatusOr<std::unique_ptr<OutputFile>> LocalFileSystem::CreateNew(const std::string& path) {
  return OpenToWrite(path, O_EXCL);
}

absl::StatusOr<std::unique_ptr<InputFile>> LocalFileSystem::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Failed(errno, "Opening", path);
  return std::make_unique<LocalInputFile>(descriptor, path);
}

absl::StatusOr<FileFacts> LocalFileSystem::Look(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return Failed(errno, "Looking at", path);
  return FactsOf(path.substr(path.rfind('/') + 1), found);
}

absl::StatusOr<std::vector<FileFacts>> LocalFileSystem::List(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return Failed(errno, "Listing", directory);
  std::vector<FileFacts> all;
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(entries.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat found{};
    if (fstatat(dirfd(entries.get()), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
      all.push_back(FactsOf(std::move(name), found));
    } else if (errno != ENOENT) {  // somebody may have removed it
      return Failed(errno, "Looking at", directory + "/" + entry->d_name);
    }
  }
  if (errno != 0) return Failed(errno, "Listing", directory);
  std::ranges::sort(all, {}, &FileFacts::name);
  return all;
}

absl::Status LocalFileSystem::MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), kDirectoryMode) == 0) return absl::OkStatus();
  const int error = errno;
  struct stat found{};
  if (error == EEXIST && stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return absl::OkStatus();
  return Failed(error, "Making", path);
}

absl::Status LocalFileSystem::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return Failed(errno, "Renaming", fmt::format("{} to {}", from, to));
}

absl::Status LocalFileSystem::RenameNew(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return absl::OkStatus();
  // Some file systems (NFS) do not know the flag; they know links.
  const bool has_no_flag = errno == EINVAL || errno == ENOSYS;
  if (has_no_flag && link(from.c_str(), to.c_str()) == 0) return Remove(from);
  return Failed(errno, "Renaming", fmt::format("{} to {}", from, to));
}

absl::Status LocalFileSystem::Remove(const std::string& path) {
  if (remove(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return Failed(errno, "Removing", path);
}

absl::Status LocalFileSystem::SyncDirectory(const std::string& path) {
  const Descriptor descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() < 0) return Failed(errno, "Opening", path);
  return fsync(descriptor.number()) == 0 ? absl::OkStatus() : Failed(errno, "Syncing", path);
}

absl::StatusOr<std::string> ReadFile(FileSystem* files, const std::string& path, size_t bytes_max) {
  absl::StatusOr<std::unique_ptr<InputFile>> file = files->Open(path);
  if (!file.ok()) return file.status();
  std::string bytes;
  std::string buffer(size_t{64} << 10, '\0');
  while (true) {
    const absl::StatusOr<size_t> count = (*file)->Read(buffer.data(), buffer.size());
    if (!count.ok()) return count.status();
    if (*count == 0) return bytes;
    if (bytes.size() + *count > bytes_max) {
      return absl::ResourceExhaustedError(
          fmt::format("{} has more than the {} bytes that it may have", path, bytes_max));
    }
    bytes.append(buffer, 0, *count);
  }
}

absl::Status WriteFile(FileSystem* files, const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  absl::Status status;
  {
    absl::StatusOr<std::unique_ptr<OutputFile>> file = files->Create(part);
    if (!file.ok()) return file.status();
    status = (*file)->Append(bytes);
    if (status.ok()) status = (*file)->Sync();
  }
  if (status.ok()) status = files->Rename(part, path);
  if (!status.ok()) files->Remove(part).IgnoreError();  // it has no name that anybody looks for
  return status;
}

absl::Status RemoveTree(FileSystem* files, const std::string& directory) {
  const absl::StatusOr<std::vector<FileFacts>> entries = files->List(directory);
  if (absl::IsNotFound(entries.status())) return absl::OkStatus();
  if (!entries.ok()) return entries.status();
  for (const FileFacts& entry : *entries) {
    const std::string path = directory + "/" + entry.name;
    absl::Status status = entry.is_directory ? RemoveTree(files, path) : files->Remove(path);
    if (!status.ok()) return status;
  }
  return files->Remove(directory);
}

}  // namespace sonde

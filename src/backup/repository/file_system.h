// The file operations of a repository, behind an interface, so that a test can fail, end or lose each of them.
//
// Threads: all functions may be called at once, for different files.
// Errors: NOT_FOUND: there is no such file; ALREADY_EXISTS; RESOURCE_EXHAUSTED: the disk is full; PERMISSION_DENIED;
// others as absl::ErrnoToStatus says.  The text names the operation and the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

// A file that is written from its beginning.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // The bytes are on the disk when this returns OK; the file's name may not be (FileSystem::SyncDirectory).
  virtual absl::Status Sync() = 0;
};

// A file that is read from its beginning.
class InputFile {
 public:
  virtual ~InputFile() = default;
  // Fills `buffer` with up to `bytes_max` bytes, and returns how many; 0 at the end, and only there.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max) = 0;
};

struct FileFacts {
  std::string name;  // without its directory
  bool is_directory = false;
  uint64_t bytes = 0;
  absl::Time modified;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Makes a file that its owner alone may read, or empties the one that is there.
  virtual absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path) = 0;
  // As Create.  ALREADY_EXISTS: the file is there already.
  virtual absl::StatusOr<std::unique_ptr<OutputFile>> CreateNew(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path) = 0;
  virtual absl::StatusOr<FileFacts> Look(const std::string& path) = 0;
  // Returns the entries of a directory, by name.
  virtual absl::StatusOr<std::vector<FileFacts>> List(const std::string& directory) = 0;
  // Makes a directory that its owner alone may enter.  It is no error if the directory is there.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // Takes the place of `to` if it is there.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // As Rename.  ALREADY_EXISTS: `to` is there already, and both stay as they are.
  virtual absl::Status RenameNew(const std::string& from, const std::string& to) = 0;
  // Removes a file, or an empty directory.  It is no error if there is none.
  virtual absl::Status Remove(const std::string& path) = 0;
  // The entries of the directory are on the disk when this returns OK.
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
};

// The files of the machine.
class LocalFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<OutputFile>> CreateNew(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<InputFile>> Open(const std::string& path) override;
  absl::StatusOr<FileFacts> Look(const std::string& path) override;
  absl::StatusOr<std::vector<FileFacts>> List(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status RenameNew(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& path) override;
};

// Reads a file that has at most `bytes_max` bytes.  RESOURCE_EXHAUSTED: it has more.
absl::StatusOr<std::string> ReadFile(FileSystem* files, const std::string& path, size_t bytes_max);

// Writes a file as one step: under the name with ".part" behind it first.  The bytes are on the disk when this returns; the name
// is there, and lasts once its directory is synced.
absl::Status WriteFile(FileSystem* files, const std::string& path, std::string_view bytes);

// Removes a directory with all that is in it.  It is no error if there is none.
absl::Status RemoveTree(FileSystem* files, const std::string& directory);

}  // namespace sonde

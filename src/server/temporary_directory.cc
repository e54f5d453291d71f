#include "server/temporary_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "sonde-temporary-";

// The lock of the directory at `path`, or -1: another process has it, it is another user's, or it has gone.
int Lock(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat locked{};
  struct stat there{};
  // Between opening and locking, another process may have taken it for what a dead one left, and removed it.
  if (fstat(file, &locked) == 0 && locked.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0 &&
      lstat(path.c_str(), &there) == 0 && there.st_ino == locked.st_ino && there.st_dev == locked.st_dev) {
    return file;
  }
  close(file);
  return -1;
}

void RemoveWhatWasLeft(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!at->path().filename().native().starts_with(kPrefix)) continue;
    const int lock = Lock(at->path());
    if (lock < 0) continue;
    std::error_code ignored;  // who comes next tries again
    fs::remove_all(at->path(), ignored);
    close(lock);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Create(const fs::path& parent) {
  RemoveWhatWasLeft(parent);
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    std::string name = (parent / kPrefix).native() + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return absl::FailedPreconditionError(
          fmt::format("No temporary directory can be made in {}: {}", parent.native(), std::strerror(errno)));
    }
    if (const int lock = Lock(name); lock >= 0) {
      return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(name, lock));
    }
  }
  return absl::FailedPreconditionError(
      fmt::format("No temporary directory in {} can be locked", parent.native()));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // who makes one next tries again
  fs::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace sonde

#include "server/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace sonde {

absl::StatusOr<std::unique_ptr<StateDirectory>> StateDirectory::Take(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("The data directory {} cannot be made: {}", path, error.message()));
  }
  if (std::filesystem::exists(path + "/FORMAT", error)) {
    return absl::FailedPreconditionError(fmt::format(
        "The data directory {} has a store of its own: a server with --store needs another --data-dir",
        path));
  }
  const int lock = open((path + "/LOCK").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) {
    return absl::FailedPreconditionError(fmt::format("The data directory {} cannot be written: {}", path,
                                                     std::generic_category().message(errno)));
  }
  std::unique_ptr<StateDirectory> directory(new StateDirectory(lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("The data directory {} is in use by another process, such as a running server", path));
  }
  return directory;
}

StateDirectory::~StateDirectory() { close(lock_); }

}  // namespace sonde

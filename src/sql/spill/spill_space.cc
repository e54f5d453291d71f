#include "sql/spill/spill_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace sonde::sql {
namespace {

absl::Status CannotWrite(std::string_view operator_name, std::string_view what, int error) {
  const std::string text =
      fmt::format("{} cannot put rows on disk: {}: {}", operator_name, what, std::strerror(error));
  return error == ENOSPC || error == EDQUOT || error == EMFILE ? absl::ResourceExhaustedError(text)
                                                               : absl::UnavailableError(text);
}

}  // namespace

int64_t SpillSpace::bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_;
}

absl::StatusOr<int> SpillSpace::Open(std::string_view operator_name) const {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    return CannotWrite(operator_name, "mkdir " + directory_, errno);
  }
  const int unnamed = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    return CannotWrite(operator_name, "open a file in " + directory_, errno);
  }
  // A file system that always names files: the name is taken away at once.
  std::string name = directory_ + "/spill-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) return CannotWrite(operator_name, "open a file in " + directory_, errno);
  ::unlink(name.c_str());
  return named;
}

absl::Status SpillSpace::CheckDisk(std::string_view operator_name, int64_t bytes) const {
  struct statvfs disk;
  if (::statvfs(directory_.c_str(), &disk) != 0)
    return CannotWrite(operator_name, "statvfs " + directory_, errno);
  const auto block_bytes = static_cast<int64_t>(disk.f_frsize);
  const int64_t free = static_cast<int64_t>(disk.f_bavail) * block_bytes;
  const int64_t stays_free =
      std::min(static_cast<int64_t>(disk.f_blocks) / 100 * block_bytes * limits_.free_percent_min,
               limits_.free_bytes_max);
  if (free - bytes >= stays_free) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      fmt::format("{} needs {} more bytes on disk: {} are free, and {} of them must stay free", operator_name,
                  bytes, free, stays_free));
}

absl::Status SpillSpace::Take(std::string_view operator_name, int64_t bytes) {
  if (absl::Status status = CheckDisk(operator_name, bytes); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  if (bytes_ + bytes > limits_.bytes_max) {
    return absl::ResourceExhaustedError(
        fmt::format("{} needs {} more bytes on disk: all queries have {}; {} is the limit of all queries",
                    operator_name, bytes, bytes_, limits_.bytes_max));
  }
  bytes_ += bytes;
  return absl::OkStatus();
}

void SpillSpace::Give(int64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  bytes_ -= bytes;
}

QuerySpill::~QuerySpill() {
  DCHECK(bytes_ == 0);
  if (taken_bytes_ > 0) space_->Give(taken_bytes_);
}

absl::StatusOr<int> QuerySpill::Open(std::string_view operator_name) const {
  CHECK(is_there());
  return space_->Open(operator_name);
}

absl::Status QuerySpill::Take(std::string_view operator_name, int64_t bytes) {
  const int64_t most = space_->limits().query_bytes_max;
  if (bytes_ + bytes > most) {
    return absl::ResourceExhaustedError(
        fmt::format("{} needs {} more bytes on disk: the query has {}; {} is the limit of a query",
                    operator_name, bytes, bytes_, most));
  }
  if (bytes_ + bytes > taken_bytes_) {
    const int64_t more = std::min(std::max(bytes_ + bytes - taken_bytes_, kStepBytes), most - taken_bytes_);
    if (absl::Status status = space_->Take(operator_name, more); !status.ok()) return status;
    taken_bytes_ += more;
  }
  bytes_ += bytes;
  bytes_written_ += bytes;
  return absl::OkStatus();
}

void QuerySpill::Give(int64_t bytes) { bytes_ -= bytes; }

}  // namespace sonde::sql

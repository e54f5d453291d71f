#include "engine/rocks/files/disk_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

// A write lies in the log first, and then in a table, too.
constexpr int64_t kDiskBytesPerByteWritten = 2;

std::string Ballast(const std::string& data_dir) { return data_dir + "/" + kBallastFile; }

}  // namespace

absl::StatusOr<DiskSpace> MeasureDisk(const std::string& directory) {
  struct statvfs found{};
  if (statvfs(directory.c_str(), &found) != 0) {
    return absl::UnavailableError(
        fmt::format("The free space of {} cannot be read: {}", directory, std::strerror(errno)));
  }
  // The superuser's reserve counts as used.
  const uint64_t used_blocks = found.f_blocks - found.f_bfree;
  return DiskSpace{.size_bytes = (used_blocks + found.f_bavail) * found.f_frsize,
                   .free_bytes = found.f_bavail * found.f_frsize};
}

DiskGuard::DiskGuard(Options options) : options_(std::move(options)) {
  has_ballast_ = access(Ballast(options_.data_dir).c_str(), F_OK) == 0;
  Look();
  thread_ = std::thread([this] {
    const auto stops = [this] {
      const absl::MutexLock lock(&mutex_);
      return stopped_.WaitFor(&mutex_, kDiskLookInterval, absl::Condition(&stopping_));
    };
    while (!stops()) Look();
  });
}

DiskGuard::~DiskGuard() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  stopped_.SignalAll();
  thread_.join();
}

void DiskGuard::TellOf(TellLevel level, const std::string& text) const {
  if (options_.tell) options_.tell(level, text);
}

absl::Status DiskGuard::AdmitWrite(uint64_t bytes) {
  if (full_.load(std::memory_order_relaxed)) return IsFull();
  if (bytes == 0) return absl::OkStatus();
  const int64_t disk_bytes = static_cast<int64_t>(bytes) * kDiskBytesPerByteWritten;
  const int64_t free_before = free_bytes_.fetch_sub(disk_bytes, std::memory_order_relaxed);
  if (free_before - disk_bytes >= full_bytes_.load(std::memory_order_relaxed)) return absl::OkStatus();
  free_bytes_.fetch_add(disk_bytes, std::memory_order_relaxed);
  return IsFull();
}

bool DiskGuard::HasRoomForStep(uint64_t bytes) const {
  return free_bytes_ - static_cast<int64_t>(bytes) >= kept_bytes_;
}

uint64_t DiskGuard::ReserveBytes(const DiskSpace& space, uint64_t reserve_bytes_min) {
  return std::max(std::min(space.size_bytes / 100 * kReservePercent, kReserveBytesMax), reserve_bytes_min);
}

absl::Status DiskGuard::IsFull() const {
  return absl::ResourceExhaustedError(
      fmt::format("The disk of {} is full: {} bytes are free, writes go on at {}. Reads and deletes work; "
                  "free some space, and writes go on by themselves",
                  options_.data_dir, free_bytes_.load(), room_bytes_.load()));
}

void DiskGuard::Look() {
  const absl::StatusOr<DiskSpace> space = options_.measure(options_.data_dir);
  if (!space.ok()) return;  // as it was: the disk itself will tell
  const uint64_t reserve_bytes = ReserveBytes(*space, options_.reserve_bytes_min);
  const uint64_t unflushed_bytes = options_.unflushed_bytes ? options_.unflushed_bytes() : 0;
  const uint64_t full_bytes = reserve_bytes + unflushed_bytes;
  const uint64_t room_bytes = full_bytes + reserve_bytes / 8;
  const uint64_t kept_bytes = reserve_bytes / 2 + unflushed_bytes;
  full_bytes_ = static_cast<int64_t>(full_bytes);
  room_bytes_ = room_bytes;
  kept_bytes_ = static_cast<int64_t>(kept_bytes);
  size_bytes_ = space->size_bytes;
  free_bytes_ = static_cast<int64_t>(space->free_bytes);
  if (options_.set_compaction_room) {
    options_.set_compaction_room(space->free_bytes - std::min(space->free_bytes, kept_bytes));
  }
  if (!full_ && space->free_bytes < full_bytes) {
    full_ = true;
    TellOf(TellLevel::kWarning, std::string(IsFull().message()));
    if (options_.flush) options_.flush();
  } else if (full_ && space->free_bytes >= room_bytes) {
    full_ = false;
    TellOf(TellLevel::kInfo, fmt::format("The disk of {} has room again: {} bytes are free",
                                         options_.data_dir, space->free_bytes));
  }
  if (has_ballast_ && space->free_bytes < reserve_bytes / 4) {
    if (ReleaseBallast(options_.data_dir)) {
      TellOf(TellLevel::kWarning, "The ballast was given back, so that deletes go on");
    }
    has_ballast_ = false;
  } else if (!has_ballast_ && !full_) {
    LayBallast(*space, room_bytes);
  }
}

void DiskGuard::LayBallast(const DiskSpace& space, uint64_t room_bytes) {
  const uint64_t bytes = std::min(space.size_bytes / 100 * kBallastPercent, kBallastBytesMax);
  if (ballast_failed_ || space.free_bytes < room_bytes + 2 * bytes) return;
  const std::string path = Ballast(options_.data_dir);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  // Not posix_fallocate: where the file system cannot set bytes aside, that writes them.
  const bool laid = file >= 0 && fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0;
  if (!laid) {
    ballast_failed_ = true;
    TellOf(TellLevel::kWarning,
           fmt::format("No ballast can be laid into {}: {}", path, std::strerror(errno)));
  }
  if (file >= 0) close(file);
  if (!laid) unlink(path.c_str());
  has_ballast_ = laid;
}

bool DiskGuard::ReleaseBallast(const std::string& data_dir) { return unlink(Ballast(data_dir).c_str()) == 0; }

}  // namespace sonde

// Stops writes before the disk is full, so that reads, deletes, compactions and restarts go on.  Lets writes
// go on by itself when there is room again.
//
//   room     -> full      less than kReservePercent of the disk are free, at most kReserveBytesMax, besides
//                         what the write buffers will need when they are flushed: writes that add cells are
//                         refused
//   full     -> no room   less than a quarter of the reserve is left (others write to the disk, too): the
//                         ballast, a file of zeros that is kept for this, is given back; deletes go on
//   any      -> room      an eighth more than the reserve is free; the ballast is laid in again
//
// Compactions may take half of the reserve, so that deletes give space back on a full disk.  They must leave
// the half that flushes and deletes need.
//
// Threads: one thread looks every kDiskLookInterval; writes in between are counted.  Admit may be called by
// any thread, and costs an atomic addition.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/rocks/files/tell.h"

namespace sonde {

constexpr char kBallastFile[] = "BALLAST";
constexpr absl::Duration kDiskLookInterval = absl::Milliseconds(100);
constexpr int kReservePercent = 5;
constexpr uint64_t kReserveBytesMax = uint64_t{16} << 30;
constexpr int kBallastPercent = 2;
constexpr uint64_t kBallastBytesMax = uint64_t{64} << 20;

struct DiskSpace {
  uint64_t size_bytes = 0;  // all that this process could ever use
  uint64_t free_bytes = 0;  // all that it could use now
};

// Measures the file system that the directory is on.
absl::StatusOr<DiskSpace> MeasureDisk(const std::string& directory);

class DiskGuard {
 public:
  struct Options {
    std::string data_dir;
    std::function<absl::StatusOr<DiskSpace>(const std::string& directory)> measure = MeasureDisk;
    // The least reserve.  RocksDB recovers from a full disk by itself only while a write buffer's size is
    // free.
    uint64_t reserve_bytes_min = 0;
    // Returns how much would be written if all write buffers were flushed now.
    std::function<uint64_t()> unflushed_bytes;
    // Called at each look, with how much compactions may write (compaction_room.h).
    std::function<void(uint64_t bytes)> set_compaction_room;
    // Called when the disk gets full: flushes the write buffers, so that their logs can go.  Must not block.
    std::function<void()> flush;
    Tell tell;
  };

  // Looks once, and then in the background.
  explicit DiskGuard(Options options);
  ~DiskGuard();

  // Lets a write in that adds cells.  `bytes` is its size, if that is known.  RESOURCE_EXHAUSTED: the text
  // says how much is free and how much must be.
  absl::Status AdmitWrite(uint64_t bytes = 0);

  // Whether a step of settling that writes at most `bytes` leaves the half of the reserve that compactions
  // must leave. Steps go on while the disk is full, since they give space back.
  bool HasRoomForStep(uint64_t bytes) const;

  // How much of a disk is kept free, without the room that write buffers need.
  static uint64_t ReserveBytes(const DiskSpace& space, uint64_t reserve_bytes_min);

  // The state at the last look.
  bool is_full() const { return full_.load(std::memory_order_relaxed); }
  uint64_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }
  uint64_t free_bytes() const { return free_bytes_.load(std::memory_order_relaxed); }

  // Gives the ballast of a directory back.  Returns whether there was any.  To be called before the directory
  // is opened again.
  static bool ReleaseBallast(const std::string& data_dir);

 private:
  void Look();
  void LayBallast(const DiskSpace& space, uint64_t room_bytes);
  void TellOf(TellLevel level, const std::string& text) const;
  absl::Status IsFull() const;

  const Options options_;
  std::atomic<bool> full_ = false;
  std::atomic<uint64_t> size_bytes_ = 0;  // at the last look
  std::atomic<int64_t> free_bytes_ = 0;   // at the last look, less the bytes that were let in since
  std::atomic<int64_t> full_bytes_ = 0;   // with less than this the disk is full
  std::atomic<uint64_t> room_bytes_ = 0;  // with this there is room again
  std::atomic<int64_t> kept_bytes_ = 0;   // kept back from compactions and settling
  bool has_ballast_ = false;              // only the guard's thread uses it
  bool ballast_failed_ = false;           // only the guard's thread uses it

  absl::Mutex mutex_;
  SteadyCondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde

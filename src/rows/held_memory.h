// The memory that an operator holds, told to whoever accounts for it.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace sonde::rows {

// Told how many bytes more are held, about.  Less than zero: fewer bytes are held, which is always OK.  An
// answer that is not OK ends the query with that error.  Called by one thread.  Unset: as much may be held as
// other bounds allow.
using Hold = std::function<absl::Status(int64_t more_bytes)>;

// Tells of memory in steps of a MiB, and gives all of it back when it ends.  Not for several threads.
class HeldMemory {
 public:
  // `hold` must outlive this.
  explicit HeldMemory(const Hold& hold) : hold_(hold) {}
  ~HeldMemory() { Clear(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  // About so many bytes more are held.  Not OK: the query ends with that error.
  absl::Status Add(int64_t bytes) {
    bytes_ += bytes;
    const int64_t more = bytes_ - told_bytes_;
    if (!hold_ || more < kStepBytes) return absl::OkStatus();
    absl::Status status = hold_(more);
    if (status.ok()) told_bytes_ = bytes_;
    return status;
  }
  // Nothing is held any more.
  void Clear() {
    if (told_bytes_ > 0) hold_(-told_bytes_).IgnoreError();
    bytes_ = told_bytes_ = 0;
  }

 private:
  static constexpr int64_t kStepBytes = int64_t{1} << 20;

  const Hold& hold_;
  int64_t bytes_ = 0;
  int64_t told_bytes_ = 0;
};

}  // namespace sonde::rows

// What a part of a query holds in memory, told to whoever asks for it (Query::hold).
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace sonde::series {

// Not for several threads.
class HeldMemory {
 public:
  // `hold`: Query::hold, which must outlive this.
  explicit HeldMemory(const std::function<absl::Status(int64_t)>& hold) : hold_(hold) {}
  ~HeldMemory() { Clear(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  // So many bytes more, about.  Not OK: the query ends with that.
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

  const std::function<absl::Status(int64_t)>& hold_;
  int64_t bytes_ = 0;
  int64_t told_bytes_ = 0;
};

}  // namespace sonde::series

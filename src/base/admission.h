// How much may be under way at a time.  A request over it is refused before anything is done for it, so that
// what was let in is answered in time, in bounded memory.  Besides, there may be a quota: so many a second.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/large_room.h"

namespace sonde {

// Payload of a status that is not UNAVAILABLE, but after which the request may be tried again a moment later.
constexpr char kTryAgainPayload[] = "sonde/try-again";

class Admission {
 public:
  struct Limits {
    int64_t requests = 0;
    int64_t bytes = 0;
    int64_t per_second = 0;  // requests that begin; those of a second may come at once.  0: any number
  };

  // A request's room, given back at its end.  The admission must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          bytes_(other.bytes_),
          large_bytes_(std::exchange(other.large_bytes_, 0)),
          large_(std::move(other.large_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(admission_, other.admission_);
      std::swap(bytes_, other.bytes_);
      std::swap(large_bytes_, other.large_bytes_);
      large_ = std::move(other.large_);
      return *this;
    }
    ~Place() {
      if (admission_ == nullptr) return;
      admission_->large_bytes_.fetch_sub(large_bytes_, std::memory_order_relaxed);
      admission_->Leave(bytes_);
    }

    int64_t bytes() const { return bytes_; }
    // The place of a large request in the room for what is large.
    LargeRoom::Place* large() { return &large_; }
    // Takes or gives back room, so that this is a place of `bytes`; of a place that was admitted.
    // UNAVAILABLE, and nothing changes: over the limit of bytes, which one that is alone may exceed.
    absl::Status Resize(int64_t bytes);

   private:
    friend class Admission;
    Place(Admission* admission, int64_t bytes) : admission_(admission), bytes_(bytes) {}
    Admission* admission_ = nullptr;
    int64_t bytes_ = 0;
    int64_t large_bytes_ = 0;
    LargeRoom::Place large_;
  };

  // `what`: "reads", "writes": for the error.
  Admission(std::string what, Limits limits) : what_(std::move(what)), limits_(limits) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // UNAVAILABLE: over a limit of what is under way.  Alone, a request is let in whatever its size.
  // RESOURCE_EXHAUSTED, with kTryAgainPayload: the quota is used up.
  absl::StatusOr<Place> Admit(int64_t bytes);
  // Whether one of so many bytes would be let in now, but for the quota.
  absl::Status Check(int64_t bytes) const;
  // As Admit, for a large request (large_room.h), whose bytes count in Load alone.
  absl::StatusOr<Place> AdmitLarge(int64_t bytes);

  // The requests and bytes that are under way.
  Limits Taken() const {
    return {.requests = requests_.load(std::memory_order_relaxed),
            .bytes = bytes_.load(std::memory_order_relaxed)};
  }
  const Limits& limits() const { return limits_; }
  // The fuller of the limits: 0 nothing is under way, 1 there is no more room.
  double Load() const;

 private:
  bool TakeFromQuota();
  // `requests` and `bytes` are under way without it.
  absl::Status CheckLimits(int64_t requests, int64_t bytes, int64_t more_bytes) const;
  void Leave(int64_t bytes) {
    requests_.fetch_sub(1, std::memory_order_relaxed);
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  const std::string what_;
  const Limits limits_;
  std::atomic<int64_t> requests_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> large_bytes_ = 0;
  // When the quota would be whole again; steady clock.
  std::atomic<int64_t> quota_whole_nanos_ = 0;
};

}  // namespace sonde

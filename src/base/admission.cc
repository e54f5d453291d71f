#include "base/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sonde {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

}  // namespace

// Each request puts the time when the quota is whole again off by its share of a second, up to a second from
// now.
bool Admission::TakeFromQuota() {
  if (limits_.per_second == 0) return true;
  const int64_t share_nanos = std::max<int64_t>(kNanosPerSecond / limits_.per_second, 1);
  const int64_t now_nanos =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  int64_t whole_nanos = quota_whole_nanos_.load(std::memory_order_relaxed);
  while (true) {
    const int64_t after_nanos = std::max(whole_nanos, now_nanos) + share_nanos;
    if (after_nanos > now_nanos + kNanosPerSecond) return false;
    if (quota_whole_nanos_.compare_exchange_weak(whole_nanos, after_nanos, std::memory_order_relaxed))
      return true;
  }
}

absl::StatusOr<Admission::Place> Admission::Admit(int64_t bytes) {
  if (!TakeFromQuota()) {
    absl::Status status = absl::ResourceExhaustedError(fmt::format(
        "The quota of {} {} a second is used up; nothing was done, try again", limits_.per_second, what_));
    status.SetPayload(kTryAgainPayload, absl::Cord());
    return status;
  }
  const int64_t requests_before = requests_.fetch_add(1, std::memory_order_relaxed);
  const int64_t bytes_after = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  Place place(this, bytes);
  if (absl::Status status = CheckLimits(requests_before, bytes_after - bytes, bytes); !status.ok())
    return status;
  return place;
}

absl::Status Admission::Check(int64_t bytes) const {
  return CheckLimits(requests_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
                     bytes);
}

absl::Status Admission::CheckLimits(int64_t requests, int64_t bytes, int64_t more_bytes) const {
  if (requests == 0) return absl::OkStatus();
  if (requests >= limits_.requests) {
    return absl::UnavailableError(fmt::format(
        "The server is busy: {} {} are under way and the limit is {}; nothing was done, try again", requests,
        what_, limits_.requests));
  }
  if (bytes + more_bytes <= limits_.bytes) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "The server is busy: {} of {} bytes are under way, with this one's {} bytes {}, and the limit is {}; "
      "nothing was done, try again",
      what_, bytes, more_bytes, bytes + more_bytes, limits_.bytes));
}

absl::StatusOr<Admission::Place> Admission::AdmitLarge(int64_t bytes) {
  absl::StatusOr<Place> place = Admit(0);
  if (!place.ok()) return place;
  large_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  place->large_bytes_ = bytes;
  return place;
}

absl::Status Admission::Place::Resize(int64_t bytes) {
  const int64_t more = bytes - bytes_;
  const int64_t bytes_after = admission_->bytes_.fetch_add(more, std::memory_order_relaxed) + more;
  const bool is_alone = admission_->requests_.load(std::memory_order_relaxed) == 1;
  if (more > 0 && bytes_after > admission_->limits_.bytes && !is_alone) {
    admission_->bytes_.fetch_sub(more, std::memory_order_relaxed);
    return absl::UnavailableError(fmt::format(
        "The server is busy: {} of {} bytes are under way, with {} more bytes {}, and the limit is {}; try "
        "again",
        admission_->what_, bytes_after - more, more, bytes_after, admission_->limits_.bytes));
  }
  bytes_ = bytes;
  return absl::OkStatus();
}

double Admission::Load() const {
  const auto share = [](int64_t taken, int64_t limit) {
    return static_cast<double>(taken) / static_cast<double>(limit);
  };
  const int64_t bytes = bytes_.load(std::memory_order_relaxed) + large_bytes_.load(std::memory_order_relaxed);
  return std::min(1.0, std::max(share(requests_.load(std::memory_order_relaxed), limits_.requests),
                                share(bytes, limits_.bytes)));
}

}  // namespace sonde

#include "base/admission.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {

absl::StatusOr<Admission::Place> Admission::Admit(int64_t bytes) {
  const int64_t requests_before = requests_.fetch_add(1, std::memory_order_relaxed);
  const int64_t bytes_after = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  Place place(this, bytes);
  if (requests_before == 0) return place;
  if (requests_before >= limits_.requests) {
    return absl::UnavailableError(fmt::format(
        "The server is busy: {} {} are under way and the limit is {}; nothing was done, try again",
        requests_before, what_, limits_.requests));
  }
  if (bytes_after > limits_.bytes) {
    return absl::UnavailableError(fmt::format(
        "The server is busy: {} of {} bytes are under way, with this one's {} bytes {}, and the limit is {}; "
        "nothing was done, try again",
        what_, bytes_after - bytes, bytes, bytes_after, limits_.bytes));
  }
  return place;
}

double Admission::Load() const {
  const auto share = [](const std::atomic<int64_t>& taken, int64_t limit) {
    return static_cast<double>(taken.load(std::memory_order_relaxed)) / static_cast<double>(limit);
  };
  return std::min(1.0, std::max(share(requests_, limits_.requests), share(bytes_, limits_.bytes)));
}

}  // namespace sonde

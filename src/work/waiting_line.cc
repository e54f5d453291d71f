#include "work/waiting_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace sonde {
namespace {

absl::Status Check(absl::Duration waited, absl::Duration wait_max) {
  if (waited <= wait_max) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "The server is busy: requests wait for {} ms, and the limit is {} ms; nothing was done, try "
      "again",
      absl::ToInt64Milliseconds(waited), absl::ToInt64Milliseconds(wait_max)));
}

}  // namespace

absl::Duration WaitRules::WaitMax(absl::Duration now) const {
  const bool is_overloaded = now - last_empty_ > limits_.wait;
  return is_overloaded ? std::min(limits_.wait_when_overloaded, limits_.wait) : limits_.wait;
}

absl::Status WaitRules::CheckRoom(size_t waiting) const {
  if (waiting < limits_.waiting) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "The server is busy: {} requests are waiting, and that is the limit; nothing was done, try again",
      limits_.waiting));
}

absl::Status WaitRules::CheckWait(absl::Duration now, absl::Duration first_since) const {
  return Check(now - first_since, WaitMax(now));
}

absl::Status WaitRules::CheckTurn(absl::Duration now, absl::Duration since, absl::Time deadline) const {
  if (absl::Now() >= deadline)
    return absl::DeadlineExceededError("The deadline passed before the request's turn came");
  return Check(now - since, WaitMax(now));
}

}  // namespace sonde

#include "series/http/query_memory.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::series {

absl::Status QueryMemory::Hold(int64_t more_bytes) {
  const absl::MutexLock lock(&mutex_);
  const int64_t bytes = bytes_ + more_bytes;
  const int64_t bytes_max = admission_->limits().bytes;
  if (more_bytes > 0 && bytes > bytes_max) {
    return absl::InvalidArgumentError(fmt::format(
        "the answer needs {} bytes of memory or more, and there are {} for all requests, a quarter "
        "of the server's --memory: ask for less at a time (limit, every, fields, a shorter time)",
        bytes, bytes_max));
  }
  if (!place_.has_value()) {
    absl::StatusOr<Admission::Place> place = admission_->Admit(0);
    if (!place.ok()) return place.status();
    place_ = *std::move(place);
  }
  absl::Status status = place_->Resize(bytes);
  if (status.ok()) bytes_ = bytes;
  return status;
}

absl::Status AnswerText::Append(std::string part) {
  bytes_ += part.size();
  if (absl::Status status = held_.Add(static_cast<int64_t>(part.capacity())); !status.ok()) return status;
  parts_.push_back(std::move(part));
  return absl::OkStatus();
}

bool AnswerText::Next(std::string* part) {
  if (parts_.empty()) return false;
  if (part->empty()) {
    *part = std::move(parts_.front());
  } else {
    part->append(parts_.front());
  }
  parts_.pop_front();
  if (parts_.empty()) held_.Clear();
  return true;
}

}  // namespace sonde::series

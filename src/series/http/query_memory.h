// The memory of a question that came over HTTP: that of its query, and the text of its answer until it is
// sent.  From a MiB on it counts with the bodies of requests (IngestService::Admit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/admission.h"
#include "rows/held_memory.h"

namespace sonde::series {

// Threads: all functions may be called at once.
class QueryMemory {
 public:
  // `admission` must outlive it.
  explicit QueryMemory(Admission* admission) : admission_(admission) {}

  // As Query::hold.  UNAVAILABLE: there is no room now; INVALID_ARGUMENT: more than there ever is.
  absl::Status Hold(int64_t more_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Admission* const admission_;
  absl::Mutex mutex_;
  std::optional<Admission::Place> place_ ABSL_GUARDED_BY(mutex_);  // when there was something
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A long text, in parts, each of which is freed when it is taken.  Not for several threads.
class AnswerText {
 public:
  // A part of so many bytes is worth being one.
  static constexpr size_t kPartBytes = 256 << 10;

  explicit AnswerText(std::shared_ptr<QueryMemory> memory)
      : memory_(std::move(memory)),
        hold_([this](int64_t more_bytes) { return memory_->Hold(more_bytes); }),
        held_(hold_) {}

  // Puts `part` behind the others; errors as QueryMemory::Hold.
  absl::Status Append(std::string part);
  size_t bytes() const { return bytes_; }
  bool IsEmpty() const { return parts_.empty(); }
  // As HttpResponse::stream.
  bool Next(std::string* part);

 private:
  const std::shared_ptr<QueryMemory> memory_;
  const std::function<absl::Status(int64_t)> hold_;
  rows::HeldMemory held_;
  std::deque<std::string> parts_;
  size_t bytes_ = 0;  // of all, also of those that were taken
};

}  // namespace sonde::series

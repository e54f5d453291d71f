// What bounds the work on one value, and its size: rows may hold values of many megabytes.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "sql/function/call.h"

namespace sonde::sql {

// Asked before a value of so many bytes is made.  Not OK: the statement ends with that error.
inline absl::Status AskForRoom(const Call& call, size_t bytes) {
  if (bytes <= kLargeValueBytes || call.facts().hold == nullptr) return absl::OkStatus();
  return call.facts().hold(bytes);
}

// Counts work, and asks now and then whether the statement shall go on.
class WorkMeter {
 public:
  // Adds the work of going over so many bytes.  Not OK: the statement ends with that error.
  absl::Status Add(const Call& call, size_t bytes) {
    bytes_ += bytes;
    if (bytes_ < kBytesBetweenQuestions) return absl::OkStatus();
    bytes_ = 0;
    return call.facts().interrupted == nullptr ? absl::OkStatus() : call.facts().interrupted();
  }

 private:
  static constexpr size_t kBytesBetweenQuestions = 1 << 20;  // about a millisecond

  size_t bytes_ = 0;
};

}  // namespace sonde::sql

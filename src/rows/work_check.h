// Asks now and then whether a query is to go on.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace sonde::rows {

// Asked often, by one thread.  An answer that is not OK (such as CANCELLED) ends the query with that error.
// Unset: nobody interrupts the query.
using Interrupted = std::function<absl::Status()>;

// Not for several threads.
class WorkCheck {
 public:
  // `interrupted` must outlive this.
  explicit WorkCheck(const Interrupted& interrupted) : interrupted_(interrupted) {}

  // Called before work that takes about `steps` times 10 ns.  Not OK: the query ends with that error.
  absl::Status Step(size_t steps) {
    if (!interrupted_) return absl::OkStatus();
    steps_ += steps;
    if (steps_ < kStepsBetweenQuestions) return absl::OkStatus();
    steps_ = 0;
    return interrupted_();
  }

 private:
  static constexpr size_t kStepsBetweenQuestions = 16'384;

  const Interrupted& interrupted_;
  size_t steps_ = 0;
};

}  // namespace sonde::rows

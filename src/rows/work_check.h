// Asks now and then whether a query is to go on.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace sonde::rows {

// Asked often, by one thread; not OK (CANCELLED) ends the query with that.  Unset: nobody interrupts it.
using Interrupted = std::function<absl::Status()>;

// Not for several threads.
class WorkCheck {
 public:
  // `interrupted` must outlive this.
  explicit WorkCheck(const Interrupted& interrupted) : interrupted_(interrupted) {}

  // Before work that takes about `steps` times 10 ns.  Not OK: the query ends with that.
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

// What a request's filter may cost, and when its work is looked at.
//
// Two things a filter of 20 KiB could otherwise make expensive without bound: a regex that defeats RE2's
// automaton (then every byte of a text costs a walk through the program), and interleaves in a chain, each of
// which multiplies the cells.  RE2 as Debian ships it does not tell when its automaton gave up, so matching
// is measured in CPU time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace sonde {

struct FilterLimits {
  // CPU time of one match of one regex.  RE2 cannot be interrupted: a match that looks like taking longer,
  // from what pieces of the text took, is refused.
  int64_t match_cpu_ms_max = 1'000;
  // CPU time of all matches of a request.
  int64_t request_match_cpu_ms_max = 60'000;
  // Interleaves may make so many cells of a row, or so many times the row's own, whichever is more.
  size_t interleaved_cells_max = size_t{1} << 20;
  size_t interleaved_cells_per_cell_max = 4;
};

// CPU time of the calling thread.
int64_t ThreadCpuNanos();

// One per request and thread.  Not thread-safe.
// Once something was refused, everything after is, and status() stays: RESOURCE_EXHAUSTED with the limit and
// the value, or what `interrupted` answered.
class FilterBudget {
 public:
  // `interrupted` is asked every kUnitsPerCheck units of work: not OK (DEADLINE_EXCEEDED, CANCELLED) ends the
  // filter.
  explicit FilterBudget(FilterLimits limits = {}, std::function<absl::Status()> interrupted = {},
                        std::function<int64_t()> cpu_nanos = ThreadCpuNanos)
      : limits_(limits), interrupted_(std::move(interrupted)), cpu_nanos_(std::move(cpu_nanos)) {}

  // A unit is a few nanoseconds: a step of a loop over cells, or a comparison of some bytes.
  static constexpr uint64_t kUnitsPerCheck = 1'000'000;

  [[nodiscard]] bool Work(uint64_t units) {
    if (units < until_check_units_) {
      until_check_units_ -= units;
      return true;
    }
    return Check();
  }

  // Measuring costs more than most matches: true for one of kMatchesPerSample.
  static constexpr uint64_t kMatchesPerSample = 64;
  bool TakesSample() { return ++match_count_ % kMatchesPerSample == 0; }

  // Now, for measuring; then what the matches took.
  int64_t CpuNanos() const { return cpu_nanos_(); }
  [[nodiscard]] bool ChargeMatches(int64_t cpu_nanos);

  // May a single match go on that will take this long?
  [[nodiscard]] bool AdmitMatch(int64_t expected_cpu_nanos, size_t text_bytes);

  // May interleaves make so many cells of a row that had `row_cells`?
  [[nodiscard]] bool AdmitInterleaved(size_t cells, size_t row_cells);

  const absl::Status& status() const { return status_; }
  int64_t match_cpu_nanos() const { return match_cpu_nanos_; }

 private:
  bool Check();
  bool Refuse(absl::Status status);

  FilterLimits limits_;
  std::function<absl::Status()> interrupted_;
  std::function<int64_t()> cpu_nanos_;
  uint64_t until_check_units_ = kUnitsPerCheck;
  uint64_t match_count_ = 0;
  int64_t match_cpu_nanos_ = 0;
  absl::Status status_;
};

}  // namespace sonde

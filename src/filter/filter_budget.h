// What a request's filter may cost, and when its work is looked at.
//
// A filter of 20 KiB could otherwise take time and memory without bound: a regex whose automaton never stops
// growing, thousands of filters on thousands of cells, interleaves in a chain, each of which multiplies the
// cells.  Time is CPU time, as what a step costs differs too much; it is looked at every so many units of
// work, and whenever an automaton has filled its memory (regex_matcher.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace sonde {

// A comparison of this many bytes is a unit of work (FilterBudget::Work).
inline constexpr size_t kComparedBytesPerUnit = 16;

struct FilterLimits {
  // CPU time for one row: so much, and so much again for each MiB of the row.  (An honest regex takes 2 ms a
  // MiB, a list of a thousand words 20 ms once.)
  int64_t row_cpu_ms = 50;
  int64_t row_cpu_ms_per_mib = 50;
  // CPU time to find out what of a row a filter looks at.
  int64_t planning_cpu_ms = 20;
  // CPU time for all of a request: its planning and its rows.
  int64_t request_cpu_ms_max = 60'000;
  // Copies of cells that are held for a row: so many, and as many as the row has.
  size_t copied_cells_max = 20 * 1024;
  // What comes out of a row may have so many bytes, or so many times the row's own, whichever is more.
  size_t output_bytes_max = 4 << 20;
  size_t output_bytes_per_byte_max = 4;
};

// CPU time of the calling thread.
int64_t ThreadCpuNanos();

// One per request.  Not thread-safe; a row is worked on by one thread.
// Once something was refused, everything after is, and status() stays: RESOURCE_EXHAUSTED with the limit and
// the value, or what `interrupted` answered.
class FilterBudget {
 public:
  // `interrupted` is asked every kUnitsPerCheck units of work: not OK (DEADLINE_EXCEEDED, CANCELLED) ends the
  // filter.
  explicit FilterBudget(FilterLimits limits = {}, std::function<absl::Status()> interrupted = {},
                        std::function<int64_t()> cpu_nanos = ThreadCpuNanos)
      : limits_(limits), interrupted_(std::move(interrupted)), cpu_nanos_(std::move(cpu_nanos)) {}

  // A unit is a few nanoseconds: a step of a loop over cells, or a comparison of some bytes.  So many take
  // about a millisecond.
  static constexpr uint64_t kUnitsPerCheck = 200'000;

  // A budget for what is done once, before the first row, and may be left undone: that it refuses does not
  // end the filter.  What it has taken counts for the request.
  FilterBudget StartPlanning() const;
  void EndPlanning(FilterBudget planning);

  // A row's work begins: what was begun before it is done.
  void StartRow(size_t row_bytes);
  void EndRow();

  [[nodiscard]] bool Work(uint64_t units) {
    if (units < until_check_units_) {
      until_check_units_ -= units;
      return true;
    }
    return Check();
  }

  // Looks at the clock now.  Also to be called before something that may take milliseconds.
  [[nodiscard]] bool Check();
  // A hypervisor that stops a processor charges that to the thread that is on it.  So a step that takes
  // longer than any should does not count, once a row, unless it was said that steps of this row may be long.
  void ExpectLongSteps() { steps_are_long_ = true; }
  // CPU time between the last look at the clock and the one before it; 0: there was none before it in the
  // row, or it does not count.
  int64_t last_step_nanos() const { return last_step_nanos_; }

  // May so many copies of cells be held for a row that has `row_cells`?
  [[nodiscard]] bool AdmitCopies(size_t cells, size_t row_cells);
  // May a row come out with so many bytes?
  [[nodiscard]] bool AdmitOutput(size_t bytes);

  // Ends the filter.  Always false.
  bool Refuse(absl::Status status);

  const absl::Status& status() const { return status_; }
  int64_t request_cpu_nanos() const { return request_cpu_nanos_; }

 private:
  // Reading the clock costs more than many rows: without reason it is read for one of so many.
  static constexpr uint64_t kRowsPerSample = 64;
  // Takes longer than it takes to fill the memory of an automaton that is not large (regex_matcher.cc).
  static constexpr int64_t kStrangeStepNanos = 25'000'000;

  bool CheckRow(int64_t now_nanos);
  void Charge(int64_t nanos);

  FilterLimits limits_;
  std::function<absl::Status()> interrupted_;
  std::function<int64_t()> cpu_nanos_;
  uint64_t until_check_units_ = kUnitsPerCheck;
  uint64_t row_count_ = 0;
  size_t row_bytes_ = 0;
  bool row_is_timed_ = false;
  bool row_is_sample_ = false;
  bool row_was_stopped_ = false;
  bool steps_are_long_ = false;   // of the row
  int64_t row_start_nanos_ = 0;   // if it is timed
  int64_t last_check_nanos_ = 0;  // the same, of the row
  int64_t last_step_nanos_ = 0;
  int64_t request_cpu_nanos_ = 0;
  absl::Status status_;
};

}  // namespace sonde

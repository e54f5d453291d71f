// The budget of a request's filter: how much its work may cost, and when the cost is looked at.
//
// Without a budget, a filter of 20 KiB could take unbounded time and memory: a regex whose automaton never
// stops growing, thousands of filters on thousands of cells, interleaves in a chain, each of which multiplies
// the cells. Time is CPU time, as steps cost too different amounts.  It is looked at after every
// kUnitsPerCheck units of work, and whenever an automaton has filled its memory (regex_matcher.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace sonde {

// A comparison of this many bytes is a unit of work (FilterBudget::Work).
inline constexpr size_t kComparedBytesPerUnit = 16;

struct FilterLimits {
  // CPU time for one row: a fixed part, and a part for each MiB of the row.  (An honest regex takes 2 ms a
  // MiB, a list of a thousand words 20 ms once.)
  int64_t row_cpu_ms = 50;
  int64_t row_cpu_ms_per_mib = 50;
  // CPU time to find out which parts of a row a filter looks at.
  int64_t planning_cpu_ms = 20;
  // CPU time for all of a request: its planning and its rows.
  int64_t request_cpu_ms_max = 60'000;
  // Copies of cells that may be held for a row: this many, and as many as the row has.
  size_t copied_cells_max = 20 * 1024;
  // Bytes that a row's output may have: this many, or so many times the row's own bytes, whichever is more.
  size_t output_bytes_max = 4 << 20;
  size_t output_bytes_per_byte_max = 4;
};

// The CPU time of the calling thread.
int64_t ThreadCpuNanos();

// One per request.  Not for several threads; one thread works on a row.  After the first refusal everything
// is refused, and status() stays: RESOURCE_EXHAUSTED with the limit and the value, or the error of
// `interrupted`.
class FilterBudget {
 public:
  // `interrupted` is asked every kUnitsPerCheck units of work.  Its error (DEADLINE_EXCEEDED, CANCELLED) ends
  // the filter.
  explicit FilterBudget(FilterLimits limits = {}, std::function<absl::Status()> interrupted = {},
                        std::function<int64_t()> cpu_nanos = ThreadCpuNanos)
      : limits_(limits), interrupted_(std::move(interrupted)), cpu_nanos_(std::move(cpu_nanos)) {}

  // A unit is a few nanoseconds: a step of a loop over cells, or a comparison of some bytes.  This many units
  // take about a millisecond.
  static constexpr uint64_t kUnitsPerCheck = 200'000;

  // A budget for work that is done once, before the first row, and may be left undone: its refusal does not
  // end the filter.  The work's cost counts for the request.
  FilterBudget StartPlanning() const;
  void EndPlanning(FilterBudget planning);

  // Begins a row's work, and ends that of the row before.
  void StartRow(size_t row_bytes);
  void EndRow();

  [[nodiscard]] bool Work(uint64_t units) {
    if (units < until_check_units_) {
      until_check_units_ -= units;
      return true;
    }
    return Check();
  }

  // Looks at the clock now.  To be called also before a step that may take milliseconds.
  [[nodiscard]] bool Check();
  // Lets steps of this row be long.  A hypervisor that stops a processor charges the pause to the thread that
  // is on it.  So once a row a step that takes longer than any step should does not count, unless this was
  // called.
  void ExpectLongSteps() { steps_are_long_ = true; }
  // CPU time between the last two looks at the clock.  It is 0 if there was only one in the row, or if the
  // step does not count.
  int64_t last_step_nanos() const { return last_step_nanos_; }

  // Whether the row, which has `row_cells`, may hold `cells` copies.
  [[nodiscard]] bool AdmitCopies(size_t cells, size_t row_cells);
  // Whether a row's output may have this many bytes.
  [[nodiscard]] bool AdmitOutput(size_t bytes);

  // Ends the filter.  Always returns false.
  bool Refuse(absl::Status status);

  const absl::Status& status() const { return status_; }
  int64_t request_cpu_nanos() const { return request_cpu_nanos_; }

 private:
  // The clock is read for one row in this many, unless there is a reason to read it, as a reading costs more
  // than many rows.
  static constexpr uint64_t kRowsPerSample = 64;
  // A step of this length takes longer than to fill the memory of an automaton that is not large
  // (regex_matcher.cc).
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
  bool steps_are_long_ = false;   // in this row
  int64_t row_start_nanos_ = 0;   // if the row is timed
  int64_t last_check_nanos_ = 0;  // the last look at the clock in this row, if the row is timed
  int64_t last_step_nanos_ = 0;
  int64_t request_cpu_nanos_ = 0;
  absl::Status status_;
};

}  // namespace sonde

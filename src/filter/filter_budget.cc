#include "filter/filter_budget.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr double kBytesPerMib = 1 << 20;

}  // namespace

int64_t ThreadCpuNanos() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

bool FilterBudget::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  until_check_units_ = 0;  // so that every later call of Work comes to Check
  return false;
}

void FilterBudget::StartRow(size_t row_bytes) {
  row_bytes_ = row_bytes;
  row_is_sample_ = ++row_count_ % kRowsPerSample == 0;
  row_is_timed_ = row_is_sample_;
  row_was_stopped_ = steps_are_long_ = false;
  if (row_is_timed_) row_start_nanos_ = last_check_nanos_ = cpu_nanos_();
}

void FilterBudget::EndRow() {
  if (!row_is_timed_) return;
  row_is_timed_ = false;
  const int64_t nanos = cpu_nanos_() - row_start_nanos_;
  // A row that takes long is timed anyway: only short ones stand for others.
  const bool is_short = nanos < kNanosPerMilli;
  Charge(row_is_sample_ && is_short ? nanos * static_cast<int64_t>(kRowsPerSample) : nanos);
}

FilterBudget FilterBudget::StartPlanning() const {
  FilterBudget planning({.row_cpu_ms = limits_.planning_cpu_ms, .row_cpu_ms_per_mib = 0}, interrupted_,
                        cpu_nanos_);
  planning.StartRow(0);
  return planning;
}

void FilterBudget::EndPlanning(FilterBudget planning) {
  planning.EndRow();
  Charge(planning.request_cpu_nanos_);
}

void FilterBudget::Charge(int64_t nanos) {
  request_cpu_nanos_ += nanos;
  if (request_cpu_nanos_ <= limits_.request_cpu_ms_max * kNanosPerMilli) return;
  (void)Refuse(absl::ResourceExhaustedError(
      fmt::format("the filter took {} ms of CPU time, a request's may take {} ms",
                  request_cpu_nanos_ / kNanosPerMilli, limits_.request_cpu_ms_max)));
}

bool FilterBudget::Check() {
  if (!status_.ok()) return false;
  if (interrupted_) {
    absl::Status status = interrupted_();
    if (!status.ok()) return Refuse(std::move(status));
  }
  until_check_units_ = kUnitsPerCheck;
  const int64_t now_nanos = cpu_nanos_();
  if (!row_is_timed_) row_start_nanos_ = last_check_nanos_ = now_nanos;
  row_is_timed_ = true;
  // An automaton may take half of the time until it is looked at: the next step may take as long as the last.
  last_step_nanos_ = now_nanos - std::exchange(last_check_nanos_, now_nanos);
  if (last_step_nanos_ >= kStrangeStepNanos && !steps_are_long_ && !row_was_stopped_) {
    row_was_stopped_ = true;
    row_start_nanos_ += std::exchange(last_step_nanos_, 0);
  }
  return CheckRow(now_nanos);
}

bool FilterBudget::CheckRow(int64_t now_nanos) {
  const double mib = static_cast<double>(row_bytes_) / kBytesPerMib;
  const int64_t limit_ms =
      limits_.row_cpu_ms + static_cast<int64_t>(static_cast<double>(limits_.row_cpu_ms_per_mib) * mib);
  const int64_t nanos = now_nanos - row_start_nanos_;
  if (nanos + last_step_nanos_ <= limit_ms * kNanosPerMilli) return true;
  return Refuse(absl::ResourceExhaustedError(fmt::format(
      "the filter took {} ms of CPU time for a row of {} bytes, {} ms of them for its last step, and was not "
      "done; it may take {} ms",
      nanos / kNanosPerMilli, row_bytes_, last_step_nanos_ / kNanosPerMilli, limit_ms)));
}

bool FilterBudget::AdmitCopies(size_t cells, size_t row_cells) {
  if (!status_.ok()) return false;
  const size_t cells_max = limits_.copied_cells_max + row_cells;
  if (cells <= cells_max) return true;
  return Refuse(absl::ResourceExhaustedError(
      fmt::format("the filter makes {} or more copies of cells of a row of {} cells, at most {} are allowed",
                  cells, row_cells, cells_max)));
}

bool FilterBudget::AdmitOutput(size_t bytes) {
  if (!status_.ok()) return false;
  const size_t bytes_max = std::max(limits_.output_bytes_max, row_bytes_ * limits_.output_bytes_per_byte_max);
  if (bytes <= bytes_max) return true;
  return Refuse(absl::ResourceExhaustedError(
      fmt::format("the filter makes {} bytes of a row of {} bytes, at most {} are allowed", bytes, row_bytes_,
                  bytes_max)));
}

}  // namespace sonde

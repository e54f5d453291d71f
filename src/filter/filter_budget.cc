#include "filter/filter_budget.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

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

bool FilterBudget::Check() {
  if (!status_.ok()) return false;
  if (interrupted_) {
    absl::Status status = interrupted_();
    if (!status.ok()) return Refuse(std::move(status));
  }
  until_check_units_ = kUnitsPerCheck;
  return true;
}

bool FilterBudget::ChargeMatches(int64_t cpu_nanos) {
  match_cpu_nanos_ += cpu_nanos;
  if (!status_.ok()) return false;
  if (match_cpu_nanos_ <= limits_.request_match_cpu_ms_max * kNanosPerMilli) return true;
  return Refuse(absl::ResourceExhaustedError(
      fmt::format("the filter's regular expressions took {} ms of CPU time, a request may take {} ms",
                  match_cpu_nanos_ / kNanosPerMilli, limits_.request_match_cpu_ms_max)));
}

bool FilterBudget::AdmitMatch(int64_t expected_cpu_nanos, size_t text_bytes) {
  if (!status_.ok()) return false;
  if (expected_cpu_nanos <= limits_.match_cpu_ms_max * kNanosPerMilli) return true;
  return Refuse(absl::ResourceExhaustedError(fmt::format(
      "matching {} bytes with one of the filter's regular expressions would take about {} ms of CPU "
      "time, a match may take {} ms",
      text_bytes, expected_cpu_nanos / kNanosPerMilli, limits_.match_cpu_ms_max)));
}

bool FilterBudget::AdmitInterleaved(size_t cells, size_t row_cells) {
  if (!status_.ok()) return false;
  const size_t cells_max =
      std::max(limits_.interleaved_cells_max, row_cells * limits_.interleaved_cells_per_cell_max);
  if (cells <= cells_max) return true;
  return Refuse(absl::ResourceExhaustedError(fmt::format(
      "the filter's interleaves make {} or more cells of a row of {} cells, at most {} are allowed", cells,
      row_cells, cells_max)));
}

}  // namespace sonde

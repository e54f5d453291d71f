// How a query is to be evaluated, and what it has read.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "work/idle_workers.h"

namespace sonde::promql {

struct EvaluateSettings {
  int64_t start_millis = 0;
  int64_t end_millis = 0;
  int64_t step_millis = 0;  // 0: an instant query at start
  int64_t lookback_millis = 300'000;
  int64_t subquery_step_millis = 60'000;  // of [R:]
  // Values that are in memory at once.
  int64_t samples_max = 50'000'000;
  // Asked again and again, by several threads at once where there are idle workers; an error ends the query with it.
  std::function<absl::Status()> interrupted;
  // Told how many more bytes are held than ever before; an error ends the query.
  std::function<absl::Status(int64_t)> hold;
  IdleWorkers* idle_workers = nullptr;  // null: one thread does all
};

struct QueryStats {
  int64_t samples_read = 0;
  // Those that steps have used: one for each step and selector with a value, all of each window.
  int64_t samples_total = 0;
  int64_t samples_peak = 0;
};

}  // namespace sonde::promql

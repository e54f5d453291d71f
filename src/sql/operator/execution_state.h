// What all operators of one execution share.
//
// Ownership: operators view the statement, which outlives them.
// Threads: as an Execution, one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "model/mutation.h"
#include "model/row_range.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/divided_source.h"
#include "sql/plan/plan.h"
#include "sql/spill/spill_space.h"
#include "table/tables.h"

namespace sonde {
class IdleWorkers;
}  // namespace sonde

namespace sonde::sql {

struct ExecutionState {
  Tables* tables = nullptr;  // null: the query reads no table
  absl::Time deadline = absl::InfiniteFuture();
  EvaluationContext evaluation;
  rows::Interrupted interrupted;  // asks for the deadline, too
  rows::Hold hold;
  const std::vector<RowRange>* scan_ranges =
      nullptr;  // in normal form: what scans read; null: what their plans say
  // Of the histories that UNPACK unpacks, only what lies in the times that this says for the key of their row; unset: all.
  // Places must be kept then.
  std::function<TimeRange(std::string_view row_key)> unpacked_times = {};
  // Points of series from before this are left out; nothing: none are.
  std::optional<int64_t> points_from_micros = {};
  std::function<std::string()> caller;
  // What can be read in parts of a series; null: nothing.  Unset: no series are divided.
  std::function<absl::StatusOr<std::unique_ptr<DividedSource>>(const Plan::SeriesScan& scan)> divide_series =
      {};
  // Rows of tables that scans have read so far.  Any thread may add to it.
  mutable std::atomic<uint64_t> rows_scanned = 0;

  void CountScanned(uint64_t rows) const { rows_scanned.fetch_add(rows, std::memory_order_relaxed); }
  QuerySpill* spill = nullptr;  // null: no rows can be put on disk

  // Whether rows go to disk as the account has refused memory: the query's limit, or what all queries have, is reached.
  bool SpillsAfter(const absl::Status& refused) const {
    return spill != nullptr && (absl::IsResourceExhausted(refused) || absl::IsUnavailable(refused));
  }
};

// A query of a statement, or a subquery of it: the same plan may run for one row around it after the other.
struct QueryScope {
  const ExecutionState* state = nullptr;
  absl::Span<const rows::Batch> outer;  // the rows of the queries around this one, the nearest first
  IdleWorkers* idle_workers = nullptr;  // who may read parts of its tables; null: its own thread does all

  const EvaluationContext* evaluation() const { return &state->evaluation; }
};

// The memory of one operator, told to the account of the query.
class OperatorMemory {
 public:
  OperatorMemory(const ExecutionState& state, std::string_view operator_name)
      : held_(state.hold), operator_name_(operator_name) {}

  // About so many bytes are held now.  RESOURCE_EXHAUSTED: the account refuses them; the text names the operator.
  absl::Status Set(size_t bytes) {
    const auto now = static_cast<int64_t>(bytes);
    if (now == bytes_) return absl::OkStatus();
    const absl::Status status = held_.Add(now - bytes_);
    bytes_ = now;
    return status.ok() ? status : Refused(status);
  }
  // Nothing is held any more.
  void Clear() {
    held_.Clear();
    bytes_ = 0;
  }
  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  absl::Status Refused(const absl::Status& why) const;

  rows::HeldMemory held_;
  const std::string operator_name_;
  int64_t bytes_ = 0;
};

}  // namespace sonde::sql

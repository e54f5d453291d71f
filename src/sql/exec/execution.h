// Executes a bound query: batches of rows, pulled one by one.
//
//   absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(query, parameters, environment);
//   rows::Batch batch;
//   while (*(*execution)->Next(&batch)) ...
//
// Threads: an Execution belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "sql/function/call.h"
#include "sql/plan/plan.h"
#include "sql/spill/spill_space.h"
#include "sql/value/value.h"
#include "table/tables.h"
#include "work/idle_workers.h"

namespace sonde::sql {

struct ExecutionEnvironment {
  Tables* tables = nullptr;  // not owned; null: a query that reads no table
  absl::Time deadline = absl::InfiniteFuture();
  std::function<absl::Status()> interrupted;  // as StatementFacts::interrupted
  rows::Hold hold;                            // the account of memory (rows/held_memory.h)
  std::optional<int64_t> now_micros =
      {};                         // CURRENT_TIMESTAMP of an execution that is resumed; else the clock's
  std::string resume_after = {};  // Execution::ResumePoint of an earlier execution; empty: from the start
  std::function<std::string()> caller = {};  // for observers of full scans: NameOfQuery
  // Not owned; who may read parts of large tables; null: the thread of the execution does all.  With them, `interrupted` and
  // `hold` are each called by one thread at a time, but not always the same one, and between calls of Next, too, until it
  // has said that there are no more rows, or Suspend was called.
  IdleWorkers* idle_workers = nullptr;
  SpillSpace* spill = nullptr;  // not owned; where rows go that the account refuses; null: nowhere
  ViewParameters view_parameters = {};
};

class Execution {
 public:
  virtual ~Execution() = default;
  // Replaces *batch by the next rows; false: there are no more.  Views hold until the next call.
  virtual absl::StatusOr<bool> Next(rows::Batch* batch) = 0;
  // Where an execution can go on behind the last batch that Next gave; nothing: it must begin anew.
  virtual std::optional<std::string> ResumePoint() const = 0;
  virtual int64_t now_micros() const = 0;
  // Gives back what costs others while nobody asks for rows (scans that are open).  The next call of Next takes it again.
  virtual void Suspend() = 0;
  // Rows of tables that were read so far, also those that a filter has dropped.
  virtual uint64_t rows_scanned() const = 0;
  // For EXPLAIN ANALYZE and the slow list: operator by operator, rows, cells, bytes and time.
  virtual std::string Describe() const = 0;
};

// `query` must outlive the execution.  `parameters`: one a parameter of the query, of its type.
// INVALID_ARGUMENT: `resume_after` is no point of this query.
absl::StatusOr<std::unique_ptr<Execution>> Execute(const BoundQuery& query, std::vector<Value> parameters,
                                                   const ExecutionEnvironment& environment);

}  // namespace sonde::sql

// Operators: each gives the rows of one node of a plan, batch after batch.
//
//   std::unique_ptr<Operator> scan = ...;
//   rows::Batch batch;
//   while (*scan->Next(&batch)) ...
//
// Shape: a batch has the columns of the plan's types, in columns of ColumnTypeOf (times are kInt64), and at least one row.
// Order: each operator says which order it gives; those that say nothing keep that of their input.
// Ownership: an operator owns its inputs.  A batch holds until the operator is asked for the next one.
// Threads: a tree of operators belongs to one thread at a time.
// Errors: those of expressions, tables, the account of memory, and of whoever interrupts the statement.  After an error an
//   operator is not asked again.
//
// Places.  Where rows stream (no operator of the tree looks at all of them before it gives the first) an execution can go on
// in another one.  A place is some bytes that say which rows were given; each operator writes its own part and then that
// of its input.  Operators that cannot say so answer `false` to HasPlaces, and so does the whole tree above them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "sql/operator/execution_state.h"

namespace sonde::sql {

class Operator {
 public:
  // `scope` must outlive this.
  Operator(const QueryScope* scope, std::string name) : scope_(scope), name_(std::move(name)) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Replaces *batch by the next rows, at least one; false: there are no more.
  absl::StatusOr<bool> Next(rows::Batch* batch);

  // Says that no more than so many rows will be asked for.
  virtual void LimitRows(size_t /*rows_max*/) {}
  // Gives back what costs others (scans that are open), until Next is called.
  virtual void Suspend() {
    for (const auto& input : inputs_) input->Suspend();
  }
  // Makes it begin anew, for other rows around the query (scope->outer), as if it had never been asked.
  virtual void Restart() {
    for (const auto& input : inputs_) input->Restart();
  }

  // --- Places.
  virtual bool HasPlaces() const { return false; }
  // Called before the first Next, if places will be asked for: remembering them may cost something.
  virtual void KeepPlaces() {
    for (const auto& input : inputs_) input->KeepPlaces();
  }
  // Appends the place behind the first `rows` rows of the last batch.
  virtual void SavePlace(size_t /*rows*/, std::string* /*place*/) const {}
  // Goes on there.  Takes its part from the front of *place.  Called before the first Next.  False: it is no place of this operator.
  [[nodiscard]] virtual bool RestorePlace(std::string_view* /*place*/) { return false; }
  // The key of the row of a table that row `row` of the last batch comes from; empty if it comes from none.
  virtual std::string_view SourceKey(size_t /*row*/) const { return {}; }

  // --- For EXPLAIN.
  const std::string& name() const { return name_; }
  // Finds out about how many rows each operator of the tree will give, before any is asked for one.  Reads a little of tables,
  // for some milliseconds a table.
  void Estimate();
  // Appends a line for each operator of the tree.  `has_run`: with rows, batches, and time (of the operator without its inputs).
  // What was estimated stands at the end.
  void Describe(size_t depth, bool has_run, std::string* text) const;
  // The names of the operators that places depend on: "Limit(Scan())".
  virtual std::string Shape() const;
  uint64_t rows_given() const { return rows_given_; }
  // Adds what a tree of the same plan has counted since the last call.  Its times may be those of other threads.
  void TakeCounts(Operator* other);

 protected:
  // As Next, but *batch is empty, and the batch that it gives may have no rows: then it is asked again.
  virtual absl::StatusOr<bool> Produce(rows::Batch* batch) = 0;
  // About how many rows it will give, by the estimates of its inputs and what the plan says (sql/operator/selectivity.h);
  // nothing: nobody knows.  Here: as many as its only input.
  virtual std::optional<double> EstimateRows() const {
    return inputs_.size() == 1 ? inputs_[0]->estimated_rows_ : std::nullopt;
  }
  std::optional<double> EstimateOf(size_t number) const { return inputs_[number]->estimated_rows_; }
  // What Describe adds: "3 ranges".
  virtual std::string Details(bool /*has_run*/) const { return {}; }

  // As TakeCounts, of what Details tells.  `other`: an operator of the same class.
  virtual void TakeOwnCounts(Operator* /*other*/) {}

  void AddInput(std::unique_ptr<Operator> input) { inputs_.push_back(std::move(input)); }
  Operator& input(size_t number = 0) const { return *inputs_[number]; }
  size_t inputs() const { return inputs_.size(); }
  const QueryScope& scope() const { return *scope_; }
  const ExecutionState& state() const { return *scope_->state; }
  const EvaluationContext* evaluation() const { return scope_->evaluation(); }
  absl::Span<const rows::Batch> outer() const { return scope_->outer; }
  // OK, or the error of whoever interrupts the statement.
  absl::Status CheckInterrupted() const {
    return state().interrupted ? state().interrupted() : absl::OkStatus();
  }

 private:
  using Clock = std::chrono::steady_clock;

  const QueryScope* const scope_;
  const std::string name_;
  std::vector<std::unique_ptr<Operator>> inputs_;
  uint64_t rows_given_ = 0;
  uint64_t batches_given_ = 0;
  Clock::duration time_{};  // with that of the inputs
  bool is_estimated_ = false;
  std::optional<double> estimated_rows_;
};

using OperatorPtr = std::unique_ptr<Operator>;

}  // namespace sonde::sql

// A call of a function for the rows of a batch, as a kernel sees it.
//
// A kernel takes a column for each argument, all of rows() rows, and gives the column of the results.  It takes
// memory for the results from arena().  A row whose arguments make no sense is told by Fail, and its result is
// NULL then; the kernel goes on with the next row.  Kernels see rows that are NULL and must not fail for these.
// RowKernel (row_kernel.h) makes a kernel of a function of one row, and is what most functions use.
//
// Threads: a call belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "sql/value/type.h"

namespace sonde::sql {

// The texts that VIEW_PARAMETERS gives, by name.  A parameter that is NULL is not among them.
using ViewParameters = std::map<std::string, std::string, std::less<>>;

// The facts of a statement that functions ask for.
struct StatementFacts {
  int64_t now_micros = 0;                           // CURRENT_TIMESTAMP: one time for the whole statement
  absl::TimeZone time_zone = absl::UTCTimeZone();   // where a function gets none
  uint64_t seed = 0;                                // of RAND
  const ViewParameters* view_parameters = nullptr;  // not owned; null: there are none
  // Asked by work that takes long, about once a millisecond.  Not OK (CANCELLED, DEADLINE_EXCEEDED): the
  // statement ends with that error.  Unset: nobody interrupts the statement.
  std::function<absl::Status()> interrupted;
  // Asked before a value of more than kLargeValueBytes is made.  Not OK: the statement ends with that error.
  std::function<absl::Status(size_t bytes)> hold;
};

// A lambda that is an argument of a call (ARRAY_FILTER(a, e -> e > 1)).
class Lambda {
 public:
  virtual ~Lambda() = default;
  // Evaluates the body for `rows` rows.  `arguments`: a column for each parameter.  `outer_rows`: for each of the rows
  // the row of the call that it belongs to, whose other columns the body may name.
  // The result holds as long as the memory of the call's arena.
  virtual absl::StatusOr<ColumnView> Evaluate(absl::Span<const ColumnView> arguments,
                                              absl::Span<const size_t> outer_rows) = 0;
};

// What a call keeps from batch to batch (a compiled pattern, a parsed path).
class CallState {
 public:
  virtual ~CallState() = default;
};

class Call {
 public:
  // What does not change from batch to batch.  Nothing is owned.
  struct Site {
    const std::vector<Type>* argument_types = nullptr;
    const Type* result_type = nullptr;
    bool is_safe = false;  // SAFE.F(...): a row that fails is NULL
    // By argument: its column is the same constant in every batch, as that of a literal or a parameter.  May be empty.
    std::vector<bool> is_fixed;
    std::vector<std::unique_ptr<Lambda>> lambdas;  // one an argument; null: the argument is a value
    std::unique_ptr<CallState> state;
  };

  Call(const StatementFacts* facts, Site* site, Arena* arena, size_t rows)
      : facts_(*facts), site_(site), arena_(arena), rows_(rows) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  size_t rows() const { return rows_; }
  Arena* arena() { return arena_; }
  const StatementFacts& facts() const { return facts_; }
  const Type& argument_type(size_t argument) const { return (*site_->argument_types)[argument]; }
  const Type& result_type() const { return *site_->result_type; }
  bool is_safe() const { return site_->is_safe; }
  bool is_fixed(size_t argument) const {
    return argument < site_->is_fixed.size() && site_->is_fixed[argument];
  }
  Lambda* lambda(size_t argument) { return site_->lambdas[argument].get(); }

  // The state of this call, made at its first use.  A call has one type of state.
  template <typename State>
  State& state() {
    if (site_->state == nullptr) site_->state = std::make_unique<State>();
    return static_cast<State&>(*site_->state);
  }

  // Tells that a row has no result.  In a call that is safe the row is NULL then; else the statement ends with the
  // error of the first such row.  Errors that are not of the row's values (CANCELLED, RESOURCE_EXHAUSTED, ...) end
  // the statement in any case.
  void Fail(size_t row, absl::Status why) {
    const bool is_of_values =
        why.code() == absl::StatusCode::kOutOfRange || why.code() == absl::StatusCode::kInvalidArgument;
    if (site_->is_safe && is_of_values) return;
    if (status_.ok() || (row < failed_row_ && is_of_values)) {
      status_ = std::move(why);
      failed_row_ = row;
    }
  }
  // OK: no row failed, or the call is safe.
  const absl::Status& status() const { return status_; }
  // The row that status() is of, if it is not OK.
  size_t failed_row() const { return failed_row_; }

 private:
  const StatementFacts& facts_;
  Site* const site_;
  Arena* const arena_;
  const size_t rows_;
  absl::Status status_;
  size_t failed_row_ = 0;
};

using Kernel = ColumnView (*)(Call& call, absl::Span<const ColumnView> arguments);

// Values of more bytes are asked for first (StatementFacts::hold).
constexpr size_t kLargeValueBytes = 1 << 20;

}  // namespace sonde::sql

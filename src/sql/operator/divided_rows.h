// Rows of a scan that is divided: idle processors read parts of the table, each by operators of its own, and fold
// them; what they fold is taken in the order of the rows.
//
//   DividedRows rows(scope, plan, build, make_fold);
//   while (*rows.NextOfFirst(&batch)) ...            // only where rows are to come at once
//   while (PartFold* part = *rows.NextPart(this)) ... part's rows are done ...
//   while (*rows.HasDivided() ...) *rows.NextOfRest(&batch)
//
// Order: as one thread gives the rows.  A part that ends with an error, whatever it is, is forgotten: the rows from there on are
//   left, and who reads them alone meets the error, or none, where one thread would.
// Ownership: a fold belongs to this, until the next call.
// Threads: all functions belong to one thread; folds are made and filled by any, each by one at a time.
// Cost: a look at the directory of pages where the table is not worth dividing.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "model/divided_ranges.h"
#include "model/row_range.h"
#include "rows/batch.h"
#include "sql/operator/divided_source.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"
#include "work/idle_workers.h"

namespace sonde::sql {

// What becomes of the rows of a part.
class PartFold {
 public:
  virtual ~PartFold() = default;
  // `from` gave the batch.  Errors end the part, and whoever takes the parts never meets them.
  virtual absl::Status Add(const Operator& from, const rows::Batch& batch) = 0;
  // Forgets all rows, and what it holds for them.
  virtual void Clear() = 0;
};

// Makes the operators of a plan (sql/exec/build.h).
using BuildPart = std::function<absl::StatusOr<OperatorPtr>(const QueryScope* scope, const Plan& plan)>;

// Whether an expression gives the same whatever thread evaluates it: no part of it is volatile, nor a query.
bool IsSameOnAllThreads(const Expression& expression);

class DividedRows {
 public:
  using MakeFold = std::function<absl::StatusOr<std::unique_ptr<PartFold>>(const QueryScope* scope)>;

  // Whether the rows of `plan` can be read in parts: a scan in the order of keys, of a table or a series, below operators that look at one row at a
  // time, whose expressions give the same on every thread; and the scope has helpers.
  static bool Fits(const QueryScope& scope, const Plan& plan);

  // `plan` fits.  `scope` and `plan` must outlive this.  `keeps_places`: operators of parts are asked for places.
  DividedRows(const QueryScope* scope, const Plan& plan, BuildPart build, MakeFold make_fold,
              bool keeps_places = false);
  ~DividedRows();
  DividedRows(const DividedRows&) = delete;
  DividedRows& operator=(const DividedRows&) = delete;

  // The rows of the first part, as they are read, by the thread that asks: nobody reads other parts until it is over.  Called before
  // NextPart, if at all.  False: there are no more of them, or nothing was divided.
  absl::StatusOr<bool> NextOfFirst(rows::Batch* batch);
  // The operators that gave the last batch of NextOfFirst or NextOfRest.
  const Operator* alone() const { return alone_ == nullptr ? nullptr : alone_->rows.get(); }
  // Tells operators of the plan what those of NextOfFirst or NextOfRest have counted.
  void TakeCountsOfAlone(Operator* whole) {
    if (alone_ != nullptr) whole->TakeCounts(alone_->rows.get());
  }
  // The next part that is done; null: no more are, and what is left is given by NextOfRest, if HasDivided; else nothing was
  // divided, and the plan is to be run as a whole.  `whole`: the operators of the plan, which are told what the part has counted.
  absl::StatusOr<PartFold*> NextPart(Operator* whole);
  bool HasDivided() const { return parts_done_ > 0 || divided_once_; }
  // No more parts are wanted; those that were not taken are left.  The one that was taken last holds until the next call of
  // NextPart or NextOfRest.
  void EndParts();
  // EndParts, and as Operator::Suspend.
  void Suspend() {
    EndParts();
    if (alone_ != nullptr) alone_->rows->Suspend();
  }
  // The next rows behind the parts that were taken; false: there are no more.
  absl::StatusOr<bool> NextOfRest(rows::Batch* batch);

  // "12 parts, 5 by helpers"; empty: nothing was divided.
  std::string Text() const;

 private:
  // What a thread needs to read and fold a part.
  struct Reader {
    ExecutionState state;
    QueryScope scope;
    std::vector<RowRange> ranges;
    OperatorPtr rows;
    std::unique_ptr<PartFold> fold;
    const PartsInOrder* all = nullptr;
    size_t part = 0;
  };

  absl::StatusOr<std::unique_ptr<Reader>> MakeReader(bool folds) const;
  absl::StatusOr<bool> NextOfAlone(rows::Batch* batch);
  absl::StatusOr<std::unique_ptr<Reader>> TakeReader() ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveBack(std::unique_ptr<Reader> reader) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status DoPart(const PartsInOrder& all, size_t part);
  // Finds what is to be read, once.
  void Begin();
  // Divides what is left; false: it is not worth while.
  bool Divide();
  // Begins the parts from next_ on.
  void BeginParts();
  void NoteDivided();

  const QueryScope* const scope_;
  const Plan& plan_;
  const Plan& source_;  // the scan that is divided: kScan or kSeries
  const BuildPart build_;
  const MakeFold make_fold_;
  const bool keeps_places_;
  std::atomic<std::thread::id> own_thread_;  // that takes the parts; it may be another one for each

  bool has_begun_ = false;
  bool divided_once_ = false;
  bool is_over_ = false;  // no more parts
  bool reads_rest_ = false;
  bool reads_all_ = false;
  std::unique_ptr<DividedSource> series_;  // of a series that can be divided
  std::vector<RowRange> left_;             // behind the parts at hand
  DividedRanges divided_;
  std::vector<std::unique_ptr<Reader>> done_;
  std::unique_ptr<Reader> taken_;
  std::unique_ptr<Reader> alone_;  // of the first part, or of the rest
  size_t next_ = 0;                // of divided_: the first that was not taken
  size_t parts_begin_ = 0;         // of divided_: the first part of all_
  size_t parts_done_ = 0;
  uint64_t rows_read_ = 0;
  std::atomic<size_t> parts_of_helpers_ = 0;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Reader>> readers_ ABSL_GUARDED_BY(mutex_);  // those without a part
  std::unique_ptr<PartsInOrder> all_;  // the first to go: its helpers use all the others
};

}  // namespace sonde::sql

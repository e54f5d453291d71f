// Writes of one row each, committed together: all that have come while one commit is under way are the next
// one.  Where each is committed by a thread of its own, that thread is woken, sleeps until the disk is done
// and is woken again, three changes of threads for each write.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "table/tables.h"
#include "work/waiting_line.h"
#include "work/worker_pool.h"

namespace sonde {

// Threads: all functions may be called at once.
class RowCommitter {
 public:
  struct Row {
    TableSchemaRef schema;
    AuthorizedViewRef view;  // null: the whole table
    RowMutations mutations;  // without a token
  };
  // Told once what became of the row, which views what it keeps.
  using Finish = absl::AnyInvocable<void(const absl::Status&) &&>;

  // `tables` and `workers` must outlive it.
  RowCommitter(Tables* tables, WorkerPool* workers, WaitLimits limits = {});
  // Finishes what was added, or leaves it to `workers`.
  ~RowCommitter();
  RowCommitter(const RowCommitter&) = delete;
  RowCommitter& operator=(const RowCommitter&) = delete;

  // UNAVAILABLE and DEADLINE_EXCEEDED as WorkerPool says, or what Tables::MutateTogether says.
  void Add(Row row, absl::Time deadline, Finish finish);

 private:
  struct Write {
    Row row;
    absl::Time deadline;
    Finish finish;  // empty: it was given to the workers
    absl::Status status;
  };
  void Run();
  // All that wait, up to some; mutex_ is held.
  std::vector<Write> Take();
  void Commit(std::vector<Write>* writes);
  // Of one table and view: a commit.
  static void Apply(Tables* tables, absl::Span<Write* const> writes);
  // Gives to the workers what the others should not wait for: `writes` are of one table and view.
  void ApplyAmongWorkers(absl::Span<Write* const> writes);

  Tables* const tables_;
  WorkerPool* const workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_, down to threads_.
  WaitingLine<Write> line_;
  bool committing_ = false;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sonde

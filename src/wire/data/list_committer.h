// Requests of MutateRows, committed together: those that have come while others were being committed are
// the next commit.
//
// A commit waits for the disk.  Where each request waits by itself, on a thread of its own, all that was made
// of each is in memory until then, and has left the processor's caches when that memory is used again.  Here
// a few threads make edits of one request after the other, in the same memory, and keep the edits only: a
// quarter less of the server's processor time (docs/decisions/0017-requests-together.md).
//
// Only what never waits for others comes together: plain messages (mutate_rows_message.h) of cells with times
// of their own, for rows that have room, of tables whose changes are not logged.  All else is committed among
// the workers, each request by itself.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "rpc/message_reader.h"
#include "table/tables.h"
#include "work/waiting_line.h"
#include "work/worker_pool.h"

namespace sonde {

// Threads: all functions may be called at once.
class ListCommitter {
 public:
  struct Request {
    rpc::MessageBytes bytes;  // google.bigtable.v2.MutateRowsRequest
    Admission::Place place;
    absl::Time deadline;
    // Whether nobody waits for it any more: as of Tables::MutateRows.
    std::function<absl::Status()> interrupted;
    // Told once: the status of each entry, or why there are none; and its room, to be kept or not.
    absl::AnyInvocable<void(absl::StatusOr<std::vector<absl::Status>>, Admission::Place) &&> finish;
  };

  // `tables` and `workers` must outlive it.  `commits_max`: that are under way at a time.
  ListCommitter(Tables* tables, WorkerPool* workers, int commits_max, WaitLimits limits = {});
  // Finishes what was added, or leaves it to `workers`.
  ~ListCommitter();
  ListCommitter(const ListCommitter&) = delete;
  ListCommitter& operator=(const ListCommitter&) = delete;

  // Errors: UNAVAILABLE and DEADLINE_EXCEEDED as WorkerPool says; a message that is none, or has too much in
  // it; no such table or view.
  void Add(Request request);
  // Here, by itself.
  static void Commit(Tables* tables, Request request);

 private:
  struct Opened;
  using Group = std::vector<std::unique_ptr<Opened>>;  // of one table and view
  // Among the workers: commits until nothing waits.  `turn`: not OK, it must not.
  void Run(const absl::Status& turn);
  // What waits, up to some, but for those whose turn comes too late: these are told so.  mutex_ is not held.
  std::vector<Request> Take();
  // Null, and *request is as it was: it goes by itself.
  std::unique_ptr<Opened> Open(Request* request) const;
  void CommitAll(std::vector<Request> requests);
  void CommitGroup(Group group);
  void CommitAmongWorkers(Request request);

  Tables* const tables_;
  WorkerPool* const workers_;
  const int commits_max_;
  std::mutex mutex_;
  std::condition_variable idle_;
  // Guarded by mutex_.
  WaitingLine<Request> line_;
  int running_ = 0;
};

}  // namespace sonde

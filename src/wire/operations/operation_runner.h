// Runs long-running operations, a few at a time, and goes on with them after a restart.
//
// A kind of operation is one function (OperationKind::run), which works from the operation's record alone.  It runs when the
// operation begins, and once more when a later server finds the operation running.  It asks GoesOn now and then, and returns the
// error when it must not go on:
//
//   CANCELLED    somebody has asked for the end.  The function removes what is half made.  The operation ends with the error.
//   UNAVAILABLE  this server ends.  The function leaves everything as a crash would.  The operation is still running on the disk.
//
// A function that waits for the work of others keeps no thread: it says LooksAgain and returns, and is called again
// kBetweenLooks later.
//
// Where several servers share the store, each operation is run by one of them, by a lease (engine/leases.h).  When a server is gone, another
// one goes on with its operations some 20 s later.  A server that cannot reach the store for so long and then can may still run what
// another one goes on with: the functions can bear that, as they bear a crash.
//
// Threads: all functions may be called at once, but for the constructor and the destructor.
#pragma once

#include <google/longrunning/operations.pb.h>
#include <google/protobuf/message.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/leases.h"
#include "wire/operations/operations.h"

namespace sonde {

// An operation as the function that carries it out sees it.  It belongs to that function's thread.
class RunningOperation {
 public:
  // All must outlive this.
  RunningOperation(Operations* operations, OperationRecord record, bool is_resumed,
                   const std::atomic<bool>* is_cancelled, const std::atomic<bool>* is_pausing)
      : operations_(operations),
        record_(std::move(record)),
        is_resumed_(is_resumed),
        is_cancelled_(*is_cancelled),
        is_pausing_(*is_pausing) {}

  const std::string& name() const { return record_.operation.name(); }
  // Whether an earlier server began it.
  bool is_resumed() const { return is_resumed_; }
  // The request and the metadata as they were when it began, or went on.
  template <typename Message>
  Message Request() const {
    Message request;
    record_.request.UnpackTo(&request);
    return request;
  }
  template <typename Message>
  Message Metadata() const {
    Message metadata;
    record_.operation.metadata().UnpackTo(&metadata);
    return metadata;
  }

  // CANCELLED, UNAVAILABLE: see above.
  absl::Status GoesOn();
  // Whether GoesOn has told that the server ends.
  bool was_paused() const { return was_paused_; }
  // The operation is not at its end: what the function returns now does not count.
  void LooksAgain() { looks_again_ = true; }
  bool looks_again() const { return looks_again_; }
  // Changes the metadata.  They are written once a second at most.
  void Tell(const google::protobuf::Message& metadata);
  std::string NewName(std::string_view resource) { return operations_->NewName(resource); }

 private:
  static constexpr absl::Duration kBetweenWrites = absl::Seconds(1);

  Operations* const operations_;
  const OperationRecord record_;
  const bool is_resumed_;
  const std::atomic<bool>& is_cancelled_;
  const std::atomic<bool>& is_pausing_;
  bool was_paused_ = false;
  bool looks_again_ = false;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

struct OperationKind {
  bool is_cancellable = true;
  std::function<OperationEnd(RunningOperation* operation)> run;
};

class OperationRunner {
 public:
  static constexpr size_t kThreads = 4;
  static constexpr size_t kRunningMax = 200;  // operations that run, or wait for their turn
  static constexpr absl::Duration kBetweenLooks = absl::Milliseconds(50);

  // `kinds`: by name (OperationRecord::kind).  Goes on with the operations that run by their records; those of an unknown kind end
  // with ABORTED.  `leases`: between the servers of the store; null: there is one.  Both must outlive this.
  OperationRunner(Operations* operations, std::map<std::string, OperationKind> kinds,
                  Leases* leases = nullptr, absl::Duration hold_every = absl::Seconds(3));
  // As Pause; waits until no function runs any more.
  ~OperationRunner();
  OperationRunner(const OperationRunner&) = delete;
  OperationRunner& operator=(const OperationRunner&) = delete;

  // Begins an operation, of which the kind follows from the type of its metadata.  See Operations::Begin.  RESOURCE_EXHAUSTED:
  // too many run already.  UNAVAILABLE: this server ends.
  absl::Status Begin(std::string_view resource, const google::protobuf::Message& request,
                     const google::protobuf::Message& metadata, const Operations::Commit& commit,
                     google::longrunning::Operation* out);
  // Asks for the end of an operation.  Without effect on one that has ended.  NOT_FOUND, INVALID_ARGUMENT: as Operations::Get.
  // FAILED_PRECONDITION: operations of this kind cannot be cancelled.
  absl::Status Cancel(const std::string& name);
  // Nothing begins any more; what runs is told to stop.
  void Pause();

 private:
  // An operation that runs or waits for its turn.
  struct Turn {
    std::string name;
    bool is_resumed = false;
    std::chrono::steady_clock::time_point not_before;  // of an operation that looks again
    std::atomic<bool> is_cancelled = false;
  };

  void Work();
  // The first turn that may run now, taken from the line; null: none may.
  Turn* TakeTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long no turn will be able to run.
  absl::Duration UntilNextTurn() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether the operation looks again.
  bool RunOne(Turn* turn);
  // Writes the end; tries again as long as the store takes no writes and this server goes on.
  void Finish(const Turn& turn, const OperationEnd& end);
  void Enqueue(std::string name, bool is_resumed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // --- Between several servers.
  static constexpr absl::Duration kFollowEvery = absl::Milliseconds(500);
  // Follows the others' records, holds the leases of what runs here, and goes on with what nobody runs.
  void Share() ABSL_LOCKS_EXCLUDED(mutex_);
  void FollowOnce() ABSL_LOCKS_EXCLUDED(mutex_);
  void HoldOnce() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes the lease of an operation that is about to begin here.
  absl::Status HoldNew(const std::string& name);

  Operations* const operations_;
  const std::map<std::string, OperationKind> kinds_;
  Leases* const leases_;
  const absl::Duration hold_every_;
  std::atomic<bool> is_pausing_ = false;

  absl::Mutex mutex_;
  SteadyCondVar changed_;
  std::map<std::string, std::unique_ptr<Turn>> turns_ ABSL_GUARDED_BY(mutex_);  // by name
  std::deque<Turn*> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t beginning_ ABSL_GUARDED_BY(mutex_) =
      0;  // places that are taken for operations that are being written
  // Operations whose records are being written, and which then run here: Share must not take them for another server's.
  std::set<std::string> comes_here_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> ended_ ABSL_GUARDED_BY(mutex_);  // whose leases are to be given back
  std::thread sharing_;
  std::vector<std::thread> threads_;  // last, as they use the others
};

}  // namespace sonde

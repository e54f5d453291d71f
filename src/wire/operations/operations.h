// The long-running operations of a store, as records that are served from memory.
//
// An operation is durable from the moment of the answer that names it.  One that is done at once is written with its result
// (Done).  One that runs is written when it begins (Begin), now and then while it goes on (Update), and when it ends (Finish);
// wire/operations/operation_runner.h runs it.
//
// Finished operations are kept for kKept, at most kOperationsMax and kBytesMax of them: those that have finished first are
// forgotten first.  A running one is never forgotten.
//
// Names: operations/RESOURCE/operations/NUMBER, where the resource is the one that the operation makes or changes
// (projects/P/instances/I/tables/T).  A number is given once, also by later servers of the store.
//
// Where several servers share the store, each runs its own operations, and learns of the others' by Follow.  What it tells of those is as
// old as the last Follow; an operation that is not found and may have begun since is UNAVAILABLE, so that clients ask again.
//
// Threads: all functions may be called at once.  Done, Begin, Update, RequestCancel, Finish and Delete wait for the disk, the
// others for memory alone.
// Errors of all functions that write: those of the engine.
#pragma once

#include <google/longrunning/operations.pb.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "engine/record_store.h"
#include "wire/operations/operation_record.h"

namespace sonde {

// An operation that another one begins when it ends.
struct NextOperation {
  std::string name;  // from Operations::NewName
  google::protobuf::Any request;
  google::protobuf::Any metadata;
};

// The end of an operation.
struct OperationEnd {
  absl::Status status;             // not OK: the operation's error
  google::protobuf::Any metadata;  // empty: as they were
  google::protobuf::Any response;  // if OK
  std::optional<NextOperation> next = std::nullopt;
};

class Operations {
 public:
  using Operation = google::longrunning::Operation;
  using Message = google::protobuf::Message;

  static constexpr absl::Duration kKept = absl::Hours(24 * 30);
  static constexpr size_t kOperationsMax = 10'000;
  static constexpr size_t kBytesMax = size_t{32} << 20;  // of records
  static constexpr size_t kPageMax = 1'000;
  static constexpr size_t kPageBytesMax = size_t{2} << 20;  // a page has one operation at least

  // Of a store that several servers share: so long after its begin an operation may be unknown to other servers.
  static constexpr absl::Duration kUnknownMax = absl::Seconds(5);

  // Both must outlive this.  `is_shared`: several servers have the store.  DATA_LOSS: a record is damaged.
  static absl::StatusOr<std::unique_ptr<Operations>> Open(RecordStore* store, const Clock* clock,
                                                          bool is_shared = false);

  // Reads what other servers have written since the last call.  Returns the operations that run here and whose end another server was asked
  // for.  Cheap if nothing was written.
  absl::StatusOr<std::vector<std::string>> Follow() ABSL_LOCKS_EXCLUDED(changes_mutex_, mutex_);
  // This server goes on with an operation that another one began.
  void TakeOver(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes an operation that is done, and answers it.  Its kind follows from the type of its metadata.
  absl::Status Done(std::string_view resource, const Message& metadata, const Message& response,
                    Operation* out);

  // Operations of these kinds exclude no others.  The server begins the first by itself.  The second waits for a view that is
  // there, which may be deleted meanwhile.
  static constexpr std::array<std::string_view, 2> kKindsBesideOthers = {"OptimizeRestoredTable",
                                                                         "CreateMaterializedView"};

  // Writes an operation that runs, and answers it.  `commit` writes the changes, with others that belong to the beginning; its
  // error is the answer.  FAILED_PRECONDITION: another operation of the resource runs.
  using Commit = std::function<absl::Status(std::vector<RecordChange> changes)>;
  absl::Status Begin(std::string_view resource, const Message& request, const Message& metadata,
                     const Commit& commit, Operation* out);
  // Returns a name that no operation has had.
  std::string NewName(std::string_view resource);

  RecordStore* store() { return store_; }

  // --- Of a running operation, by the one that runs it.
  // Changes the metadata; `write`: durably.
  absl::Status Update(const std::string& name, const Message& metadata, bool write);
  // Ends the operation, and begins the next one if there is one, in one step.
  absl::Status Finish(const std::string& name, const OperationEnd& end);
  // Returns the record of an operation; nullopt: there is none.
  std::optional<OperationRecord> FindRecord(const std::string& name) const;
  // Whether there is such an operation that has not ended.
  bool Runs(const std::string& name) const;
  // Returns the names of the operations that run, in the order in which they began.
  std::vector<std::string> Running() const;

  // FAILED_PRECONDITION: an operation of the resource, or of one below it, runs.
  absl::Status CheckNoneRuns(std::string_view resource) const;

  // --- The calls.  NOT_FOUND: the operation was forgotten, or there never was one.  INVALID_ARGUMENT: the name is no operation's.
  absl::StatusOr<Operation> Get(const std::string& name) const;
  // Notes that the end of the operation is asked for.  Returns false if it has ended.
  absl::StatusOr<bool> RequestCancel(const std::string& name);
  // FAILED_PRECONDITION: the operation runs.
  absl::Status Delete(const std::string& name);
  // Lists the operations below `request.name` (operations/projects/P[/instances/I[...]]) in the order in which they began.
  // `request.filter`: empty, `done=true` or `done=false`.  INVALID_ARGUMENT: a name, filter or page size that cannot be, or a page
  // token of another list.
  absl::Status List(const google::longrunning::ListOperationsRequest& request,
                    google::longrunning::ListOperationsResponse* response) const;

 private:
  struct Entry {
    OperationRecord record;
    size_t bytes = 0;     // of the record, as it was written last
    int64_t version = 0;  // of the record, if it was read
  };

  Operations(RecordStore* store, const Clock* clock, bool is_shared)
      : store_(store), clock_(clock), is_shared_(is_shared) {}

  absl::Status Load();
  // Whether an operation keeps others from its resource.
  bool Excludes(uint64_t number) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return std::ranges::find(kKindsBesideOthers, entries_.at(number).record.kind) == kKindsBesideOthers.end();
  }
  uint64_t NewNumber() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Both return null if there is no such operation.
  Entry* Find(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Entry* Find(const std::string& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void Keep(OperationRecord record, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the numbers of the operations that must go when `count` more come with `bytes`.
  std::vector<uint64_t> ToForget(size_t count, size_t bytes) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Writes the records of some operations in one step, and forgets others for them.
  absl::Status Write(std::vector<OperationRecord> records, const Commit& commit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(changes_mutex_);

  // Writes the record of an operation that runs here, unless another server has changed it.
  absl::Status WriteProgress(OperationRecord record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changes_mutex_);
  // NOT_FOUND, or UNAVAILABLE: it may be one that another server has begun a moment ago.
  absl::Status Missing(const std::string& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  RecordStore* const store_;
  const Clock* const clock_;
  const bool is_shared_;

  absl::Mutex changes_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);  // held through a change
  mutable absl::Mutex mutex_;
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);                // by number
  std::set<std::pair<int64_t, uint64_t>> finished_ ABSL_GUARDED_BY(mutex_);  // end and number
  std::set<uint64_t> running_ ABSL_GUARDED_BY(mutex_);                       // numbers
  std::set<uint64_t> own_ ABSL_GUARDED_BY(mutex_);  // those of running_ that run here
  std::set<uint64_t> gone_
      ABSL_GUARDED_BY(mutex_);  // those that were known here and began within kUnknownMax
  int64_t followed_version_ ABSL_GUARDED_BY(changes_mutex_) = 0;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde

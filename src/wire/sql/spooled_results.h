// Results of queries on disk, so that a client whose stream broke goes on where it was, though the query could not.
//
//   absl::StatusOr<std::shared_ptr<SpooledResult>> result = results.Begin();
//   while (...) (*result)->Append({.bytes = rows, .rows = 100});
//   results.Publish(*result);                        // from now on it only is read
//   absl::StatusOr<SpooledResultRef> same = results.Find((*result)->id());
//
// Shape: a block of sql/spill/spill_file.h a batch: the number of its rows (varint), then its bytes (ProtoRows).
// Ownership: whoever holds a result keeps it.  A published result that nobody holds stays for Limits::kept, then its file goes; one that
//   was given whole goes earlier when results_max are there.
//   Files have no names, so none outlives the server.
// Threads: all functions of SpooledResults may be called at once, as may Read of a published result.
// Errors: RESOURCE_EXHAUSTED: there are too many results, or the disk, all results, or one have no more room.  UNAVAILABLE: the
//   directory cannot be written or read.  DATA_LOSS: a batch is not what was written.  ABORTED: no result has the id (any more).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/steady_cond_var.h"
#include "sql/spill/spill_file.h"
#include "sql/spill/spill_space.h"

namespace sonde {

struct SpooledBatch {
  std::string bytes;
  uint64_t rows = 0;
};

class SpooledResult {
 public:
  ~SpooledResult();
  SpooledResult(const SpooledResult&) = delete;
  SpooledResult& operator=(const SpooledResult&) = delete;

  const std::string& id() const { return id_; }
  // Nothing of a batch that could not be appended is read again.
  absl::Status Append(const SpooledBatch& batch);
  // The batch at `*place` (at first 0), which comes to stand at the next; false: there are no more.
  absl::StatusOr<bool> Read(int64_t* place, SpooledBatch* batch) const;
  bool IsEnd(int64_t place) const { return place >= end_; }
  // All of it was given to its client.  It is still kept, but goes first when others want its place.
  void NoteGivenWhole() const { is_given_whole_ = true; }

 private:
  friend class SpooledResults;
  // Bytes of all results, which the results share.
  using Tally = std::shared_ptr<std::atomic<int64_t>>;
  struct Bounds {
    int64_t bytes_max;      // of all results
    int64_t own_bytes_max;  // of this one
  };

  SpooledResult(std::string id, sql::SpillSpace* space, Bounds bounds, Tally tally)
      : id_(std::move(id)), bounds_(bounds), tally_(std::move(tally)), spill_(space) {}

  const std::string id_;
  const Bounds bounds_;
  const Tally tally_;
  mutable std::atomic<bool> is_given_whole_ = false;
  int64_t told_bytes_ = 0;  // to the tally
  int64_t end_ = 0;         // behind the last whole batch
  sql::QuerySpill spill_;
  std::unique_ptr<sql::SpillFile> file_;
};
using SpooledResultRef = std::shared_ptr<const SpooledResult>;

class SpooledResults {
 public:
  struct Limits {
    // A result is spooled from here on: a client whose stream breaks before asks anew.
    int64_t begin_bytes = int64_t{8} << 20;
    size_t results_max = 256;  // published ones
    int64_t bytes_max = int64_t{16} << 30;
    int64_t result_bytes_max = int64_t{4} << 30;
    absl::Duration kept = absl::Seconds(60);
  };

  // `space` must outlive this and all results; null: there is no room for any.
  SpooledResults(sql::SpillSpace* space, Limits limits);
  ~SpooledResults();
  SpooledResults(const SpooledResults&) = delete;
  SpooledResults& operator=(const SpooledResults&) = delete;

  const Limits& limits() const { return limits_; }
  // A result without batches, which only the caller has.
  absl::StatusOr<std::shared_ptr<SpooledResult>> Begin();
  // False: meanwhile others have come to results_max.
  bool Publish(SpooledResultRef result);
  absl::StatusOr<SpooledResultRef> Find(const std::string& id);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    SpooledResultRef result;
    std::optional<Clock::time_point> unused_since = {};
  };

  void Run();
  // Takes out the results that nobody has held for long enough.
  std::vector<SpooledResultRef> Sweep(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // RESOURCE_EXHAUSTED: results_max are there, and none of them may go.  `gone`: what went, whose file takes a while to close.
  absl::Status MakeRoom(SpooledResultRef* gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  sql::SpillSpace* const space_;
  const Limits limits_;
  const SpooledResult::Tally tally_ = std::make_shared<std::atomic<int64_t>>(0);
  absl::Mutex mutex_;
  SteadyCondVar end_;
  SystemRandom random_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Entry> results_ ABSL_GUARDED_BY(mutex_);
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde

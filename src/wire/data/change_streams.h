// GenerateInitialChangeStreamPartitions and ReadChangeStream.
//
// A stream that waits for changes has no thread and holds no part of the log.  One thread for all streams
// looks, many times a second, which of them have news, and gives these to the workers.  A stream under way
// holds the messages of one look at the log, about 64 KiB; if its client reads slowly, the stream goes no
// further.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <chrono>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/admission.h"
#include "base/steady_cond_var.h"
#include "rpc/call.h"
#include "table/change_streams.h"
#include "wire/call/app_profiles.h"
#include "work/worker_pool.h"

namespace sonde {

class ChangeStreamCall;

// Threads: all functions may be called at once.
class ChangeStreamCalls {
 public:
  static constexpr size_t kStreamsMax = 10'000;

  // `tables` and `workers` must outlive this.  The streams together hold at most `bytes_max`.  A stream over
  // `bytes_max` or kStreamsMax is answered with UNAVAILABLE.
  ChangeStreamCalls(Tables* tables, WorkerPool* workers, int64_t bytes_max);
  // All calls must have ended.
  ~ChangeStreamCalls();
  ChangeStreamCalls(const ChangeStreamCalls&) = delete;
  ChangeStreamCalls& operator=(const ChangeStreamCalls&) = delete;

  const ChangeStreams& streams() const { return streams_; }
  const Admission& admission() const { return admission_; }

  absl::Status GeneratePartitions(
      const google::bigtable::v2::GenerateInitialChangeStreamPartitionsRequest& request,
      std::vector<rpc::Message>* messages) const;
  // Makes the handler of a ReadChangeStream.  `profiles` must outlive it; null: each profile allows all.
  std::unique_ptr<rpc::Handler> Handle(rpc::Call* call, const AppProfiles* profiles = nullptr);

  // Ends all streams that wait, and all that are still to come, with UNAVAILABLE.  They would outlast any
  // grace.
  void End();

 private:
  friend class ChangeStreamCall;
  friend class ChangeStreamHandler;
  // Returns false if the server is ending.
  bool Add(std::shared_ptr<ChangeStreamCall> call);
  void Remove(const std::shared_ptr<ChangeStreamCall>& call);
  void Run();
  // Looks at all streams after a while, which ends at `next_upkeep` where there is none.  False: the thread ends.
  bool LookAtAll(std::chrono::steady_clock::time_point next_upkeep) ABSL_LOCKS_EXCLUDED(mutex_);

  Tables* const tables_;
  WorkerPool* const workers_;
  Admission admission_;
  ChangeStreams streams_;
  absl::Mutex mutex_;
  SteadyCondVar changed_;
  std::unordered_set<std::shared_ptr<ChangeStreamCall>> calls_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;    // no new streams
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // the thread ends
  std::thread thread_;
};

struct ParsedReadChangeStream {
  std::string table_name;
  ReadChangesRequest read;
  std::chrono::microseconds heartbeat{0};
};
// INVALID_ARGUMENT: a field is wrong, whatever the table.
absl::StatusOr<ParsedReadChangeStream> ParseReadChangeStream(
    const google::bigtable::v2::ReadChangeStreamRequest& request);

// Makes the last message of a stream.  Without continuations the stream's end has come, with OK.  With
// continuations the stream goes on in other partitions, and the status is OUT_OF_RANGE, though the API's
// comments do not say so: Java's client takes no tokens with OK, and Apache Beam goes on only after
// OUT_OF_RANGE.
google::bigtable::v2::ReadChangeStreamResponse CloseStream(
    const std::vector<ChangeStreamReader::Continuation>& continuations);

// Makes one message of a stream.  DATA_LOSS: the piece's record is damaged.
absl::Status ToProto(const ChangeStreamReader::Piece& piece,
                     google::bigtable::v2::ReadChangeStreamResponse* response);

}  // namespace sonde

// A bulk write through MutateRows: split into requests, sent one after the other, retried entry by entry.
//
// A request holds at most MutateLimits of what the rows given hold, so rows that fit into one request are one
// commit; more are several.  A row whose attempt ended in UNAVAILABLE or DEADLINE_EXCEEDED, in its own entry
// or with the whole call, is sent again as RetryPolicy says, without the rows that were answered; a row with
// a cell at the server's time (kServerTimestamp) is not, because it might be written twice; nor is one with a state that is merged,
// unless it deletes the state's column first.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/retry.h"
#include "model/limits.h"
#include "model/table_access.h"

namespace sonde {

struct MutateLimits {
  size_t mutations_max = kMutationsPerRequestMax;
  // Bytes of a request, estimated from above.  A single row that is larger makes a request of its own, which
  // the server judges.  So does a row with more than mutations_max.
  size_t bytes_max = 32 << 20;
};

// The number of rows from `first` on that go into one request; at least 1 when there are any.
size_t RowsInRequest(const std::vector<RowWrite>& rows, size_t first, const MutateLimits& limits);

// One bulk write.  Not for several threads; what the constructor is given by reference outlives it.
class MutateRowsCall {
 public:
  MutateRowsCall(google::bigtable::v2::Bigtable::StubInterface& stub, const RetryPolicy& policy,
                 const MutateLimits& limits, std::chrono::milliseconds timeout, uint64_t jitter_seed)
      : stub_(stub), policy_(policy), limits_(limits), timeout_(timeout), jitter_seed_(jitter_seed) {}

  // One status a row, in order.  An error when no row got an answer of its own.  When a request fails as a
  // whole, its unanswered rows get that error, and so do the rows after them, which are not sent.
  // INTERNAL: the server left out a row, or answered one that was not asked.
  // `merged`: families whose cells are states, to be merged.
  absl::StatusOr<std::vector<absl::Status>> Run(const std::string& table_name,
                                                const std::vector<RowWrite>& rows,
                                                const std::set<std::string>& merged = {});

 private:
  struct Attempt {
    absl::Status call;
    std::optional<std::chrono::milliseconds> server_delay;
  };

  // Sends rows [first, first + count) until each is answered for good.  The status of the last call.
  absl::Status SendBatch(const std::vector<RowWrite>& rows, size_t first, size_t count);
  // Sends the rows with these indices once, and fills in their statuses.
  Attempt SendOnce(const std::vector<RowWrite>& rows, const std::vector<size_t>& indices);
  // Takes one answer; INTERNAL when it answers no row that was asked.
  absl::Status TakeEntry(const google::bigtable::v2::MutateRowsResponse::Entry& entry,
                         const std::vector<size_t>& indices, std::vector<bool>* answered, Attempt* attempt);

  google::bigtable::v2::Bigtable::StubInterface& stub_;
  const RetryPolicy& policy_;
  const MutateLimits limits_;
  const std::chrono::milliseconds timeout_;
  const uint64_t jitter_seed_;

  std::string table_name_;
  std::set<std::string> merged_;
  std::vector<absl::Status> statuses_;
  bool any_answered_ = false;
};

}  // namespace sonde

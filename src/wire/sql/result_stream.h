// The messages of a stream of results: rows in batches, checksums, tokens.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "metrics/query_metrics.h"
#include "rows/batch.h"
#include "rpc/call.h"
#include "sql/exec/execution.h"
#include "sql/message/proto_rows.h"
#include "wire/sql/prepared_queries.h"
#include "wire/sql/query_tokens.h"
#include "wire/sql/spooled_results.h"

namespace sonde {

// A batch that is on its way.
struct OutgoingBatch {
  std::string bytes;
  uint32_t checksum = 0;
  size_t sent = 0;
  std::string token;  // empty: none goes with it
  uint64_t rows = 0;
  bool is_end = false;  // no rows come behind it
};

// Where a stream goes on in a result on disk.
struct SpooledPlace {
  SpooledResultRef result;
  int64_t place = 0;       // of the next batch
  int64_t now_micros = 0;  // as in ResumeToken
};

class ResultStream {
 public:
  // A batch ends with the row that makes it so long.
  static constexpr size_t kBatchBytes = 64 << 10;
  // Behind rows of so many bytes a batch ends where a token can stand.
  static constexpr size_t kTokenBytes = 32 << 10;
  // A longer batch comes in pieces of this length.
  static constexpr size_t kMessageBytes = 1 << 20;
  // Rows that wait for others to make a batch wait no longer, about.
  static constexpr absl::Duration kWaitForOthers = absl::Milliseconds(100);

  // `tokens` and `spooled` must outlive this.  `request_hash`: as in ResumeToken.
  ResultStream(PreparedQueryRef prepared, std::unique_ptr<sql::Execution> execution, uint64_t request_hash,
               const QueryTokens* tokens, SpooledResults* spooled);
  // Goes on with what an earlier stream put on disk.
  ResultStream(PreparedQueryRef prepared, SpooledPlace from, uint64_t request_hash,
               const QueryTokens* tokens);

  // The next message; nothing: the stream is over.  An error ends it.
  absl::StatusOr<std::optional<rpc::Message>> Next();
  // Whether the message that Next gave last was the last one.
  bool IsOver() const { return is_ended_ && end_is_told_ && !outgoing_.has_value() && writer_.rows() == 0; }
  // As Execution::Suspend: the next call of Next goes on.
  void Suspend() {
    if (execution_ != nullptr) execution_->Suspend();
  }
  // Of the message that Next gave last.
  size_t message_bytes() const { return message_bytes_; }
  // The query, and how many rows and bytes it has returned and scanned so far.
  EndedQuery Ended() const;

  // The message of a stream that is asked for what comes behind its end.
  static rpc::Message EndMessage(std::string token);

 private:
  // Fills `outgoing_`; false: there are no more rows.
  absl::StatusOr<bool> Fill();
  absl::StatusOr<bool> FillFromExecution();
  absl::StatusOr<bool> FillFromSpool();
  // Whether the rest of the rows is to be put on disk now: there are many, and the query cannot go on by itself.
  bool IsToSpool() const;
  // Puts all rows that are left on disk, and lets the query go.  If the disk takes no more, the stream gives what it took, then
  // goes on with the query, and no tokens.
  absl::Status Spool();
  void TakeBatch(bool is_end);
  std::string TokenHere(bool is_end) const;
  rpc::Message NextPiece();
  rpc::Message Finish(std::string token, std::string data, std::optional<uint32_t> checksum);

  const PreparedQueryRef prepared_;            // outlives the execution
  std::unique_ptr<sql::Execution> execution_;  // null: all rows that are left are on disk
  const uint64_t request_hash_;
  const QueryTokens& tokens_;
  SpooledResults* const spooled_results_ = nullptr;  // null: nothing is to be put there
  const int64_t now_micros_;
  sql::ProtoRowsWriter writer_;
  rows::Batch batch_;
  size_t row_ = 0;  // the next one of batch_
  std::optional<OutgoingBatch> outgoing_;
  bool is_spooling_tried_ = false;
  SpooledResultRef spooled_;  // rows that come next; null: none are on disk
  int64_t spooled_place_ = 0;
  std::optional<OutgoingBatch> refused_;  // by the disk: comes behind the rows of spooled_
  uint64_t rows_scanned_ = 0;             // by an execution that is gone
  bool is_ended_ = false;                 // the execution has no more rows
  bool end_is_told_ = false;              // by a token
  bool has_begun_ = false;                // a message was given
  size_t message_bytes_ = 0;
  uint64_t rows_ = 0;   // in batches that were sent
  uint64_t bytes_ = 0;  // of all messages
};

}  // namespace sonde

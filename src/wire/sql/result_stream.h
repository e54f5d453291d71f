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

namespace sonde {

// A batch that is on its way.
struct OutgoingBatch {
  std::string bytes;
  uint32_t checksum = 0;
  size_t sent = 0;
  std::string token;  // empty: none goes with it
};

class ResultStream {
 public:
  // A batch ends with the row that makes it so long.
  static constexpr size_t kBatchBytes = 64 << 10;
  // Behind rows of so many bytes a batch ends where a token can stand.
  static constexpr size_t kTokenBytes = 8 << 10;
  // A longer batch comes in pieces of this length.
  static constexpr size_t kMessageBytes = 1 << 20;
  // Rows that wait for others to make a batch wait no longer, about.
  static constexpr absl::Duration kWaitForOthers = absl::Milliseconds(100);

  // `tokens` must outlive this.  `request_hash`: as in ResumeToken.
  ResultStream(PreparedQueryRef prepared, std::unique_ptr<sql::Execution> execution, uint64_t request_hash,
               const QueryTokens* tokens);

  // The next message; nothing: the stream is over.  An error ends it.
  absl::StatusOr<std::optional<rpc::Message>> Next();
  // Whether the message that Next gave last was the last one.
  bool IsOver() const { return is_ended_ && end_is_told_ && !outgoing_.has_value() && writer_.rows() == 0; }
  // As Execution::Suspend: the next call of Next goes on.
  void Suspend() { execution_->Suspend(); }
  // Of the message that Next gave last.
  size_t message_bytes() const { return message_bytes_; }
  // The query, and how many rows and bytes it has returned and scanned so far.
  EndedQuery Ended() const;

  // The message of a stream that is asked for what comes behind its end.
  static rpc::Message EndMessage(std::string token);

 private:
  // Fills `outgoing_`; false: there are no more rows.
  absl::StatusOr<bool> Fill();
  void TakeBatch(bool is_end);
  std::string TokenHere(bool is_end) const;
  rpc::Message NextPiece();
  rpc::Message Finish(std::string token, std::string data, std::optional<uint32_t> checksum);

  const PreparedQueryRef prepared_;  // outlives the execution
  const std::unique_ptr<sql::Execution> execution_;
  const uint64_t request_hash_;
  const QueryTokens& tokens_;
  sql::ProtoRowsWriter writer_;
  rows::Batch batch_;
  size_t row_ = 0;  // the next one of batch_
  std::optional<OutgoingBatch> outgoing_;
  bool is_ended_ = false;     // the execution has no more rows
  bool end_is_told_ = false;  // by a token
  bool has_begun_ = false;    // a message was given
  size_t message_bytes_ = 0;
  uint64_t rows_ = 0;   // in batches that were taken
  uint64_t bytes_ = 0;  // of all messages
};

}  // namespace sonde

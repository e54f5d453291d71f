#include "wire/sql/result_stream.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <utility>

#include "absl/time/clock.h"
#include "base/crc32c.h"
#include "sql/exec/query_name.h"
#include "wire/call/calls.h"

namespace sonde {

namespace pb = google::bigtable::v2;

namespace {

std::vector<sql::Type> TypesOf(const std::vector<sql::OutputColumn>& columns) {
  std::vector<sql::Type> types;
  for (const sql::OutputColumn& column : columns) types.push_back(column.type);
  return types;
}

}  // namespace

ResultStream::ResultStream(PreparedQueryRef prepared, std::unique_ptr<sql::Execution> execution,
                           uint64_t request_hash, const QueryTokens* tokens, SpooledResults* spooled)
    : prepared_(std::move(prepared)),
      execution_(std::move(execution)),
      request_hash_(request_hash),
      tokens_(*tokens),
      spooled_results_(spooled),
      now_micros_(execution_->now_micros()),
      writer_(TypesOf(prepared_->query.columns)) {}

ResultStream::ResultStream(PreparedQueryRef prepared, SpooledPlace from, uint64_t request_hash,
                           const QueryTokens* tokens)
    : prepared_(std::move(prepared)),
      request_hash_(request_hash),
      tokens_(*tokens),
      now_micros_(from.now_micros),
      writer_(TypesOf(prepared_->query.columns)),
      spooled_(std::move(from.result)),
      spooled_place_(from.place),
      is_ended_(true) {}

absl::StatusOr<std::optional<rpc::Message>> ResultStream::Next() {
  if (!outgoing_.has_value()) {
    const absl::StatusOr<bool> filled = Fill();
    if (!filled.ok()) return filled.status();
    if (!*filled) {
      // A stream that had rows ends with a token behind all of them.
      if (!has_begun_ || std::exchange(end_is_told_, true)) return std::nullopt;
      return Finish(TokenHere(/*is_end=*/true), "", std::nullopt);
    }
  }
  return NextPiece();
}

absl::StatusOr<bool> ResultStream::Fill() {
  if (IsToSpool()) {
    if (absl::Status status = Spool(); !status.ok()) return status;
  }
  if (spooled_ != nullptr) {
    absl::StatusOr<bool> filled = FillFromSpool();
    if (!filled.ok() || *filled || execution_ == nullptr) return filled;
    spooled_.reset();
  }
  if (refused_.has_value()) {
    outgoing_ = std::exchange(refused_, std::nullopt);
    return true;
  }
  return FillFromExecution();
}

bool ResultStream::IsToSpool() const {
  return spooled_results_ != nullptr && !is_spooling_tried_ && !is_ended_ &&
         static_cast<int64_t>(bytes_) >= spooled_results_->limits().begin_bytes &&
         !execution_->ResumePoint().has_value();
}

absl::Status ResultStream::Spool() {
  is_spooling_tried_ = true;
  const absl::StatusOr<std::shared_ptr<SpooledResult>> result = spooled_results_->Begin();
  if (!result.ok()) return absl::OkStatus();
  spooled_ = *result;
  while (true) {
    const absl::StatusOr<bool> filled = FillFromExecution();
    if (!filled.ok()) return filled.status();
    if (!*filled) break;
    SpooledBatch batch{std::move(outgoing_->bytes), outgoing_->rows};
    if (!(*result)->Append(batch).ok()) {
      outgoing_->bytes = std::move(batch.bytes);
      refused_ = std::exchange(outgoing_, std::nullopt);
      return absl::OkStatus();
    }
    outgoing_.reset();
  }
  // Without a place among those that are kept, its rows come from disk all the same.
  if (!(*result)->IsEnd(0) && !spooled_results_->Publish(spooled_)) return absl::OkStatus();
  rows_scanned_ = execution_->rows_scanned();
  execution_.reset();
  return absl::OkStatus();
}

absl::StatusOr<bool> ResultStream::FillFromSpool() {
  SpooledBatch spooled;
  const absl::StatusOr<bool> more = spooled_->Read(&spooled_place_, &spooled);
  if (!more.ok() || !*more) return more;
  OutgoingBatch& batch = outgoing_.emplace();
  batch.bytes = std::move(spooled.bytes);
  batch.checksum = Crc32c(batch.bytes);
  batch.rows = spooled.rows;
  const bool is_published = execution_ == nullptr;
  batch.is_end = is_ended_ && !refused_.has_value() && spooled_->IsEnd(spooled_place_);
  if (batch.is_end || is_published) batch.token = TokenHere(batch.is_end);
  if (batch.is_end) spooled_->NoteGivenWhole();
  return true;
}

absl::StatusOr<bool> ResultStream::FillFromExecution() {
  const absl::Time begun = absl::Now();
  while (true) {
    for (; row_ < batch_.rows && writer_.bytes() < kBatchBytes; ++row_) writer_.Append(batch_, row_);
    if (writer_.bytes() >= kBatchBytes || (writer_.rows() > 0 && absl::Now() - begun > kWaitForOthers)) {
      TakeBatch(/*is_end=*/false);
      return true;
    }
    if (is_ended_) break;
    // Here the execution can go on, so here a token is worth a batch that is not full.
    if (writer_.bytes() >= kTokenBytes && execution_->ResumePoint().has_value()) {
      TakeBatch(/*is_end=*/false);
      return true;
    }
    row_ = 0;
    const absl::StatusOr<bool> more = execution_->Next(&batch_);
    if (!more.ok()) return more.status();
    is_ended_ = !*more;
    if (is_ended_) batch_.rows = 0;
  }
  if (writer_.rows() == 0) return false;
  TakeBatch(/*is_end=*/true);
  return true;
}

void ResultStream::TakeBatch(bool is_end) {
  OutgoingBatch& batch = outgoing_.emplace();
  batch.rows = writer_.rows();
  batch.bytes = writer_.Take();
  batch.checksum = Crc32c(batch.bytes);
  // One client takes a checksum of 0 for none.
  while (batch.checksum == 0 && sql::LengthenFirstLength(&batch.bytes)) batch.checksum = Crc32c(batch.bytes);
  batch.is_end = is_end;
  // Only behind the last row of what the execution gave can it go on.
  if (is_end || row_ == batch_.rows) batch.token = TokenHere(is_end);
}

std::string ResultStream::TokenHere(bool is_end) const {
  ResumeToken token{.request_hash = request_hash_, .now_micros = now_micros_, .is_end = is_end};
  if (is_end) return tokens_.Write(token);
  if (execution_ == nullptr) {
    token.spooled = spooled_->id();
    token.spooled_place = spooled_place_;
    return tokens_.Write(token);
  }
  std::optional<std::string> place = execution_->ResumePoint();
  if (!place.has_value()) return "";
  token.place = *std::move(place);
  return tokens_.Write(token);
}

rpc::Message ResultStream::NextPiece() {
  OutgoingBatch& batch = *outgoing_;
  const bool is_last = batch.bytes.size() - batch.sent <= kMessageBytes;
  std::string piece =
      batch.sent == 0 && is_last ? std::move(batch.bytes) : batch.bytes.substr(batch.sent, kMessageBytes);
  batch.sent += piece.size();
  if (!is_last) return Finish("", std::move(piece), std::nullopt);
  const uint32_t checksum = batch.checksum;
  rows_ += batch.rows;
  end_is_told_ = batch.is_end;
  std::string token = std::move(batch.token);
  outgoing_.reset();
  return Finish(std::move(token), std::move(piece), checksum);
}

rpc::Message ResultStream::Finish(std::string token, std::string data, std::optional<uint32_t> checksum) {
  pb::ExecuteQueryResponse response;
  pb::PartialResultSet* const results = response.mutable_results();
  if (!std::exchange(has_begun_, true)) results->set_reset(true);
  if (!data.empty()) results->mutable_proto_rows_batch()->set_batch_data(std::move(data));
  if (checksum.has_value()) results->set_batch_checksum(*checksum);
  if (!token.empty()) results->set_resume_token(std::move(token));
  rpc::Message message = ToMessage(response);
  message_bytes_ = message.bytes();
  bytes_ += message_bytes_;
  return message;
}

EndedQuery ResultStream::Ended() const {
  return {.text = sql::NameOfQuery(prepared_->text),
          .rows = rows_,
          .bytes = bytes_,
          .rows_scanned = execution_ != nullptr ? execution_->rows_scanned() : rows_scanned_};
}

rpc::Message ResultStream::EndMessage(std::string token) {
  pb::ExecuteQueryResponse response;
  response.mutable_results()->set_reset(true);
  response.mutable_results()->set_resume_token(std::move(token));
  return ToMessage(response);
}

}  // namespace sonde

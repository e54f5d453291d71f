#include "wire/data/write_calls.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "table/commit_line.h"
#include "wire/call/client_features.h"
#include "wire/call/data_target.h"
#include "wire/call/requests.h"
#include "wire/data/pending_rows.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// A request of one row.  Its row views the message.
class PendingRow final : public PendingWrite {
 public:
  PendingRow(Tables* tables, const CallEnd& end, rpc::MessageBytes bytes, Admission::Place place)
      : PendingWrite(end.call()->deadline(), bytes.size(), end.priority()),
        tables_(tables),
        end_(end),
        bytes_(std::move(bytes)),
        place_(std::move(place)) {}

  // Once.
  absl::Status Parse() {
    is_parsed_ = true;
    if (absl::Status status = request_.Parse(&bytes_, &place_); !status.ok()) return status;
    const pb::MutateRowRequest& request = request_.message();
    absl::StatusOr<DataTarget> target = FindTarget(tables_->catalog(), request);
    if (!target.ok()) return target.status();
    target_ = {target->schema, target->view};
    if (absl::Status status = CheckRowKey(request.row_key()); !status.ok()) return status;
    absl::Status status = ParseMutations(request.mutations(), /*may_be_empty=*/false, &mutations_);
    if (!status.ok()) return status;
    row_ = {request.row_key(), mutations_};
    if (!request.has_idempotency()) return absl::OkStatus();
    return ParseIdempotency(request.idempotency(), &row_.idempotency);
  }
  bool has_token() const { return row_.idempotency.has_value(); }

  WhyAlone Open() override { return WhyAlone::kNot; }
  std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>*) override {
    return absl::MakeConstSpan(&row_, 1);
  }
  absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() override {
    if (!is_parsed_) {
      if (absl::Status status = Parse(); !status.ok()) return status;
    }
    return absl::MakeConstSpan(&row_, 1);
  }
  absl::Status Interrupted() const override { return absl::OkStatus(); }
  // The answer has no fields.
  void Done(absl::StatusOr<std::vector<absl::Status>> statuses) override {
    if (begun() != absl::InfinitePast()) end_.Began(begun());
    end_(statuses.ok() ? statuses->front() : statuses.status());
  }

 private:
  Tables* const tables_;
  const CallEnd end_;
  rpc::MessageBytes bytes_;
  Admission::Place place_;
  ParsedRequest<pb::MutateRowRequest> request_;
  bool is_parsed_ = false;
  std::vector<Mutation> mutations_;
  RowMutations row_;
};

// Asks clients that understand it to send fewer writes while the server, or what its engine has to catch up
// with, is more than half full: the fuller, the fewer, down to the least that production asks for.
void AddRateLimit(const rpc::Call& call, double load, pb::MutateRowsResponse* response) {
  constexpr double kLoadMin = 0.5;
  constexpr double kFactorMin = 0.7;
  constexpr int kPeriodSeconds = 10;
  if (load < kLoadMin) return;
  const pb::FeatureFlags features = ClientFeatures(call);
  if (!features.mutate_rows_rate_limit() && !features.mutate_rows_rate_limit2()) return;
  pb::RateLimitInfo* info = response->mutable_rate_limit_info();
  info->mutable_period()->set_seconds(kPeriodSeconds);
  info->set_factor(1 - (1 - kFactorMin) * (load - kLoadMin) / (1 - kLoadMin));
}

// `statuses`: of the entries.  One message or more.
std::vector<pb::MutateRowsResponse> ResponsesOf(const std::vector<absl::Status>& statuses) {
  // Less than what a client takes that says nothing of it: 4 MiB.
  constexpr size_t kMessageBytes = 1 << 20;
  std::vector<pb::MutateRowsResponse> responses;
  size_t bytes = kMessageBytes;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (bytes >= kMessageBytes) {
      responses.emplace_back();
      bytes = 0;
    }
    pb::MutateRowsResponse::Entry* entry = responses.back().add_entries();
    entry->set_index(static_cast<int64_t>(i));
    ToProto(statuses[i], entry->mutable_status());
    bytes += entry->ByteSizeLong();
  }
  return responses;
}

}  // namespace

AnswerRequest AnswerMutateRow(Tables* tables, const CallResources& resources) {
  return [tables, line = resources.commit_line](const CallEnd& end, rpc::MessageBytes request,
                                                Admission::Place place) {
    const bool is_long = request.size() > kUncountedBytesMax;
    auto write = std::make_unique<PendingRow>(tables, end, std::move(request), std::move(place));
    // A worker parses requests that take long to parse.
    if (is_long) return line->AddAlone(std::move(write), WhyAlone::kLarge);
    if (absl::Status status = write->Parse(); !status.ok()) return end(status);
    const bool has_token = write->has_token();
    has_token ? line->AddAlone(std::move(write), WhyAlone::kToken) : line->Add(std::move(write));
  };
}

AnswerRequest AnswerMutateRows(Tables* tables, const CallResources& resources) {
  return [tables, writes = resources.writes, line = resources.commit_line](
             const CallEnd& end, rpc::MessageBytes request, Admission::Place place) {
    rpc::Call* const call = end.call();
    const absl::Time deadline = call->deadline();
    auto finish = [end, tables, writes](absl::StatusOr<std::vector<absl::Status>> statuses,
                                        Admission::Place kept, absl::Time begun) {
      if (begun != absl::InfinitePast()) end.Began(begun);
      // Refused as a whole, with a time to come back, which clients look for in the status of the call.
      if (statuses.ok() && std::all_of(statuses->begin(), statuses->end(), absl::IsUnavailable)) {
        statuses = absl::Status(statuses->front());
      }
      if (!statuses.ok()) return end(statuses.status());
      std::vector<pb::MutateRowsResponse> responses = ResponsesOf(*statuses);
      AddRateLimit(*end.call(), std::max(writes->Load(), tables->WritePressure()), &responses.front());
      std::vector<rpc::Message> messages;
      for (const pb::MutateRowsResponse& response : responses) messages.push_back(ToMessage(response));
      end(absl::OkStatus(), std::move(messages), std::move(kept));
    };
    const auto interrupted = [call, deadline] {
      if (call->IsCancelled()) return absl::CancelledError("The client has gone");
      return deadline > absl::Now() ? absl::OkStatus() : absl::DeadlineExceededError("Deadline Exceeded");
    };
    PendingRows::Add(line,
                     std::make_unique<PendingRows>(tables, std::move(request), std::move(place), deadline,
                                                   end.priority(), interrupted, std::move(finish)));
  };
}

}  // namespace sonde

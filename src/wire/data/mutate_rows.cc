#include "wire/data/mutate_rows.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "wire/call/client_features.h"
#include "wire/data/list_committer.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

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

AnswerRequest AnswerMutateRows(Tables* tables, const CallResources& resources) {
  return [tables, writes = resources.writes, committer = resources.list_committer, kind = resources.Writes()](
             const CallEnd& end, rpc::MessageBytes request, Admission::Place place) {
    rpc::Call* const call = end.call();
    const absl::Time deadline = call->deadline();
    const auto interrupted = [call, deadline] {
      if (call->IsCancelled()) return absl::CancelledError("The client has gone");
      return deadline > absl::Now() ? absl::OkStatus() : absl::DeadlineExceededError("Deadline Exceeded");
    };
    auto finish = [end, tables, writes](absl::StatusOr<std::vector<absl::Status>> statuses,
                                        Admission::Place kept) {
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
    const bool is_large = kind.IsLarge(request.size());
    ListCommitter::Request list{std::move(request), std::move(place), deadline, interrupted,
                                std::move(finish)};
    kind.may_block || is_large ? committer->Add(std::move(list))
                               : ListCommitter::Commit(tables, std::move(list));
  };
}

}  // namespace sonde

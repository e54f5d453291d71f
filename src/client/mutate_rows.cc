#include "client/mutate_rows.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "client/grpc_status.h"

namespace sonde {
namespace {

using google::bigtable::v2::MutateRowsRequest;
using google::bigtable::v2::MutateRowsResponse;

// Tags, lengths and a timestamp of one mutation take no more than this.
constexpr size_t kMutationOverheadBytes = 48;
constexpr size_t kEntryOverheadBytes = 16;

size_t MutationsIn(const RowWrite& row) {
  return row.cells.size() + row.delete_columns.size() + row.delete_times.size();
}

size_t BytesIn(const RowWrite& row) {
  size_t bytes = kEntryOverheadBytes + row.row_key.size();
  for (const CellWrite& cell : row.cells) {
    bytes += kMutationOverheadBytes + cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  for (const auto& [family, qualifier] : row.delete_columns) {
    bytes += kMutationOverheadBytes + family.size() + qualifier.size();
  }
  for (const RowWrite::ColumnTimes& times : row.delete_times) {
    bytes += kMutationOverheadBytes + times.family.size() + times.qualifier.size();
  }
  return bytes;
}

bool IsIdempotent(const RowWrite& row, const std::set<std::string>& merged) {
  return std::none_of(row.cells.begin(), row.cells.end(), [&](const CellWrite& cell) {
    if (cell.timestamp_micros == kServerTimestamp) return true;
    return !merged.empty() && merged.contains(cell.family) &&
           std::find(row.delete_columns.begin(), row.delete_columns.end(),
                     std::pair(cell.family, cell.qualifier)) == row.delete_columns.end();
  });
}

void AddEntry(const RowWrite& row, const std::set<std::string>& merged, MutateRowsRequest* request) {
  MutateRowsRequest::Entry* entry = request->add_entries();
  entry->set_row_key(row.row_key);
  entry->mutable_mutations()->Reserve(static_cast<int>(MutationsIn(row)));
  for (const auto& [family, qualifier] : row.delete_columns) {
    auto* mutation = entry->add_mutations()->mutable_delete_from_column();
    mutation->set_family_name(family);
    mutation->set_column_qualifier(qualifier);
  }
  for (const RowWrite::ColumnTimes& times : row.delete_times) {
    auto* mutation = entry->add_mutations()->mutable_delete_from_column();
    mutation->set_family_name(times.family);
    mutation->set_column_qualifier(times.qualifier);
    mutation->mutable_time_range()->set_start_timestamp_micros(times.start_micros);
    mutation->mutable_time_range()->set_end_timestamp_micros(times.end_micros);
  }
  for (const CellWrite& cell : row.cells) {
    if (!merged.empty() && merged.contains(cell.family)) {
      auto* mutation = entry->add_mutations()->mutable_merge_to_cell();
      mutation->set_family_name(cell.family);
      mutation->mutable_column_qualifier()->set_raw_value(cell.qualifier);
      mutation->mutable_timestamp()->set_raw_timestamp_micros(cell.timestamp_micros);
      mutation->mutable_input()->set_raw_value(cell.value);
      continue;
    }
    auto* mutation = entry->add_mutations()->mutable_set_cell();
    mutation->set_family_name(cell.family);
    mutation->set_column_qualifier(cell.qualifier);
    mutation->set_timestamp_micros(cell.timestamp_micros);
    mutation->set_value(cell.value);
  }
}

}  // namespace

size_t RowsInRequest(const std::vector<RowWrite>& rows, size_t first, const MutateLimits& limits) {
  size_t count = 0;
  size_t mutations = 0;
  size_t bytes = 0;
  for (size_t i = first; i < rows.size(); ++i, ++count) {
    mutations += MutationsIn(rows[i]);
    bytes += BytesIn(rows[i]);
    if (count > 0 && (mutations > limits.mutations_max || bytes > limits.bytes_max)) break;
  }
  return count;
}

absl::StatusOr<std::vector<absl::Status>> MutateRowsCall::Run(const std::string& table_name,
                                                              const std::vector<RowWrite>& rows,
                                                              const std::set<std::string>& merged) {
  table_name_ = table_name;
  merged_ = merged;
  statuses_.assign(rows.size(), absl::OkStatus());
  any_answered_ = false;
  for (size_t first = 0; first < rows.size();) {
    const size_t count = RowsInRequest(rows, first, limits_);
    const absl::Status status = SendBatch(rows, first, count);
    first += count;
    if (status.ok()) continue;
    if (!any_answered_) return status;
    std::fill(statuses_.begin() + static_cast<ptrdiff_t>(first), statuses_.end(), status);
    break;
  }
  return std::move(statuses_);
}

absl::Status MutateRowsCall::SendBatch(const std::vector<RowWrite>& rows, size_t first, size_t count) {
  Backoff backoff(policy_, jitter_seed_ + first);
  std::vector<size_t> indices(count);
  for (size_t i = 0; i < count; ++i) indices[i] = first + i;
  while (true) {
    const Attempt attempt = SendOnce(rows, indices);
    std::erase_if(indices,
                  [&](size_t i) { return !IsTransient(statuses_[i]) || !IsIdempotent(rows[i], merged_); });
    if (indices.empty() || !backoff.WaitForNext(attempt.server_delay)) return attempt.call;
  }
}

MutateRowsCall::Attempt MutateRowsCall::SendOnce(const std::vector<RowWrite>& rows,
                                                 const std::vector<size_t>& indices) {
  MutateRowsRequest request;
  request.set_table_name(table_name_);
  request.mutable_entries()->Reserve(static_cast<int>(indices.size()));
  for (const size_t index : indices) AddEntry(rows[index], merged_, &request);

  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout_);
  const auto reader = stub_.MutateRows(&context, request);
  Attempt attempt;
  std::vector<bool> answered(indices.size(), false);
  absl::Status broken;
  MutateRowsResponse response;
  while (broken.ok() && reader->Read(&response)) {
    for (const MutateRowsResponse::Entry& entry : response.entries()) {
      broken = TakeEntry(entry, indices, &answered, &attempt);
      if (!broken.ok()) break;
    }
  }
  if (!broken.ok()) context.TryCancel();
  const grpc::Status status = reader->Finish();
  attempt.call = broken.ok() ? FromGrpcStatus(status, fmt::format("MutateRows on {}", table_name_)) : broken;
  if (const auto delay = RetryDelay(status); delay.has_value()) {
    attempt.server_delay = std::max(attempt.server_delay.value_or(*delay), *delay);
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (answered[i]) continue;
    statuses_[indices[i]] =
        !attempt.call.ok()
            ? attempt.call
            : absl::InternalError(fmt::format("MutateRows on {}: no answer for row \"{}\"", table_name_,
                                              Printable(rows[indices[i]].row_key)));
  }
  return attempt;
}

absl::Status MutateRowsCall::TakeEntry(const MutateRowsResponse::Entry& entry,
                                       const std::vector<size_t>& indices, std::vector<bool>* answered,
                                       Attempt* attempt) {
  if (entry.index() < 0 || static_cast<size_t>(entry.index()) >= indices.size()) {
    return absl::InternalError(
        fmt::format("MutateRows on {}: an answer for entry {} of a request of {} entries", table_name_,
                    entry.index(), indices.size()));
  }
  (*answered)[entry.index()] = true;
  any_answered_ = true;
  statuses_[indices[entry.index()]] =
      FromRpcStatus(entry.status(), fmt::format("MutateRows on {}", table_name_));
  if (const auto delay = RetryDelay(entry.status()); delay.has_value()) {
    attempt->server_delay = std::max(attempt->server_delay.value_or(*delay), *delay);
  }
  return absl::OkStatus();
}

}  // namespace sonde

#include "hbase/rows.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "hbase/row_version.h"

namespace sonde::hbase {
namespace {

// Of one message: more are sent beside each other, but only so many at once, as what a server has not begun is waited for, too.
constexpr size_t kMessageBytesMax = size_t{4} << 20;
constexpr size_t kMessageChangesMax = 1'000;
constexpr size_t kMessagesAtOnceMax = 8;
// The slowest at which a large value, or a change among many, may go its way.
constexpr double kBytesASecondMin = 8 << 20;
constexpr absl::Duration kTimeAChange = absl::Milliseconds(5);

// How long a try with so many bytes may take.
absl::Duration TimeFor(const Attempts& attempts, size_t bytes) {
  return attempts.TimeForOne() + absl::Seconds(static_cast<double>(bytes) / kBytesASecondMin);
}

// Changes for one server.
struct Message {
  Message(ServerAddress address, bool sync) : server(std::move(address)), changes(sync) {}
  ServerAddress server;
  ChangesMessage changes;
  std::vector<size_t> indices;         // of the changes, in the message's order
  std::vector<Regions::Place> places;  // of these
  size_t bytes = 0;
};

struct Started {
  std::unique_ptr<Message> message;
  StartedCall call;
};

absl::Status NoTimeToSend(bool was_sent) {
  if (was_sent) {
    return absl::UnknownError(
        "Nobody knows whether the change will be applied: its answer was lost, and it must not be sent "
        "again");
  }
  return absl::UnavailableError("The time in which the change may be sent is over; nothing was applied");
}

bool MayBeSentLater(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

Rows::Rows(Servers* servers, Regions* regions, RowsOptions options)
    : servers_(servers), regions_(regions), options_(options) {}

absl::StatusOr<RowCells> Rows::Get(const TableName& table, std::string_view row, const CellChoice& choice,
                                   absl::Time deadline) {
  // A value of this size is read, too, if there is one.
  constexpr size_t kValueBytesMax = size_t{100} << 20;
  Attempts attempts(deadline, options_.timeout);
  Failure last;
  do {
    if (attempts.count() > 1) retries_.fetch_add(1, std::memory_order_relaxed);
    const absl::StatusOr<Regions::Place> place = regions_->Find(table, row, deadline);
    if (!place.ok()) return place.status();
    CallResult result =
        servers_->Call({(*place)->server, kRegionService, "Get", GetMessage((*place)->name, row, choice)},
                       TimeFor(attempts, attempts.count() > 1 ? kValueBytesMax : 0));
    if (result.failure.has_value()) {
      last = *std::move(result.failure);
      if (last.remedy == Remedy::kLocate) regions_->Forget(**place);
      continue;
    }
    const absl::StatusOr<size_t> count = ParseGet(result.answer.parameter());
    if (!count.ok()) return count.status();
    std::vector<Cell> cells;
    CellReader reader(result.answer.cells());
    while (!reader.is_at_end()) {
      absl::StatusOr<Cell> cell = reader.Next();
      if (!cell.ok()) return cell.status();
      if (cell->row != row) return absl::DataLossError("HBase sent cells of a row that was not asked for");
      cells.push_back(*cell);
    }
    if (cells.size() != *count) return absl::DataLossError("HBase sent more or fewer cells than it said");
    return RowCells(std::move(result.answer), std::move(cells));
  } while (attempts.WaitAfter(last));
  return attempts.Over(last, false);
}

void Rows::TakeOutcome(size_t index, const Failure* failure, Batch* batch) {
  if (failure == nullptr) {
    batch->statuses[index] = absl::OkStatus();
    return;
  }
  batch->statuses[index] = StatusOf(*failure, true);
  // Another change's cell was too large.
  const bool is_anothers =
      failure->cell_bytes_max > 0 && batch->changes[index].LargestCellBytes() <= failure->cell_bytes_max;
  if (is_anothers) {
    batch->left.push_back(index);
    batch->last = {.remedy = Remedy::kWait,
                   .message = "Another row's cell, sent with this row, is too large"};
    return;
  }
  if (failure->may_be_done || failure->remedy == Remedy::kNone) return;
  batch->is_busy |= failure->remedy == Remedy::kWait;
  batch->left.push_back(index);
  if (batch->last.wait_min <= failure->wait_min) batch->last = *failure;
}

void Rows::SendOnce(const TableName& table, const Attempts& attempts, absl::Time deadline, Batch* batch) {
  // By server, and there by region.
  std::map<ServerAddress, std::map<Regions::Place, std::vector<size_t>>> by_server;
  for (const size_t index : std::exchange(batch->left, {})) {
    absl::StatusOr<Regions::Place> place = regions_->Find(table, batch->changes[index].row, deadline);
    if (!place.ok()) {
      batch->statuses[index] = place.status();
      continue;
    }
    by_server[(*place)->server][*std::move(place)].push_back(index);
  }
  // By server.
  std::vector<std::vector<std::unique_ptr<Message>>> messages;
  for (const auto& [server, by_region] : by_server) {
    std::vector<std::unique_ptr<Message>>& ours = messages.emplace_back();
    for (const auto& [place, indices] : by_region) {
      for (size_t first = 0; first < indices.size();) {
        if (ours.empty() || ours.back()->bytes >= kMessageBytesMax ||
            ours.back()->indices.size() >= kMessageChangesMax) {
          ours.push_back(std::make_unique<Message>(server, options_.sync));
        }
        Message& message = *ours.back();
        std::vector<const RowChange*> changes;
        while (first < indices.size() && message.bytes < kMessageBytesMax &&
               message.indices.size() < kMessageChangesMax) {
          const size_t index = indices[first++];
          changes.push_back(&batch->changes[index]);
          message.indices.push_back(index);
          message.places.push_back(place);
          message.bytes += batch->changes[index].Bytes();
        }
        message.changes.Add(place->name, changes);
      }
    }
  }
  std::deque<Started> started;
  const auto take = [&] {
    Started one = std::move(started.front());
    started.pop_front();
    const CallResult result = one.call.Wait();
    const std::vector<size_t>& indices = one.message->indices;
    absl::StatusOr<std::vector<ChangeOutcome>> outcomes = std::vector<ChangeOutcome>();
    if (!result.failure.has_value()) outcomes = one.message->changes.ParseOutcomes(result.answer.parameter());
    for (size_t i = 0; i < indices.size(); ++i) {
      if (!outcomes.ok()) {
        batch->statuses[indices[i]] = absl::UnknownError(outcomes.status().message());
        continue;
      }
      const std::optional<Failure>& failure =
          result.failure.has_value() ? result.failure : (*outcomes)[i].failure;
      if (failure.has_value() && failure->remedy == Remedy::kLocate)
        regions_->Forget(*one.message->places[i]);
      TakeOutcome(indices[i], failure.has_value() ? &*failure : nullptr, batch);
      if (!failure.has_value()) batch->guards_held[indices[i]] = (*outcomes)[i].guard_held;
    }
  };
  // All servers have something to do.
  for (size_t round = 0, sent = 1; sent > 0; ++round) {
    sent = 0;
    for (std::vector<std::unique_ptr<Message>>& ours : messages) {
      if (round >= ours.size()) continue;
      if (started.size() >= kMessagesAtOnceMax * messages.size()) take();
      Message& message = *ours[round];
      StartedCall call = servers_->Start(
          {message.server, kRegionService, "Multi", message.changes.Message(), message.changes.cells()},
          TimeFor(attempts, message.bytes) + kTimeAChange * message.indices.size());
      started.push_back({std::move(ours[round]), std::move(call)});
      ++sent;
    }
  }
  while (!started.empty()) take();
}

Rows::Batch Rows::Send(const TableName& table, absl::Span<const RowChange> changes, absl::Time deadline) {
  Batch batch{.changes = changes};
  batch.statuses.resize(changes.size());
  batch.guards_held.assign(changes.size(), true);
  for (size_t i = 0; i < changes.size(); ++i) batch.left.push_back(i);
  Attempts attempts(deadline, options_.timeout);
  while (!batch.left.empty()) {
    batch.last = Failure{};
    batch.is_busy = false;
    SendOnce(table, attempts, deadline, &batch);
    busy_.Note(batch.is_busy, absl::Now());
    if (batch.left.empty()) break;
    if (!attempts.WaitAfter(batch.last)) {
      for (const size_t index : batch.left) batch.statuses[index] = attempts.Over(batch.last, true);
      break;
    }
    retries_.fetch_add(1, std::memory_order_relaxed);
  }
  return batch;
}

std::vector<absl::Status> Rows::Apply(const TableName& table, absl::Span<const RowChange> changes,
                                      absl::Time deadline) {
  Batch batch = Send(table, changes, deadline);
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!batch.guards_held[i]) batch.statuses[i] = absl::AbortedError("The guard of the change did not hold");
  }
  return std::move(batch.statuses);
}

absl::StatusOr<std::string> Rows::ReadVersion(const TableName& table, std::string_view row,
                                              const VersionColumn& column, absl::Time deadline) {
  CellChoice choice{.families = {column.family}, .newest_per_column = 1};
  choice.qualifiers = {{column.qualifier, column.qualifier + '\0'}};
  const absl::StatusOr<RowCells> row_cells = Get(table, row, choice, deadline);
  if (!row_cells.ok()) return row_cells.status();
  if (row_cells->cells().empty()) return std::string();
  return std::string(row_cells->cells().front().value);
}

absl::StatusOr<bool> Rows::ApplyGuarded(const TableName& table, const VersionColumn& column,
                                        const GuardedChange& guarded, absl::Time deadline) {
  SystemRandom random;
  const std::string mine = VersionAfter(guarded.seen, &random);
  RowChange change = guarded.change;
  change.guard = Guard{column.family, column.qualifier, guarded.seen};
  // Always at one time: the version is one cell, which is overwritten.
  change.puts.push_back({change.row, column.family, column.qualifier, 1, CellType::kPut, mine});
  const absl::Time end = std::min(deadline, absl::Now() + Attempts::kAllMax);
  bool was_lost = false;
  while (true) {
    const absl::Duration time_to_send =
        guarded.time_to_send ? guarded.time_to_send() : absl::InfiniteDuration();
    if (time_to_send <= absl::ZeroDuration()) return NoTimeToSend(was_lost);
    const absl::Time send_end = std::min(end, absl::Now() + time_to_send);
    const Batch batch = Send(table, {&change, 1}, send_end);
    const absl::Status& status = batch.statuses[0];
    const bool is_refused = status.ok() && !batch.guards_held[0];
    if (status.ok() && !is_refused) return true;
    // A refusal may be by the change's own version, if an answer was lost before.
    if (is_refused && !was_lost) return false;
    // It was not taken in the time for sending, which may be longer by now.
    if (!was_lost && MayBeSentLater(status) && send_end < end) {
      absl::SleepFor(Attempts::kWaitMin);
      continue;
    }
    if (!is_refused && !absl::IsUnknown(status) && !was_lost) return status;
    was_lost = true;
    // The answer may be lost because its server is: the row has a place again a while later, perhaps after the deadline, up to which
    // the caller waits.
    const absl::StatusOr<std::string> now = ReadVersion(table, change.row, column, end);
    if (!now.ok())
      return absl::UnknownError(
          "Nobody knows whether the change was applied: its answer was lost, and then: " +
          std::string(now.status().message()));
    switch (Judge(guarded.seen, mine, *now)) {
      case Verdict::kMade:
        settled_.fetch_add(1, std::memory_order_relaxed);
        return true;
      case Verdict::kNeverMade:
        settled_.fetch_add(1, std::memory_order_relaxed);
        return false;
      case Verdict::kUnknown:
        return absl::UnknownError(
            "Nobody knows whether the change was applied: its answer was lost, and the row changed since");
      case Verdict::kNotYet:
        // It may still be on its way, and then this one will be refused: only one of the two finds the guard.
        if (absl::Now() >= end)
          return absl::UnknownError("Nobody knows whether the change will be applied: its answer was lost");
        absl::SleepFor(Attempts::kWaitMin);
        continue;
    }
  }
}

}  // namespace sonde::hbase

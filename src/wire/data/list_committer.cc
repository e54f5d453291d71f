#include "wire/data/list_committer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "rpc/call.h"
#include "wire/call/data_target.h"
#include "wire/data/mutate_rows_message.h"

namespace sonde {
namespace {

// Of a commit.
constexpr size_t kRequestsMax = 256;
constexpr size_t kMessageBytesTogether = 1 << 20;

using Request = ListCommitter::Request;

// Frees the message, too.
void Finish(absl::StatusOr<std::vector<absl::Status>> statuses, Request request) {
  request.bytes.Clear();
  std::move(request.finish)(std::move(statuses), std::move(request.place));
}

void Refuse(const absl::Status& why, Request request) { Finish(why, std::move(request)); }

}  // namespace

// A request of plain rows, whose target is known.
struct ListCommitter::Opened {
  Request request;
  MutateRowsMessage message;
  DataTarget target;
  bool is_done = false;
};

ListCommitter::ListCommitter(Tables* tables, WorkerPool* workers, int commits_max, WaitLimits limits)
    : tables_(tables), workers_(workers), commits_max_(commits_max), line_(limits, workers->clock()) {}

ListCommitter::~ListCommitter() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return running_ == 0; });
}

void ListCommitter::Add(Request request) {
  if (request.bytes.size() > kUncountedBytesMax) return CommitAmongWorkers(std::move(request));
  absl::Status refused;
  bool starts = false;
  {
    std::lock_guard lock(mutex_);
    refused = line_.CheckRoom();
    if (refused.ok()) refused = line_.CheckWait();
    if (refused.ok()) {
      const absl::Time deadline = request.deadline;
      line_.Push(std::move(request), deadline);
      starts = running_ < commits_max_;
      if (starts) ++running_;
    }
  }
  if (!refused.ok()) return Refuse(refused, std::move(request));
  if (starts) workers_->Submit(absl::InfiniteFuture(), [this](const absl::Status& turn) { Run(turn); });
}

void ListCommitter::Run(const absl::Status& turn) {
  while (true) {
    std::vector<Request> requests;
    {
      std::lock_guard lock(mutex_);
      if (line_.empty() || (!turn.ok() && running_ > 1)) {
        if (--running_ == 0) idle_.notify_all();
        return;
      }
    }
    requests = Take();
    if (turn.ok()) {
      CommitAll(std::move(requests));
    } else {
      for (Request& request : requests) Refuse(turn, std::move(request));
    }
  }
}

std::vector<ListCommitter::Request> ListCommitter::Take() {
  std::vector<Request> requests, late;
  std::vector<absl::Status> why;
  {
    std::lock_guard lock(mutex_);
    size_t bytes = 0;
    while (!line_.empty() && requests.size() < kRequestsMax && bytes < kMessageBytesTogether) {
      absl::Status status;
      Request request = line_.Pop(&status);
      bytes += request.bytes.size();
      (status.ok() ? requests : late).push_back(std::move(request));
      if (!status.ok()) why.push_back(std::move(status));
    }
  }
  for (size_t i = 0; i < late.size(); ++i) Refuse(why[i], std::move(late[i]));
  return requests;
}

void ListCommitter::Commit(Tables* tables, Request request) {
  absl::StatusOr<std::vector<absl::Status>> statuses = [&]() -> absl::StatusOr<std::vector<absl::Status>> {
    MutateRowsMessage message;
    if (absl::Status status = message.Parse(&request.bytes, &request.place); !status.ok()) return status;
    absl::StatusOr<DataTarget> target = FindTarget(tables->catalog(), message);
    if (!target.ok()) return target.status();
    absl::StatusOr<MutateRowsEntries> entries = message.TakeEntries();
    if (!entries.ok()) return entries.status();
    std::vector<absl::Status> applied =
        tables->MutateRows(*target->schema, entries->rows, target->view.get(), request.interrupted);
    for (size_t i = 0; i < applied.size(); ++i) {
      entries->statuses[entries->entry_of_row[i]] = std::move(applied[i]);
    }
    return std::move(entries->statuses);
  }();
  request.place.large()->Shrink(0);  // here, and not where the client has its answer: that must not take long
  Finish(std::move(statuses), std::move(request));
}

void ListCommitter::CommitAmongWorkers(Request request) {
  const absl::Time deadline = request.deadline;
  workers_->Submit(deadline,
                   [tables = tables_, request = std::move(request)](const absl::Status& turn) mutable {
                     turn.ok() ? Commit(tables, std::move(request)) : Refuse(turn, std::move(request));
                   });
}

std::unique_ptr<ListCommitter::Opened> ListCommitter::Open(Request* request) const {
  auto opened = std::make_unique<Opened>();
  if (!opened->message.OpenPlain(request->bytes.view())) return nullptr;
  absl::StatusOr<DataTarget> target = FindTarget(tables_->catalog(), opened->message);
  if (!target.ok() || target->schema->change_stream.has_value()) return nullptr;
  opened->request = std::move(*request);  // whose bytes stay where they are
  opened->target = *std::move(target);
  return opened;
}

void ListCommitter::CommitAll(std::vector<Request> requests) {
  std::vector<Group> groups;
  for (Request& request : requests) {
    std::unique_ptr<Opened> opened = Open(&request);
    if (opened == nullptr) {
      CommitAmongWorkers(std::move(request));
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& other) {
      return other[0]->target.schema == opened->target.schema && other[0]->target.view == opened->target.view;
    });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(std::move(opened));
  }
  // RocksDB syncs what several threads write at once for all of them.
  for (size_t i = 1; i < groups.size(); ++i) {
    for (const auto& opened : groups[i]) CommitAmongWorkers(std::move(opened->request));
  }
  if (!groups.empty()) CommitGroup(std::move(groups[0]));
}

void ListCommitter::CommitGroup(Group group) {
  const DataTarget& target = group[0]->target;
  MutateRowsEntries entries;  // of the one that was read last
  std::vector<Opened*> together;
  size_t next = 0;
  const auto next_rows = [&]() -> std::optional<absl::Span<const RowMutations>> {
    while (next < group.size()) {
      Opened& opened = *group[next++];
      if (opened.request.interrupted().ok() && opened.message.ReadPlainEntries(&entries)) {
        together.push_back(&opened);
        return entries.rows;
      }
    }
    return std::nullopt;
  };
  absl::StatusOr<std::vector<std::vector<absl::Status>>> statuses =
      tables_->MutateRowsOfEach(*target.schema, next_rows, target.view.get());
  if (statuses.ok()) {
    const rpc::AnswersTogether answers;
    for (size_t i = 0; i < together.size(); ++i) {
      Finish(std::move((*statuses)[i]), std::move(together[i]->request));
      together[i]->is_done = true;
    }
  }
  for (const auto& opened : group) {
    if (!opened->is_done) CommitAmongWorkers(std::move(opened->request));
  }
}

}  // namespace sonde

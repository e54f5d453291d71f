#include "table/commit_line.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// Writes of a commit.
constexpr size_t kWritesMax = 256;
constexpr size_t kBytesMax = 1 << 20;
// What waits makes a commit beside others only when it is so much: short writes are better one commit.
constexpr size_t kBytesBesideMin = 32 << 10;

}  // namespace

// One thread more than commits: it tells those of the commit before, which takes about as long as a commit of
// short writes.
CommitLine::CommitLine(Tables* tables, WorkerPool* workers, Options options)
    : tables_(tables),
      workers_(workers),
      options_(std::move(options)),
      line_(options_.limits, workers->clock()) {
  for (int i = 0; i < options_.commits_max + 1; ++i) threads_.emplace_back([this] { Run(); });
}

CommitLine::~CommitLine() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  wake_.SignalAll();
  for (std::thread& thread : threads_) thread.join();
}

void CommitLine::Add(std::unique_ptr<PendingWrite> write) {
  absl::Status refused;
  bool wakes = false;
  {
    const absl::MutexLock lock(&mutex_);
    refused = line_.CheckRoom(write->priority());
    if (refused.ok()) refused = line_.CheckWait(write->priority());
    if (refused.ok()) {
      // A thread that commits looks at the line again when it is done.
      const bool might = MayCommit();
      const absl::Time deadline = write->deadline();
      const Priority priority = write->priority();
      waiting_bytes_ += write->bytes();
      line_.Push(std::move(write), deadline, priority);
      wakes = !might && MayCommit();
    }
  }
  if (!refused.ok()) return write->Done(refused);
  if (wakes) wake_.Signal();
}

void CommitLine::AddAlone(std::unique_ptr<PendingWrite> write, WhyAlone why) {
  CountAlone(why, 1);
  const absl::Time deadline = write->deadline();
  const Priority priority = write->priority();
  auto commit = [tables = tables_, write = std::move(write)](const absl::Status& turn) mutable {
    turn.ok() ? Commit(tables, std::move(write)) : write->Done(turn);
  };
  workers_->Submit(deadline, std::move(commit), priority);
}

void CommitLine::Commit(Tables* tables, std::unique_ptr<PendingWrite> write) {
  write->Begin();
  const absl::StatusOr<absl::Span<const RowMutations>> rows = write->ReadAlone();
  if (!rows.ok()) return write->Done(rows.status());
  const PendingWrite::Target& target = write->target();
  write->Done(tables->MutateRows(*target.schema, *rows, target.view.get(),
                                 [&write] { return write->Interrupted(); }));
}

void CommitLine::CommitRest(std::unique_ptr<PendingWrite> write, Rest rest) {
  CountAlone(WhyAlone::kRowWaits, 1);
  const auto commit = [tables = tables_](PendingWrite* of_rest,
                                         Rest* left) -> absl::StatusOr<std::vector<absl::Status>> {
    of_rest->Begin();
    const absl::StatusOr<absl::Span<const RowMutations>> rows = of_rest->ReadAlone();
    if (!rows.ok()) return rows.status();
    std::vector<RowMutations> some;
    for (const size_t row : left->rows) some.push_back((*rows)[row]);
    const PendingWrite::Target& target = of_rest->target();
    std::vector<absl::Status> statuses = tables->MutateRows(*target.schema, some, target.view.get(),
                                                            [of_rest] { return of_rest->Interrupted(); });
    for (size_t i = 0; i < some.size(); ++i) left->statuses[left->rows[i]] = std::move(statuses[i]);
    return std::move(left->statuses);
  };
  const absl::Time deadline = write->deadline();
  const Priority priority = write->priority();
  auto finish = [=, write = std::move(write), rest = std::move(rest)](const absl::Status& turn) mutable {
    if (turn.ok()) return write->Done(commit(write.get(), &rest));
    // Some may have been written, so that the answer is one of each row.
    for (const size_t row : rest.rows) rest.statuses[row] = turn;
    write->Done(std::move(rest.statuses));
  };
  workers_->Submit(deadline, std::move(finish), priority);
}

CommitLine::Group CommitLine::Take() {
  Group group;
  size_t bytes = 0;
  while (!line_.empty() && group.size() < kWritesMax && bytes < kBytesMax) {
    absl::Status late;
    Member& member = group.emplace_back();
    member.write = line_.Pop(&late);
    bytes += member.write->bytes();
    waiting_bytes_ -= member.write->bytes();
    if (late.ok()) continue;
    member.is_done = true;
    member.statuses = std::move(late);
  }
  return group;
}

bool CommitLine::MayCommit() const {
  if (line_.empty() || committing_ >= options_.commits_max) return false;
  return committing_ == 0 || waiting_bytes_ >= kBytesBesideMin;
}

void CommitLine::Tell(Group group) {
  const auto tell = [&group] {
    for (Member& member : group) {
      if (member.is_done) member.write->Done(std::move(member.statuses));
    }
    group.clear();
  };
  options_.tell_together ? options_.tell_together(tell) : tell();
}

void CommitLine::Run() {
  const TurnClock::WatchedThread watched(workers_->clock());
  mutex_.Lock();
  while (true) {
    while (!MayCommit() && !(ending_ && line_.empty())) wake_.Wait(&mutex_);
    if (line_.empty()) {  // what is under way is the others' to finish
      wake_.SignalAll();
      mutex_.Unlock();
      return;
    }
    Group group = Take();
    ++committing_;
    mutex_.Unlock();
    Commit(&group);
    mutex_.Lock();
    --committing_;
    const bool more = !line_.empty() || ending_;
    mutex_.Unlock();
    if (more) wake_.Signal();
    Tell(std::move(group));
    mutex_.Lock();
  }
}

void CommitLine::Commit(Group* group) {
  std::vector<Member*> left;
  for (Member& member : *group) {
    if (member.is_done) continue;
    if (const WhyAlone why = member.write->Open(); why == WhyAlone::kNot) {
      left.push_back(&member);
    } else {
      AddAlone(std::move(member.write), why);
    }
  }
  if (left.empty()) return;
  const PendingWrite::Target& target = left.front()->write->target();
  const auto others = std::stable_partition(left.begin(), left.end(), [&target](const Member* member) {
    const PendingWrite::Target& other = member->write->target();
    return other.schema == target.schema && other.view == target.view;
  });
  for (auto other = others; other != left.end(); ++other)
    AddAlone(std::move((*other)->write), WhyAlone::kOtherTable);
  CommitTogether(absl::MakeSpan(left).first(others - left.begin()));
}

void CommitLine::CommitTogether(absl::Span<Member* const> members) {
  const PendingWrite::Target target = members.front()->write->target();
  std::vector<Member*> read;
  std::unique_ptr<PendingWrite::Memory> memory;
  size_t next = 0;
  const auto next_rows = [&]() -> std::optional<absl::Span<const RowMutations>> {
    while (next < members.size()) {
      Member* const member = members[next++];
      if (!member->write->Interrupted().ok()) {
        AddAlone(std::move(member->write), WhyAlone::kInterrupted);
        continue;
      }
      member->write->Begin();
      const std::optional<absl::Span<const RowMutations>> rows = member->write->ReadTogether(&memory);
      if (rows.has_value()) {
        read.push_back(member);
        return rows;
      }
      AddAlone(std::move(member->write), WhyAlone::kNotPlain);
    }
    return std::nullopt;
  };
  absl::StatusOr<std::vector<std::vector<absl::Status>>> statuses =
      tables_->MutateTogether(*target.schema, target.view.get(), next_rows);
  if (!statuses.ok()) {
    for (Member* const member : members) {
      if (member->write != nullptr && !member->is_done)
        AddAlone(std::move(member->write), WhyAlone::kRefused);
    }
    return;
  }
  for (size_t i = 0; i < read.size(); ++i) {
    Rest rest{.statuses = std::move((*statuses)[i])};
    for (size_t row = 0; row < rest.statuses.size(); ++row) {
      if (absl::IsAborted(rest.statuses[row])) rest.rows.push_back(row);
    }
    if (!rest.rows.empty()) {
      CommitRest(std::move(read[i]->write), std::move(rest));
      continue;
    }
    read[i]->statuses = std::move(rest.statuses);
    read[i]->is_done = true;
  }
}

}  // namespace sonde

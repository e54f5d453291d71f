#include "wire/data/row_committer.h"

#include <algorithm>
#include <utility>

#include "rpc/call.h"

namespace sonde {
namespace {

// One commits; the other tells those of the commit before, which takes about as long.
constexpr int kThreads = 2;

constexpr size_t kRowsPerCommitMax = 256;

}  // namespace

RowCommitter::RowCommitter(Tables* tables, WorkerPool* workers, WaitLimits limits)
    : tables_(tables), workers_(workers), line_(limits, workers->clock()) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Run(); });
}

RowCommitter::~RowCommitter() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void RowCommitter::Add(Row row, absl::Time deadline, Finish finish) {
  absl::Status refused;
  bool is_first = false;
  {
    std::lock_guard lock(mutex_);
    refused = line_.CheckRoom();
    if (refused.ok()) refused = line_.CheckWait();
    if (refused.ok()) {
      is_first = line_.empty() && !committing_;
      line_.Push({std::move(row), deadline, std::move(finish), {}}, deadline);
    }
  }
  if (!refused.ok()) return std::move(finish)(refused);
  if (is_first) wake_.notify_one();
}

void RowCommitter::Apply(Tables* tables, absl::Span<Write* const> writes) {
  const Row& first = writes.front()->row;
  std::vector<RowMutations> rows;
  rows.reserve(writes.size());
  for (const Write* write : writes) rows.push_back(write->row.mutations);
  std::vector<absl::Status> statuses = tables->MutateTogether(*first.schema, rows, first.view.get());
  for (size_t i = 0; i < writes.size(); ++i) writes[i]->status = std::move(statuses[i]);
}

void RowCommitter::ApplyAmongWorkers(absl::Span<Write* const> writes) {
  std::vector<Write> taken;
  for (Write* write : writes) {
    taken.push_back(std::move(*write));
    write->finish = nullptr;
  }
  const absl::Time deadline = writes.size() == 1 ? taken[0].deadline : absl::InfiniteFuture();
  workers_->Submit(deadline, [tables = tables_, taken = std::move(taken)](const absl::Status& turn) mutable {
    std::vector<Write*> all;
    for (Write& write : taken) {
      write.status = turn;
      all.push_back(&write);
    }
    if (turn.ok()) Apply(tables, all);
    const rpc::AnswersTogether answers;
    for (Write& write : taken) std::move(write.finish)(write.status);
  });
}

std::vector<RowCommitter::Write> RowCommitter::Take() {
  std::vector<Write> writes;
  while (!line_.empty() && writes.size() < kRowsPerCommitMax) {
    absl::Status status;
    writes.push_back(line_.Pop(&status));
    writes.back().status = std::move(status);
  }
  return writes;
}

void RowCommitter::Run() {
  const TurnClock::WatchedThread watched(workers_->clock());
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || (!line_.empty() && !committing_); });
    if (line_.empty() || committing_) {
      if (line_.empty()) return;  // what is under way is the other's to finish
      wake_.wait(lock, [this] { return !committing_; });
      continue;
    }
    std::vector<Write> writes = Take();
    committing_ = true;
    lock.unlock();
    Commit(&writes);
    lock.lock();
    committing_ = false;
    const bool more = !line_.empty() || ending_;
    lock.unlock();
    if (more) wake_.notify_one();
    {
      const rpc::AnswersTogether answers;
      for (Write& write : writes) {
        if (write.finish) std::move(write.finish)(write.status);
      }
      writes.clear();
    }
    lock.lock();
  }
}

void RowCommitter::Commit(std::vector<Write>* writes) {
  std::vector<Write*> left;
  for (Write& write : *writes) {
    if (!write.status.ok()) continue;
    if (Write* const alone = &write;
        tables_->RowMustWait(write.row.schema->id, write.row.mutations.row_key)) {
      ApplyAmongWorkers({&alone, 1});
    } else {
      left.push_back(&write);
    }
  }
  // Those of the first table are committed here.  Others, if there are any, among the workers: RocksDB syncs
  // what several threads write at once for all of them.
  std::vector<Write*> here;
  while (!left.empty()) {
    const auto goes_along = [first = left.front()](const Write* write) {
      return write->row.schema == first->row.schema && write->row.view == first->row.view;
    };
    const auto others = std::stable_partition(left.begin(), left.end(), goes_along);
    if (here.empty()) {
      here.assign(left.begin(), others);
    } else {
      ApplyAmongWorkers(absl::MakeSpan(left).first(others - left.begin()));
    }
    left.erase(left.begin(), others);
  }
  if (!here.empty()) Apply(tables_, here);
}

}  // namespace sonde

#include "wire/row_committer.h"

#include <utility>

#include "absl/time/clock.h"

namespace sonde {
namespace {

// One commits; the other tells those of the commit before, which takes about as long.
constexpr int kThreads = 2;

constexpr size_t kRowsPerCommitMax = 256;

}  // namespace

RowCommitter::RowCommitter(Tables* tables, WorkerPool* workers, WaitLimits limits)
    : tables_(tables), workers_(workers), line_(limits) {
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
    const absl::Time now = absl::Now();
    refused = line_.CheckRoom();
    if (refused.ok()) refused = line_.CheckWait(now);
    if (refused.ok()) {
      is_first = line_.empty() && !committing_;
      line_.Push({std::move(row), deadline, std::move(finish), {}}, deadline, now);
    }
  }
  if (!refused.ok()) return std::move(finish)(refused);
  if (is_first) wake_.notify_one();
}

void RowCommitter::ApplyAmongWorkers(Write* write) {
  workers_->Submit(
      write->deadline, [tables = tables_, row = std::move(write->row),
                        finish = std::exchange(write->finish, nullptr)](const absl::Status& turn) mutable {
        std::move(finish)(turn.ok() ? tables->MutateRow(*row.schema, row.mutations, row.view.get()) : turn);
      });
}

std::vector<RowCommitter::Write> RowCommitter::Take() {
  std::vector<Write> writes;
  const absl::Time now = absl::Now();
  while (!line_.empty() && writes.size() < kRowsPerCommitMax) {
    absl::Status status;
    writes.push_back(line_.Pop(now, &status));
    writes.back().status = std::move(status);
  }
  return writes;
}

void RowCommitter::Run() {
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
    for (Write& write : writes) {
      if (write.finish) std::move(write.finish)(write.status);
    }
    writes.clear();
    lock.lock();
  }
}

// A commit for each table and view; nearly always there is one.
void RowCommitter::Commit(std::vector<Write>* writes) {
  std::vector<Write*> left;
  for (Write& write : *writes) {
    if (!write.status.ok()) continue;
    if (tables_->RowMustWait(write.row.schema->id, write.row.mutations.row_key)) {
      ApplyAmongWorkers(&write);
    } else {
      left.push_back(&write);
    }
  }
  std::vector<Write*> others;
  std::vector<RowMutations> rows;
  while (!left.empty()) {
    const Row& first = left.front()->row;
    const auto goes_along = [&first](const Write* write) {
      return write->row.schema == first.schema && write->row.view == first.view;
    };
    rows.clear();
    others.clear();
    for (Write* write : left) {
      if (goes_along(write)) {
        rows.push_back(write->row.mutations);
      } else {
        others.push_back(write);
      }
    }
    const std::vector<absl::Status> statuses = tables_->MutateTogether(*first.schema, rows, first.view.get());
    auto status = statuses.begin();
    for (Write* write : left) {
      if (goes_along(write)) write->status = *status++;
    }
    left.swap(others);
  }
}

}  // namespace sonde

#include "series/query/merged_rows.h"

#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sonde::series {
namespace {

struct KeyedRow {
  std::string key;
  ReadRow row;
};

// What one scan has found and nobody has taken yet.
class Queue {
 public:
  // Waits while it is full.  False: nobody will take any more.
  bool Push(KeyedRow row) {
    const absl::MutexLock lock(&mutex_, absl::Condition(this, &Queue::HasRoom));
    if (is_cancelled_) return false;
    rows_.push_back(std::move(row));
    return true;
  }

  void End(absl::Status status) {
    const absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
    is_ended_ = true;
  }

  // Waits for a row; nothing at the end.
  absl::StatusOr<std::optional<KeyedRow>> Take() {
    const absl::MutexLock lock(&mutex_, absl::Condition(this, &Queue::HasNews));
    if (rows_.empty()) {
      if (!status_.ok()) return status_;
      return std::optional<KeyedRow>();
    }
    std::optional<KeyedRow> row = std::move(rows_.front());
    rows_.pop_front();
    return row;
  }

  void Cancel() {
    const absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
  }

 private:
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return rows_.size() < kRowsAheadMax || is_cancelled_;
  }
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !rows_.empty() || is_ended_; }

  absl::Mutex mutex_;
  std::deque<KeyedRow> rows_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// The scans and their threads, which end with it.
class Scans {
 public:
  Scans(TableAccess* tables, const std::string& table, const std::vector<RowRead>& reads,
        const std::function<std::string(std::string_view)>& key_of) {
    for (const RowRead& read : reads) {
      Queue* const queue = queues_.emplace_back(std::make_unique<Queue>()).get();
      threads_.emplace_back([=, &table, &read, &key_of] {
        queue->End(tables->ReadRows(table, read, [&](ReadRow&& row) {
          std::string key = key_of(row.row_key);
          return queue->Push({std::move(key), std::move(row)});
        }));
      });
    }
  }
  ~Scans() {
    for (const auto& queue : queues_) queue->Cancel();
    for (std::thread& thread : threads_) thread.join();
  }
  Scans(const Scans&) = delete;

  size_t Count() const { return queues_.size(); }
  Queue& Get(size_t index) { return *queues_[index]; }

 private:
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::Status ReadMergedRows(TableAccess* tables, const std::string& table, const std::vector<RowRead>& reads,
                            const std::function<std::string(std::string_view row_key)>& key_of,
                            const std::function<bool(ReadRow&&)>& row) {
  if (reads.empty()) return absl::OkStatus();
  const bool is_reversed = reads.front().reversed;
  Scans scans(tables, table, reads, key_of);
  std::vector<std::optional<KeyedRow>> heads(scans.Count());
  const auto advance = [&](size_t scan) -> absl::Status {
    absl::StatusOr<std::optional<KeyedRow>> next = scans.Get(scan).Take();
    if (next.ok()) heads[scan] = *std::move(next);
    return next.status();
  };
  for (size_t scan = 0; scan < heads.size(); ++scan) {
    if (absl::Status status = advance(scan); !status.ok()) return status;
  }
  while (true) {
    std::optional<size_t> first;
    for (size_t scan = 0; scan < heads.size(); ++scan) {
      if (!heads[scan]) continue;
      if (first &&
          (is_reversed ? heads[scan]->key <= heads[*first]->key : heads[scan]->key >= heads[*first]->key)) {
        continue;
      }
      first = scan;
    }
    if (!first || !row(std::move(heads[*first]->row))) return absl::OkStatus();
    if (absl::Status status = advance(*first); !status.ok()) return status;
  }
}

}  // namespace sonde::series

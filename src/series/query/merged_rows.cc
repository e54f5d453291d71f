#include "series/query/merged_rows.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "model/held_numbers.h"

namespace sonde::series {
namespace {

// Rows that wait to be taken are taken together, and a scan goes on when there are none left: threads that
// wake each other for every row take more time than the rows.
constexpr size_t kRowsQueuedMax = kRowsAheadMax / 2;
constexpr size_t kRowsTakenMin = kRowsQueuedMax / 2;
constexpr size_t kBytesQueuedMax = 1 << 20;

size_t SizeOf(const HeldNumbers& numbers) { return numbers.Bytes(); }
size_t SizeOf(const ReadRow& row) {
  size_t bytes = row.row_key.size();
  for (const ReadCell& cell : row.cells) {
    bytes += sizeof(ReadCell) + cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

// Rows that one scan has found and nobody has taken yet.
template <typename Row>
class Queue {
 public:
  struct KeyedRow {
    std::string key;
    Row row;
  };

  // Waits while it is full.  False: nobody will take any more.
  bool Push(KeyedRow row) {
    const size_t row_bytes = SizeOf(row.row);
    const absl::MutexLock lock(&mutex_);
    if (IsFull()) mutex_.Await(absl::Condition(this, &Queue::WasTaken));
    if (is_cancelled_) return false;
    rows_.push_back(std::move(row));
    bytes_ += row_bytes;
    return true;
  }

  void End(absl::Status status) {
    const absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
    is_ended_ = true;
  }

  // Waits for the next row; nothing at the end.  One thread takes.
  absl::StatusOr<std::optional<KeyedRow>> Take() {
    if (next_taken_ == taken_.size()) {
      taken_.clear();
      next_taken_ = 0;
      const absl::MutexLock lock(&mutex_, absl::Condition(this, &Queue::HasNews));
      taken_.swap(rows_);
      bytes_ = 0;
      if (taken_.empty()) {
        if (!status_.ok()) return status_;
        return std::optional<KeyedRow>();
      }
    }
    return std::optional<KeyedRow>(std::move(taken_[next_taken_++]));
  }

  void Cancel() {
    const absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
  }

 private:
  bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return rows_.size() >= kRowsQueuedMax || bytes_ >= kBytesQueuedMax;
  }
  bool WasTaken() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return rows_.empty() || is_cancelled_; }
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return rows_.size() >= kRowsTakenMin || is_ended_ || IsFull();
  }

  // Only the taking thread uses it.
  std::vector<KeyedRow> taken_;
  size_t next_taken_ = 0;

  absl::Mutex mutex_;
  std::vector<KeyedRow> rows_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// The scans and their threads, which end with it.
template <typename Row>
class ScansOfOrder {
 public:
  // `scan` runs the one with an index, and gives its rows to the queue.
  ScansOfOrder(size_t count, const std::function<absl::Status(size_t index, Queue<Row>* queue)>& scan) {
    for (size_t index = 0; index < count; ++index) {
      Queue<Row>* const queue = queues_.emplace_back(std::make_unique<Queue<Row>>()).get();
      threads_.emplace_back([&scan, index, queue] { queue->End(scan(index, queue)); });
    }
  }
  ~ScansOfOrder() {
    for (const auto& queue : queues_) queue->Cancel();
    for (std::thread& thread : threads_) thread.join();
  }
  ScansOfOrder(const ScansOfOrder&) = delete;

  size_t Count() const { return queues_.size(); }
  Queue<Row>& Get(size_t index) { return *queues_[index]; }

 private:
  std::vector<std::unique_ptr<Queue<Row>>> queues_;
  std::vector<std::thread> threads_;
};

// `scan` and `row` as above; false ends all of them.
template <typename Row>
absl::Status Merge(size_t count, bool is_reversed,
                   const std::function<absl::Status(size_t index, Queue<Row>* queue)>& scan,
                   const std::function<bool(Row&&)>& row) {
  ScansOfOrder<Row> scans(count, scan);
  std::vector<std::optional<typename Queue<Row>::KeyedRow>> heads(count);
  const auto advance = [&](size_t index) -> absl::Status {
    auto next = scans.Get(index).Take();
    if (next.ok()) heads[index] = *std::move(next);
    return next.status();
  };
  for (size_t index = 0; index < count; ++index) {
    if (absl::Status status = advance(index); !status.ok()) return status;
  }
  while (true) {
    std::optional<size_t> first;
    for (size_t index = 0; index < count; ++index) {
      if (!heads[index]) continue;
      if (first &&
          (is_reversed ? heads[index]->key <= heads[*first]->key : heads[index]->key >= heads[*first]->key)) {
        continue;
      }
      first = index;
    }
    if (!first || !row(std::move(heads[*first]->row))) return absl::OkStatus();
    if (absl::Status status = advance(*first); !status.ok()) return status;
  }
}

}  // namespace

absl::Status ReadMergedRows(TableAccess* tables, const std::string& table, const std::vector<RowRead>& reads,
                            const std::function<std::string(std::string_view row_key)>& key_of,
                            const std::function<bool(ReadRow&&)>& row) {
  if (reads.empty()) return absl::OkStatus();
  const auto scan = [&](size_t index, Queue<ReadRow>* queue) {
    return tables->ReadRows(table, reads[index], [&](ReadRow&& found) {
      std::string key = key_of(found.row_key);
      return queue->Push({std::move(key), std::move(found)});
    });
  };
  return Merge<ReadRow>(reads.size(), reads.front().reversed, scan, row);
}

absl::Status ReadMergedNumbers(NumberAccess* tables, const std::string& table,
                               const std::vector<NumberRead>& reads,
                               const std::function<std::string(std::string_view row_key)>& key_of,
                               const std::function<bool(const NumberRow&)>& row) {
  if (reads.empty()) return absl::OkStatus();
  const auto scan = [&](size_t index, Queue<HeldNumbers>* queue) {
    return tables->Read(table, reads[index], [&](const NumberRow& found) {
      return queue->Push({key_of(found.row_key), HeldNumbers(found)});
    });
  };
  return Merge<HeldNumbers>(reads.size(), reads.front().reversed, scan,
                            [&](HeldNumbers&& held) { return row(held.View()); });
}

}  // namespace sonde::series

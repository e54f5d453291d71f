#include "engine/rocks/store/head_buffer.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/check.h"
#include "base/hash.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace sonde {
namespace {

using Rep = rocksdb::MemTableRep;

// Behind the user's key: its sequence number and kind.
constexpr size_t kSequenceBytes = 8;
// The tail of the user's key: the end of the row key and a short family id, and before them eight digits or
// bytes, which a time needs.
constexpr size_t kTailBytes = 3 + 8;

// A varint of the form that RocksDB's entries have: the length of what follows it.
uint32_t TakeLength(const char** at) {
  uint32_t length = 0;
  for (int shift = 0; shift < 32; shift += 7) {
    const auto byte = static_cast<unsigned char>(*(*at)++);
    length |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return length;
}

// Tells how many bytes lie in a range of a buffer, by a sample of the entries in which each byte has the same chance.  (RocksDB's own
// estimate counts entries and takes each for as long as the mean of the buffer, in which one table may have long entries and another
// short ones.)
//
// Threads: one inserts, any number ask.
class ByteSample {
 public:
  explicit ByteSample(const Rep::KeyComparator& comparator) : comparator_(comparator) {}

  // `entry`: the key with its length, then the value with its length; it stays where it is.
  void Add(const char* entry) {
    const char* at = entry;
    const uint32_t key_bytes = TakeLength(&at);
    at += key_bytes;
    const uint32_t value_bytes = TakeLength(&at);
    at += value_bytes;
    const auto entry_bytes = static_cast<uint64_t>(at - entry);
    const uint64_t before = bytes_.load(std::memory_order_relaxed);
    const uint64_t samples = (before + entry_bytes) / kBytesOfSample - before / kBytesOfSample;
    bytes_.store(before + entry_bytes, std::memory_order_relaxed);
    entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (samples == 0) return;
    const absl::MutexLock lock(&mutex_);
    samples_.push_back({entry, samples});
    is_sorted_ = false;
  }

  // The number of entries of mean length that have as many bytes as those of [start, end).  Nothing: no entries came by Add.
  std::optional<uint64_t> CountEntries(const rocksdb::Slice& start, const rocksdb::Slice& end) {
    const uint64_t entries = entries_.load(std::memory_order_relaxed);
    const uint64_t bytes = bytes_.load(std::memory_order_relaxed);
    if (entries == 0 || bytes == 0) return std::nullopt;
    const absl::MutexLock lock(&mutex_);
    if (!is_sorted_) Sort();
    const uint64_t found = CountBefore(end) - CountBefore(start);
    return static_cast<uint64_t>(static_cast<double>(found * kBytesOfSample) * static_cast<double>(entries) /
                                     static_cast<double>(bytes) +
                                 0.5);
  }

  size_t memory_bytes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return samples_.capacity() * sizeof(Sample);
  }

 private:
  // Of a full buffer, they take some 0.4% of its memory.
  static constexpr uint64_t kBytesOfSample = 4 << 10;

  struct Sample {
    const char* entry = nullptr;
    uint64_t count = 0;  // once sorted, with all before it
  };

  void Sort() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t i = samples_.size(); i-- > 1;) {
      if (i < sorted_) samples_[i].count -= samples_[i - 1].count;
    }
    std::sort(samples_.begin(), samples_.end(),
              [&](const Sample& a, const Sample& b) { return comparator_(a.entry, b.entry) < 0; });
    for (size_t i = 1; i < samples_.size(); ++i) samples_[i].count += samples_[i - 1].count;
    sorted_ = samples_.size();
    is_sorted_ = true;
  }

  uint64_t CountBefore(const rocksdb::Slice& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto at = std::partition_point(samples_.begin(), samples_.end(), [&](const Sample& sample) {
      return comparator_(sample.entry, key) < 0;
    });
    return at == samples_.begin() ? 0 : std::prev(at)->count;
  }

  const Rep::KeyComparator& comparator_;
  std::atomic<uint64_t> bytes_ = 0, entries_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  size_t sorted_ ABSL_GUARDED_BY(mutex_) = 0;  // so many at the front are sorted, and count all before them
  bool is_sorted_ ABSL_GUARDED_BY(mutex_) = true;
};

class HeadBuffer final : public Rep {
 public:
  HeadBuffer(std::unique_ptr<Rep> list, const KeyComparator& comparator, rocksdb::Allocator* allocator,
             size_t slots)
      : Rep(allocator), list_(std::move(list)), comparator_(comparator), slots_(slots), sample_(comparator) {}

  rocksdb::KeyHandle Allocate(size_t bytes, char** buffer) override { return list_->Allocate(bytes, buffer); }

  // One thread at a time inserts so, RocksDB sees to it: whoever leads a group of batches that merge.
  void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(rocksdb::KeyHandle handle) override {
    const Turn turn(&is_taken_);
    sample_.Add(static_cast<const char*>(handle));
    const uint64_t series = SeriesOf(handle);
    Slot& slot = slots_[series % slots_.size()];
    if (slot.series != series) {
      // A series that comes twice, while the owner does not, becomes the owner.
      if (std::exchange(slot.candidate, series) != series) return list_->InsertKey(handle);
      slot.series = series;
    }
    slot.candidate = 0;
    return list_->InsertKeyWithHint(handle, &slot.place);
  }

  void InsertConcurrently(rocksdb::KeyHandle handle) override { list_->InsertConcurrently(handle); }
  bool InsertKeyConcurrently(rocksdb::KeyHandle handle) override {
    return list_->InsertKeyConcurrently(handle);
  }
  void InsertWithHint(rocksdb::KeyHandle handle, void** hint) override {
    list_->InsertWithHint(handle, hint);
  }
  bool InsertKeyWithHint(rocksdb::KeyHandle handle, void** hint) override {
    return list_->InsertKeyWithHint(handle, hint);
  }
  void InsertWithHintConcurrently(rocksdb::KeyHandle handle, void** hint) override {
    list_->InsertWithHintConcurrently(handle, hint);
  }
  bool InsertKeyWithHintConcurrently(rocksdb::KeyHandle handle, void** hint) override {
    return list_->InsertKeyWithHintConcurrently(handle, hint);
  }
  void BatchPostProcess() override { list_->BatchPostProcess(); }
  void MarkReadOnly() override { list_->MarkReadOnly(); }
  void MarkFlushed() override { list_->MarkFlushed(); }

  bool Contains(const char* key) const override { return list_->Contains(key); }
  void Get(const rocksdb::LookupKey& key, void* arguments,
           bool (*visit)(void* arguments, const char* entry)) override {
    list_->Get(key, arguments, visit);
  }
  rocksdb::Status GetAndValidate(
      const rocksdb::LookupKey& key, void* arguments, bool (*visit)(void* arguments, const char* entry),
      bool allow_data_in_error, bool detect_key_out_of_order,
      const std::function<rocksdb::Status(const char*, bool)>& check_key) override {
    return list_->GetAndValidate(key, arguments, visit, allow_data_in_error, detect_key_out_of_order,
                                 check_key);
  }
  rocksdb::Status MultiGet(size_t count, const char* const* keys, void** arguments,
                           bool (*visit)(void* arguments, const char* entry), bool allow_data_in_errors,
                           bool detect_key_out_of_order,
                           const std::function<rocksdb::Status(const char*, bool)>& check_key) override {
    return list_->MultiGet(count, keys, arguments, visit, allow_data_in_errors, detect_key_out_of_order,
                           check_key);
  }
  Iterator* GetIterator(rocksdb::Arena* arena) override { return list_->GetIterator(arena); }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    return list_->GetDynamicPrefixIterator(arena);
  }
  uint64_t ApproximateNumEntries(const rocksdb::Slice& start, const rocksdb::Slice& end) override {
    const std::optional<uint64_t> entries = sample_.CountEntries(start, end);
    return entries.has_value() ? *entries : list_->ApproximateNumEntries(start, end);
  }
  void UniqueRandomSample(uint64_t entries, uint64_t wanted,
                          std::unordered_set<const char*>* sample) override {
    list_->UniqueRandomSample(entries, wanted, sample);
  }
  size_t ApproximateMemoryUsage() override {
    return list_->ApproximateMemoryUsage() + slots_.size() * sizeof(Slot) + sample_.memory_bytes();
  }

 private:
  struct Slot {
    uint64_t series = 0;     // whose place it is
    uint64_t candidate = 0;  // who came last, if not that one
    void* place = nullptr;
  };

  // The turn of the inserting thread.  It hands the slots from one thread to the next in a way that
  // ThreadSanitizer sees, which does not see RocksDB's own.
  class Turn {
   public:
    explicit Turn(std::atomic<bool>* is_taken) : is_taken_(is_taken) {
      const bool is_other = is_taken_->load(std::memory_order_acquire);
      DCHECK(!is_other);
      is_taken_->store(true, std::memory_order_relaxed);
    }
    ~Turn() { is_taken_->store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic<bool>* const is_taken_;
  };

  // The list's handle is the entry.
  uint64_t SeriesOf(rocksdb::KeyHandle handle) const {
    const rocksdb::Slice key = comparator_.decode_key(static_cast<const char*>(handle));
    const std::string_view bytes(key.data(), key.size() - kSequenceBytes);
    return HashBytes(bytes.substr(0, bytes.size() - std::min(bytes.size(), kTailBytes)));
  }

  const std::unique_ptr<Rep> list_;
  const KeyComparator& comparator_;
  std::atomic<bool> is_taken_ = false;
  std::vector<Slot> slots_;
  ByteSample sample_;
};

class HeadBufferFactory final : public rocksdb::MemTableRepFactory {
 public:
  explicit HeadBufferFactory(size_t slots) : slots_(slots) {}
  const char* Name() const override { return "sonde.head_buffer.1"; }
  using MemTableRepFactory::CreateMemTableRep;
  Rep* CreateMemTableRep(const Rep::KeyComparator& comparator, rocksdb::Allocator* allocator,
                         const rocksdb::SliceTransform* transform, rocksdb::Logger* logger) override {
    std::unique_ptr<Rep> list(lists_.CreateMemTableRep(comparator, allocator, transform, logger));
    return new HeadBuffer(std::move(list), comparator, allocator, slots_);
  }
  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  const size_t slots_;
  rocksdb::SkipListFactory lists_;
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> MakeHeadBufferFactory(size_t slots) {
  return std::make_shared<HeadBufferFactory>(slots);
}

}  // namespace sonde

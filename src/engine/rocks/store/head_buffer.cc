#include "engine/rocks/store/head_buffer.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

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

class HeadBuffer final : public Rep {
 public:
  HeadBuffer(std::unique_ptr<Rep> list, const KeyComparator& comparator, rocksdb::Allocator* allocator,
             size_t slots)
      : Rep(allocator), list_(std::move(list)), comparator_(comparator), slots_(slots) {}

  rocksdb::KeyHandle Allocate(size_t bytes, char** buffer) override { return list_->Allocate(bytes, buffer); }

  // One thread at a time inserts so, RocksDB sees to it: whoever leads a group of batches that merge.
  void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(rocksdb::KeyHandle handle) override {
    const Turn turn(&is_taken_);
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
    return list_->ApproximateNumEntries(start, end);
  }
  void UniqueRandomSample(uint64_t entries, uint64_t wanted,
                          std::unordered_set<const char*>* sample) override {
    list_->UniqueRandomSample(entries, wanted, sample);
  }
  size_t ApproximateMemoryUsage() override {
    return list_->ApproximateMemoryUsage() + slots_.size() * sizeof(Slot);
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

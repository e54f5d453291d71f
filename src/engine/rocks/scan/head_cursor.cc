#include "engine/rocks/scan/head_cursor.h"

#include <utility>

#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/fragment_merge.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

// The expected fragments of a long entry.  If an entry has too many fragments to be long, RocksDB makes one
// of them.
constexpr int kFragmentsExpected = 64;
constexpr int kFragmentsMax = kFragmentsApartMax;

// So many steps take less than one search.
constexpr int kStepsToStartMax = 16;

}  // namespace

HeadCursor::HeadCursor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
                       TableId table, Options options)
    : db_(db),
      head_(head),
      snapshot_(snapshot),
      options_(std::move(options)),
      table_(table),
      table_start_(StartOfRange(table, RowRange::All())),
      table_end_(EndOfRange(table, RowRange::All())),
      lower_bound_(table_start_),
      upper_bound_(table_end_) {
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower_bound_;
  read.iterate_upper_bound = &upper_bound_;
  read.adaptive_readahead = true;
  iterator_.reset(db->NewIterator(read, head));
}

absl::Status HeadCursor::Start(const RowRange& rows) {
  const FragmentsApart apart;
  lookup_.Clear();
  range_start_ = StartOfRange(table_, rows);
  // Where the cursor is, all before the end of the last range is behind it.
  const bool is_behind = !options_.reverse && !range_end_.empty() && range_end_ <= range_start_;
  range_end_ = EndOfRange(table_, rows);
  if (is_behind && StepsToStart()) return FindWanted();
  if (options_.reverse) {
    iterator_->SeekForPrev(range_end_);
    if (iterator_->Valid() && iterator_->key() == rocksdb::Slice(range_end_)) iterator_->Prev();
  } else {
    iterator_->Seek(range_start_);
  }
  return FindWanted();
}

bool HeadCursor::StepsToStart() {
  for (int steps = 0; steps < kStepsToStartMax; ++steps) {
    if (!iterator_->Valid() || iterator_->key().compare(range_start_) >= 0) return true;
    iterator_->Next();
  }
  return false;
}

absl::Status HeadCursor::Next() {
  const FragmentsApart apart;
  lookup_.Clear();
  Step();
  return FindWanted();
}

absl::Status HeadCursor::FindWanted() {
  valid_ = false;
  while (iterator_->Valid()) {
    const rocksdb::Slice key = iterator_->key();
    if (options_.reverse ? key.compare(range_start_) < 0 : key.compare(range_end_) >= 0)
      return absl::OkStatus();
    if (!ParseKey({key.data(), key.size()}, &parsed_)) return absl::DataLossError("A stored key is damaged");
    if (options_.wants(parsed_.family)) {
      DecodeRowKey(parsed_.row_prefix, &row_key_);
      valid_ = true;
      return absl::OkStatus();
    }
    IsExpiringFamily(parsed_.family) && !options_.expiring ? StepOverExpiring() : Step();
  }
  return FromRocks(iterator_->status(), "Reading rows");
}

absl::Status HeadCursor::Fragments(std::vector<std::string_view>* fragments) {
  const std::string_view value(iterator_->value().data(), iterator_->value().size());
  if (IsLongEntry(value)) {
    return lookup_.FindLong(db_, head_, snapshot_, iterator_->key().ToString(), fragments);
  }
  if (!AppendFragments(value, fragments)) return absl::DataLossError("A stored row is damaged");
  return absl::OkStatus();
}

// There may be thousands in a row, the last of its families.
void HeadCursor::StepOverExpiring() {
  std::string key(parsed_.row_prefix);
  if (options_.reverse) {
    AppendFamily(kExpiringFamilies, &key);
    iterator_->SeekForPrev(key);
    if (iterator_->Valid() && iterator_->key() == rocksdb::Slice(key)) iterator_->Prev();
  } else {
    iterator_->Seek(EndOfRowPrefix(key));
  }
}

absl::Status HeadLookup::Find(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head,
                              const rocksdb::Snapshot* snapshot, const std::string& key,
                              std::vector<std::string_view>* fragments) {
  const FragmentsApart apart;
  Clear();
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  const rocksdb::Status status = db->Get(read, head, key, &value_);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Reading a row");
  const std::string_view value(value_.data(), value_.size());
  if (IsLongEntry(value)) return FindLong(db, head, snapshot, key, fragments);
  if (!AppendFragments(value, fragments)) return absl::DataLossError("A stored row is damaged");
  return absl::OkStatus();
}

absl::Status HeadLookup::FindLong(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head,
                                  const rocksdb::Snapshot* snapshot, const std::string& key,
                                  std::vector<std::string_view>* fragments) {
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  int count = kFragmentsExpected;
  rocksdb::Status status;
  do {
    of_long_ = std::vector<rocksdb::PinnableSlice>(count);
    rocksdb::GetMergeOperandsOptions how;
    how.expected_max_number_of_operands = count;
    status = db->GetMergeOperands(read, head, key, of_long_.data(), &how, &count);
  } while (status.IsIncomplete() && count <= kFragmentsMax);
  // Without a snapshot a compaction may have taken it, of a family that was dropped just now.
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Reading a row");
  for (int i = 0; i < count; ++i) fragments->emplace_back(of_long_[i].data(), of_long_[i].size());
  return absl::OkStatus();
}

void HeadLookup::Clear() {
  value_.Reset();
  of_long_.clear();
}

}  // namespace sonde

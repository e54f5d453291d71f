#include "engine/rocks/head_cursor.h"

#include <utility>

#include "engine/rocks/fragment_merge.h"
#include "engine/rocks/rocks_status.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

// A row that is written again and again has a fragment for each write until RocksDB combines them.  So many
// are read as they are, for the few cells of them that are asked for; of more, RocksDB makes one, as they are
// no long entry.
constexpr int kFragmentsExpected = 8;
constexpr int kFragmentsMax = kFragmentsApartMax;

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
  const ReadEntriesAs apart(EntriesAs::kApart);
  lookup_.Clear();
  range_start_ = StartOfRange(table_, rows);
  range_end_ = EndOfRange(table_, rows);
  if (options_.reverse) {
    iterator_->SeekForPrev(range_end_);
    if (iterator_->Valid() && iterator_->key() == rocksdb::Slice(range_end_)) iterator_->Prev();
  } else {
    iterator_->Seek(range_start_);
  }
  return FindWanted();
}

absl::Status HeadCursor::Next() {
  const ReadEntriesAs apart(EntriesAs::kApart);
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
    return lookup_.Find(db_, head_, snapshot_, iterator_->key().ToString(), fragments);
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
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  if (found_.empty()) found_.resize(kFragmentsExpected);
  for (rocksdb::PinnableSlice& slice : found_) slice.Reset();
  int count = 0;
  rocksdb::Status status;
  while (true) {
    rocksdb::GetMergeOperandsOptions how;
    how.expected_max_number_of_operands = static_cast<int>(found_.size());
    status = db->GetMergeOperands(read, head, key, found_.data(), &how, &count);
    if (!status.IsIncomplete() || count > kFragmentsMax) break;
    found_ = std::vector<rocksdb::PinnableSlice>(count);
  }
  if (status.IsIncomplete()) {
    count = 1;
    status = db->Get(read, head, key, &found_[0]);
  }
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Reading a row");
  for (int i = 0; i < count; ++i) fragments->emplace_back(found_[i].data(), found_[i].size());
  return absl::OkStatus();
}

}  // namespace sonde

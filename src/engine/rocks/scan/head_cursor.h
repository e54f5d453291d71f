// The entries of one head, in the order of rows, or of one row.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/rocks/store/key.h"
#include "model/row_range.h"
#include "rocksdb/db.h"

namespace sonde {

// The fragments of one key.
class HeadLookup {
 public:
  // Appends the fragments of `key`, oldest first, to *fragments; the views hold until the next call.
  // DATA_LOSS, errors of the disk.
  absl::Status Find(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
                    const std::string& key, std::vector<std::string_view>* fragments);
  // The same of a long entry (fragment_merge.h).
  absl::Status FindLong(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
                        const std::string& key, std::vector<std::string_view>* fragments);
  // Lets the fragments go.
  void Clear();

 private:
  rocksdb::PinnableSlice value_;
  std::vector<rocksdb::PinnableSlice> of_long_;
};

// Goes along the entries of wanted families.  Not for several threads.
class HeadCursor {
 public:
  struct Options {
    bool reverse = false;
    // Whether a family of the expiring ones may be wanted; else they are passed over, all of a row at once.
    bool expiring = false;
    std::function<bool(FamilyId family)> wants;
  };

  HeadCursor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
             TableId table, Options options);

  // Goes to the first entry of the range.  DATA_LOSS, errors of the disk.
  absl::Status Start(const RowRange& rows);
  absl::Status Next();

  // What it is at; the views hold until it moves.
  bool valid() const { return valid_; }
  const std::string& row_key() const { return row_key_; }
  FamilyId family() const { return parsed_.family; }
  // Appends its fragments, oldest first.  DATA_LOSS, errors of the disk.
  absl::Status Fragments(std::vector<std::string_view>* fragments);

 private:
  // From where the iterator is to the next entry that is wanted.
  absl::Status FindWanted();
  void Step() { options_.reverse ? iterator_->Prev() : iterator_->Next(); }
  void StepOverExpiring();

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const head_;
  const rocksdb::Snapshot* const snapshot_;
  const Options options_;
  const TableId table_;
  const std::string table_start_, table_end_;
  const rocksdb::Slice lower_bound_, upper_bound_;  // RocksDB keeps pointers to these
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::string range_start_, range_end_;
  bool valid_ = false;
  ParsedKey parsed_;
  std::string row_key_;
  HeadLookup lookup_;  // of a long entry
};

}  // namespace sonde

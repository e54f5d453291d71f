// The entries of one head, either in the order of rows or looked up by row.
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

// Looks up the fragments of a key.  Not for several threads.
class HeadLookup {
 public:
  // Appends the fragments of `key`, oldest first, to *fragments; the views hold until the next call.
  // DATA_LOSS, errors of the disk.
  absl::Status Find(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
                    const std::string& key, std::vector<std::string_view>* fragments);
  // Like Find, for a long entry (fragment_merge.h).
  absl::Status FindLong(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
                        const std::string& key, std::vector<std::string_view>* fragments);
  // Lets go of the fragments.
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
    // Whether an expiring family may be wanted.  If not, the expiring families of a row are passed over all
    // at once.
    bool expiring = false;
    std::function<bool(FamilyId family)> wants;
  };

  HeadCursor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* head, const rocksdb::Snapshot* snapshot,
             TableId table, Options options);

  // Goes to the first entry of the range.  It is cheap if the entry is near the one where the cursor is.
  // DATA_LOSS, errors of the disk.
  absl::Status Start(const RowRange& rows);
  absl::Status Next();

  // The current entry.  The views hold until the cursor moves.
  bool valid() const { return valid_; }
  const std::string& row_key() const { return row_key_; }
  FamilyId family() const { return parsed_.family; }
  // Appends the entry's fragments, oldest first.  DATA_LOSS, errors of the disk.
  absl::Status Fragments(std::vector<std::string_view>* fragments);

 private:
  // Goes from the iterator's place to the next wanted entry.
  absl::Status FindWanted();
  void Step() { options_.reverse ? iterator_->Prev() : iterator_->Next(); }
  void StepOverExpiring();
  // Steps to the first entry from range_start_ on.  False: it is not near.
  bool StepsToStart();

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
  HeadLookup lookup_;  // for long entries
};

}  // namespace sonde

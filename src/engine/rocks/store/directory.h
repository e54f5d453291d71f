// The directory of pages: the header of each page, under the page's key, so that unwanted pages are not read.
//
// Value: the page's header, as in the page; its checksum, 8 bytes, big-endian
// (docs/formats/data-directory.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cellblock/page.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/directory_cache.h"
#include "engine/rocks/store/page_key.h"
#include "rocksdb/iterator.h"
#include "rocksdb/write_batch.h"

namespace sonde {

// The entry of a page.
std::string EncodeDirectoryEntry(const PageHeader& header, std::string_view page);

// PutPage adds a page and its entry to the batch; DeletePage deletes both.
absl::Status PutPage(const CellStore& store, std::string_view key, const PageHeader& header,
                     std::string_view page, rocksdb::WriteBatch* batch);
absl::Status DeletePage(const CellStore& store, std::string_view key, rocksdb::WriteBatch* batch);

// Goes along the entries of the pages of one table.  Not for several threads.  Errors of all functions:
// DATA_LOSS if an entry is damaged; those of the disk.
class DirectoryCursor {
 public:
  // `moment` null: the directory as it is now.  `store` and `moment` must outlive this.
  DirectoryCursor(const CellStore& store, const CellStore::Moment* moment, TableId table);

  TableId table() const { return table_; }

  // FindBefore: the family's last entry before `key`.  FindFrom: its first entry not before `key`.
  absl::StatusOr<DirectoryEntryRef> FindBefore(FamilyId family, const std::string& key);
  absl::StatusOr<DirectoryEntryRef> FindFrom(FamilyId family, const std::string& key);
  // The next and the previous entry of the entry's family.
  absl::StatusOr<DirectoryEntryRef> After(const DirectoryEntryRef& entry);
  absl::StatusOr<DirectoryEntryRef> Before(const DirectoryEntryRef& entry);

  // All families that have pages, ascending.
  absl::StatusOr<std::vector<FamilyId>> Families();

 private:
  rocksdb::Iterator& iterator();
  absl::StatusOr<DirectoryEntryRef> Here(FamilyId family);
  DirectoryCache::Neighbors KnownBefore(FamilyId family, const std::string& key) const;
  void Remember(DirectoryEntryRef before, DirectoryEntryRef after) const;

  const CellStore& store_;
  const CellStore::Moment* const moment_;
  const TableId table_;
  const std::string table_start_, table_end_;
  const rocksdb::Slice lower_bound_, upper_bound_;  // RocksDB keeps pointers to these
  std::unique_ptr<rocksdb::Iterator> iterator_;     // made when first needed
};

// Goes along the entries of all tables, as they are now.  Not for several threads.
class DirectoryWalk {
 public:
  // Begins after the entry with the key `after`; empty: at the first entry.
  DirectoryWalk(const CellStore& store, const std::string& after);

  // Returns null if there are no more.  Errors as for DirectoryCursor.
  absl::StatusOr<DirectoryEntryRef> Next();

 private:
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Loads the page of an entry, from the cache or the disk, with its share of the budget.  DATA_LOSS: the page
// is damaged or missing.  UNAVAILABLE: it is for a read (there is a snapshot), and reads hold too many pages.
absl::StatusOr<std::unique_ptr<OpenPage>> LoadPage(const CellStore& store, const rocksdb::Snapshot* snapshot,
                                                   const DirectoryEntry& entry);

}  // namespace sonde

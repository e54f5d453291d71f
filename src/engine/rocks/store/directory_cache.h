// Entries of the directory of pages that readers have met, each with its next entry.  Looking them up in
// RocksDB was a sixth of a point read.
//
// All entries are of one version of the pages (CellStore::PagesChange).  When a reader comes that sees a
// newer version, the older entries are forgotten.  Memory is bounded: when it is full, all entries go.
//
// Threads: all functions may be called at once.  Readers that find their entry share the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "cellblock/page.h"
#include "engine/rocks/store/page_key.h"
#include "model/cell.h"

namespace sonde {

// The entry of one page in the directory (directory.h).
struct DirectoryEntry {
  std::string key;
  ParsedPageKey first;  // where the page begins
  PageHeader header;
  uint64_t checksum = 0;
};
// Null: there is no entry.
using DirectoryEntryRef = std::shared_ptr<const DirectoryEntry>;

class DirectoryCache {
 public:
  explicit DirectoryCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Two neighbouring entries of a family.  Both null: it is not known.
  struct Neighbors {
    DirectoryEntryRef before;  // never null if it is known
    DirectoryEntryRef after;   // null: `before` is the family's last entry
    bool known() const { return before != nullptr; }
  };

  // The last entry of the family before `key`, if it and its next entry are known.
  Neighbors FindBefore(uint64_t version, TableId table, FamilyId family, std::string_view key);
  // The entry with this key, and its next entry.
  Neighbors FindAt(uint64_t version, std::string_view key);
  void Put(uint64_t version, Neighbors neighbors);

 private:
  using ByKey = std::map<std::string_view, Neighbors>;  // the keys view `before`, which owns them

  // Returns the result of `find` on the kept entries, if they are of this version.
  template <typename Find>
  Neighbors FindIn(uint64_t version, const Find& find);
  // Returns false if the kept entries are of another version.  Forgets them if they are older.
  bool GoTo(uint64_t version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t bytes_max_;
  absl::Mutex mutex_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  ByKey by_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde

// Entries of the directory of pages that readers have met, each with the one that follows: a look into
// RocksDB for them was a sixth of a point read.
//
// All entries are of one version of the pages (CellStore::PagesChange): those of an older one are forgotten
// when a reader comes that sees a newer one.  Bounded in bytes: when they are full, all go.
//
// Threads: all functions may be called at once; readers that find what they look for share the lock.
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

// What the directory says of one page (directory.h).
struct DirectoryEntry {
  std::string key;
  ParsedPageKey first;  // where the page begins
  PageHeader header;
  uint64_t checksum = 0;
};
// Null: there is none.
using DirectoryEntryRef = std::shared_ptr<const DirectoryEntry>;

class DirectoryCache {
 public:
  explicit DirectoryCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Two entries of a family between which no other is.  Neither: it is not known.
  struct Neighbors {
    DirectoryEntryRef before;  // never null if it is known
    DirectoryEntryRef after;   // null: `before` is the family's last one
    bool known() const { return before != nullptr; }
  };

  // The last entry of the family before `key`, if it and what follows it are known.
  Neighbors FindBefore(uint64_t version, TableId table, FamilyId family, std::string_view key);
  // The entry with this key, and what follows it.
  Neighbors FindAt(uint64_t version, std::string_view key);
  void Put(uint64_t version, Neighbors neighbors);

 private:
  using ByKey = std::map<std::string_view, Neighbors>;  // keys of `before`, which own them

  // What `find` says of what is kept, if that is of this version.
  template <typename Find>
  Neighbors FindIn(uint64_t version, const Find& find);
  // False: what is kept is of another version.  Forgets what is of an older one.
  bool GoTo(uint64_t version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t bytes_max_;
  absl::Mutex mutex_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  ByKey by_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde

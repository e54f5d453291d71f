// The database of records: the tables that exist, what was dropped of them, the row shapes, and the caller's
// records. Every write is synced, even if writes of cells are not.
//
// It is opened before the cells: their merge function needs the shapes before their log is replayed.
//
// Threads: all functions may be called at once, but for Open and Close.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/record_store.h"
#include "engine/rocks/files/write_stop.h"
#include "engine/rocks/store/shape_dictionary.h"

namespace rocksdb {
class DB;
struct Options;
}  // namespace rocksdb

namespace sonde {

class Records {
 public:
  // `write_stop` is asked before every write.
  explicit Records(const WriteStop* write_stop);
  ~Records();

  // Opens the database at `path`, and loads the engine's own records.  DATA_LOSS: a record is of no known
  // kind.
  absl::Status Open(const rocksdb::Options& settings, const std::string& path);
  // After it, only IsDropped and shapes may be called.
  void Close();
  rocksdb::DB* db() const { return database_.get(); }
  ShapeDictionary* shapes() { return &shapes_; }

  // The caller's records, as in RecordStore.
  absl::Status Write(const std::vector<RecordChange>& changes);
  absl::StatusOr<std::vector<Record>> Read(std::string_view prefix) const;
  int64_t Version() const;
  // Deletes all of the caller's records, and gives their space back.
  absl::Status Clear();

  // From now on the table exists.  It may have existed before.
  absl::Status CreateTable(TableId table);
  // From now on nobody reads the table or family.  Its space is still to be freed.
  absl::Status DropTable(TableId table);
  absl::Status DropFamily(TableId table, FamilyId family);

  // NOT_FOUND: there is no such table.
  absl::Status CheckTable(TableId table) const;
  bool IsDropped(TableId table, FamilyId family) const;
  absl::flat_hash_set<TableId> tables() const;

 private:
  // ABORTED: the record has another version.
  absl::Status CheckVersion(const RecordChange& change) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(versions_mutex_);
  absl::Status Load(const std::string& path);
  // Returns false if the record is of no known kind.
  absl::StatusOr<bool> LoadOne(std::string_view key, std::string_view value);

  const WriteStop* const write_stop_;
  std::unique_ptr<rocksdb::DB> database_;
  ShapeDictionary shapes_;

  // Versions of this session, as no other process has the directory.  A record that is not here has
  // kFirstVersion.
  static constexpr int64_t kFirstVersion = 1;
  mutable absl::Mutex versions_mutex_;  // held while records are written
  int64_t version_ ABSL_GUARDED_BY(versions_mutex_) = kFirstVersion;
  absl::flat_hash_map<std::string, int64_t> versions_ ABSL_GUARDED_BY(versions_mutex_);

  mutable absl::Mutex mutex_;
  absl::flat_hash_set<TableId> tables_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<TableId> dropped_tables_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::pair<TableId, FamilyId>> dropped_families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde

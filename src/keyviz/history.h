// The counts, kept on disk for two weeks at three resolutions: docs/formats/keyviz.md.
//
// Files are only appended to, and deleted whole when all in them is old.  Nothing is synced: after a loss of
// power the last seconds may be missing, and what is torn is noticed by its checksum and ignored.
//
// Threads: Append by one thread at a time; Read by any number meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "keyviz/access_counts.h"
#include "keyviz/column_facts.h"
#include "keyviz/partition.h"
#include "model/cell.h"

namespace sonde {

struct Tier {
  int64_t seconds = 0;       // of a column
  int64_t kept_seconds = 0;  // how long it is kept, at least
  int64_t file_seconds = 0;  // that a file is begun after
};

constexpr std::array<Tier, 3> kTiers = {{
    {1, 3600, 600},
    {60, 24 * 3600, 4 * 3600},
    {900, 14 * 24 * 3600, 2 * 24 * 3600},
}};

// One stretch of time of one table.
struct Column {
  TableId table = 0;
  int64_t start_seconds = 0;  // since 1970
  PartitionRef partition;
  std::vector<AccessCounts> counts;  // by bucket
  ColumnFacts facts;                 // read by ReadFacts
};

class AccessHistory {
 public:
  // Limit of the files of a tier together.  Counts beyond it are not kept.
  static constexpr uint64_t kFileBytesMax = uint64_t{32} << 20;

  // `directory` is made if it is not there.  PERMISSION_DENIED, RESOURCE_EXHAUSTED as the file system says.
  static absl::StatusOr<std::unique_ptr<AccessHistory>> Open(std::filesystem::path directory);
  ~AccessHistory();

  // Adds a second to all tiers; of the others, what is complete is written.  Ascending start_seconds.
  void Append(const Column& second);
  // Drops what is older than its tier keeps.
  void Expire(int64_t now_seconds);
  // Writes what is not complete yet: for the end of the process.  Read adds up columns of the same start.
  void Flush();

  // Calls `visit` with the columns of a table that start in [start, end), in the order in which they were
  // written; those of a tier that are not written yet (Flush) included.
  absl::Status Read(size_t tier, TableId table, int64_t start_seconds, int64_t end_seconds,
                    const std::function<void(const Column&)>& visit) const;

  // The facts of those columns, likewise; none of times that an older version has written.
  absl::Status ReadFacts(size_t tier, TableId table, int64_t start_seconds, int64_t end_seconds,
                         const std::function<void(int64_t start_seconds, const ColumnFacts&)>& visit) const;
  // The partition of the last of these columns; null: there is none.
  absl::StatusOr<PartitionRef> LastPartition(size_t tier, TableId table, int64_t start_seconds,
                                             int64_t end_seconds) const;
  // Those that have such columns.
  absl::StatusOr<std::set<TableId>> ListTables(size_t tier, int64_t start_seconds, int64_t end_seconds) const;

  uint64_t bytes_on_disk() const;

 private:
  explicit AccessHistory(std::filesystem::path directory);
  struct TierFile;
  struct Pending {  // of a table and tier
    int64_t start_seconds = 0;
    PartitionRef partition;
    std::vector<AccessCounts> counts;
    ColumnFacts facts;
  };
  // A record of a file: partitions have no start.
  struct FileRecord {
    uint64_t kind = 0;
    TableId table = 0;
    uint64_t number = 0;  // of a partition, or of a column's
    int64_t start_seconds = 0;
    std::string_view rest;
    uint64_t file = 0;  // numbers are of a file
  };

  // Calls `visit` with the partitions of the files that have such columns, and with the columns and facts of
  // that time.
  absl::Status ReadFiles(size_t tier, int64_t start_seconds, int64_t end_seconds,
                         const std::function<void(const FileRecord&)>& visit) const;
  static Column ColumnOf(TableId table, const Pending& pending) {
    return {table, pending.start_seconds, pending.partition, pending.counts, pending.facts};
  }
  // Columns of that time that are not written yet.
  std::vector<Column> ReadPending(size_t tier, int64_t start_seconds, int64_t end_seconds) const;
  void Write(size_t tier, const Column& column) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TierFile* FileFor(size_t tier, int64_t start_seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::filesystem::path PathOf(size_t tier, int64_t file_start_seconds) const;

  const std::filesystem::path directory_;
  mutable absl::Mutex mutex_;
  std::array<std::unique_ptr<TierFile>, kTiers.size()> files_
      ABSL_GUARDED_BY(mutex_);  // that are appended to
  std::array<std::map<TableId, Pending>, kTiers.size()> pending_ ABSL_GUARDED_BY(mutex_);
};

// --- Records of these files, and of the file of what was learned (key_visualizer.h).

// Appends a record: length, checksum, payload.
void PutRecord(std::string* out, std::string_view payload);
// Takes one off the front; false at the end, and where it is torn or damaged.
bool GetRecord(std::string_view* in, std::string_view* payload);
void PutPartition(std::string* out, const Partition& partition);
// Null: it is not one.
PartitionRef GetPartition(std::string_view* in);

// The whole file; NOT_FOUND.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path);

}  // namespace sonde

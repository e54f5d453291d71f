// The change logs of a store in HBase (stored_log.h has the bytes, positions.h the order, log_reader.h the reading).
//
// A logged change is a guarded commit (LoggedCommit), so that it knows its row's newest record.  What FindEnd tells is one or two seconds
// old, whatever it is asked for, and longer when a server has just been killed: until its lease is over.  `last_record` is the frontier:
// nobody knows more.  HBase forgets records by itself, so Trim has nothing to do.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/hbase/log/log_reader.h"
#include "engine/hbase/log/positions.h"
#include "engine/row_log.h"
#include "hbase/client.h"

namespace sonde {

class HBaseLog final : public RowLog {
 public:
  using NameOf = std::function<hbase::TableName(TableId)>;

  // `client` must outlive it.  `name_of`: the table of HBase's with the cells of a table.
  HBaseLog(hbase::Client* client, hbase::TableName catalog, NameOf name_of, LogPositionsOptions options);

  // Asks the cluster only when it does not know the table, or the frontier, yet.
  absl::StatusOr<End> FindEnd(TableId table, const RowRange& partition, int64_t frontier_min,
                              absl::Time deadline) override;
  absl::Status Read(TableId table, const RowRange& partition, int64_t start, uint32_t start_index,
                    int64_t through, const std::function<bool(const Piece&)>& visit,
                    absl::Time deadline) override;
  absl::Status Trim(TableId table, int64_t position, absl::Time deadline) override;

  // Sees to it that a table has the family, and that records are kept for so long.
  absl::Status Prepare(const hbase::TableName& table, absl::Duration kept, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(preparing_);
  // The same without a wish; cheap when it was found before.
  absl::Status PrepareOnce(const hbase::TableName& table, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_, preparing_);
  // The family was found, and is not there any more; perhaps with the table.
  void Forget(const hbase::TableName& table) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the table may have records.
  absl::StatusOr<bool> MayHaveRecords(const hbase::TableName& table, absl::Time deadline);

  LogPositions* positions() { return &positions_; }
  uint64_t slices() const { return reader_.slices(); }
  // Records that readers may have been past.
  uint64_t told_again() const { return told_again_; }
  uint64_t ended_slots() const { return positions_.ended_slots(); }

 private:
  friend class LoggedCommit;
  absl::Status CheckTable(TableId table, absl::Time deadline);
  absl::Status PrepareAlone(const hbase::TableName& table, absl::Duration kept, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(preparing_);
  absl::Status Alter(const hbase::TableName& table, const hbase::FamilySchema& wanted, absl::Time deadline);
  bool IsPrepared(const hbase::TableName& table) ABSL_LOCKS_EXCLUDED(mutex_);
  void Note(const hbase::TableName& table) ABSL_LOCKS_EXCLUDED(mutex_);

  hbase::Client* const client_;
  const NameOf name_of_;
  LogPositions positions_;
  LogReader reader_;
  std::atomic<uint64_t> told_again_ = 0;
  absl::Mutex preparing_;  // held through calls: one of this server alters a table
  absl::Mutex mutex_;
  std::set<hbase::TableName> prepared_ ABSL_GUARDED_BY(mutex_);
  std::set<hbase::TableName> known_ ABSL_GUARDED_BY(mutex_);  // to be there
};

// One change that may be logged: gives its record a position, which is under way until the change has ended.  Not for several threads.
class LoggedCommit {
 public:
  // All must outlive it.
  LoggedCommit(HBaseLog* log, const hbase::TableName* table, absl::Time deadline)
      : log_(log), table_(table), deadline_(deadline) {}
  ~LoggedCommit() { End(true); }
  LoggedCommit(const LoggedCommit&) = delete;
  LoggedCommit& operator=(const LoggedCommit&) = delete;

  // The parts of a change that is being made.
  struct Edit {
    hbase::RowChange* change = nullptr;
    std::deque<std::string>* bytes = nullptr;
    std::function<absl::Duration()>* time_to_send = nullptr;  // as in hbase::GuardedChange
  };

  // Runs `commit`, which calls Add for each try that it makes; once more if the table lost its family meanwhile, or has not got it
  // everywhere yet.  If this process stood still for so long that readers may be past the record when it was made, runs `tell_again`,
  // another change of the row, which calls AddAgain: then such a record may be told twice, and is not lost.
  // UNKNOWN: also if the change was made, and it is not known whether its record will be told.
  absl::Status Run(const std::function<absl::Status()>& commit,
                   const std::function<absl::Status()>& tell_again);

  // Adds the record to the change; a change without one stays as it is.  `newest`: as in the row (kNewestRecordQualifier), empty: there
  // is none.
  absl::Status Add(const LogRecord& record, std::string_view newest, const Edit& edit);
  // Moves the record that was added last to another position.
  absl::Status AddAgain(std::string_view newest, const Edit& edit);

 private:
  void End(bool is_known);
  bool MayBePassed() const { return position_ != 0 && log_->positions()->MayBePassed(position_); }

  HBaseLog* const log_;
  const hbase::TableName* const table_;
  const absl::Time deadline_;
  LogRecord record_;      // that was added last
  int64_t position_ = 0;  // 0: none is under way
  int64_t passed_ = 0;    // where it is, and readers may be past it
};

}  // namespace sonde

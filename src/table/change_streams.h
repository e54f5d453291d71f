// The change streams of tables: their partitions, their readers, and the upkeep that is due now and then.
//
// A change of a table whose schema has a change stream, or another use of the log, is logged with it (engine/row_log.h).  A record's
// position is its commit time in microseconds, or the first free number above it.  So commit times ascend
// strictly over a table, and time and position are one number here.  One log serves all partitions of a
// table: a reader passes over the rows of others.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "table/stream_cursor.h"
#include "table/tables.h"

namespace sonde {

struct ChangeStreamOptions {
  // A partition of more than twice this size is split.  Two neighbours of less than half this size are
  // merged.
  uint64_t partition_bytes_target = uint64_t{256} << 20;
  size_t partitions_max = 64;
};

// Returns ranges [start, end) of row keys, ascending.  Together they are the whole table.
std::vector<RowRange> PartitionsOf(const ChangeStreamSchema& stream);

// Returns where partitions should divide, given the points where they divide now.  At most one point is added
// or taken away.  Points where the table was split when it was created stay.
std::vector<std::string> AdaptPartitionPoints(const ChangeStreamOptions& options,
                                              const std::vector<std::string>& split_points,
                                              const std::vector<RowKeySample>& samples,
                                              std::vector<std::string> points);

struct ReadChangesRequest {
  struct Token {
    RowRange partition;
    std::string token;
  };
  RowRange partition;
  std::optional<int64_t> start_micros;  // inclusive
  std::vector<Token> tokens;            // none, and no start_micros: from now on
  std::optional<int64_t> end_micros;    // inclusive
};

// The progress of a reader, for observers.
struct ChangeReaderProgress {
  TableId table = 0;
  std::atomic<int64_t> watermark_micros = 0;
};

// A reader of one partition.  It holds nothing of the log between two calls of Read.  Not for several
// threads.
class ChangeStreamReader {
 public:
  // A piece of a record (changes/change_record.h).
  struct Piece {
    int64_t commit_micros = 0;
    std::string bytes;
    std::string token;  // with the record's last piece: how to go on after the record
    int64_t watermark_micros = 0;
  };
  enum class State {
    kMore,           // there may be more to read at once
    kCaughtUp,       // nothing for now; HasNews will tell
    kEndReached,     // nothing more will come, as end_micros has passed
    kRepartitioned,  // the table is divided differently now; go on by Continuations()
  };
  struct Continuation {
    RowRange partition;        // a new partition
    RowRange token_partition;  // the part of it that belongs to this reader's partition
    std::string token;
  };

  // Replaces *pieces by the next ones, about 64 KiB with their tokens.  Looks at a bounded number of records.
  // NOT_FOUND: the table is gone.  FAILED_PRECONDITION: it has no change stream any more.  OUT_OF_RANGE: the
  // reader fell behind the retention period.
  absl::StatusOr<State> Read(std::vector<Piece>* pieces);

  // Whether Read has something to do.  Cheap, as it does not look at the disk.
  bool HasNews() const;

  // Whether a record was given in part; no token can say so.
  bool InRecord() const { return next_index_ > 0; }
  // A token that says how to go on from here.
  std::string Token() const;
  // No record that is still to come was committed at or before this time.
  int64_t watermark_micros() const { return cursor_.watermark; }
  const RowRange& partition() const { return partition_; }

  // To be called after kRepartitioned.
  std::vector<Continuation> Continuations() const;

 private:
  friend class ChangeStreams;
  ChangeStreamReader(Tables* tables, TableSchemaRef schema) : tables_(tables), schema_(std::move(schema)) {}

  absl::Status CheckTable();
  StreamIdentity identity() const { return {schema_->id, schema_->change_stream->start_micros}; }
  int64_t OldestMicros() const;
  // Returns false if this is enough for now.
  bool Take(const RowLog::Piece& piece, std::vector<Piece>* pieces, absl::Status* status);

  Tables* const tables_;
  TableSchemaRef schema_;
  RowRange partition_;
  std::vector<RowRange> partitioning_;  // of the table, as the last Read saw it
  std::optional<int64_t> end_micros_;
  StreamCursor cursor_;
  int64_t next_position_ = 0;  // where the next Read begins
  uint32_t next_index_ = 0;
  std::shared_ptr<ChangeReaderProgress> progress_;
  bool wanted_ = false;  // whether the record that is being read is wanted
  bool started_ = false;
  size_t taken_bytes_ = 0;  // by this Read, tokens included
  size_t taken_count_ = 0;
};

// The change streams of all tables.  Threads: all functions may be called at once.
class ChangeStreams {
 public:
  // `tables` must outlive this and the readers.
  explicit ChangeStreams(Tables* tables, ChangeStreamOptions options = {})
      : tables_(tables), options_(options) {}

  // Make the change stream of a table: ForNewTable of a table to be created, ForTable of a table that has no
  // stream yet.  ForTable forgets what an earlier stream of the table has left.
  ChangeStreamSchema ForNewTable(const TableSchema& schema, int64_t retention_micros) const;
  absl::StatusOr<ChangeStreamSchema> ForTable(const TableSchema& schema, int64_t retention_micros) const;

  // FAILED_PRECONDITION: there is no change stream.
  // INVALID_ARGUMENT: the start is before the retention period or in the future; the end is before the start;
  //                  tokens are not of this stream, or do not cover the partition exactly.
  // OUT_OF_RANGE: a token is older than the retention period.
  absl::StatusOr<std::unique_ptr<ChangeStreamReader>> Open(TableSchemaRef schema,
                                                           const ReadChangesRequest& request) const;

  // The progress of a table with a change stream: how far its log is complete, and how far its readers have
  // come.
  struct Progress {
    std::string table_name;
    int64_t now_micros = 0;
    int64_t frontier_micros = 0;     // now, unless a write is under way; of a shared store about a second ago
    int64_t last_record_micros = 0;  // 0: none is known
    size_t readers = 0;              // that are open
    // The watermark of the reader that is furthest behind; nothing if there is no reader.
    std::optional<int64_t> oldest_watermark_micros;

    // How long the reader that is furthest behind could have read more; 0 if it has read all.
    int64_t LagMicros() const {
      if (!oldest_watermark_micros.has_value() || last_record_micros <= *oldest_watermark_micros) return 0;
      return now_micros - *oldest_watermark_micros;
    }
  };
  std::vector<Progress> ListProgress() const;

  // Does the work that is due about once a minute: forgets records that no use of a log needs any more, streams and others,
  // adapts the partitions to the data, and collects garbage, which streams tell of.  The work on each table is bounded.
  absl::Status Upkeep();

 private:
  std::shared_ptr<ChangeReaderProgress> AddReader(TableId table, int64_t watermark_micros) const;
  absl::Status Trim(const TableSchema& schema);
  absl::Status Adapt(const TableSchema& schema);
  absl::Status Collect(const TableSchemaRef& schema) ABSL_EXCLUSIVE_LOCKS_REQUIRED(upkeep_mutex_);

  Tables* const tables_;
  const ChangeStreamOptions options_;
  mutable absl::Mutex readers_mutex_;
  mutable std::vector<std::weak_ptr<const ChangeReaderProgress>> readers_ ABSL_GUARDED_BY(readers_mutex_);
  // How many there may be before those that ended are forgotten.
  mutable size_t forget_ended_at_ ABSL_GUARDED_BY(readers_mutex_) = 16;
  absl::Mutex upkeep_mutex_;  // held through Upkeep
  std::map<TableId, std::string> next_rows_to_collect_
      ABSL_GUARDED_BY(upkeep_mutex_);  // from the start when not there
};

// FAILED_PRECONDITION: the table has no change stream.
absl::Status CheckHasChangeStream(const TableSchema& schema);

}  // namespace sonde

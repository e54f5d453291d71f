// The change streams of tables: which partitions there are, reading one, and what has to be done now and
// then.
//
// A change of a table whose schema has a change stream is logged with it (engine/engine.h, "The change log");
// a record's position is its commit time in microseconds, or the first above it that is free, so commit times
// ascend strictly over a table, and time and position are one thing here.  One log serves all partitions of a
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
  // A partition of more than twice as many is split, two neighbours of less than half as many are merged.
  uint64_t partition_bytes_target = uint64_t{256} << 20;
  size_t partitions_max = 64;
};

// [start, end) of row keys, ascending; together the whole table.
std::vector<RowRange> PartitionsOf(const ChangeStreamSchema& stream);

// Where partitions should divide, given where they do: at most one point is added or taken away.  Points at
// which the table was split when it was made stay.
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
  std::vector<Token> tokens;            // none, and no start: from now on
  std::optional<int64_t> end_micros;    // inclusive
};

// How far a reader has come, for those who watch.
struct ChangeReaderProgress {
  TableId table = 0;
  std::atomic<int64_t> watermark_micros = 0;
};

// One reader of one partition.  It holds nothing of the log between two calls of Read.  Not for several
// threads.
class ChangeStreamReader {
 public:
  // A piece of a record (changes/change_record.h).
  struct Piece {
    int64_t commit_micros = 0;
    std::string bytes;
    std::string token;  // of the record's last piece: how to go on after it
    int64_t watermark_micros = 0;
  };
  enum class State {
    kMore,           // there may be more to read at once
    kCaughtUp,       // nothing for now: HasNews will tell
    kEndReached,     // nothing more, ever: end_micros has passed
    kRepartitioned,  // the table is divided differently now: go on by Continuations()
  };
  struct Continuation {
    RowRange partition;        // a new one
    RowRange token_partition;  // what it shares with this one
    std::string token;
  };

  // Replaces *pieces by the next ones; about 64 KiB with their tokens.  Looks at a bounded number of records.
  // NOT_FOUND: the table is gone.  FAILED_PRECONDITION: it has no change stream any more.  OUT_OF_RANGE: the
  // reader fell behind the retention period.
  absl::StatusOr<State> Read(std::vector<Piece>* pieces);

  // Whether Read has something to do.  Cheap: looks at no disk.
  bool HasNews() const;

  // A record has been given in part: no token says where.
  bool InRecord() const { return next_index_ > 0; }
  // How to go on from here.
  std::string Token() const;
  // No record that is still to come was committed at or before.
  int64_t watermark_micros() const { return cursor_.watermark; }
  const RowRange& partition() const { return partition_; }

  // After kRepartitioned.
  std::vector<Continuation> Continuations() const;

 private:
  friend class ChangeStreams;
  ChangeStreamReader(Tables* tables, TableSchemaRef schema) : tables_(tables), schema_(std::move(schema)) {}

  absl::Status CheckTable();
  StreamIdentity identity() const { return {schema_->id, schema_->change_stream->start_micros}; }
  int64_t OldestMicros() const;
  // False: enough for now.
  bool Take(const RowLog::Piece& piece, std::vector<Piece>* pieces, absl::Status* status);

  Tables* const tables_;
  TableSchemaRef schema_;
  RowRange partition_;
  std::vector<RowRange> partitioning_;  // of the table, as the last Read saw it
  std::optional<int64_t> end_micros_;
  StreamCursor cursor_;
  int64_t next_position_ = 0;  // what the next Read begins with
  uint32_t next_index_ = 0;
  std::shared_ptr<ChangeReaderProgress> progress_;
  bool wanted_ = false;  // the record that is being read
  bool started_ = false;
  size_t taken_bytes_ = 0;  // by this Read, tokens included
  size_t taken_count_ = 0;
};

// Threads: all functions may be called at once.
class ChangeStreams {
 public:
  // `tables` must outlive this and the readers.
  explicit ChangeStreams(Tables* tables, ChangeStreamOptions options = {})
      : tables_(tables), options_(options) {}

  // The change stream of a table that is to be made, or that has none yet; what an earlier one of it has left
  // is forgotten.
  ChangeStreamSchema ForNewTable(const TableSchema& schema, int64_t retention_micros) const;
  absl::StatusOr<ChangeStreamSchema> ForTable(const TableSchema& schema, int64_t retention_micros) const;

  // FAILED_PRECONDITION: no change stream.  INVALID_ARGUMENT: a start that is not in the retention period or
  // in the future, an end before the start, tokens that are none of this stream or do not cover the
  // partition exactly.  OUT_OF_RANGE: a token that is older than the retention period.
  absl::StatusOr<std::unique_ptr<ChangeStreamReader>> Open(TableSchemaRef schema,
                                                           const ReadChangesRequest& request) const;

  // Of each table with a change stream: how far its log is complete, and how far its readers have come.
  struct Progress {
    std::string table_name;
    int64_t now_micros = 0;
    int64_t frontier_micros = 0;     // now, unless a write is under way
    int64_t last_record_micros = 0;  // 0: none is known
    size_t readers = 0;              // that are open
    // Of the one that is furthest behind; nothing without readers.
    std::optional<int64_t> oldest_watermark_micros;

    // Since when the reader that is furthest behind could have read more; 0 when all was read.
    int64_t LagMicros() const {
      if (!oldest_watermark_micros.has_value() || last_record_micros <= *oldest_watermark_micros) return 0;
      return now_micros - *oldest_watermark_micros;
    }
  };
  std::vector<Progress> ListProgress() const;

  // What has to be done about once a minute: forgets records that are past the retention period, adapts the
  // partitions to the data, and collects garbage, which streams tell of.  A bounded amount of work a table.
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

// FAILED_PRECONDITION unless the table has one.
absl::Status CheckHasChangeStream(const TableSchema& schema);

}  // namespace sonde

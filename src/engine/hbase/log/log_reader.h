// Reads the change log of a table in the order of positions, which is not HBase's order: there records lie in their rows.
//
// A slice of time is read over all rows of the partition, and sorted in memory.  A slice has at most kLogSliceBytesMax: of more
// records the first ones are kept, and the slices after it are shorter.  The rest of a reader's slice is remembered for the reader's next
// call, as long as there is room; records up to the frontier never change.
//
// Threads: all functions may be called at once; kReadsAtOnceMax read slices at once, others wait.
// Errors: those of hbase::RowScan; a table without the family `l` has an empty log.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/hbase/log/stored_log.h"
#include "engine/row_log.h"
#include "hbase/client.h"
#include "model/row_range.h"

namespace sonde {

constexpr size_t kLogSliceBytesMax = size_t{4} << 20;  // beside one piece that is larger
constexpr size_t kLogSlicesKeptBytesMax = size_t{16} << 20;

// Pieces in order, the first ones of a range of places.  Not for several threads.
class LogSlice {
 public:
  struct Piece {
    LogPlace place;
    std::string bytes;
  };

  // Of the places in [start, end).
  LogSlice(LogPlace start, LogPlace end, size_t bytes_max)
      : start_(start), end_(end), bytes_max_(bytes_max) {}

  // Takes a piece, in any order.  A piece outside of the range is passed over.
  void Add(LogPlace place, std::string_view bytes);
  // All pieces that were added and are before end() are here: it comes nearer when there are too many.
  LogPlace start() const { return start_; }
  LogPlace end() const { return end_; }
  const std::map<LogPlace, std::string>& pieces() const { return pieces_; }
  size_t bytes() const { return bytes_; }
  // Of all that were added, taken or not.
  size_t bytes_seen() const { return bytes_seen_; }

 private:
  const LogPlace start_;
  LogPlace end_;
  const size_t bytes_max_;
  size_t bytes_ = 0;
  size_t bytes_seen_ = 0;
  std::map<LogPlace, std::string> pieces_;
};

class LogReader {
 public:
  // `client` must outlive it.
  explicit LogReader(hbase::Client* client, size_t slice_bytes_max = kLogSliceBytesMax)
      : client_(client), slice_bytes_max_(slice_bytes_max) {}

  // As RowLog::Read.  Nothing appears at or below `frontier` any more.
  absl::Status Read(const hbase::TableName& table, const RowRange& partition, LogPlace start, int64_t through,
                    int64_t frontier, const std::function<bool(const RowLog::Piece&)>& visit,
                    absl::Time deadline);

  // Slices that were read from the cluster.
  uint64_t slices() const { return slices_; }

 private:
  struct Kept {
    hbase::TableName table;
    RowRange partition;
    std::shared_ptr<const LogSlice> slice;
  };
  using SliceRef = std::shared_ptr<const LogSlice>;

  SliceRef Recall(const hbase::TableName& table, const RowRange& partition, LogPlace start)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Keep(const hbase::TableName& table, const RowRange& partition, SliceRef slice)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<SliceRef> Fetch(const hbase::TableName& table, const RowRange& partition, LogPlace start,
                                 LogPlace end, absl::Time deadline);
  // Scans once.  False: there is so much that a shorter slice is better; `slice` says how short.
  absl::StatusOr<bool> Scan(const hbase::TableName& table, const RowRange& partition, LogSlice* slice,
                            absl::Time deadline);

  hbase::Client* const client_;
  const size_t slice_bytes_max_;
  std::atomic<uint64_t> slices_ = 0;
  absl::Mutex mutex_;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the last used one first
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<hbase::TableName, int64_t> window_micros_
      ABSL_GUARDED_BY(mutex_);  // about as long as a full slice is
  int reading_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde

// Points of a declared series into the rows of its tables.
//
// A point becomes cells of the rows that its layout says (row_batch.h), in the table of the version of the
// declaration that holds its time.  Points are gathered and written as requests of many rows, the cells of
// one row together.  The same point written twice is one point: its cells have the same timestamps, and the
// later value stays (with corrections: keep, it is a newer version of the same cell); a field that it leaves
// out stays as it is (stored_rows.h).  So a load that was broken off is repaired by loading again.
//
// Derived tables, in this order, and the series' own table after the first three of them:
//   order    the same points under their other key;
//   period   the same rows in the table of their period, which is made when its first point comes; points
//            whose period is older than max_age are left out;
//   latest   the newest value of each field and series in the request, under the point's own time: an older
//            point that comes late is an older cell, and readers take the newest, so it never hides a newer
//            one;
//   rollup   aggregates of each series and piece of time, read back from the own table; see rollup_keeper.h.
//            The own table keeps points longer than max_age for them, but does not get those that are older
//            when they come: these are in no roll-up.
// Before all of them, the index of the series has the entities and days of the points (entity_notes.h), if the declaration asks for one.
// So at any moment, a death of the process included, order, period and latest tables have every point that
// the series' own table has.  What they may have beyond it is points of a request that was not acknowledged:
// whoever sends it again, which it has to do anyhow, completes it.  Roll-ups are repaired by the next writer.
//
// Not for several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/write/entity_notes.h"
#include "series/write/rollup_keeper.h"
#include "series/write/rollup_refresher.h"
#include "series/write/row_batch.h"

namespace sonde::series {

struct Point {
  absl::Span<const std::string_view> tags;  // in the order of SeriesSchema::tags
  int64_t time_micros = 0;
  // In the order of SeriesSchema::fields.  Null data: the point has none, and so it is with "" of a number;
  // of a string, "" is the empty text.
  absl::Span<const std::string_view> fields;
};

class PointWriter {
 public:
  struct Limits {
    size_t rows_max = 1'000;
    size_t cells_max = 20'000;
    size_t value_bytes_max = 4 << 20;
  };
  struct Totals {
    int64_t points = 0;
    int64_t cells = 0;  // of the series' own table
    int64_t rows = 0;   // entries of requests; a row that is written by two requests counts twice
    int64_t requests = 0;
    int64_t oldest_micros = kTimeEndMicros;  // of the points' times
    int64_t newest_micros = kTimeBeginMicros;
  };

  enum class Target : uint8_t { kAll, kDerivedOnly };  // kDerivedOnly: its own table has the points already

  // Who does what is to be done beside points for the many writers of a server, each of one request.
  struct Keepers {
    RollupRefresher* refresher =
        nullptr;  // brings roll-ups up to date, and Flush leaves them to it; null: Flush does it
    IndexWriter* index = nullptr;  // registers entities; null: a writer of its own (EntityNotes)
  };

  // `tables` and `keepers` must outlive the writer, and so must `clock` (the machine's when null).
  PointWriter(SeriesSchema schema, TableAccess* tables, Limits limits, const Clock* clock, Target target,
              Keepers keepers);
  PointWriter(SeriesSchema schema, TableAccess* tables, Limits limits, const Clock* clock = nullptr,
              Target target = Target::kAll)
      : PointWriter(std::move(schema), tables, limits, clock, target, Keepers()) {}
  PointWriter(SeriesSchema schema, TableAccess* tables) : PointWriter(std::move(schema), tables, Limits()) {}
  ~PointWriter();

  // Gathers; writes nothing.  INVALID_ARGUMENT: the point is refused as a whole, for what KeyCodec::Encode
  // and EncodeValue refuse, of any of the tables that it goes to, for a time that one of them can't say
  // (RefuseTime), and when it has no field at all.
  absl::Status Add(const Point& point);

  bool IsFull() const {
    return row_count_ >= limits_.rows_max || cell_count_ >= limits_.cells_max ||
           value_bytes_ >= limits_.value_bytes_max || period_batches_.size() >= kPeriodsOpenMax;
  }
  // Writes what is gathered.  After an error it is forgotten: whoever wants it written adds it again.
  // The error has the code of the first row that failed, and says how many did.
  // Roll-ups are up to date then, or in the refresher's care.
  absl::Status Flush();
  // Roll-ups may lag behind, for a minute at most, until Flush.
  absl::Status FlushIfFull();
  // Forgets what is gathered: for a look at the points that writes nothing.
  void Clear();

  const Totals& totals() const { return totals_; }
  // Null when the series has no roll-ups.
  const RollupKeeper* rollups() const { return rollups_.get(); }
  const KeyCodec& codec() const { return codec_; }

 private:
  static constexpr size_t kPeriodsOpenMax = 64;

  struct NewestValue {
    int64_t timestamp_micros = -1;
    std::string value;
  };
  struct NewestRow {
    std::string row_key;
    std::vector<std::string> tags;
    std::vector<NewestValue> fields;
  };

  absl::Status EncodeFields(const Point& point);
  // Whether the derived tables can say it.
  absl::Status CheckDerivedTimes(int64_t time_micros) const;
  // Takes from *point, of roll-ups, the values that are forgotten before they come; false: no value is left.
  // The own table keeps points longer than max_age; of these, roll-ups would have some and others not.
  bool LeaveOutForgotten(const SeriesSchema& own, EncodedPoint* point);
  RowBatch& BatchAt(int64_t time_micros);
  bool HasPartialBlobs() const;
  // The batches that get a copy of the point, into copies_.
  void FindCopies(int64_t time_micros);
  void KeepNewest(const Point& point, int64_t timestamp_micros);
  std::vector<RowWrite> TakeNewestRows();
  absl::Status WriteRows(const std::string& table, const std::vector<RowWrite>& rows);
  absl::Status WriteBatch(RowBatch* batch);
  absl::Status WriteAll();
  absl::Status WritePoints();
  absl::Status WriteDerived();
  absl::Status RefreshRollups();

  KeyCodec codec_;
  TimeRange derived_times_;                 // that all derived tables can say
  std::unique_ptr<KeyCodec> latest_codec_;  // null: no table of newest values
  TableAccess* tables_;
  Limits limits_;
  const Clock* clock_;
  Target target_;
  BucketWidth resolution_;
  Totals totals_;
  std::unique_ptr<RollupKeeper> rollups_;  // null: there are none
  RollupRefresher* refresher_;             // may be null
  std::unique_ptr<EntityNotes> entities_;  // null: the series is not indexed

  std::vector<std::unique_ptr<RowBatch>>
      versions_;  // earlier ones, the oldest first, then the declaration's own
  std::vector<std::unique_ptr<RowBatch>> orders_;
  std::map<std::string, std::unique_ptr<RowBatch>> period_batches_;  // by table
  std::set<std::string> period_tables_made_;
  std::vector<RowBatch*> copies_;  // of the point at hand

  size_t row_count_ = 0;
  size_t cell_count_ = 0;
  size_t value_bytes_ = 0;
  std::string key_;
  std::vector<std::string> values_;            // of the point at hand; reused
  std::vector<std::string_view> value_views_;  // the same; null data: none
  std::vector<std::string_view> kept_views_;   // without those that are forgotten

  std::vector<NewestRow> newest_;
  absl::flat_hash_map<std::string, size_t> newest_of_key_;
  std::vector<std::string> last_tags_;
  std::optional<size_t> last_newest_;  // of last_tags_
};

}  // namespace sonde::series

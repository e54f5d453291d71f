// The points that a query selects, one by one and pulled: versions, copies, salts and layouts are one stream.
//
//   absl::StatusOr<std::unique_ptr<PointStream>> stream = PointStream::Open(series, query, tables);
//   rows::Batch batch;
//   while (*(*stream)->Next(&batch)) ...
//
// Shape: a batch has columns for the tags (kBytes; of an open series its labels, "" where absent), the time (kTime), and the
//   fields of the query (or all), and at most rows::kBatchRowsMax rows.  Where they are of one series, the columns of tags are constant.
// Order: by scan, in the order of the row keys as they lie, by time within a row.
// Threads: not for several threads.  Nothing of the tables is open between two calls of Next: rows are read a piece at a time.
// Cost: a look into the table for each piece, which has 64 KiB at first and 4 MiB later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/divided_ranges.h"
#include "model/row_range.h"
#include "model/table_access.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "series/known/known_series.h"
#include "series/query/query_plan.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"

namespace sonde::series {

class PointStream {
 public:
  // `tables` must outlive this.  `query` asks for points one by one: no latest, aggregates, change, top, or conditions on
  // values.  Errors: those of RunQuery.
  static absl::StatusOr<std::unique_ptr<PointStream>> Open(KnownSeriesRef series, Query query,
                                                           TableAccess* tables);

  // Replaces *batch by the next points; false: there are no more.  A batch holds until the next call.
  // Errors: those of SeriesScan::ReadPoints, of query.hold and of query.interrupted.
  absl::StatusOr<bool> Next(rows::Batch* batch);
  // No more than so many points will be asked for.
  void LimitRows(size_t rows_max);

  // --- Parts, for several threads, each with a stream of its own.
  // Whether all points are in one table, which may tell parts.
  bool CanDivide() const { return scans_.size() == 1 && scans_[0]->CanDivide(); }
  // CanDivide().  Divides some of stats().ranges, in normal form.  Errors: those of the table.
  absl::StatusOr<DividedRanges> Divide(const std::vector<RowRange>& ranges) const {
    return scans_[0]->Divide(ranges);
  }
  // Reads only the rows in `ranges`, a part of what a stream of the same query has divided; before the first Next.  False: this
  // stream reads other tables, as those of the series have changed.
  [[nodiscard]] bool KeepPart(const std::vector<RowRange>& ranges);
  // Streams have read all parts.
  void NoteDivided(int64_t rows);

  // --- Places, to go on in another stream of the same query.
  // Before the first Next, if places will be asked for.
  void KeepPlaces() { keeps_places_ = true; }
  // Appends the place behind the first `rows` points of the last batch.
  void SavePlace(size_t rows, std::string* place) const;
  // Takes a place from the front of *place; before the first Next.  False: it is none of this query.
  [[nodiscard]] bool RestorePlace(std::string_view* place);

  // What was read so far.  Ranges are those that are read in all.
  QueryStats stats() const;
  size_t tags_count() const { return tags_count_; }

 private:
  // Where a point stands: in which scan, row, and at which time of it.
  struct Position {
    size_t scan = 0;
    std::string row_key;
    int64_t time_micros = 0;
  };
  // Points that came one behind the other.
  struct Piece {
    std::vector<std::string> tags;  // of all points, unless tag_columns has those of each
    std::optional<rows::HeldBatch> tag_columns;
    rows::HeldBatch points;  // times and fields
    // If places are kept: where the points of each row begin, and its key.
    struct Row {
      size_t first = 0;
      std::string key;
    };
    std::vector<Row> rows;
    size_t scan = 0;
  };

  PointStream(KnownSeriesRef series, Query query, TableAccess* tables)
      : series_(std::move(series)), query_(std::move(query)), tables_(tables), memory_(query_.hold) {}
  absl::Status Plan();
  // Reads the next pieces; none: there are no more.
  absl::Status Fill();
  absl::StatusOr<bool> Take(const rows::Batch& batch);
  void Append(const rows::Batch& batch);
  Piece* PieceFor(const std::vector<std::string>& tags);
  static Position PositionOf(const Piece& piece, size_t point);

  const KnownSeriesRef series_;
  const Query query_;
  TableAccess* const tables_;
  std::optional<QueryPlan> plan_;
  Scans scans_;
  size_t tags_count_ = 0;

  size_t scan_ = 0;                     // that is read
  bool has_begun_ = false;              // rest_ is of scan_
  std::vector<RowRange> rest_;          // of scan_, which was not read yet
  std::optional<std::string> stopped_;  // the row at which a piece ended
  std::optional<std::vector<RowRange>> part_;
  std::optional<Position>
      begin_;  // the last point before those of pieces_, which this or another stream gave
  size_t points_max_;
  size_t bytes_max_;
  size_t points_taken_ = 0;  // for the piece at hand
  size_t bytes_taken_ = 0;
  size_t points_given_ = 0;
  size_t rows_max_ = SIZE_MAX;

  std::deque<Piece> pieces_;  // the first has points that are not given yet
  size_t given_of_piece_ = 0;
  size_t rows_of_batch_ = 0;
  bool keeps_places_ = false;
  rows::HeldMemory memory_;
  std::vector<std::string_view> tag_views_;
};

}  // namespace sonde::series

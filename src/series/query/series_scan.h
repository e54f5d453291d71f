// The rows that a query asks for, decoded, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/divided_ranges.h"
#include "model/table_access.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "series/key/key_codec.h"
#include "series/key/row_order.h"
#include "series/key/row_points.h"
#include "series/known/declarations.h"
#include "series/query/number_points.h"
#include "series/query/query_plan.h"

namespace sonde::series {

// How numbers are to come.
enum class NumberOrder : uint8_t {
  kAny,  // the points of a row may come in parts, which need not have all of its fields; whole numbers of a
         // double field may be a column of ints
  kByTime,  // each field of each series by time ascending
};

class SeriesScan {
 public:
  // `open`: not null when `schema` is that of an open series; the tags of the query are then its labels.
  // `plan`, `tables` and `open` must outlive this; `selection`: the query's, perhaps with more time.  Errors:
  // those of PlanScan; of an open series, those of PlanOpenRows.
  static absl::StatusOr<std::unique_ptr<SeriesScan>> Plan(const SeriesSchema& schema, const KnownSeries* open,
                                                          const QueryPlan& plan, Selection selection,
                                                          TableAccess* tables);

  // Takes the points of a scan by batches.  Columns: tags() (kBytes); times (kTime); fields(), of
  //   ColumnTypeOf.  A
  // batch holds until this returns.  False ends the scan.
  using TakeBatch = std::function<absl::StatusOr<bool>(const rows::Batch&)>;

  // No table is an empty one.
  void TakeMissingAsEmpty() { may_be_missing_ = true; }

  // A read of the rows in `ranges` that were asked for.
  RowRead MakeRead(std::vector<RowRange> ranges) const;
  const std::vector<RowRange>& ranges() const { return stats_.ranges; }

  // The points of the rows that were asked for, in the order of order() and by time in a row; a batch may
  // have several series.  Ints that leave 64 bits widen their column.  Rows of up to kScansMax salts are read
  // at once and merged.  DATA_LOSS: a row or cell that the declaration never writes; the points before it are
  // given first.
  absl::Status ReadPoints(const TakeBatch& take);
  // The order of the rows that ReadPoints gives.
  const RowOrder& order() const { return order_; }
  // The same points to calculate with, where texts are only there or missing.  A batch is of one series, so
  // that its columns of tags are constant.  Much faster where the tables
  // give numbers() and NumberPoints can read them.  By time: rows are read from their end where the newest
  // come first, and where rows lie in no order of time, series are held until they are whole (those that
  // agree in order().tags_in_front()) and sorted.  INVALID_ARGUMENT: more than kValuesHeldMax values would be
  // held so.
  absl::Status ReadNumbers(NumberOrder order, const TakeBatch& take);
  // For several threads, each with a scan of its own, that read numbers in parts: whether the store may tell
  // such parts.
  bool CanDivide() const;
  // A scan of the same rows, which has read nothing yet.  This one, and `interrupted`, which takes the place of
  // the query's, must outlive it.
  std::unique_ptr<SeriesScan> Fork(const rows::Interrupted& interrupted) const;
  // Divides some of ranges() in normal form.  CanDivide().  Errors: those of the table.
  absl::StatusOr<DividedRanges> Divide(const std::vector<RowRange>& ranges) const;
  // As ReadNumbers, for some of ranges().  By time: only where order().times_of_field() ascend.
  absl::Status ReadRanges(const std::vector<RowRange>& ranges, NumberOrder order, const TakeBatch& take);
  // The points of the rows in `ranges`, some of ranges(), as ReadPoints gives them: all of a row in one batch, of which
  // row_key() is the key; rows in the order of their keys as they lie.
  absl::Status ReadWholeRows(const std::vector<RowRange>& ranges, const TakeBatch& take);
  // The key of the row at hand, as the table has it.
  const std::string& row_key() const { return last_row_key_; }
  // Adds what `fork` has read, and forgets it there.
  void TakeStats(SeriesScan* fork);
  // Forks have read all.
  void NoteDivided();
  // Calls `row` with each row of a read that was asked for, in the order of the keys as they lie, until it
  // answers false; key(), tags() and points() are then of that row.
  absl::Status Read(const RowRead& read, const std::function<absl::StatusOr<bool>()>& row);
  RowOrder order_of_read() const { return RowOrder(codec_, false); }
  const DecodedKey& key() const { return row_.key; }
  // Those of the query.
  const std::vector<std::string>& tags() const { return open_ == nullptr ? row_.key.tags : row_.labels; }
  size_t tags_count() const { return open_ == nullptr ? schema().tags.size() : open_->labels.size(); }
  const RowPoints& points() const { return points_; }

  // DATA_LOSS: a cell that the declaration never writes.
  absl::StatusOr<std::vector<ResultValue>> ValuesOf(const RowPoint& point) const;
  // The columns of times and fields of a batch.
  std::vector<ColumnType> ColumnTypes() const;
  bool is_open() const { return open_ != nullptr; }
  const KeyCodec& codec() const { return codec_; }
  const SeriesSchema& schema() const { return codec_.schema(); }
  const std::vector<size_t>& fields() const { return fields_; }
  const rows::Hold& hold() const { return hold_; }
  QueryStats& stats() { return stats_; }

 private:
  SeriesScan(const SeriesSchema& schema, const KnownSeries* open, const QueryPlan& plan, Selection selection,
             TableAccess* tables, const rows::Interrupted& interrupted);
  absl::Status PlanOpen();
  // Takes out the values of tags that no key has.  False: none is left of a tag.
  bool KeepValuesOfKeys();
  void TakeStreams(ScanPlan plan);
  absl::Status ReadAll(bool is_reversed, const std::function<absl::StatusOr<bool>()>& row);
  absl::Status ReadNumbersAsTheyLie(bool is_reversed, bool by_time, const TakeBatch& take);
  absl::Status ReadNumbersSorted(const TakeBatch& take);
  // What is older than max_age, though the table has it still.
  void LeaveOutForgotten(int64_t now_micros);
  // False: enough, or *problem.
  bool TakeRow(ReadRow* found, const std::function<absl::StatusOr<bool>()>& row, absl::Status* problem);
  // A row's key, decoded.  An open series has the last three: the labels, the text that they were read from, and whether they are
  // asked for.
  struct KeyOfRow {
    DecodedKey key;
    std::vector<std::string> labels;
    std::string labels_text;
    bool are_labels_asked_for = false;
  };
  // Whether the row of row->key is.
  absl::StatusOr<bool> IsAskedFor(KeyOfRow* row) const;
  bool AreAskedFor(const std::vector<std::string>& labels) const;
  // Whether many rows of the ranges may not be asked for.
  bool PassesOverRows() const;
  // Makes batch_ have these tags only; they must stay until it is given.
  void BeginBatch(const std::vector<std::string>& tags);
  // Gives batch_, whose rows are those of the columns behind the tags.
  absl::StatusOr<bool> GiveBatch(const TakeBatch& take);
  // Points that wait until they are a batch.
  struct HeldPoints {
    rows::HeldBatch tags;
    rows::HeldBatch points;
    size_t text_bytes = 0;
  };
  absl::Status AddPoint(const RowPoint& point, HeldPoints* held) const;
  // Gives tags() to the points that have none yet.
  void AddTags(HeldPoints* held) const;
  absl::StatusOr<bool> GivePoints(HeldPoints* held, const TakeBatch& take);
  absl::StatusOr<bool> GivePointsAsNumbers(rows::HeldBatch* points, const TakeBatch& take);
  absl::Status StatusOf(const absl::Status& status, const absl::Status& problem) const;
  bool TakeNumbers(const NumberRow& found, bool by_time, NumberPoints* points, const TakeBatch& take,
                   absl::Status* problem);

  const QueryPlan& plan_;
  KeyCodec codec_;
  const KnownSeries* open_;
  Selection selection_;  // of the query's tags
  const TagConditions& conditions_;
  TableAccess* tables_;
  bool may_be_missing_ = false;
  bool are_rows_chosen_ = false;                     // the ranges are those of entities that the index gave
  std::map<std::string, int64_t> kept_from_micros_;  // by family; none: the table has what is asked for
  int64_t all_kept_from_micros_ = 0;                 // the least of these
  std::vector<size_t> fields_;
  std::vector<size_t> read_fields_;             // with witnesses, which come behind
  std::vector<std::vector<RowRange>> streams_;  // of salts that are merged, at most kScansMax; else one
  RowOrder order_;
  RowPoints points_;
  KeyOfRow row_;     // at hand
  KeyOfRow coming_;  // before it is read
  // The row that came last, which may go on where it came as numbers, and whether it is asked for.
  std::string last_row_key_;
  bool is_asked_for_ = false;
  QueryStats stats_;
  rows::Batch batch_;
  std::vector<std::string_view> tag_views_;  // of batch_
  const size_t batch_rows_max_;
  const rows::Interrupted& interrupted_;
  const rows::Hold& hold_;
  rows::WorkCheck rows_check_;
};

// The scans of a declaration's versions, the oldest first: the points of each are before those of the next.
using Scans = std::vector<std::unique_ptr<SeriesScan>>;

// Points before this are forgotten at `now_micros`: timestamps of cells are whole milliseconds.
int64_t KeptFromMicros(int64_t now_micros, int64_t max_age_micros);

}  // namespace sonde::series

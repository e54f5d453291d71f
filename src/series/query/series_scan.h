// The rows that a query asks for, decoded, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/key/row_order.h"
#include "series/key/row_points.h"
#include "series/known/declarations.h"
#include "series/query/number_points.h"
#include "series/query/numbers.h"
#include "series/query/query.h"
#include "series/query/tag_conditions.h"
#include "series/query/work_check.h"

namespace sonde::series {

// How numbers are to come.
enum class NumberOrder : uint8_t {
  kAny,     // the points of a row may come in parts, which need not have all of its fields
  kByTime,  // each field of each series by time ascending
};

class SeriesScan {
 public:
  // `open`: not null when `schema` is that of an open series; the tags of the query are then its labels.
  // `tables` and `open` must outlive this; `selection`: the query's, perhaps with more time.  Errors: those
  // of PlanScan and of the conditions.
  static absl::StatusOr<std::unique_ptr<SeriesScan>> Plan(const SeriesSchema& schema, const KnownSeries* open,
                                                          const Query& query, Selection selection,
                                                          TableAccess* tables);

  // No table is an empty one.
  void TakeMissingAsEmpty() { may_be_missing_ = true; }

  // Of the rows of what was asked for that are in `ranges`.
  RowRead MakeRead(std::vector<RowRange> ranges) const;
  const std::vector<RowRange>& ranges() const { return stats_.ranges; }

  // Calls `row` with each row that was asked for, in order(), until it answers false; key() and points() are
  // then of that row.  Rows of up to kScansMax salts are read at once and merged.  DATA_LOSS: a row that the
  // declaration never writes.
  absl::Status ReadAll(const std::function<absl::StatusOr<bool>()>& row) { return ReadAll(false, row); }
  // Of the rows that ReadAll gives.
  const RowOrder& order() const { return order_; }
  // The numbers of these rows, in *numbers, with their series in tags(); key() and points() mean nothing
  // else. Much faster where the tables give numbers() and NumberPoints can read them.  By time: rows are read
  // from their end where the newest come first, and where rows lie in no order of time, series are held until
  // they are whole (those that agree in order().tags_in_front()) and sorted.  INVALID_ARGUMENT: more than
  // kValuesHeldMax values would be held so.
  absl::Status ReadAllNumbers(NumberOrder numbers_order, Numbers* numbers,
                              const std::function<absl::StatusOr<bool>()>& row);
  // Calls `row` as ReadAll, with the rows of one read and in its order: that of the keys as they lie.
  absl::Status Read(const RowRead& read, const std::function<absl::StatusOr<bool>()>& row);
  RowOrder order_of_read() const { return RowOrder(codec_, false); }
  const DecodedKey& key() const { return key_; }
  // Those of the query.
  const std::vector<std::string>& tags() const { return open_ == nullptr ? key_.tags : labels_; }
  const RowPoints& points() const { return points_; }

  // DATA_LOSS: a cell that the declaration never writes.
  absl::StatusOr<ResultRow> MakeResult(const RowPoint& point) const;
  bool is_open() const { return open_ != nullptr; }
  const KeyCodec& codec() const { return codec_; }
  const SeriesSchema& schema() const { return codec_.schema(); }
  const std::vector<size_t>& fields() const { return fields_; }
  // As Query::hold.
  const std::function<absl::Status(int64_t)>& hold() const { return hold_; }
  QueryStats& stats() { return stats_; }

 private:
  SeriesScan(const SeriesSchema& schema, const KnownSeries* open, const Query& query, Selection selection,
             TagConditions conditions, TableAccess* tables);
  absl::Status PlanOpen();
  void TakeStreams(ScanPlan plan);
  absl::Status ReadAll(bool is_reversed, const std::function<absl::StatusOr<bool>()>& row);
  absl::Status ReadNumbersAsTheyLie(bool is_reversed, bool whole_rows, Numbers* numbers,
                                    const std::function<absl::StatusOr<bool>()>& row);
  absl::Status ReadNumbersSorted(Numbers* numbers, const std::function<absl::StatusOr<bool>()>& row);
  // What is older than max_age, though the table has it still.
  void LeaveOutForgotten(int64_t now_micros);
  // False: enough, or *problem.
  bool TakeRow(ReadRow* found, const std::function<absl::StatusOr<bool>()>& row, absl::Status* problem);
  absl::StatusOr<bool> IsAskedFor();
  // Replaces *numbers by those of the points.
  absl::Status ReadNumbers(Numbers* numbers) const;
  absl::Status StatusOf(const absl::Status& status, const absl::Status& problem) const;
  bool TakeNumbers(const NumberRow& found, NumberPoints* points, Numbers* numbers,
                   const std::function<absl::StatusOr<bool>()>& row, absl::Status* problem);

  KeyCodec codec_;
  const KnownSeries* open_;
  Selection selection_;  // of the query's tags
  TagConditions conditions_;
  TableAccess* tables_;
  bool may_be_missing_ = false;
  std::map<std::string, int64_t> kept_from_micros_;  // by family; none: the table has what is asked for
  int64_t all_kept_from_micros_ = 0;                 // the least of these
  std::vector<size_t> fields_;
  std::vector<std::vector<RowRange>> streams_;  // of salts that are merged, at most kScansMax; else one
  RowOrder order_;
  RowPoints points_;
  DecodedKey key_;
  // Of numbers: the row that came last, which may go on, and whether it is asked for.
  std::string last_row_key_;
  bool is_asked_for_ = false;
  std::vector<std::string> labels_;  // of the row at hand, of an open series
  QueryStats stats_;
  const std::function<absl::Status()> interrupted_;
  const std::function<absl::Status(int64_t)> hold_;
  WorkCheck rows_check_;
};

// Points before this are forgotten at `now_micros`: timestamps of cells are whole milliseconds.
int64_t KeptFromMicros(int64_t now_micros, int64_t max_age_micros);

// The fields that the query's answer is made of.
std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query);

}  // namespace sonde::series

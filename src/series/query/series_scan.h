// The rows that a query asks for, decoded, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/key/row_points.h"
#include "series/query/numbers.h"
#include "series/query/query.h"
#include "series/query/tag_conditions.h"

namespace sonde::series {

class SeriesScan {
 public:
  // `tables` must outlive this; `selection`: the query's, perhaps with more time.  Errors: those of PlanScan
  // and of the conditions.
  static absl::StatusOr<std::unique_ptr<SeriesScan>> Plan(const SeriesSchema& schema, const Query& query,
                                                          Selection selection, TableAccess* tables);

  // Of all that was asked for.
  RowRead MakeRead(std::vector<RowRange> ranges) const;
  const std::vector<RowRange>& ranges() const { return stats_.ranges; }

  // Calls `row` with each row that was asked for, in the order of the read, until it answers false; key() and
  // points() are then of that row.  DATA_LOSS: a row that the declaration never writes.
  absl::Status Read(const RowRead& read, const std::function<absl::StatusOr<bool>()>& row);
  const DecodedKey& key() const { return key_; }
  const RowPoints& points() const { return points_; }

  // DATA_LOSS: a cell that the declaration never writes.
  absl::StatusOr<ResultRow> MakeResult(const RowPoint& point) const;
  // Replaces *numbers by those of the row.
  absl::Status ReadNumbers(Numbers* numbers) const;

  const KeyCodec& codec() const { return codec_; }
  const SeriesSchema& schema() const { return codec_.schema(); }
  const std::vector<size_t>& fields() const { return fields_; }
  QueryStats& stats() { return stats_; }

 private:
  SeriesScan(const SeriesSchema& schema, const Query& query, Selection selection, TagConditions conditions,
             TableAccess* tables);

  KeyCodec codec_;
  Selection selection_;
  TagConditions conditions_;
  TableAccess* tables_;
  std::vector<size_t> fields_;
  RowPoints points_;
  DecodedKey key_;
  QueryStats stats_;
};

// The fields that the query's answer is made of.
std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query);

// Whether all points of a series come one after the other in the order of the keys.
bool IsBySeries(const SeriesSchema& schema);
// Whether the newest rows of a series come first.
bool IsNewestFirst(const SeriesSchema& schema);

}  // namespace sonde::series

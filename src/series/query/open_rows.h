// Which rows of an open series a query reads: those whose keys begin as its conditions say, or those of the entities that the index
// gives (series/index/entity_index.h).
//
// Rows that are not asked for may be among them; none that is asked for is missing.
//
// Threads: the function may be called at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/row_range.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/key/scan_plan.h"
#include "series/known/known_series.h"
#include "series/query/query_words.h"

namespace sonde::series {

struct OpenRows {
  std::vector<RowRange> ranges;  // in normal form
  // How many entities the index gave; nothing: the ranges are those of the query's conditions.
  std::optional<int64_t> indexed_entities = {};
};

// `codec`: of open.schema.  `selection`: what the query's conditions say of each label, and the times of the points.
// Errors: those of PlanScan; with query.index, those of the tables and of query.interrupted.
absl::StatusOr<OpenRows> PlanOpenRows(const KnownSeries& open, const KeyCodec& codec, const Query& query,
                                      const Selection& selection, TableAccess* tables);

// The texts of the entities of a series that the index gives for the query's conditions, sorted.  Nothing: the index does not have all of
// the series, or so much of the series is meant that to read all rows as they lie is quicker.  `series`: open, or an IndexedView; the tags
// of the query are its labels.  `fields`: a point must have one of these; none: it may have any.  query.index is not null.  Errors: those of the tables and of query.interrupted.
absl::StatusOr<std::optional<std::vector<std::string>>> ChooseEntities(const KnownSeries& series,
                                                                       const Query& query,
                                                                       const Selection& times,
                                                                       std::vector<std::string> fields,
                                                                       TableAccess* tables);

}  // namespace sonde::series

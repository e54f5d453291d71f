// What a query's answer looks like, and which queries there are not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/column.h"
#include "series/query/query_words.h"
#include "series/schema/schema.h"

namespace sonde::series {

// INVALID_ARGUMENT: parts that do not go together, an aggregate other than count of a text, a window of more
// than kWindowBucketsMax, a `top` of more than kTopMax or of no column, more than kColumnsMax columns.
absl::StatusOr<ResultHeader> HeaderOf(const SeriesSchema& schema, const Query& query);

// The fields that the query's answer is made of, by index.
std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query);

// The columns that values of a field are in: kInt64, kDouble, kBytes.
ColumnType ColumnTypeOf(const Field& field);

// n, or delta(n).
std::string NameOfValues(const Field& field, std::optional<Change> change);

}  // namespace sonde::series

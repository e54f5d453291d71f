// What is made of a query once, whatever number of tables it is then asked of.
#pragma once

#include "absl/status/statusor.h"
#include "series/query/query_header.h"
#include "series/query/query_words.h"
#include "series/query/tag_conditions.h"

namespace sonde::series {

// Several threads may read it.
struct QueryPlan {
  // `schema`: the newest version of the declaration; of an open series, LabelsAsTags.  `query` must outlive
  // the plan.  Errors: those of the conditions.
  static absl::StatusOr<QueryPlan> Make(const SeriesSchema& schema, const Query& query, ResultHeader header) {
    absl::StatusOr<TagConditions> conditions = TagConditions::Compile(schema, query.conditions);
    if (!conditions.ok()) return conditions.status();
    return QueryPlan{query, std::move(header), *std::move(conditions)};
  }

  const Query& query;
  ResultHeader header;
  TagConditions conditions;
};

}  // namespace sonde::series

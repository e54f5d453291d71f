// Which points of a batch a query's conditions on values let through.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "rows/batch.h"
#include "series/query/query_words.h"

namespace sonde::series {

// Not for several threads.
class ValueFilter {
 public:
  // `fields`: those of the batches.  Each condition is of one of them.
  ValueFilter(const std::vector<ValueCondition>& conditions, const std::vector<size_t>& fields);

  // The points of `batch` that are let through; they hold until the next call.  `first_value`: the column of
  // the first field; the one in front of it has the times, and all before are tags.
  const rows::Batch& Apply(const rows::Batch& batch, size_t first_value);

 private:
  struct Condition {
    size_t column = 0;  // among those of the fields
    ValueCondition::Order order;
    double number = 0;
  };

  std::vector<Condition> conditions_;
  std::vector<size_t> places_;  // of what is let through
  rows::HeldBatch held_;        // of held_types_
  std::vector<ColumnType> held_types_;
  rows::Batch batch_;
};

}  // namespace sonde::series

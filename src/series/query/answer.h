// The end of every plan: the top rows, the limit, and batches as rows of the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "rows/select.h"
#include "rows/top.h"
#include "series/query/query_plan.h"
#include "series/query/query_words.h"

namespace sonde::series {

using RowCallback = std::function<bool(const ResultRow&)>;

// Takes batches with the columns of the answer: those of the header's tags (kBytes), the time (kTime), those
// of the header's values; and perhaps as many columns of doubles more, which have what stands in the gaps of
// these (rows/fill.h).  Not for several threads.
class Answer {
 public:
  // All must outlive this.
  Answer(const QueryPlan& plan, const RowCallback& row);

  // False: no more rows are wanted.
  absl::StatusOr<bool> Take(const rows::Batch& batch);
  // Behind the last batch.
  void Finish();
  int64_t results() const { return results_; }

 private:
  bool Give(const rows::Batch& batch);
  // Gives row_ the tags of a row of a batch.
  void TakeTags(const ColumnView* columns, size_t row);

  const ResultHeader& header_;
  const RowCallback& row_callback_;
  std::optional<rows::TopRows> top_;
  rows::Limit limit_;
  ResultRow row_;
  int64_t results_ = 0;
};

}  // namespace sonde::series

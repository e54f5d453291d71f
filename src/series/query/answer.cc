#include "series/query/answer.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace sonde::series {
namespace {

// Whether they are the same bytes of memory.
bool IsShared(std::string_view a, std::string_view b) { return a.data() == b.data() && a.size() == b.size(); }

}  // namespace

Answer::Answer(const QueryPlan& plan, const RowCallback& row)
    : header_(plan.header),
      row_callback_(row),
      limit_(plan.query.rows_max ? static_cast<size_t>(std::max<int64_t>(*plan.query.rows_max, 0))
                                 : std::numeric_limits<size_t>::max()) {
  row_.tags.resize(header_.tags.size());
  row_.values.resize(header_.values.size());
  if (!plan.query.top) return;
  const Top& top = *plan.query.top;
  const auto found = std::ranges::find_if(header_.values, [&](const ResultHeader::Column& column) {
    return column.is_number && (top.column.empty() || column.name == top.column);
  });
  const size_t ties = header_.tags.size() + 1;
  const size_t column = ties + (found - header_.values.begin());
  std::vector<size_t> by = {column};
  if (plan.query.fill == Fill::kLinear) by.push_back(column + header_.values.size());
  top_.emplace(rows::TopRows::Options{.count = top.count, .is_lowest = top.is_lowest, .by = by, .ties = ties},
               plan.query.hold);
}

absl::StatusOr<bool> Answer::Take(const rows::Batch& batch) {
  if (!top_) return Give(batch);
  if (absl::Status status = top_->Add(batch); !status.ok()) return status;
  return true;
}

void Answer::Finish() {
  if (!top_) return;
  rows::HeldBatch held;
  top_->Result(&held);
  rows::Batch batch;
  held.View(&batch);
  Give(batch);
}

void Answer::TakeTags(const ColumnView* columns, size_t row) {
  bool are_new = results_ == 0;
  for (size_t i = 0; i < row_.tags.size(); ++i) {
    const std::string_view tag = columns[i].bytes()[columns[i].PlaceOf(row)];
    // Rows of one series mostly share their tags.
    if (row > 0 && IsShared(tag, columns[i].bytes()[columns[i].PlaceOf(row - 1)])) continue;
    if (row_.tags[i] == tag) continue;
    row_.tags[i].assign(tag);
    are_new = true;
  }
  if (are_new) ++row_.tags_number;
}

bool Answer::Give(const rows::Batch& batch) {
  const size_t rows = limit_.Take(batch.rows);
  if (rows == 0) return !limit_.IsReached();  // without rows, a batch may have no columns
  const size_t tags = header_.tags.size(), values = header_.values.size();
  const ColumnView* const columns = batch.columns.data();
  const bool has_between = batch.columns.size() > tags + 1 + values;
  const bool is_one_series =
      std::all_of(columns, columns + tags, [](const ColumnView& tag) { return tag.is_constant(); });
  for (size_t row = 0; row < rows; ++row) {
    if (row == 0 || !is_one_series) TakeTags(columns, row);
    row_.time_micros = columns[tags].ints()[row];
    for (size_t i = 0; i < values; ++i) {
      const ColumnView* column = &columns[tags + 1 + i];
      if (has_between && !column->IsThere(row)) column += values;
      rows::GetValue(*column, row, &row_.values[i]);
    }
    ++results_;
    if (!row_callback_(row_)) return false;
  }
  return !limit_.IsReached();
}

}  // namespace sonde::series

#include "sql/exec/subquery.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "sql/exec/build.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {
namespace {

template <typename T>
absl::Span<const T> CopyArray(const T* values, size_t count, Arena* arena) {
  auto* const copy = arena->New<T>(count);
  std::copy_n(values, count, copy);
  return {copy, count};
}

// A column of the arena alone.  `column` is not constant.
ColumnView CopyColumn(const ColumnView& column, Arena* arena) {
  const size_t count = column.size();
  const uint8_t* const there =
      column.there() == nullptr ? nullptr : CopyArray(column.there(), count, arena).data();
  switch (column.type()) {
    case ColumnType::kDouble:
      return ColumnView::OfDoubles(CopyArray(column.doubles(), count, arena), there);
    case ColumnType::kBytes: {
      auto* const copy = arena->New<std::string_view>(count);
      for (size_t i = 0; i < count; ++i) {
        copy[i] = column.IsThere(i) ? arena->Copy(column.bytes()[i]) : std::string_view();
      }
      return ColumnView::OfBytes({copy, count}, there);
    }
    case ColumnType::kList: {
      auto* const copy = arena->New<Datum>(count);
      for (size_t i = 0; i < count; ++i) {
        copy[i] = column.IsThere(i) ? CopyTo(arena, column.lists()[i]) : Datum::Missing();
      }
      return ColumnView::OfLists({copy, count}, there);
    }
    default:
      return ColumnView::OfInts(CopyArray(column.ints(), count, arena), there);
  }
}

}  // namespace

absl::StatusOr<Subqueries::Subquery*> Subqueries::Find(const Plan& plan) {
  std::unique_ptr<Subquery>& subquery = subqueries_[&plan];
  if (subquery != nullptr) return subquery.get();
  auto made = std::make_unique<Subquery>();
  made->scope.state = state_;
  absl::StatusOr<OperatorPtr> root = BuildOperators(&made->scope, plan);
  if (!root.ok()) return root.status();
  made->root = *std::move(root);
  subquery = std::move(made);
  return subquery.get();
}

absl::StatusOr<rows::Batch> Subqueries::Run(const Plan& plan, absl::Span<const rows::Batch> outer,
                                            Arena* arena) {
  const absl::StatusOr<Subquery*> found = Find(plan);
  if (!found.ok()) return found.status();
  Subquery& subquery = **found;
  subquery.scope.outer = outer;
  if (std::exchange(subquery.has_run, true)) subquery.root->Restart();
  RowBuffer rows(plan.types);
  OperatorMemory memory(*state_, "Subquery");
  rows::Batch batch;
  while (true) {
    const absl::StatusOr<bool> more = subquery.root->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    rows.Append(batch.columns, batch.rows);
    if (absl::Status status = memory.Set(rows.MemoryBytes()); !status.ok()) return status;
  }
  rows::Batch result;
  result.rows = rows.rows();
  for (size_t i = 0; i < rows.columns(); ++i) result.columns.push_back(CopyColumn(rows.View(i), arena));
  return result;
}

}  // namespace sonde::sql

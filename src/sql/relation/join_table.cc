#include "sql/relation/join_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace sonde::sql {
namespace {

constexpr size_t kRowsHashedAtOnce = 1'024;

std::vector<Type> TypesOf(std::vector<Type> types, const JoinCondition& condition) {
  for (const JoinCondition::Inequality& inequality : condition.inequalities) {
    types.push_back(inequality.key.right->type);
  }
  return types;
}

std::vector<ColumnType> TypesOfKeys(const JoinCondition& condition) {
  std::vector<ColumnType> types;
  for (const JoinKey& key : condition.equal) types.push_back(ColumnTypeOf(key.left->type));
  return types;
}

bool HasValue(const ColumnView& column, size_t row) {
  return column.IsThere(row) &&
         (column.type() != ColumnType::kDouble || !std::isnan(column.doubles()[column.PlaceOf(row)]));
}

}  // namespace

JoinTable::JoinTable(const std::vector<Type>& types, const JoinCondition& condition, const QueryScope* scope)
    : scope_(scope),
      condition_(condition),
      column_count_(types.size()),
      types_(TypesOf(types, condition)),
      rows_(types_),
      groups_(TypesOfKeys(condition)),
      check_(scope->state->interrupted) {
  const auto add = [&](const JoinKey& key) {
    left_keys_.emplace_back(*key.left, scope->evaluation());
    right_keys_.emplace_back(*key.right, scope->evaluation());
  };
  for (const JoinKey& key : condition.equal) add(key);
  for (const JoinCondition::Inequality& inequality : condition.inequalities) add(inequality.key);
}

absl::Status JoinTable::Evaluate(Evaluators& keys, const rows::Batch& batch,
                                 std::vector<ColumnView>* columns) {
  columns->clear();
  Arena& arena = &keys == &left_keys_ ? left_arena_ : arena_;
  arena.Clear();
  for (Evaluator& key : keys) {
    const absl::StatusOr<ColumnView> column = key.Evaluate(batch, &arena, scope_->outer);
    if (!column.ok()) return column.status();
    columns->push_back(*column);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ColumnView>> JoinTable::EqualKeys(Evaluators& keys, const rows::Batch& batch) {
  std::vector<ColumnView> columns;
  if (absl::Status status = Evaluate(keys, batch, &columns); !status.ok()) return status;
  columns.resize(condition_.equal.size());
  return columns;
}

void JoinTable::LeaveOut(absl::Span<const ColumnView> keys, std::vector<uint32_t>* groups) const {
  for (const ColumnView& key : keys) {
    if (key.there() == nullptr && key.type() != ColumnType::kDouble) continue;
    for (size_t row = 0; row < groups->size(); ++row) {
      if (!HasValue(key, row)) (*groups)[row] = Groups::kNone;
    }
  }
}

absl::Status JoinTable::Add(const rows::Batch& batch) {
  std::vector<ColumnView> keys;
  if (absl::Status status = Evaluate(right_keys_, batch, &keys); !status.ok()) return status;
  const size_t equal = condition_.equal.size();
  groups_.Find(absl::MakeConstSpan(keys).subspan(0, equal), batch.rows);
  const absl::Span<const uint32_t> found = groups_.of_rows();
  std::vector<uint32_t> groups(found.begin(), found.end());
  LeaveOut(keys, &groups);
  group_of_row_.insert(group_of_row_.end(), groups.begin(), groups.end());
  std::vector<ColumnView> columns = batch.columns;
  columns.insert(columns.end(), keys.begin() + static_cast<std::ptrdiff_t>(equal), keys.end());
  rows_.Append(columns, batch.rows);
  return absl::OkStatus();
}

absl::Status JoinTable::Finish() {
  bucket_ends_.assign(groups_.size() + 1, 0);
  for (const uint32_t group : group_of_row_) {
    if (group != Groups::kNone) ++bucket_ends_[group + 1];
  }
  for (size_t group = 1; group < bucket_ends_.size(); ++group) bucket_ends_[group] += bucket_ends_[group - 1];
  std::vector<size_t> in_order;
  if (!condition_.inequalities.empty()) {
    order_ = {{rows_.View(column_count_), false, true}};
    absl::StatusOr<std::vector<size_t>> sorted = SortOrder(order_, rows_.rows(), &check_);
    if (!sorted.ok()) return sorted.status();
    in_order = *std::move(sorted);
  }
  ordered_.resize(bucket_ends_.back());
  for (size_t i = 0; i < group_of_row_.size(); ++i) {
    if (i % kRowsHashedAtOnce == 0) {
      if (absl::Status status = check_.Step(kRowsHashedAtOnce); !status.ok()) return status;
    }
    const size_t row = in_order.empty() ? i : in_order[i];
    // The end of the group before is where the next row of the group goes, and so becomes the end of the group.
    if (group_of_row_[row] != Groups::kNone) ordered_[bucket_ends_[group_of_row_[row]]++] = row;
  }
  bucket_ends_.pop_back();
  return absl::OkStatus();
}

void JoinTable::Clear() {
  // What is cleared keeps its memory, of which there may be much.
  rows_ = RowBuffer(types_);
  groups_ = Groups(TypesOfKeys(condition_));
  group_of_row_ = {};
  bucket_ends_ = {};
  ordered_ = {};
  order_.clear();
}

absl::Status JoinTable::Find(const rows::Batch& left) {
  if (absl::Status status = Evaluate(left_keys_, left, &left_columns_); !status.ok()) return status;
  groups_.FindKnown(absl::MakeConstSpan(left_columns_).subspan(0, condition_.equal.size()), left.rows);
  const absl::Span<const uint32_t> found = groups_.of_rows();
  left_groups_.assign(found.begin(), found.end());
  LeaveOut(left_columns_, &left_groups_);
  return absl::OkStatus();
}

absl::Span<const size_t> JoinTable::Matches(size_t left_row) const {
  const uint32_t group = left_groups_[left_row];
  if (group == Groups::kNone) return {};
  const size_t begin = group == 0 ? 0 : bucket_ends_[group - 1];
  const auto bucket = absl::MakeConstSpan(ordered_).subspan(begin, bucket_ends_[group] - begin);
  return condition_.inequalities.empty() ? bucket : Fulfilling(bucket, left_row);
}

absl::Span<const size_t> JoinTable::Fulfilling(absl::Span<const size_t> rows, size_t left_row) const {
  const JoinCondition::Inequality& inequality = condition_.inequalities[0];
  const std::vector<SortColumn> left = {{left_columns_.back(), false, true}};
  // Of >= and < the equal rows go with the lesser ones, of > and <= with the greater ones.
  const bool equal_is_less = inequality.left_is_greater == inequality.allows_equal;
  const auto middle = std::partition_point(rows.begin(), rows.end(), [&](size_t row) {
    const int order = CompareRows(order_, row, left, left_row);
    return order < 0 || (order == 0 && equal_is_less);
  });
  const auto count = static_cast<size_t>(middle - rows.begin());
  return inequality.left_is_greater ? rows.subspan(0, count) : rows.subspan(count);
}

std::vector<ColumnView> JoinTable::Views() const {
  std::vector<ColumnView> views = rows_.Views();
  views.resize(column_count_);
  return views;
}

size_t JoinTable::MemoryBytes() const {
  const size_t of_order = condition_.inequalities.empty() ? 0 : kOrderBytesOfRow;
  return rows_.MemoryBytes() + groups_.MemoryBytes() + group_of_row_.capacity() * sizeof(uint32_t) +
         rows_.rows() * (sizeof(size_t) + of_order) + groups_.size() * sizeof(size_t);
}

}  // namespace sonde::sql

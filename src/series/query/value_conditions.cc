#include "series/query/value_conditions.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <utility>

#include "rows/select.h"

namespace sonde::series {
namespace {

bool IsInOrder(std::partial_ordering order, ValueCondition::Order wanted) {
  switch (wanted) {
    case ValueCondition::Order::kLess:
      return order < 0;
    case ValueCondition::Order::kLessOrEqual:
      return order <= 0;
    case ValueCondition::Order::kGreater:
      return order > 0;
    case ValueCondition::Order::kGreaterOrEqual:
      return order >= 0;
  }
  return false;
}

// Keeps those of `places` whose value is in this order to `number`.  A long double holds each int.
template <typename Value>
void KeepInOrder(const ColumnView& column, const Value* values, ValueCondition::Order order, double number,
                 std::vector<size_t>* places) {
  std::erase_if(*places, [&](size_t place) {
    if (!column.IsThere(place)) return true;
    const auto value = static_cast<long double>(values[column.PlaceOf(place)]);
    return !IsInOrder(value <=> static_cast<long double>(number), order);
  });
}

// As KeepInOrder, of a column whose values are all there, and whose type holds `number`; without branches.
template <typename Value>
void KeepInOrderOf(const Value* values, ValueCondition::Order order, Value number,
                   std::vector<size_t>* places) {
  const auto keep = [&](const auto& is_in_order) {
    size_t kept = 0;
    for (const size_t place : *places) {
      (*places)[kept] = place;
      kept += is_in_order(values[place]) ? 1 : 0;
    }
    places->resize(kept);
  };
  switch (order) {
    case ValueCondition::Order::kLess:
      return keep([number](Value value) { return value < number; });
    case ValueCondition::Order::kLessOrEqual:
      return keep([number](Value value) { return value <= number; });
    case ValueCondition::Order::kGreater:
      return keep([number](Value value) { return value > number; });
    case ValueCondition::Order::kGreaterOrEqual:
      return keep([number](Value value) { return value >= number; });
  }
}

// Whether an int is exactly the number.
bool IsWholeInt(double number) {
  constexpr double kBeyond = 0x1p63;
  return number >= -kBeyond && number < kBeyond && std::trunc(number) == number;
}

void KeepMatching(const ColumnView& column, ValueCondition::Order order, double number,
                  std::vector<size_t>* places) {
  const bool is_plain = column.there() == nullptr && !column.is_constant();
  if (is_plain && column.type() == ColumnType::kDouble) {
    return KeepInOrderOf(column.doubles(), order, number, places);
  }
  if (is_plain && column.type() == ColumnType::kInt64 && IsWholeInt(number)) {
    return KeepInOrderOf(column.ints(), order, static_cast<int64_t>(number), places);
  }
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return KeepInOrder(column, column.ints(), order, number, places);
    case ColumnType::kDouble:
      return KeepInOrder(column, column.doubles(), order, number, places);
    case ColumnType::kInt128:
      return KeepInOrder(column, column.wide_ints(), order, number, places);
    case ColumnType::kBytes:
    case ColumnType::kList:
      places->clear();
  }
}

}  // namespace

ValueFilter::ValueFilter(const std::vector<ValueCondition>& conditions, const std::vector<size_t>& fields) {
  for (const ValueCondition& condition : conditions) {
    const auto column = std::ranges::find(fields, condition.field) - fields.begin();
    conditions_.push_back({static_cast<size_t>(column), condition.order, condition.number});
  }
}

const rows::Batch& ValueFilter::Apply(const rows::Batch& batch, size_t first_value) {
  if (conditions_.empty()) return batch;
  places_.resize(batch.rows);
  for (size_t row = 0; row < batch.rows; ++row) places_[row] = row;
  for (const Condition& condition : conditions_) {
    KeepMatching(batch.columns[first_value + condition.column], condition.order, condition.number, &places_);
  }
  if (places_.size() == batch.rows) return batch;
  // Tags of one series are constant columns, and stay so.
  size_t first = 0;
  while (first + 1 < first_value && batch.columns[first].is_constant()) ++first;
  std::vector<ColumnType> types;
  for (size_t i = first; i < batch.columns.size(); ++i) types.push_back(batch.columns[i].type());
  if (types != held_types_) {
    held_ = rows::HeldBatch(types);
    held_types_ = std::move(types);
  }
  rows::TakeRows(batch, places_, first, &held_);
  batch_ = batch;
  batch_.Cut(0, places_.size());
  batch_.columns.resize(first);
  held_.View(&batch_);
  return batch_;
}

}  // namespace sonde::series

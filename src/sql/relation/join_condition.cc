#include "sql/relation/join_condition.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "sql/function/function.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

enum class Side : uint8_t { kNone, kLeft, kRight, kBoth };

Side SideOf(const Expression& expression, size_t left_columns) {
  const std::vector<size_t> columns = ColumnsOf(expression);
  if (columns.empty()) return Side::kNone;
  if (columns.back() < left_columns) return Side::kLeft;
  return columns.front() >= left_columns ? Side::kRight : Side::kBoth;
}

class Splitter {
 public:
  Splitter(size_t left_columns, size_t right_columns, bool wants_inequality)
      : left_columns_(left_columns), wants_inequality_(wants_inequality) {
    // Columns of left rows are in no expression of right rows.
    mapping_.assign(left_columns, static_cast<size_t>(-1));
    for (size_t i = 0; i < right_columns; ++i) mapping_.push_back(i);
  }

  void Split(const Expression& condition) {
    if (condition.kind == Expression::Kind::kAnd) {
      for (const ExpressionPtr& part : condition.arguments) Split(*part);
    } else if (!TakeComparison(condition)) {
      result_.others.push_back(&condition);
    }
  }
  JoinCondition Result() { return std::move(result_); }

 private:
  bool TakeComparison(const Expression& condition) {
    if (condition.kind != Expression::Kind::kCall || condition.function == nullptr ||
        condition.arguments.size() != 2) {
      return false;
    }
    const std::string_view name = condition.function->name;
    const Expression& first = *condition.arguments[0];
    const Expression& second = *condition.arguments[1];
    const Side side = SideOf(first, left_columns_);
    const Side other = SideOf(second, left_columns_);
    const bool is_turned = side == Side::kRight && other == Side::kLeft;
    if (!is_turned && !(side == Side::kLeft && other == Side::kRight)) return false;
    if (first.type.kind() != second.type.kind() || !first.type.IsOrderable() || HasVolatile(condition)) {
      return false;
    }
    if (name == "$equal") {
      result_.equal.push_back(is_turned ? KeyOf(second, first) : KeyOf(first, second));
      return true;
    }
    const bool is_less = name == "$less" || name == "$less_or_equal";
    const bool is_greater = name == "$greater" || name == "$greater_or_equal";
    if (!wants_inequality_ || !(is_less || is_greater) || !result_.inequalities.empty()) return false;
    result_.inequalities.push_back({.key = is_turned ? KeyOf(second, first) : KeyOf(first, second),
                                    .left_is_greater = is_greater != is_turned,
                                    .allows_equal = name.ends_with("_or_equal")});
    return true;
  }

  JoinKey KeyOf(const Expression& left, const Expression& right) const {
    JoinKey key{Clone(left), Clone(right)};
    MapColumns(mapping_, key.right.get());
    return key;
  }

  const size_t left_columns_;
  const bool wants_inequality_;
  std::vector<size_t> mapping_;
  JoinCondition result_;
};

}  // namespace

JoinCondition SplitJoinCondition(const Expression* condition, size_t left_columns, size_t right_columns,
                                 bool wants_inequality) {
  Splitter splitter(left_columns, right_columns, wants_inequality);
  if (condition != nullptr) splitter.Split(*condition);
  return splitter.Result();
}

}  // namespace sonde::sql

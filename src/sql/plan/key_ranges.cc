#include "sql/plan/key_ranges.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "sql/expression/expression.h"
#include "sql/plan/plan_tree.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

using Ranges = std::vector<RowRange>;

Ranges Everything() { return {RowRange::All()}; }
Ranges Nothing() { return {}; }

Ranges Union(Ranges a, const Ranges& b) {
  a.insert(a.end(), b.begin(), b.end());
  return NormalizeRanges(std::move(a));
}

bool EndsBefore(const RowRange& a, const RowRange& b) {
  return !a.end.empty() && (b.end.empty() || a.end < b.end);
}

Ranges Intersection(const Ranges& a, const Ranges& b) {
  Ranges both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    RowRange part{std::max(a[i].start, b[j].start), EndsBefore(a[i], b[j]) ? a[i].end : b[j].end};
    if (!part.IsEmpty()) both.push_back(std::move(part));
    if (EndsBefore(a[i], b[j])) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

Ranges Complement(const Ranges& ranges) {
  Ranges rest;
  std::string start;
  for (const RowRange& range : ranges) {
    if (start < range.start) rest.push_back({start, range.start});
    if (range.end.empty()) return rest;
    start = range.end;
  }
  rest.push_back({start, ""});
  return rest;
}

// The rows of a condition on the key.  `is_exact`: the condition is FALSE for all other rows.
struct Rows {
  Ranges ranges;
  bool is_exact = true;

  static Rows Unknown() { return {Everything(), false}; }
};

Ranges Chosen(const Rows& rows, bool wanted) {
  if (wanted) return rows.ranges;
  return rows.is_exact ? Complement(rows.ranges) : Everything();
}

// [start, end), where a bound that is not there is open.
RowRange Between(std::optional<std::string_view> least, std::optional<std::string_view> most, bool with_least,
                 bool with_most) {
  RowRange range;
  // The next key behind x is x 0x00.
  if (least.has_value()) range.start = std::string(*least) + (with_least ? "" : std::string(1, '\0'));
  if (most.has_value()) {
    range.end = std::string(*most) + (with_most ? std::string(1, '\0') : "");
    // Nothing is below the empty key; an empty end would be infinity.
    if (range.end.empty()) range = {std::string(1, '\0'), std::string(1, '\0')};
  }
  return range;
}

// What LIKE 'pattern' lets through.
Rows RowsLike(std::string_view pattern) {
  std::string prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return Rows::Unknown();
      prefix += pattern[i];
    } else if (pattern[i] == '%' || pattern[i] == '_') {
      return {NormalizeRanges({RowRange::Prefix(prefix)}), pattern.substr(i) == "%"};
    } else {
      prefix += pattern[i];
    }
  }
  return {{RowRange::Single(prefix)}, true};
}

class Finder {
 public:
  Finder(const Plan::Scan& scan, const EvaluationContext& context) : scan_(scan), context_(context) {}

  // A superset of the rows for which the condition is `wanted`.
  Ranges Find(const Expression& condition, bool wanted) const;

 private:
  // What stands for the key on one side of a comparison.
  enum class Side : uint8_t {
    kNone,
    kKey,       // the key, or its bytes as a STRING
    kFirstPart  // what is before the first delimiter
  };
  Side SideOf(const Expression& expression, std::string* delimiter) const;
  bool IsKey(const Expression& expression) const;

  Ranges FindOfCall(const Expression& call, bool wanted) const;
  Ranges FindComparison(std::string_view name, const Expression& call, bool wanted) const;
  Ranges FindIn(const Expression& call, bool wanted) const;
  // The rows where a side equals a value.
  Rows Equal(Side side, const std::string& delimiter, std::string_view value) const;
  // Nothing: the expression reads rows, or fails.
  std::optional<Value> Constant(const Expression& expression) const;

  const Plan::Scan& scan_;
  const EvaluationContext& context_;
};

std::optional<Value> Finder::Constant(const Expression& expression) const {
  if (expression.kind == Expression::Kind::kLiteral) return expression.value;
  if (!ReferencesOf(expression).empty() || HasOuter(expression) || HasSubquery(expression) ||
      HasVolatile(expression)) {
    return std::nullopt;
  }
  absl::StatusOr<Value> value = EvaluateConstant(expression, context_);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

bool Finder::IsKey(const Expression& expression) const {
  if (expression.kind == Expression::Kind::kColumn) {
    return expression.index < scan_.columns.size() &&
           scan_.columns[expression.index].kind == ScanColumn::Kind::kKey;
  }
  // The order of strings is that of their bytes.
  return expression.kind == Expression::Kind::kCast && expression.type.Is(TypeKind::kString) &&
         expression.arguments.size() == 1 && IsKey(*expression.arguments[0]);
}

Finder::Side Finder::SideOf(const Expression& expression, std::string* delimiter) const {
  if (IsKey(expression)) return Side::kKey;
  if (expression.kind != Expression::Kind::kCall || expression.function == nullptr) return Side::kNone;
  const std::string& name = expression.function->name;
  if (name != "$array_at_offset" && name != "$safe_array_at_offset") return Side::kNone;
  const Expression& split = *expression.arguments[0];
  if (split.kind != Expression::Kind::kCall || split.function == nullptr || split.function->name != "SPLIT" ||
      split.arguments.size() != 2 || !IsKey(*split.arguments[0])) {
    return Side::kNone;
  }
  const std::optional<Value> place = Constant(*expression.arguments[1]);
  const std::optional<Value> between = Constant(*split.arguments[1]);
  const bool is_first = place.has_value() && !place->is_null() && place->datum().integer == 0;
  if (!is_first || !between.has_value() || between->is_null() || between->datum().bytes().empty())
    return Side::kNone;
  *delimiter = between->datum().bytes();
  return Side::kFirstPart;
}

Rows Finder::Equal(Side side, const std::string& delimiter, std::string_view value) const {
  if (side == Side::kKey) return {{RowRange::Single(value)}, true};
  if (value.find(delimiter) != std::string_view::npos) return {Nothing(), false};
  return {Union({RowRange::Single(value)}, {RowRange::Prefix(std::string(value) + delimiter)}), false};
}

Ranges Finder::Find(const Expression& condition, bool wanted) const {
  const bool is_and = condition.kind == Expression::Kind::kAnd;
  if (is_and || condition.kind == Expression::Kind::kOr) {
    // Where all must be as wanted, intersections; where one is enough, unions.
    const bool all = is_and == wanted;
    Ranges ranges = all ? Everything() : Nothing();
    for (const ExpressionPtr& argument : condition.arguments) {
      Ranges part = Find(*argument, wanted);
      if (all) {
        ranges = Intersection(ranges, part);
      } else {
        ranges.insert(ranges.end(), std::make_move_iterator(part.begin()),
                      std::make_move_iterator(part.end()));
      }
    }
    return all ? ranges : NormalizeRanges(std::move(ranges));
  }
  const std::optional<Value> constant = Constant(condition);
  if (constant.has_value() && constant->type().Is(TypeKind::kBool)) {
    const bool holds = !constant->is_null() && (constant->datum().integer != 0) == wanted;
    return holds ? Everything() : Nothing();
  }
  if (condition.kind != Expression::Kind::kCall || condition.function == nullptr) return Everything();
  return FindOfCall(condition, wanted);
}

Ranges Finder::FindOfCall(const Expression& call, bool wanted) const {
  const std::string& name = call.function->name;
  if (name == "$not") return Find(*call.arguments[0], !wanted);
  if (name == "$in" || name == "$in_array") return FindIn(call, wanted);
  if (name == "$is_null" && IsKey(*call.arguments[0])) {
    // A key that is no UTF-8 is NULL as a safely cast STRING.
    if (call.arguments[0]->kind != Expression::Kind::kColumn) return Everything();
    return wanted ? Nothing() : Everything();
  }
  const bool is_prefix = name == "STARTS_WITH";
  if (is_prefix || name == "$like") {
    const std::optional<Value> value =
        IsKey(*call.arguments[0]) ? Constant(*call.arguments[1]) : std::nullopt;
    if (!value.has_value()) return Everything();
    if (value->is_null()) return Nothing();
    const std::string_view bytes = value->datum().bytes();
    const Rows rows = is_prefix ? Rows{NormalizeRanges({RowRange::Prefix(bytes)}), true} : RowsLike(bytes);
    return Chosen(rows, wanted);
  }
  if (name == "$between" && IsKey(*call.arguments[0])) {
    const std::optional<Value> least = Constant(*call.arguments[1]);
    const std::optional<Value> most = Constant(*call.arguments[2]);
    if (!least.has_value() || !most.has_value()) return Everything();
    Ranges part[2] = {Nothing(), Nothing()};
    if (!least->is_null()) part[0] = {Between(least->datum().bytes(), std::nullopt, true, true)};
    if (!most->is_null()) part[1] = {Between(std::nullopt, most->datum().bytes(), true, true)};
    if (wanted) return Intersection(NormalizeRanges(part[0]), NormalizeRanges(part[1]));
    // FALSE is what one of the two says.
    Ranges outside;
    if (!least->is_null()) outside = Union(outside, Complement(NormalizeRanges(part[0])));
    if (!most->is_null()) outside = Union(outside, Complement(NormalizeRanges(part[1])));
    return outside;
  }
  return FindComparison(name, call, wanted);
}

Ranges Finder::FindComparison(std::string_view name, const Expression& call, bool wanted) const {
  if (call.arguments.size() != 2) return Everything();
  std::string delimiter;
  Side side = SideOf(*call.arguments[0], &delimiter);
  const bool is_turned = side == Side::kNone;
  if (is_turned) side = SideOf(*call.arguments[1], &delimiter);
  if (side == Side::kNone) return Everything();
  const bool is_equal = name == "$equal";
  const bool is_less = name == "$less" || name == "$less_or_equal";
  const bool is_greater = name == "$greater" || name == "$greater_or_equal";
  if (!is_equal && name != "$not_equal" && !is_less && !is_greater) return Everything();
  const std::optional<Value> value = Constant(*call.arguments[is_turned ? 0 : 1]);
  if (!value.has_value()) return Everything();
  if (value->is_null()) return Nothing();
  const std::string_view bytes = value->datum().bytes();
  if (!is_less && !is_greater) return Chosen(Equal(side, delimiter, bytes), is_equal == wanted);
  if (side != Side::kKey) return Everything();
  const bool with_bound = name.ends_with("_or_equal");
  const bool is_upper = is_less != is_turned;  // 'b' > _key bounds from above
  const RowRange range = is_upper ? Between(std::nullopt, bytes, true, with_bound)
                                  : Between(bytes, std::nullopt, with_bound, true);
  return Chosen({NormalizeRanges({range}), true}, wanted);
}

Ranges Finder::FindIn(const Expression& call, bool wanted) const {
  std::string delimiter;
  const Side side = SideOf(*call.arguments[0], &delimiter);
  if (side == Side::kNone) return Everything();
  Rows rows;
  rows.is_exact = side == Side::kKey;
  bool has_null = false;
  const auto add = [&](const Datum& datum) {
    has_null = has_null || !datum.is_there;
    if (!datum.is_there) return;
    const Rows equal = Equal(side, delimiter, datum.bytes());
    rows.ranges.insert(rows.ranges.end(), equal.ranges.begin(), equal.ranges.end());
  };
  if (call.function->name == "$in_array") {
    const std::optional<Value> array = Constant(*call.arguments[1]);
    if (!array.has_value()) return Everything();
    if (array->is_null()) return wanted ? Nothing() : Everything();
    for (const Datum& datum : array->datum().list()) add(datum);
  } else {
    for (size_t i = 1; i < call.arguments.size(); ++i) {
      const std::optional<Value> value = Constant(*call.arguments[i]);
      if (!value.has_value()) return Everything();
      add(value->datum());
    }
  }
  // x NOT IN (..., NULL) is never TRUE.
  if (!wanted && has_null) return Nothing();
  rows.ranges = NormalizeRanges(std::move(rows.ranges));
  return Chosen(rows, wanted);
}

}  // namespace

absl::StatusOr<std::vector<RowRange>> KeyRanges(const Plan::Scan& scan, const EvaluationContext& context) {
  const Finder finder(scan, context);
  Ranges ranges = Everything();
  for (const ExpressionPtr& condition : scan.key_conditions) {
    ranges = Intersection(ranges, finder.Find(*condition, /*wanted=*/true));
  }
  if (ranges.size() > kKeyRangesMax) ranges = {{ranges.front().start, ranges.back().end}};
  return ranges;
}

}  // namespace sonde::sql

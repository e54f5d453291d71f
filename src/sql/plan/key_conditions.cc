#include "sql/plan/key_conditions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "sql/key/key_field.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

using Ranges = KeyConditions::Ranges;

Ranges Everything() { return {RowRange::All()}; }
Ranges Nothing() { return {}; }

Ranges Union(Ranges a, const Ranges& b) {
  a.insert(a.end(), b.begin(), b.end());
  return NormalizeRanges(std::move(a));
}

}  // namespace

KeyConditions::Part KeyConditions::Unknown() { return {Everything(), false}; }

Ranges KeyConditions::Chosen(const Part& part, bool wanted) {
  if (wanted) return part.ranges;
  return part.is_exact ? ComplementRanges(part.ranges) : Everything();
}

std::optional<Value> KeyConditions::Constant(const Expression& expression) const {
  if (expression.kind == Expression::Kind::kLiteral) return expression.value;
  if (!ReferencesOf(expression).empty() || HasOuter(expression) || HasSubquery(expression) ||
      HasVolatile(expression)) {
    return std::nullopt;
  }
  absl::StatusOr<Value> value = EvaluateConstant(expression, context_);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

bool KeyConditions::IsWhole(const Expression& expression) const {
  if (expression.kind == Expression::Kind::kColumn) {
    if (expression.index >= scan_.columns.size()) return false;
    const ScanColumn& column = scan_.columns[expression.index];
    if (!index_.has_value()) return column.kind == ScanColumn::Kind::kKey;
    return column.kind == ScanColumn::Kind::kKeyField && column.index == *index_;
  }
  // The order of strings is that of their bytes.
  return expression.kind == Expression::Kind::kCast && expression.type.Is(TypeKind::kString) &&
         expression.arguments.size() == 1 && expression.arguments[0]->type.Is(TypeKind::kBytes) &&
         IsWhole(*expression.arguments[0]);
}

KeyConditions::Side KeyConditions::SideOf(const Expression& expression, std::string* delimiter) const {
  if (IsWhole(expression)) return Side::kWhole;
  if (expression.kind != Expression::Kind::kCall || expression.function == nullptr) return Side::kNone;
  const std::string& name = expression.function->name;
  if (name != "$array_at_offset" && name != "$safe_array_at_offset") return Side::kNone;
  const Expression& split = *expression.arguments[0];
  if (split.kind != Expression::Kind::kCall || split.function == nullptr || split.function->name != "SPLIT" ||
      split.arguments.size() != 2 || !IsWhole(*split.arguments[0])) {
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

std::optional<std::string> KeyConditions::BytesOf(const Datum& value) const {
  if (field_ == nullptr) return std::string(value.bytes());
  std::string bytes;
  if (!AppendField(*field_, value, &bytes).ok()) return std::nullopt;
  return bytes;
}

KeyConditions::Part KeyConditions::Equal(Side side, const std::string& delimiter, const Datum& value) const {
  const std::optional<std::string> bytes = BytesOf(value);
  if (!bytes.has_value()) return {Nothing()};
  if (side == Side::kWhole) return {{RowRange::Single(*bytes)}};
  if (value.bytes().find(delimiter) != std::string_view::npos) return {Nothing(), false};
  return {Union({RowRange::Single(*bytes)}, {RowRange::Prefix(std::string(value.bytes()) + delimiter)}),
          false};
}

Ranges KeyConditions::Find(const Expression& condition, bool wanted) const {
  const bool is_and = condition.kind == Expression::Kind::kAnd;
  if (is_and || condition.kind == Expression::Kind::kOr) {
    // Where all must be as wanted, intersections; where one is enough, unions.
    const bool all = is_and == wanted;
    Ranges ranges = all ? Everything() : Nothing();
    for (const ExpressionPtr& argument : condition.arguments) {
      Ranges part = Find(*argument, wanted);
      if (all) {
        ranges = IntersectRanges(ranges, part);
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

Ranges KeyConditions::FindOfCall(const Expression& call, bool wanted) const {
  const std::string& name = call.function->name;
  if (name == "$not") return Find(*call.arguments[0], !wanted);
  if (name == "$in" || name == "$in_array") return FindIn(call, wanted);
  if (name == "$is_null") return FindNull(*call.arguments[0], wanted);
  if (name == "STARTS_WITH" || name == "$like") return FindPrefix(call, wanted);
  if (name == "$between") return FindBetween(call, wanted);
  return FindComparison(name, call, wanted);
}

Ranges KeyConditions::FindNull(const Expression& argument, bool wanted) const {
  // A key that is no UTF-8 is NULL as a safely cast STRING.
  if (!IsWhole(argument) || argument.kind != Expression::Kind::kColumn) return Everything();
  if (field_ == nullptr || field_->null_escape.empty()) return wanted ? Nothing() : Everything();
  return Chosen({{RowRange::Single("")}}, wanted);
}

// A text that is written with an escape still begins as it does without.  But where the prefix is nothing but escapes, a
// shorter text is written as the prefix, too.
KeyConditions::Part KeyConditions::BeginningWith(std::string_view prefix) const {
  const bool is_exact = BytesOf(Datum::Bytes(prefix)) == prefix;
  return {NormalizeRanges({RowRange::Prefix(prefix)}), is_exact};
}

// STARTS_WITH and LIKE.
Ranges KeyConditions::FindPrefix(const Expression& call, bool wanted) const {
  const std::optional<Value> value =
      IsWhole(*call.arguments[0]) ? Constant(*call.arguments[1]) : std::nullopt;
  if (!value.has_value()) return Everything();
  if (value->is_null()) return Nothing();
  const std::string_view bytes = value->datum().bytes();
  if (call.function->name == "$like") return Chosen(Like(bytes), wanted);
  return Chosen(BeginningWith(bytes), wanted);
}

KeyConditions::Part KeyConditions::Like(std::string_view pattern) const {
  std::string prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return Unknown();
      prefix += pattern[i];
    } else if (pattern[i] == '%' || pattern[i] == '_') {
      Part part = BeginningWith(prefix);
      part.is_exact = part.is_exact && pattern.substr(i) == "%";
      return part;
    } else {
      prefix += pattern[i];
    }
  }
  return Equal(Side::kWhole, "", Datum::Bytes(prefix));
}

Ranges KeyConditions::FindBetween(const Expression& call, bool wanted) const {
  if (!IsWhole(*call.arguments[0])) return Everything();
  const std::optional<Value> least = Constant(*call.arguments[1]);
  const std::optional<Value> most = Constant(*call.arguments[2]);
  if (!least.has_value() || !most.has_value()) return Everything();
  Part part[2] = {{Nothing()}, {Nothing()}};
  if (!least->is_null()) part[0] = Between(Bound{least->datum()}, std::nullopt);
  if (!most->is_null()) part[1] = Between(std::nullopt, Bound{most->datum()});
  if (wanted) return IntersectRanges(part[0].ranges, part[1].ranges);
  // FALSE is what one of the two says.
  Ranges outside;
  if (!least->is_null()) outside = Union(outside, Chosen(part[0], false));
  if (!most->is_null()) outside = Union(outside, Chosen(part[1], false));
  return outside;
}

KeyConditions::Part KeyConditions::Between(const std::optional<Bound>& least,
                                           const std::optional<Bound>& most) const {
  if (IsNumber()) return {NumbersBetween(least, most)};
  if (field_ != nullptr && !IsSortedText(*field_)) return Unknown();
  RowRange range;
  if (least.has_value()) {
    const std::optional<std::string> bytes = BytesOf(least->value);
    if (!bytes.has_value()) return Unknown();
    range.start = least->is_inside ? *bytes : Successor(*bytes);
  }
  if (most.has_value()) {
    const std::optional<std::string> bytes = BytesOf(most->value);
    if (!bytes.has_value()) return Unknown();
    range.end = most->is_inside ? Successor(*bytes) : *bytes;
    // Nothing is below the empty key; an empty end would be infinity.
    if (range.end.empty()) return {Nothing()};
  }
  return {NormalizeRanges({range})};
}

Ranges KeyConditions::NumbersBetween(const std::optional<Bound>& least,
                                     const std::optional<Bound>& most) const {
  const bool is_time = field_->kind == RowKeyField::Kind::kTimestamp;
  int64_t first = is_time ? kKeyMicrosMin : std::numeric_limits<int64_t>::min();
  int64_t last = is_time ? kKeyMicrosMax : std::numeric_limits<int64_t>::max();
  if (least.has_value()) {
    if (!least->is_inside && least->value.integer >= last) return Nothing();
    first = std::max(first, least->value.integer + (least->is_inside ? 0 : 1));
  }
  if (most.has_value()) {
    if (!most->is_inside && most->value.integer <= first) return Nothing();
    last = std::min(last, most->value.integer - (most->is_inside ? 0 : 1));
  }
  if (first > last) return Nothing();
  const std::string start = least.has_value() ? *BytesOf(Datum::Int(first)) : "";
  const std::string end = most.has_value() ? Successor(*BytesOf(Datum::Int(last))) : "";
  if (field_->number_encoding == RowKeyField::NumberEncoding::kOrderedCode) return {{start, end}};
  // In big-endian bytes the negative ones come behind all others, from here on.
  const std::string negative(1, '\x80');
  Ranges ranges;
  if (last >= 0) ranges.push_back({first >= 0 ? start : "", most.has_value() ? end : negative});
  if (first < 0) ranges.push_back({least.has_value() ? start : negative, last < 0 ? end : ""});
  return NormalizeRanges(std::move(ranges));
}

Ranges KeyConditions::FindComparison(std::string_view name, const Expression& call, bool wanted) const {
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
  if (!is_less && !is_greater) return Chosen(Equal(side, delimiter, value->datum()), is_equal == wanted);
  if (side != Side::kWhole) return Everything();
  const Bound bound{value->datum(), name.ends_with("_or_equal")};
  const bool is_upper = is_less != is_turned;  // 'b' > _key bounds from above
  return Chosen(is_upper ? Between(std::nullopt, bound) : Between(bound, std::nullopt), wanted);
}

Ranges KeyConditions::FindIn(const Expression& call, bool wanted) const {
  std::string delimiter;
  const Side side = SideOf(*call.arguments[0], &delimiter);
  if (side == Side::kNone) return Everything();
  Part part;
  part.is_exact = side == Side::kWhole;
  bool has_null = false;
  const auto add = [&](const Datum& datum) {
    has_null = has_null || !datum.is_there;
    if (!datum.is_there) return;
    const Part equal = Equal(side, delimiter, datum);
    part.ranges.insert(part.ranges.end(), equal.ranges.begin(), equal.ranges.end());
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
  part.ranges = NormalizeRanges(std::move(part.ranges));
  return Chosen(part, wanted);
}

}  // namespace sonde::sql

// Calls with OVER: partitions, order, frames.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

using BoundKind = WindowItem::Bound::Kind;

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool NeedsOrder(const Function& function) {
  return IsOneOf(function.name, {"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD",
                                 "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "DELTA", "INCREASE", "RATE"});
}

bool TakesFrame(const Function& function) {
  return function.kind == Function::Kind::kAggregate ||
         IsOneOf(function.name, {"FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"});
}

std::string_view KindText(BoundKind kind) {
  switch (kind) {
    case BoundKind::kUnboundedPreceding:
      return "UNBOUNDED PRECEDING";
    case BoundKind::kPreceding:
      return "OFFSET PRECEDING";
    case BoundKind::kCurrentRow:
      return "CURRENT ROW";
    case BoundKind::kFollowing:
      return "OFFSET FOLLOWING";
    case BoundKind::kUnboundedFollowing:
      return "UNBOUNDED FOLLOWING";
  }
  return "";
}

// How the text begins that says it.
std::string_view WordsOf(BoundKind kind) {
  return kind == BoundKind::kCurrentRow ? "CURRENT ROW" : KindText(kind);
}

BoundKind KindOf(FrameBound::Kind kind) {
  switch (kind) {
    case FrameBound::Kind::kUnboundedPreceding:
      return BoundKind::kUnboundedPreceding;
    case FrameBound::Kind::kPreceding:
      return BoundKind::kPreceding;
    case FrameBound::Kind::kCurrentRow:
      return BoundKind::kCurrentRow;
    case FrameBound::Kind::kFollowing:
      return BoundKind::kFollowing;
    case FrameBound::Kind::kUnboundedFollowing:
      break;
  }
  return BoundKind::kUnboundedFollowing;
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::BindWindowCall(const Expr& expr, const Function& function,
                                                          const Site& site) {
  if (site.around != nullptr) {
    return Error(site.around->position, "Analytic functions cannot be arguments to aggregate functions");
  }
  if (site.windows == nullptr) {
    return Error(expr.position, fmt::format("Analytic function not allowed in {}", site.clause));
  }
  WindowCall call;
  SONDE_TRY_SET(call.item.call, BindAggregateItem(expr, function, site));
  SONDE_TRY(BindWindowSpec(*expr.call->over, function, site, &call));
  if (call.item.call.distinct && !call.sort.empty()) {
    return Error(WordFrom(expr.call->over->position, "ORDER"),
                 "Window ORDER BY is not allowed if DISTINCT is specified");
  }
  Type type = call.item.call.type;
  site.windows->windows.push_back(std::move(call));
  return MakeColumn(kWindowBase + site.windows->windows.size() - 1, std::move(type));
}

absl::StatusOr<FlatWindow> QueryBinder::FlattenWindow(const WindowSpec& spec,
                                                      const NamedWindows* named) const {
  // Named windows may name those before them.
  FlatWindow flat;
  const WindowSpec* at = &spec;
  size_t visible = named == nullptr ? 0 : named->size();
  for (bool is_first = true;; is_first = false) {
    if (!at->partition_by.empty()) {
      if (!at->base.empty()) {
        return Error(WordBefore(at->partition_by[0]->position, at->base),
                     "If a window has a PARTITION BY, it cannot reference a named window");
      }
      flat.partition_by = &at->partition_by;
    }
    if (!at->order_by.empty()) {
      if (flat.order_by != nullptr) {
        return Error(
            WordBefore((*flat.order_by)[0].expr->position, "ORDER"),
            "If a window inherits an ORDER BY from its referenced window, it cannot have an inline ORDER BY");
      }
      flat.order_by = &at->order_by;
    }
    if (at->frame.has_value()) {
      if (flat.frame != nullptr || (!is_first && (spec.partition_by.size() + spec.order_by.size()) > 0)) {
        return Error(spec.position,
                     "A window that references another one with a frame cannot have clauses of its own");
      }
      flat.frame = &*at->frame;
    }
    if (at->base.empty()) break;
    size_t found = visible;
    for (size_t i = 0; i < visible; ++i) {
      if (SameName((*named)[i].first, at->base)) found = i;
    }
    if (found == visible) return Error(at->position, fmt::format("Unrecognized window alias {}", at->base));
    at = (*named)[found].second.get();
    visible = found;
  }
  return flat;
}

absl::Status QueryBinder::BindWindowKeys(const FlatWindow& flat, const Site& site, WindowCall* call) {
  Site inside = site;
  inside.windows = nullptr;
  if (flat.partition_by != nullptr) {
    inside.clause = "Window PARTITION BY";
    for (const ExprPtr& expr : *flat.partition_by) {
      SONDE_TRY_SET(ExpressionPtr key, BindExpression(*expr, inside));
      if (!key->type.IsGroupable() || key->type.IsFloat()) {
        return Error(expr->position, fmt::format("Partitioning by expressions of type {} is not allowed",
                                                 key->type.ToString()));
      }
      call->partition.push_back(std::move(key));
    }
  }
  if (flat.order_by != nullptr) {
    inside.clause = "Window ORDER BY";
    for (const OrderItem& order : *flat.order_by) {
      SortKey key;
      SONDE_TRY_SET(key.expr, BindExpression(*order.expr, inside));
      if (!key.expr->type.IsOrderable()) {
        return Error(order.expr->position, fmt::format("ORDER BY does not support expressions of type {}",
                                                       key.expr->type.ToString()));
      }
      key.descending = order.descending;
      key.nulls_first = order.nulls_first.value_or(!order.descending);
      call->sort.push_back(std::move(key));
    }
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::BindWindowSpec(const WindowSpec& spec, const Function& function, const Site& site,
                                         WindowCall* call) {
  SONDE_TRY_SET(const FlatWindow flat, FlattenWindow(spec, site.windows->named_windows));
  SONDE_TRY(BindWindowKeys(flat, site, call));
  if (call->sort.empty() && NeedsOrder(function)) {
    return Error(spec.position, fmt::format("Window ORDER BY is required for analytic function {}",
                                            absl::AsciiStrToLower(function.name)));
  }
  if (function.name == "RATE" &&
      (call->sort.size() != 1 || !call->sort[0].expr->type.Is(TypeKind::kTimestamp))) {
    return Error(WordFrom(spec.position, "ORDER"),
                 "Window ORDER BY must have one key, of type TIMESTAMP, for analytic function rate");
  }
  if (!call->sort.empty() && IsOneOf(function.name, {"PERCENTILE_CONT", "PERCENTILE_DISC"})) {
    return Error(WordFrom(spec.position, "ORDER"),
                 fmt::format("Window ORDER BY is not allowed for analytic function {}",
                             absl::AsciiStrToLower(function.name)));
  }
  if (flat.frame == nullptr) {
    if (call->sort.empty()) call->item.end.kind = BoundKind::kUnboundedFollowing;
    return absl::OkStatus();
  }
  const Position frame_position = WordFrom(spec.position, flat.frame->is_range ? "RANGE" : "ROWS");
  if (!TakesFrame(function)) {
    return Error(frame_position, fmt::format("Window framing clause is not allowed for analytic function {}",
                                             absl::AsciiStrToLower(function.name)));
  }
  return BindFrame(*flat.frame, frame_position, site, call);
}

absl::Status QueryBinder::BindFrame(const WindowFrame& frame, Position position, const Site& site,
                                    WindowCall* call) {
  WindowItem& item = call->item;
  item.is_range = frame.is_range;
  item.start.kind = KindOf(frame.start.kind);
  item.end.kind = KindOf(frame.end.kind);
  const auto place = [this, position](const FrameBound& bound) {
    return bound.offset == nullptr ? WordFrom(position, WordsOf(KindOf(bound.kind))) : bound.offset->position;
  };
  if (item.start.kind == BoundKind::kUnboundedFollowing) {
    return Error(place(frame.start), "Starting window framing expression cannot be UNBOUNDED FOLLOWING");
  }
  if (item.end.kind == BoundKind::kUnboundedPreceding) {
    return Error(place(frame.end), "Ending window framing expression cannot be UNBOUNDED PRECEDING");
  }
  if (item.start.kind == BoundKind::kCurrentRow && item.end.kind == BoundKind::kPreceding) {
    return Error(place(frame.end),
                 "Starting window framing expression cannot be CURRENT ROW when the ending window "
                 "framing expression is OFFSET PRECEDING");
  }
  if (item.start.kind == BoundKind::kFollowing &&
      (item.end.kind == BoundKind::kCurrentRow || item.end.kind == BoundKind::kPreceding)) {
    return Error(place(frame.end),
                 fmt::format("Ending window framing expression cannot be {} when the starting window "
                             "framing expression is OFFSET FOLLOWING",
                             KindText(item.end.kind)));
  }
  const bool has_offset = frame.start.offset != nullptr || frame.end.offset != nullptr;
  if (frame.is_range && has_offset) {
    if (call->sort.empty()) {
      return Error(
          position,
          "A RANGE-based window including an OFFSET PRECEDING or OFFSET FOLLOWING window frame boundary "
          "requires an ORDER BY");
    }
    if (call->sort.size() > 1) {
      return Error(
          position,
          "A RANGE-based window with OFFSET PRECEDING or OFFSET FOLLOWING boundaries must have exactly "
          "one ORDER BY key");
    }
    const Type& type = call->sort[0].expr->type;
    const bool is_time = type.Is(TypeKind::kTimestamp) && options_.dialect == Dialect::kSonde;
    if (!type.IsNumeric() && !is_time) {
      return Error(
          position,
          fmt::format("ORDER BY key must be numeric in a RANGE-based window with OFFSET PRECEDING or "
                      "OFFSET FOLLOWING boundaries, but has type {}",
                      type.ToString()));
    }
  }
  for (const auto& [from, to] : {std::pair{&frame.start, &item.start}, std::pair{&frame.end, &item.end}}) {
    if (from->offset != nullptr) SONDE_TRY(BindFrameOffset(*from, frame.is_range, *call, site, to));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::BindFrameOffset(const FrameBound& bound, bool is_range, const WindowCall& call,
                                          const Site& site, WindowItem::Bound* to) {
  const Expr& expr = *bound.offset;
  const Expr* number = &expr;
  if (expr.kind == Expr::Kind::kInterval) {
    if (!is_range || !call.sort[0].expr->type.Is(TypeKind::kTimestamp)) {
      return Error(expr.position,
                   "An INTERVAL bounds only a RANGE-based window whose ORDER BY key is a TIMESTAMP");
    }
    if (!IsOneOf(expr.text, {"DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"})) {
      return Error(expr.position, fmt::format("A window frame does not support the {} date part", expr.text));
    }
    to->part = expr.text;
    number = expr.children[0].get();
  } else if (is_range && call.sort[0].expr->type.Is(TypeKind::kTimestamp)) {
    return Error(expr.position,
                 "A RANGE-based window whose ORDER BY key is a TIMESTAMP is bounded by INTERVAL");
  }
  SONDE_TRY_SET(to->offset, BindExpression(*number, site));
  // A CAST of a literal is one, too.
  const Expression& offset =
      to->offset->kind == Expression::Kind::kCast ? *to->offset->arguments[0] : *to->offset;
  if (offset.kind != Expression::Kind::kLiteral && offset.kind != Expression::Kind::kParameter) {
    return Error(expr.position, "Window framing expression must be a literal or parameter");
  }
  const ArgumentFacts facts = FactsOf(*to->offset);
  if (!is_range && !CoercionCost(facts, TypeKind::kInt64).has_value()) {
    return Error(expr.position,
                 fmt::format("Window framing expression for ROWS can only be of integer type, but has "
                             "type {}",
                             to->offset->type.ToString()));
  }
  const Type wanted = is_range && to->part.empty() ? call.sort[0].expr->type : Type(TypeKind::kInt64);
  if (!CoercionCost(facts, wanted).has_value()) {
    return Error(expr.position,
                 fmt::format("Window framing expression has type {} that cannot coerce to the type of the "
                             "ORDER BY expression, which is {}",
                             to->offset->type.ToString(), wanted.ToString()));
  }
  SONDE_TRY_SET(to->offset, Coerce(std::move(to->offset), wanted, expr.position));
  if (to->offset->kind == Expression::Kind::kLiteral) {
    const Value& value = to->offset->value;
    const bool is_negative = !value.is_null() && (wanted.Is(TypeKind::kInt64) ? value.datum().integer < 0
                                                                              : value.datum().number < 0);
    if (value.is_null()) return Error(expr.position, "Window framing expression cannot evaluate to NULL");
    if (is_negative)
      return Error(expr.position, "Window framing expression cannot evaluate to a negative value");
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql

#include "sql/syntax/literal.h"
#include "sql/syntax/printer_state.h"
#include "sql/syntax/words.h"

namespace sonde::sql {

void Printer::Call(const Expr::Call& call) {
  CallName(call.name);
  Add("(");
  CallInside(call);
  Add(")");
  if (call.over == nullptr) return;
  Add(" OVER ");
  Window(*call.over);
}

// Some reserved words are names of functions, and SAFE_CAST is none although it is not reserved.
void Printer::CallName(const Path& name) {
  const std::string& first = name.parts[0];
  if (name.parts.size() == 1 && IsFunctionWord(first)) return Add(first);
  if (first == "SAFE_CAST") return Add(QuotedName(first));
  Dotted(name);
}

void Printer::CallInside(const Expr::Call& call) {
  const size_t begin = text_.size();
  const auto separate = [&](std::string_view separator) {
    if (text_.size() > begin) Add(separator);
  };
  if (call.distinct) Add("DISTINCT ");
  if (call.star) Add("*");
  Expressions(call.arguments);
  if (!call.arguments.empty() && !call.named.empty()) Add(", ");
  List(call.named, [&](const NamedArgument& argument) { Named(argument); });
  if (call.nulls != Expr::Call::Nulls::kUnsaid) {
    separate(" ");
    Add(call.nulls == Expr::Call::Nulls::kIgnore ? "IGNORE NULLS" : "RESPECT NULLS");
  }
  if (call.having_max != nullptr || call.having_min != nullptr) {
    separate(" ");
    Add(call.having_max != nullptr ? "HAVING MAX " : "HAVING MIN ");
    Expression(call.having_max != nullptr ? *call.having_max : *call.having_min);
  }
  if (!call.order_by.empty()) {
    separate(" ");
    OrderBy(call.order_by);
  }
  if (call.limit != nullptr) {
    separate(" ");
    Add("LIMIT ");
    Expression(*call.limit);
  }
}

void Printer::Named(const NamedArgument& argument) {
  Name(argument.name);
  Add(" => ");
  Expression(*argument.value);
}

void Printer::Window(const WindowSpec& window) {
  const bool is_name = !window.base.empty() && window.partition_by.empty() && window.order_by.empty() &&
                       !window.frame.has_value();
  if (is_name) return Name(window.base);
  Add("(");
  const size_t begin = text_.size();
  const auto separate = [&] {
    if (text_.size() > begin) Add(" ");
  };
  if (!window.base.empty()) Name(window.base);
  if (!window.partition_by.empty()) {
    separate();
    Add("PARTITION BY ");
    Expressions(window.partition_by);
  }
  if (!window.order_by.empty()) {
    separate();
    OrderBy(window.order_by);
  }
  if (window.frame.has_value()) {
    separate();
    Frame(*window.frame);
  }
  Add(")");
}

void Printer::Frame(const WindowFrame& frame) {
  Add(frame.is_range ? "RANGE BETWEEN " : "ROWS BETWEEN ");
  Bound(frame.start);
  Add(" AND ");
  Bound(frame.end);
}

void Printer::Bound(const FrameBound& bound) {
  switch (bound.kind) {
    case FrameBound::Kind::kUnboundedPreceding:
      return Add("UNBOUNDED PRECEDING");
    case FrameBound::Kind::kUnboundedFollowing:
      return Add("UNBOUNDED FOLLOWING");
    case FrameBound::Kind::kCurrentRow:
      return Add("CURRENT ROW");
    case FrameBound::Kind::kPreceding:
    case FrameBound::Kind::kFollowing:
      Expression(*bound.offset);
      return Add(bound.kind == FrameBound::Kind::kPreceding ? " PRECEDING" : " FOLLOWING");
  }
}

void Printer::OrderBy(const std::vector<OrderItem>& items) {
  Add("ORDER BY ");
  List(items, [&](const OrderItem& item) {
    Expression(*item.expr);
    if (item.descending) Add(" DESC");
    NullsMark(item);
  });
}

void Printer::NullsMark(const OrderItem& item) {
  if (item.nulls_first.has_value()) Add(*item.nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

}  // namespace sonde::sql

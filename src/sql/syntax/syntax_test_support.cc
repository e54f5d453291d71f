#include "sql/syntax/syntax_test_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sql/syntax/literal.h"

namespace sonde::sql::syntax_test {
namespace {

std::string JoinText(const FromItem& item) {
  static constexpr std::string_view kNames[] = {"comma", "cross", "inner", "left", "right", "full"};
  return fmt::format("{}{}", item.asof ? "asof-" : "", kNames[static_cast<size_t>(item.join)]);
}

}  // namespace

std::string Dumper::Of(const Statement& statement) {
  Dumper dumper;
  if (statement.explain != Statement::Explain::kNo) {
    dumper.Add(statement.explain == Statement::Explain::kPlan ? "explain " : "analyze ");
  }
  if (statement.insert != nullptr) {
    dumper.Texts("insert into", statement.insert->into.parts);
    for (const InsertInto::Column& column : statement.insert->columns) dumper.Texts("column", {column.name});
    for (const InsertInto::Row& row : statement.insert->rows) {
      dumper.Add(" row");
      for (const ExprPtr& value : row.values) dumper.One(*value);
    }
  }
  if (statement.query != nullptr) dumper.OneQuery(*statement.query);
  return dumper.text_;
}

std::string Dumper::Of(const Expr& expr) {
  Dumper dumper;
  dumper.One(expr);
  return dumper.text_;
}

void Dumper::Flag(bool holds, std::string_view name) {
  if (holds) Add(fmt::format(" {}", name));
}

void Dumper::Texts(std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  Add(fmt::format(" ({}", name));
  for (const std::string& text : texts) Add(" " + QuotedString(text));
  Add(")");
}

void Dumper::One(const Expr& expr) {
  static constexpr std::string_view kKinds[] = {
      "null",      "bool",   "int",       "float",    "string",   "bytes", "date",        "timestamp",
      "parameter", "name",   "field",     "star",     "index",    "unary", "binary",      "is",
      "between",   "in",     "in-unnest", "in-query", "case",     "cast",  "extract",     "interval",
      "array",     "struct", "lambda",    "call",     "grouping", "query", "array-query", "exists"};
  Add(fmt::format("({}", kKinds[static_cast<size_t>(expr.kind)]));
  if (!expr.text.empty()) Add(" " + QuotedBytes(expr.text).substr(1));
  Flag(expr.boolean, "true");
  Flag(expr.negated, "not");
  Flag(expr.safe, "safe");
  Flag(expr.has_operand, "operand");
  Flag(expr.has_else, "else");
  Flag(expr.is_tuple, "tuple");
  Flag(expr.parenthesized, "parentheses");
  Texts("names", expr.names);
  if (expr.type != nullptr) Type(*expr.type);
  for (const ExprPtr& child : expr.children) Child("", child);
  if (expr.call != nullptr) Call(*expr.call);
  if (expr.query != nullptr) OneQuery(*expr.query);
  Add(")");
}

void Dumper::Child(std::string_view name, const ExprPtr& expr) {
  Add(" ");
  if (expr == nullptr) return Add("-");
  if (name.empty()) return One(*expr);
  Add(fmt::format("({} ", name));
  One(*expr);
  Add(")");
}

void Dumper::Children(std::string_view name, const std::vector<ExprPtr>& list) {
  if (list.empty()) return;
  Add(fmt::format(" ({}", name));
  for (const ExprPtr& expr : list) Child("", expr);
  Add(")");
}

void Dumper::Call(const Expr::Call& call) {
  Texts("name", call.name.parts);
  Flag(call.distinct, "distinct");
  Flag(call.star, "star");
  Children("arguments", call.arguments);
  Named(call.named);
  Flag(call.nulls == Expr::Call::Nulls::kIgnore, "ignore-nulls");
  Flag(call.nulls == Expr::Call::Nulls::kRespect, "respect-nulls");
  if (call.having_max != nullptr) Child("max", call.having_max);
  if (call.having_min != nullptr) Child("min", call.having_min);
  Order(call.order_by);
  if (call.limit != nullptr) Child("limit", call.limit);
  if (call.over != nullptr) Window(*call.over);
}

void Dumper::Named(const std::vector<NamedArgument>& arguments) {
  for (const NamedArgument& argument : arguments) Child(argument.name + " =>", argument.value);
}

void Dumper::Window(const WindowSpec& window) {
  Add(fmt::format(" (window {}", QuotedString(window.base)));
  Children("partition", window.partition_by);
  Order(window.order_by);
  if (window.frame.has_value()) {
    Flag(window.frame->is_range, "range");
    Bound(window.frame->start);
    Bound(window.frame->end);
  }
  Add(")");
}

void Dumper::Bound(const FrameBound& bound) {
  Add(fmt::format(" (bound {}", static_cast<int>(bound.kind)));
  if (bound.offset != nullptr) Child("", bound.offset);
  Add(")");
}

void Dumper::Order(const std::vector<OrderItem>& items) {
  if (items.empty()) return;
  Add(" (order");
  for (const OrderItem& item : items) {
    Child("", item.expr);
    Flag(item.descending, "desc");
    if (item.nulls_first.has_value()) Add(*item.nulls_first ? " first" : " last");
  }
  Add(")");
}

void Dumper::Type(const TypeName& type) {
  Add(" (type");
  Texts("path", type.path.parts);
  for (size_t i = 0; i < type.arguments.size(); ++i) {
    if (i < type.field_names.size()) Add(" " + QuotedString(type.field_names[i]));
    Type(*type.arguments[i]);
  }
  Add(")");
}

void Dumper::Hints(const std::vector<Hint>& hints) {
  for (const Hint& hint : hints) {
    Texts("hint", hint.name.parts);
    Child("", hint.value);
  }
}

void Dumper::Items(std::string_view name, const std::vector<SelectItem>& items) {
  if (items.empty()) return;
  Add(fmt::format(" ({}", name));
  for (const SelectItem& item : items) {
    if (item.expr != nullptr) Child("", item.expr);
    Flag(item.star, "*");
    if (!item.alias.empty()) Add(" as " + QuotedString(item.alias));
    Texts("except", item.except);
    for (const SelectItem::Replacement& replacement : item.replace)
      Child("replace " + replacement.name, replacement.expr);
  }
  Add(")");
}

void Dumper::Windows(const std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>& windows) {
  for (const auto& [name, window] : windows) {
    Add(" " + QuotedString(name));
    Window(*window);
  }
}

void Dumper::From(const FromItem& item) {
  static constexpr std::string_view kKinds[] = {"table", "unnest", "query", "unpack", "join", "function"};
  Add(fmt::format(" ({}", kKinds[static_cast<size_t>(item.kind)]));
  Texts("path", item.path.parts);
  for (const QueryPtr& table : item.tables) OneQuery(*table);
  Children("positional", item.positional);
  Named(item.arguments);
  Hints(item.hints);
  if (item.array != nullptr) Child("", item.array);
  if (item.query != nullptr) OneQuery(*item.query);
  if (item.kind == FromItem::Kind::kJoin) {
    Add(" " + JoinText(item));
    if (item.left != nullptr) From(*item.left);
    From(*item.right);
    if (item.on != nullptr) Child("on", item.on);
    Texts("using", item.using_columns);
  }
  if (!item.alias.empty()) Add(" as " + QuotedString(item.alias));
  Flag(item.with_offset, "offset");
  if (!item.offset_alias.empty()) Add(" as " + QuotedString(item.offset_alias));
  Add(")");
}

void Dumper::Pipe(const PipeOperator& pipe) {
  static constexpr std::string_view kKinds[] = {"select", "extend", "set",       "drop",     "rename",
                                                "as",     "where",  "aggregate", "distinct", "order",
                                                "limit",  "join",   "call",      "union"};
  Add(fmt::format(" (|> {}", kKinds[static_cast<size_t>(pipe.kind)]));
  Flag(pipe.distinct, "distinct");
  Items("items", pipe.items);
  Items("group", pipe.group_by);
  Flag(pipe.group_and_order_by, "and-order");
  Order(pipe.order_by);
  Windows(pipe.windows);
  Texts("names", pipe.names);
  Texts("new", pipe.new_names);
  if (pipe.expr != nullptr) Child("", pipe.expr);
  if (pipe.limit != nullptr) Child("limit", pipe.limit);
  if (pipe.offset != nullptr) Child("offset", pipe.offset);
  if (pipe.from != nullptr) From(*pipe.from);
  if (!pipe.set_operation.empty()) Add(" " + QuotedString(pipe.set_operation));
  for (const QueryPtr& query : pipe.queries) OneQuery(*query);
  Add(")");
}

void Dumper::OneQuery(const Query& query) {
  static constexpr std::string_view kKinds[] = {"select", "from", "nested", "set"};
  Add(fmt::format(" ({}", kKinds[static_cast<size_t>(query.kind)]));
  Flag(query.recursive, "recursive");
  for (const Query::With& with : query.with) {
    Add(fmt::format(" (with {}", QuotedString(with.name)));
    OneQuery(*with.query);
    Add(")");
  }
  Hints(query.hints);
  Flag(query.distinct, "distinct");
  Flag(query.as_struct, "as-struct");
  Flag(query.as_value, "as-value");
  Items("items", query.items);
  if (query.from != nullptr) From(*query.from);
  if (query.where != nullptr) Child("where", query.where);
  Children("group", query.group_by);
  Flag(query.group_by_all, "group-by-all");
  if (query.having != nullptr) Child("having", query.having);
  if (query.qualify != nullptr) Child("qualify", query.qualify);
  Windows(query.windows);
  if (query.nested != nullptr) OneQuery(*query.nested);
  if (!query.set_operation.empty()) Add(" " + QuotedString(query.set_operation));
  for (const QueryPtr& input : query.inputs) OneQuery(*input);
  Order(query.order_by);
  if (query.limit != nullptr) Child("limit", query.limit);
  if (query.offset != nullptr) Child("offset", query.offset);
  for (const PipeOperator& pipe : query.pipes) Pipe(pipe);
  Add(")");
}

std::string Printed(std::string_view text) {
  const auto statement = ParseStatement(text);
  return statement.ok() ? Print(**statement) : std::string(statement.status().message());
}

std::string TreeOf(std::string_view expression) {
  const auto expr = ParseExpression(expression);
  return expr.ok() ? Dumper::Of(**expr) : std::string(expr.status().message());
}

void ExpectErrors(const std::vector<ErrorCase>& cases) {
  for (const ErrorCase& one : cases) {
    const auto statement = ParseStatement(one.text);
    EXPECT_EQ(statement.status().code(), absl::StatusCode::kInvalidArgument) << one.text;
    EXPECT_EQ(std::string(statement.status().message()), one.error) << one.text;
  }
}

std::string RoundTripFault(const Statement& statement) {
  const std::string printed = Print(statement);
  const auto again = ParseStatement(printed);
  if (!again.ok()) return fmt::format("{}\n  is refused: {}", printed, std::string(again.status().message()));
  const std::string printed_again = Print(**again);
  if (printed != printed_again) return fmt::format("{}\n  becomes {}", printed, printed_again);
  const auto third = ParseStatement(printed_again);
  if (!third.ok() || Dumper::Of(**third) != Dumper::Of(**again)) return printed + "\n  becomes another tree";
  return "";
}

}  // namespace sonde::sql::syntax_test

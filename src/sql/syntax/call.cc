// Calls of functions, with all that may stand in their parentheses and behind them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "sql/syntax/grammar.h"

namespace sonde::sql {
namespace {

using Kind = Expr::Kind;

// The path that fields of a name make: a.b.c.  False: `expr` is something else.
bool PathOf(const Expr& expr, std::vector<std::string>* parts) {
  const Expr* part = &expr;
  std::vector<std::string> backwards;
  for (; part->kind == Kind::kField && !part->parenthesized; part = part->children[0].get()) {
    backwards.push_back(UpperCase(part->text));
  }
  if (part->kind != Kind::kName || part->parenthesized) return false;
  parts->push_back(UpperCase(part->text));
  parts->insert(parts->end(), backwards.rbegin(), backwards.rend());
  return true;
}

}  // namespace

// `function` is what stands before the "(".
ExprPtr Grammar::CallOf(ExprPtr function) {
  const Position position = function->position;
  Path name{{}, position};
  if (PathOf(*function, &name.parts)) return CallWith(position, std::move(name), nullptr);
  if (function->kind == Kind::kField && !function->parenthesized) {
    const Expr& base = *function->children[0];
    if (!base.parenthesized && (base.kind == Kind::kInt || base.kind == Kind::kFloat))
      tokens_.FailUnexpected();
    // e.f(...) means f(e, ...).
    name.parts.push_back(UpperCase(function->text));
    ExprPtr argument = std::move(function->children[0]);
    return CallWith(position, std::move(name), std::move(argument));
  }
  if (function->kind == Kind::kCall && !function->parenthesized) {
    tokens_.Fail(tokens_.position(), "Syntax error: Double function call parentheses");
  } else {
    tokens_.Fail(tokens_.position(),
                 "Syntax error: Function call cannot be applied to this expression. Function calls require a "
                 "path, e.g. "
                 "a.b.c()");
  }
  return function;
}

// IF(...), LEFT(...) and others whose names are reserved.
ExprPtr Grammar::CallOfKeyword() {
  const Position position = tokens_.position();
  Path name{{std::string(tokens_.Peek().word.text())}, position};
  tokens_.Skip();
  if (!tokens_.Is("(")) {
    tokens_.Expect("(");
    return Make(Kind::kNull, position);
  }
  return CallWith(position, std::move(name), nullptr);
}

ExprPtr Grammar::CallWith(Position position, Path name, ExprPtr first_argument) {
  ExprPtr expr = Make(Kind::kCall, position);
  expr->call = std::make_unique<Expr::Call>();
  Expr::Call& call = *expr->call;
  call.name = std::move(name);
  tokens_.Expect("(");
  const bool is_chained = first_argument != nullptr;
  if (is_chained) call.arguments.push_back(std::move(first_argument));
  call.distinct = tokens_.Take("DISTINCT");
  if (!is_chained && tokens_.Take("*")) {
    call.star = true;
  } else if (!EndsArguments()) {
    Arguments(&call);
  }
  Modifiers(&call);
  tokens_.Expect(")");
  if (tokens_.Take("OVER")) call.over = Window();
  return expr;
}

bool Grammar::EndsArguments() const {
  for (const Word word :
       {Word(")"), Word("IGNORE"), Word("RESPECT"), Word("HAVING"), Word("ORDER"), Word("LIMIT")}) {
    if (tokens_.Is(word)) return true;
  }
  return tokens_.Is(Token::Kind::kEnd);
}

void Grammar::Arguments(Expr::Call* call) {
  List([&] { Argument(call); });
}

void Grammar::Argument(Expr::Call* call) {
  if (tokens_.Is("SELECT")) FailArgumentIsQuery("Each function argument is");
  if (tokens_.IsName() && tokens_.Is("=>", 1)) {
    call->named.push_back(Named());
    return;
  }
  if (!call->named.empty()) RefuseArgument(call->name, call->named[0].position);
  const Position position = tokens_.position();
  ExprPtr argument = BeginsLambda() ? Lambda() : Expression();
  if (tokens_.Is("->")) tokens_.Fail(position, "Syntax error: Expecting lambda argument list");
  call->arguments.push_back(std::move(argument));
}

// An argument without a name stands behind those with one, which begin at `position`.
void Grammar::RefuseArgument(const Path& function, Position position) {
  tokens_.Fail(
      position,
      fmt::format("Call to function {} must not specify positional arguments after named arguments; named "
                  "arguments must be specified last in the argument list",
                  fmt::join(function.parts, ".")));
}

NamedArgument Grammar::Named() {
  NamedArgument argument;
  argument.position = tokens_.position();
  argument.name = tokens_.TakeName();
  tokens_.Expect("=>");
  argument.value = BeginsLambda() ? Lambda() : Expression();
  return argument;
}

// name -> e, (name, ...) -> e.
bool Grammar::BeginsLambda() const {
  if (tokens_.IsName()) return tokens_.Is("->", 1);
  if (!tokens_.Is("(") || tokens_.Peek().partner == 0) return false;
  if (tokens_.At(tokens_.Peek().partner + 1).word != "->") return false;
  for (size_t i = 1; tokens_.index() + i < tokens_.Peek().partner; ++i) {
    if (i % 2 == 1 ? !tokens_.IsName(i) : !tokens_.Is(",", i)) return false;
  }
  return true;
}

ExprPtr Grammar::Lambda() {
  const Level level(this);
  ExprPtr expr = Make(Kind::kLambda, tokens_.position());
  if (!tokens_.Take("(")) {
    expr->names.push_back(tokens_.TakeName());
  } else if (!tokens_.Is(")")) {
    List([&] { expr->names.push_back(tokens_.TakeName()); });
    tokens_.Expect(")");
  } else {
    tokens_.Skip();
  }
  tokens_.Expect("->");
  expr->children.push_back(Expression());
  return expr;
}

// [IGNORE NULLS | RESPECT NULLS] [HAVING MAX e | HAVING MIN e] [ORDER BY ...] [LIMIT e].
void Grammar::Modifiers(Expr::Call* call) {
  if (tokens_.Is("IGNORE") || tokens_.Is("RESPECT")) {
    call->nulls = tokens_.Is("IGNORE") ? Expr::Call::Nulls::kIgnore : Expr::Call::Nulls::kRespect;
    tokens_.Skip();
    tokens_.Expect("NULLS");
  }
  if (tokens_.Take("HAVING")) {
    const bool is_max = tokens_.Is("MAX");
    if (!is_max && !tokens_.Is("MIN")) tokens_.FailUnexpected({"MAX", "MIN"});
    tokens_.Skip();
    (is_max ? call->having_max : call->having_min) = Expression();
  }
  if (tokens_.Is("ORDER")) call->order_by = OrderItems();
  if (tokens_.Take("LIMIT")) call->limit = Expression();
}

// Behind OVER, or AS of a WINDOW clause: name, or (...).
std::unique_ptr<WindowSpec> Grammar::Window() {
  if (tokens_.Is("(")) return WindowInside();
  auto window = std::make_unique<WindowSpec>();
  window->position = tokens_.position();
  window->base = tokens_.TakeName();
  return window;
}

// ([base] [PARTITION BY ...] [ORDER BY ...] [ROWS ... | RANGE ...]).
std::unique_ptr<WindowSpec> Grammar::WindowInside() {
  const Level level(this);
  auto window = std::make_unique<WindowSpec>();
  window->position = tokens_.position();
  tokens_.Expect("(");
  if (tokens_.IsName()) window->base = tokens_.TakeName();
  if (tokens_.Take("PARTITION")) {
    ExpectBy();
    List([&] { window->partition_by.push_back(Expression()); });
  }
  if (tokens_.Is("ORDER")) window->order_by = OrderItems();
  const bool has_frame = tokens_.Is("ROWS") || tokens_.Is("RANGE");
  if (has_frame) window->frame = Frame();
  if (tokens_.Take(")")) return window;
  if (has_frame) {
    tokens_.FailUnexpected({")"});
  } else if (!window->order_by.empty()) {
    tokens_.FailUnexpected({")", "RANGE", "ROWS"});
  } else {
    tokens_.FailUnexpected({")", "ORDER", "RANGE", "ROWS"});
  }
  return window;
}

WindowFrame Grammar::Frame() {
  WindowFrame frame;
  frame.is_range = tokens_.Is("RANGE");
  tokens_.Skip();
  if (!tokens_.Take("BETWEEN")) {
    frame.start = Bound();
    frame.end.kind = FrameBound::Kind::kCurrentRow;
    return frame;
  }
  frame.start = Bound();
  tokens_.Expect("AND");
  frame.end = Bound();
  return frame;
}

FrameBound Grammar::Bound() {
  FrameBound bound;
  if (tokens_.Take("CURRENT")) {
    tokens_.Expect("ROW");
    bound.kind = FrameBound::Kind::kCurrentRow;
    return bound;
  }
  const bool is_unbounded = tokens_.Take("UNBOUNDED");
  if (!is_unbounded) bound.offset = Expression();
  const bool is_preceding = tokens_.Is("PRECEDING");
  if (!is_preceding && !tokens_.Is("FOLLOWING")) tokens_.FailUnexpected({"FOLLOWING", "PRECEDING"});
  tokens_.Skip();
  if (is_unbounded) {
    bound.kind = is_preceding ? FrameBound::Kind::kUnboundedPreceding : FrameBound::Kind::kUnboundedFollowing;
  } else {
    bound.kind = is_preceding ? FrameBound::Kind::kPreceding : FrameBound::Kind::kFollowing;
  }
  return bound;
}

// ORDER BY e [ASC | DESC] [NULLS FIRST | NULLS LAST], ...
std::vector<OrderItem> Grammar::OrderItems(bool takes_last_comma) {
  std::vector<OrderItem> items;
  tokens_.Expect("ORDER");
  ExpectBy();
  do {
    if (takes_last_comma && !items.empty() && EndsList()) break;
    OrderItem item;
    item.expr = Expression();
    if (tokens_.Is("COLLATE")) Unsupported(tokens_.position(), "COLLATE is");
    OrderMarks(&item);
    items.push_back(std::move(item));
    CheckListLength(items.size());
  } while (tokens_.Take(","));
  return items;
}

void Grammar::ExpectBy() {
  if (tokens_.Is("@{")) Unsupported(tokens_.position(), "Hint at this place is");
  tokens_.Expect("BY", {"BY", "@ for hint"});
}

void Grammar::OrderMarks(OrderItem* item) {
  if (tokens_.Take("DESC")) {
    item->descending = true;
  } else {
    tokens_.Take("ASC");
  }
  NullsMark(item);
}

void Grammar::NullsMark(OrderItem* item) {
  if (!tokens_.Take("NULLS")) return;
  const bool is_first = tokens_.Is("FIRST");
  if (!is_first && !tokens_.Is("LAST")) tokens_.FailUnexpected({"FIRST", "LAST"});
  tokens_.Skip();
  item->nulls_first = is_first;
}

}  // namespace sonde::sql

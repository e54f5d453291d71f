// Queries: SELECT with its clauses, FROM, WITH, set operations.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/syntax/grammar.h"

namespace sonde::sql {
namespace {

QueryPtr MakeQuery(Query::Kind kind, Position position) {
  auto query = std::make_unique<Query>();
  query->kind = kind;
  query->position = position;
  return query;
}

// Whether .* may stand behind `expr`: behind an operand, not behind an operation.
bool TakesStar(const Expr& expr) {
  if (expr.parenthesized) return true;
  switch (expr.kind) {
    case Expr::Kind::kUnary:
    case Expr::Kind::kBinary:
    case Expr::Kind::kIs:
    case Expr::Kind::kBetween:
    case Expr::Kind::kInList:
    case Expr::Kind::kInUnnest:
    case Expr::Kind::kInQuery:
      return false;
    default:
      return true;
  }
}

}  // namespace

QueryPtr Grammar::QueryInParentheses() {
  tokens_.Expect("(");
  QueryPtr query = QueryBody();
  tokens_.Expect(")");
  return query;
}

// [WITH ...] select, FROM, (query), or set operation; [ORDER BY] [LIMIT]; pipe operators.
QueryPtr Grammar::QueryBody() {
  const Level level(this);
  const Position position = tokens_.position();
  Query with;
  if (tokens_.Is("WITH")) With(&with);
  QueryPtr query;
  if (tokens_.Is("FROM")) {
    query = From();
  } else {
    query = SetOperations(QueryPrimary());
    OrderAndLimit(query.get());
  }
  query->position = position;
  query->recursive = with.recursive;
  query->with = std::move(with.with);
  Pipes(query.get());
  return query;
}

QueryPtr Grammar::QueryPrimary() {
  if (tokens_.Is("SELECT")) return Select();
  QueryPtr query = MakeQuery(Query::Kind::kNested, tokens_.position());
  if (tokens_.Is("(")) {
    query->nested = QueryInParentheses();
    return query;
  }
  if (tokens_.Is("TABLE") && tokens_.IsName(1)) Unsupported(tokens_.position(), "TABLE clauses are");
  tokens_.FailUnexpected();
  return query;
}

// A query that begins with FROM has pipe operators only.
QueryPtr Grammar::From() {
  QueryPtr query = MakeQuery(Query::Kind::kFrom, tokens_.position());
  query->from = FromClause();
  struct Clause {
    Word word;
    std::string_view name;
    std::string_view advice;
  };
  static constexpr std::string_view kOrParentheses = " or parentheses around the FROM query";
  for (const Clause& clause :
       {Clause{"WHERE", "WHERE", ""}, Clause{"SELECT", "SELECT", ""}, Clause{"GROUP", "GROUP BY", ""},
        Clause{"ORDER", "ORDER BY", kOrParentheses}, Clause{"LIMIT", "LIMIT", kOrParentheses},
        Clause{"UNION", "UNION", kOrParentheses}, Clause{"INTERSECT", "INTERSECT", kOrParentheses},
        Clause{"EXCEPT", "EXCEPT", kOrParentheses}}) {
    if (!tokens_.Is(clause.word) || (clause.word == "EXCEPT" && !BeginsSetOperation())) continue;
    tokens_.Fail(
        tokens_.position(),
        fmt::format("Syntax error: {} not supported after FROM query; Consider using pipe operator `|> {}`{}",
                    clause.name, clause.word == "GROUP" ? "AGGREGATE" : clause.name, clause.advice));
  }
  return query;
}

// WITH [RECURSIVE] name AS (query), ...
void Grammar::With(Query* query) {
  tokens_.Expect("WITH");
  query->recursive = tokens_.Take("RECURSIVE");
  do {
    Query::With with;
    with.position = tokens_.position();
    if (!query->with.empty() && (tokens_.Is("SELECT") || tokens_.Is("FROM"))) {
      tokens_.Fail(with.position,
                   "Syntax error: Trailing comma after the WITH clause before the main query is not allowed");
    }
    with.name = query->with.empty() ? tokens_.TakeName() : tokens_.TakeName({"SELECT"});
    tokens_.Expect("AS");
    with.query = QueryInParentheses();
    query->with.push_back(std::move(with));
    CheckListLength(query->with.size());
  } while (tokens_.Take(","));
  if (!tokens_.Is("|>")) return;
  tokens_.Fail(tokens_.position(),
               "Syntax error: A pipe operator cannot follow the WITH clause before the main query; The main "
               "query usually starts "
               "with SELECT or FROM here");
}

QueryPtr Grammar::Select() {
  QueryPtr query = MakeQuery(Query::Kind::kSelect, tokens_.position());
  tokens_.Expect("SELECT");
  query->hints = Hints();
  query->distinct = tokens_.Take("DISTINCT");
  if (!query->distinct) tokens_.Take("ALL");
  if (tokens_.Take("AS")) {
    query->as_struct = tokens_.Take("STRUCT");
    query->as_value =
        !query->as_struct && IsSameWord(tokens_.Raw(tokens_.Peek()), "VALUE") && !tokens_.Is(".", 1);
    if (query->as_value) {
      tokens_.Skip();
    } else if (!query->as_struct) {
      if (tokens_.IsName()) Unsupported(tokens_.position(), "SELECT AS with the name of a type is");
      tokens_.FailUnexpected();
    }
  }
  if (tokens_.Is("FROM")) tokens_.Fail(tokens_.position(), "Syntax error: SELECT list must not be empty");
  SelectList(&query->items);
  SelectClauses(query.get());
  return query;
}

// A comma may stand behind the last item.
void Grammar::SelectList(std::vector<SelectItem>* items) {
  do {
    if (!items->empty() && EndsList()) return;
    items->push_back(OneSelectItem());
    CheckListLength(items->size());
  } while (tokens_.Take(","));
}

bool Grammar::EndsList() const {
  const Token& token = tokens_.Peek();
  const auto is_one_of = [&](std::initializer_list<Word> words) {
    return std::find(words.begin(), words.end(), token.word) != words.end();
  };
  switch (token.kind) {
    case Token::Kind::kEnd:
      return true;
    case Token::Kind::kSymbol:
      return !is_one_of({"(", "[", "@", "@@", "?", "+", "-", "~", "*"});
    case Token::Kind::kKeyword:
      if (!token.word.is_reserved() || IsFunctionWord(token.word.text())) return false;
      return !is_one_of({"NULL", "TRUE", "FALSE", "CASE", "CAST", "EXTRACT", "INTERVAL", "ARRAY", "STRUCT",
                         "EXISTS", "NOT", "NEW", "WITH"});
    default:
      return false;
  }
}

SelectItem Grammar::OneSelectItem() {
  SelectItem item;
  item.position = tokens_.position();
  item.star = tokens_.Take("*");
  if (!item.star) {
    item.expr = Expression();
    if (tokens_.Is(".") && tokens_.Is("*", 1)) {
      tokens_.Skip();
      if (!TakesStar(*item.expr)) tokens_.FailUnexpected();
      tokens_.Skip();
      item.star = true;
    }
  }
  if (item.star) {
    StarModifiers(&item);
    return item;
  }
  if (tokens_.Is(Token::Kind::kAttached)) {
    tokens_.Fail(tokens_.position(), "Syntax error: Missing whitespace between literal and alias");
  }
  if (tokens_.Take("AS") || tokens_.IsName()) item.alias = tokens_.TakeName();
  return item;
}

// [EXCEPT (name, ...)] [REPLACE (e AS name, ...)].
void Grammar::StarModifiers(SelectItem* item) {
  if (tokens_.Is("EXCEPT") && tokens_.Is("(", 1)) {
    tokens_.Skip(2);
    List([&] { item->except.push_back(tokens_.TakeName()); });
    tokens_.Expect(")", {")", ","});
  }
  if (!tokens_.Is("REPLACE") || !tokens_.Is("(", 1)) return;
  tokens_.Skip(2);
  List([&] {
    SelectItem::Replacement replacement;
    replacement.expr = Expression();
    tokens_.Expect("AS");
    replacement.name = tokens_.TakeName();
    item->replace.push_back(std::move(replacement));
  });
  tokens_.Expect(")", {")", ","});
}

void Grammar::SelectClauses(Query* query) {
  if (tokens_.Is("FROM")) query->from = FromClause();
  if (tokens_.Take("WHERE")) query->where = Expression();
  if (tokens_.Is("GROUP")) GroupBy(query);
  if (tokens_.Take("HAVING")) query->having = Expression();
  if (tokens_.Take("QUALIFY")) query->qualify = Expression();
  if (tokens_.Is("WINDOW")) Windows(&query->windows, false);
}

void Grammar::GroupBy(Query* query) {
  tokens_.Expect("GROUP");
  ExpectBy();
  query->group_by_all = tokens_.Take("ALL");
  if (query->group_by_all) return;
  List([&] { query->group_by.push_back(GroupingItem()); });
}

ExprPtr Grammar::GroupingItem() {
  const Position position = tokens_.position();
  if (tokens_.Is("ROLLUP") || tokens_.Is("CUBE")) return RollupOrCube();
  if (tokens_.Is("(") && tokens_.Is(")", 1)) return EmptyGroupingSet();
  if (!tokens_.Is("GROUPING") || !tokens_.Is("SETS", 1)) return Expression();
  ExprPtr sets = Make(Expr::Kind::kGrouping, position);
  sets->text = "GROUPING SETS";
  tokens_.Skip(2);
  tokens_.Expect("(");
  List([&] {
    const bool is_empty = tokens_.Is("(") && tokens_.Is(")", 1);
    const bool is_list = tokens_.Is("ROLLUP") || tokens_.Is("CUBE");
    sets->children.push_back(is_empty ? EmptyGroupingSet() : is_list ? RollupOrCube() : Expression());
  });
  tokens_.Expect(")", {")", ","});
  return sets;
}

ExprPtr Grammar::RollupOrCube() {
  ExprPtr list = Make(Expr::Kind::kGrouping, tokens_.position());
  list->text = tokens_.Is("CUBE") ? "CUBE" : "ROLLUP";
  tokens_.Skip();
  tokens_.Expect("(");
  List([&] { list->children.push_back(Expression()); });
  tokens_.Expect(")", {")", ","});
  return list;
}

ExprPtr Grammar::EmptyGroupingSet() {
  ExprPtr set = Make(Expr::Kind::kGrouping, tokens_.position());
  set->text = "()";
  tokens_.Skip(2);
  return set;
}

// WINDOW name AS window, ...
void Grammar::Windows(std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>* windows,
                      bool takes_last_comma) {
  tokens_.Expect("WINDOW");
  do {
    if (takes_last_comma && !windows->empty() && !tokens_.IsName()) return;
    std::string name = tokens_.TakeName();
    tokens_.Expect("AS");
    windows->emplace_back(std::move(name), Window());
    CheckListLength(windows->size());
  } while (tokens_.Take(","));
}

bool Grammar::BeginsSetOperation(size_t ahead) const {
  if (tokens_.Is("UNION", ahead) || tokens_.Is("INTERSECT", ahead)) return true;
  return tokens_.Is("EXCEPT", ahead) && (tokens_.Is("ALL", ahead + 1) || tokens_.Is("DISTINCT", ahead + 1));
}

std::string Grammar::SetOperation() {
  std::string operation(tokens_.Peek().word.text());
  tokens_.Skip();
  if (tokens_.Is("@{")) Unsupported(tokens_.position(), "Hint at this place is");
  const bool is_all = tokens_.Is("ALL");
  if (!is_all && !tokens_.Is("DISTINCT")) tokens_.FailUnexpected({"ALL", "DISTINCT"});
  tokens_.Skip();
  return fmt::format("{}{}", operation, is_all ? " ALL" : " DISTINCT");
}

// `first` [operation query ...], all with one operation.
QueryPtr Grammar::SetOperations(QueryPtr first) {
  for (const Word word : {Word("FULL"), Word("LEFT"), Word("INNER")}) {
    if (tokens_.Is(word)) Unsupported(tokens_.position(), "Set operations with FULL, LEFT or INNER are");
  }
  if (!BeginsSetOperation()) return first;
  QueryPtr query = MakeQuery(Query::Kind::kSet, first->position);
  query->inputs.push_back(std::move(first));
  while (BeginsSetOperation()) {
    const Position position = tokens_.position();
    std::string operation = SetOperation();
    if (query->set_operation.empty()) query->set_operation = operation;
    if (query->set_operation != operation) {
      tokens_.Fail(position,
                   "Syntax error: Different set operations cannot be used in the same query without using "
                   "parentheses for grouping");
    }
    if (tokens_.Is("FROM")) {
      tokens_.Fail(
          tokens_.position(),
          "Syntax error: Unexpected FROM; FROM queries following a set operation must be parenthesized");
    }
    if (!tokens_.Is("SELECT") && !tokens_.Is("(")) tokens_.FailUnexpected({"(", "SELECT", "TABLE"});
    query->inputs.push_back(QueryPrimary());
    CheckListLength(query->inputs.size());
  }
  return query;
}

void Grammar::OrderAndLimit(Query* query) {
  if (tokens_.Is("ORDER")) query->order_by = OrderItems();
  if (tokens_.Is("LIMIT")) Limit(&query->limit, &query->offset);
}

// LIMIT e [OFFSET e].
void Grammar::Limit(ExprPtr* limit, ExprPtr* offset) {
  const Position position = tokens_.position();
  tokens_.Expect("LIMIT");
  if (tokens_.Is("ALL")) Unsupported(position, "LIMIT ALL is");
  *limit = Expression();
  if (tokens_.Take("OFFSET")) *offset = Expression();
}

}  // namespace sonde::sql

// FROM: tables, what is read as one, and joins.
#include <fmt/format.h>

#include <utility>

#include "sql/syntax/grammar.h"

namespace sonde::sql {
namespace {

using FromKind = FromItem::Kind;

FromItemPtr MakeItem(FromKind kind, Position position) {
  auto item = std::make_unique<FromItem>();
  item->kind = kind;
  item->position = position;
  return item;
}

}  // namespace

FromItemPtr Grammar::FromClause() {
  tokens_.Expect("FROM");
  return Joins(FromPrimary(), true);
}

FromItemPtr Grammar::Joins(FromItemPtr left, bool takes_commas) {
  bool has_comma = false;
  while (!tokens_.failed()) {
    FromItemPtr join = MakeItem(FromKind::kJoin, tokens_.position());
    if (takes_commas && tokens_.Take(",")) {
      has_comma = true;
      join->join = FromItem::Join::kComma;
      join->right = FromPrimary();
    } else if (JoinWords(join.get())) {
      const bool is_right = join->join == FromItem::Join::kRight;
      if (has_comma && (is_right || join->join == FromItem::Join::kFull)) {
        tokens_.Fail(join->position,
                     fmt::format("Syntax error: {} JOIN must be parenthesized when following a comma join.  "
                                 "Also, if the preceding comma join is a correlated CROSS JOIN that unnests "
                                 "an array, then CROSS JOIN syntax must be used in place of the comma join",
                                 is_right ? "RIGHT" : "FULL"));
      }
      JoinRight(join.get());
    } else {
      return left;
    }
    join->left = std::move(left);
    left = std::move(join);
    GrowTree();
  }
  return left;
}

bool Grammar::JoinWords(FromItem* join) {
  if (tokens_.Is("NATURAL")) Unsupported(tokens_.position(), "NATURAL JOIN is");
  join->asof = BeginsAsof();
  if (join->asof) tokens_.Skip();
  join->join = FromItem::Join::kInner;
  if (tokens_.Take("JOIN")) return true;
  const bool is_outer = tokens_.Is("LEFT") || tokens_.Is("RIGHT") || tokens_.Is("FULL");
  if (tokens_.Is("CROSS")) {
    join->join = FromItem::Join::kCross;
  } else if (tokens_.Is("LEFT")) {
    join->join = FromItem::Join::kLeft;
  } else if (tokens_.Is("RIGHT")) {
    join->join = FromItem::Join::kRight;
  } else if (tokens_.Is("FULL")) {
    join->join = FromItem::Join::kFull;
  } else if (!tokens_.Is("INNER")) {
    return false;
  }
  if (BeginsSetOperation(tokens_.Is("OUTER", 1) ? 2 : 1)) return false;
  tokens_.Skip();
  if (is_outer) tokens_.Take("OUTER");
  tokens_.Expect("JOIN");
  return true;
}

// ASOF is a keyword before JOIN, LEFT JOIN and LEFT OUTER JOIN, and a name elsewhere.
bool Grammar::BeginsAsof() const {
  if (!tokens_.Is(Token::Kind::kName) || !IsSameWord(tokens_.Raw(tokens_.Peek()), "ASOF")) return false;
  if (!tokens_.Is("LEFT", 1)) return tokens_.Is("JOIN", 1);
  return tokens_.Is("JOIN", tokens_.Is("OUTER", 2) ? 3 : 2);
}

// What stands behind JOIN.
void Grammar::JoinRight(FromItem* join) {
  join->hints = Hints();
  join->right = FromPrimary();
  if (tokens_.Take("ON")) {
    join->on = Expression();
  } else if (tokens_.Take("USING")) {
    tokens_.Expect("(");
    List([&] { join->using_columns.push_back(tokens_.TakeName()); });
    tokens_.Expect(")", {")", ","});
  }
}

FromItemPtr Grammar::FromPrimary() {
  const Position position = tokens_.position();
  if (tokens_.Is("(")) return FromParentheses();
  if (tokens_.Is("UNNEST")) return Unnest();
  if (tokens_.Is("@") || tokens_.Is("?")) {
    tokens_.Fail(position, "Query parameters cannot be used in place of table names");
  }
  if (tokens_.Is("@@")) tokens_.Fail(position, "System variables cannot be used in place of table names");
  if (tokens_.Is("LATERAL")) Unsupported(position, "LATERAL is");
  const bool is_unpack = IsSameWord(tokens_.Raw(tokens_.Peek()), "UNPACK");
  if (is_unpack && tokens_.Is("(", 1) && tokens_.Is("(", 2) && OpensQuery(2)) return Unpack();
  return Table();
}

// (query) or (table JOIN table ...).
FromItemPtr Grammar::FromParentheses() {
  const Level level(this);
  const Position position = tokens_.position();
  if (OpensQuery()) {
    FromItemPtr item = MakeItem(FromKind::kQuery, position);
    item->query = QueryInParentheses();
    item->alias = Alias();
    return item;
  }
  tokens_.Expect("(");
  FromItemPtr first = FromPrimary();
  const FromItem* const alone = first.get();
  FromItemPtr item = Joins(std::move(first), false);
  if (item.get() == alone) tokens_.FailUnexpected({"JOIN"});
  tokens_.Expect(")", {"JOIN"});
  return item;
}

FromItemPtr Grammar::Unnest() {
  FromItemPtr item = MakeItem(FromKind::kUnnest, tokens_.position());
  tokens_.Expect("UNNEST");
  tokens_.Expect("(");
  if (tokens_.Is("SELECT")) FailArgumentIsQuery("The argument to UNNEST is");
  item->array = Expression();
  tokens_.Expect(")", {")", ","});
  RefuseElement();
  item->hints = Hints();
  item->alias = Alias();
  WithOffset(item.get());
  return item;
}

// UNPACK((query)).
FromItemPtr Grammar::Unpack() {
  FromItemPtr item = MakeItem(FromKind::kUnpack, tokens_.position());
  tokens_.Skip();
  tokens_.Expect("(");
  item->query = QueryInParentheses();
  tokens_.Expect(")");
  item->alias = Alias();
  return item;
}

FromItemPtr Grammar::Table() {
  FromItemPtr item = MakeItem(FromKind::kTable, tokens_.position());
  item->path = TablePath();
  const bool has_arguments = tokens_.Is("(");
  if (has_arguments) TableArguments(item.get());
  RefuseElement();
  item->hints = Hints();
  item->alias = Alias();
  if (!has_arguments) WithOffset(item.get());
  for (const Word word : {Word("TABLESAMPLE"), Word("FOR"), Word("PIVOT"), Word("UNPIVOT")}) {
    if (tokens_.Is(word)) Unsupported(tokens_.position(), fmt::format("{} is", word.text()));
  }
  return item;
}

void Grammar::RefuseElement() {
  if (!tokens_.Is("[")) return;
  tokens_.Fail(tokens_.position(),
               "Syntax error: Array element access is not allowed in the FROM clause without UNNEST; Use "
               "UNNEST(<expression>)");
}

// A path whose names may have dashes: my-table, my-project-1.a.b.
Path Grammar::TablePath() {
  Path path;
  path.position = tokens_.position();
  do {
    // A number may have brought the dot: of my-1.a, 1. is one.
    do {
      path.parts.emplace_back();
      CheckListLength(path.parts.size());
    } while (TablePathPart(&path.parts.back()));
  } while (tokens_.Take("."));
  return path;
}

// True: it ends with a dot, which was taken.
bool Grammar::TablePathPart(std::string* part) {
  const bool is_quoted = tokens_.Raw(tokens_.Peek()).starts_with('`');
  *part = tokens_.TakeName();
  while (tokens_.Is("-")) {
    const Token& next = tokens_.Peek(1);
    const std::string_view raw = tokens_.Raw(next);
    const bool is_number = next.kind == Token::Kind::kInteger || next.kind == Token::Kind::kFloat;
    const bool is_part = is_number || next.kind == Token::Kind::kName || next.kind == Token::Kind::kKeyword;
    if (!is_part || is_quoted || raw.starts_with('`') || !tokens_.IsAdjacent(0) || !tokens_.IsAdjacent(1)) {
      tokens_.FailUnexpected();
      return false;
    }
    *part += '-';
    *part += raw;
    tokens_.Skip(2);
    if (raw.ends_with('.')) {
      part->pop_back();
      return true;
    }
    if (!tokens_.Is(Token::Kind::kAttached)) continue;
    *part += tokens_.Raw(tokens_.Peek());  // -1a
    tokens_.Skip();
  }
  return false;
}

// t(name => e, ...) is a table; with any other argument, or none, a table function.
void Grammar::TableArguments(FromItem* table) {
  tokens_.Expect("(");
  if (!tokens_.Is(")") && !tokens_.Is(Token::Kind::kEnd)) List([&] { TableArgument(table); });
  tokens_.Expect(")");
  if (table->arguments.empty() || !table->positional.empty() || !table->tables.empty())
    table->kind = FromKind::kFunction;
}

void Grammar::TableArgument(FromItem* table) {
  const Position position = tokens_.position();
  for (const Word word : {Word("SELECT"), Word("WITH")}) {
    if (!tokens_.Is(word)) continue;
    tokens_.Fail(position,
                 fmt::format("Syntax error: Each subquery argument for table-valued function calls must be "
                             "enclosed in parentheses. To fix this, replace {}... with ({}...)",
                             word.text(), word.text()));
  }
  if (tokens_.Is("TABLE") && tokens_.IsName(1)) {
    table->tables.push_back(TableAsQuery());
    return;
  }
  if (tokens_.Is("(") && OpensQuery()) {
    const uint32_t partner = tokens_.Peek().partner;
    const Word next = tokens_.At(partner + 1).word;
    if (partner == 0 || next == "," || next == ")") {
      table->tables.push_back(QueryInParentheses());
      return;
    }
  }
  if (tokens_.IsName() && tokens_.Is("=>", 1)) {
    table->arguments.push_back(Named());
    return;
  }
  if (!table->arguments.empty()) RefuseArgument(table->path, table->arguments[0].position);
  table->positional.push_back(Expression());
}

// TABLE t is SELECT * FROM t.
QueryPtr Grammar::TableAsQuery() {
  const Level level(this);
  auto query = std::make_unique<Query>();
  query->position = tokens_.position();
  tokens_.Expect("TABLE");
  SelectItem star;
  star.star = true;
  star.position = query->position;
  query->items.push_back(std::move(star));
  query->from = MakeItem(FromKind::kTable, tokens_.position());
  query->from->path = TablePath();
  if (tokens_.Is("(")) TableArguments(query->from.get());
  return query;
}

// [WITH OFFSET [[AS] alias]].
void Grammar::WithOffset(FromItem* item) {
  if (!tokens_.Take("WITH")) return;
  tokens_.Expect("OFFSET");
  item->with_offset = true;
  item->offset_alias = Alias();
}

// [[AS] alias].
std::string Grammar::Alias() {
  if (tokens_.Take("AS") || BeginsAlias()) return tokens_.TakeName();
  return "";
}

bool Grammar::BeginsAlias() const {
  if (!tokens_.IsName() || BeginsAsof()) return false;
  return !tokens_.Is("(", 1) || (!tokens_.Is("PIVOT") && !tokens_.Is("UNPIVOT"));
}

}  // namespace sonde::sql

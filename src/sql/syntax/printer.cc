#include "sql/syntax/printer.h"

#include "absl/strings/ascii.h"
#include "sql/syntax/literal.h"
#include "sql/syntax/printer_state.h"
#include "sql/syntax/words.h"

namespace sonde::sql {
namespace {

using FromKind = FromItem::Kind;

// Whether a name can stand without backticks where any word can.
bool IsPlainName(std::string_view name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

std::string_view JoinWords(FromItem::Join join) {
  switch (join) {
    case FromItem::Join::kComma:
    case FromItem::Join::kCross:
      return "CROSS JOIN";
    case FromItem::Join::kInner:
      return "JOIN";
    case FromItem::Join::kLeft:
      return "LEFT JOIN";
    case FromItem::Join::kRight:
      return "RIGHT JOIN";
    case FromItem::Join::kFull:
      return "FULL JOIN";
  }
  return "";
}

}  // namespace

std::string PrintName(std::string_view name) {
  return IsPlainName(name) && !IsReservedWord(name) ? std::string(name) : QuotedName(name);
}

void Printer::Name(std::string_view name) { Add(PrintName(name)); }

void Printer::FieldName(std::string_view name) { IsPlainName(name) ? Add(name) : Add(QuotedName(name)); }

void Printer::Dotted(const Path& path) {
  Name(path.parts[0]);
  for (size_t i = 1; i < path.parts.size(); ++i) {
    Add(".");
    FieldName(path.parts[i]);
  }
}

void Printer::Names(const std::vector<std::string>& names) {
  List(names, [&](const std::string& name) { Name(name); });
}

void Printer::Alias(std::string_view alias) {
  if (alias.empty()) return;
  Add(" AS ");
  Name(alias);
}

void Printer::Whole(const Statement& statement) {
  if (statement.explain == Statement::Explain::kPlan) Add("EXPLAIN ");
  if (statement.explain == Statement::Explain::kAnalyze) Add("EXPLAIN ANALYZE ");
  if (statement.insert != nullptr) Insert(*statement.insert);
  if (statement.query != nullptr) OneQuery(*statement.query);
}

void Printer::Insert(const InsertInto& insert) {
  Add("INSERT INTO ");
  Dotted(insert.into);
  if (!insert.columns.empty()) {
    Add(" (");
    List(insert.columns, [&](const InsertInto::Column& column) { Name(column.name); });
    Add(")");
  }
  Add(insert.rows.empty() ? " " : " VALUES ");
  List(insert.rows, [&](const InsertInto::Row& row) {
    Add("(");
    Expressions(row.values);
    Add(")");
  });
}

void Printer::OneQuery(const Query& query) {
  top_ = &query;
  Hints(query.hints);
  if (!query.hints.empty()) Add(" ");
  Body(query);
}

void Printer::Body(const Query& query) {
  if (!query.with.empty()) {
    Add(query.recursive ? "WITH RECURSIVE " : "WITH ");
    List(query.with, [&](const Query::With& with) {
      Name(with.name);
      Add(" AS ");
      Parenthesized(*with.query);
    });
    Add(" ");
  }
  Primary(query);
  if (!query.order_by.empty()) {
    Add(" ");
    OrderBy(query.order_by);
  }
  if (query.limit != nullptr) {
    Add(" ");
    Limit(query.limit, query.offset);
  }
  for (const PipeOperator& pipe : query.pipes) Pipe(pipe);
}

void Printer::Primary(const Query& query) {
  switch (query.kind) {
    case Query::Kind::kSelect:
      return Select(query);
    case Query::Kind::kFrom:
      Add("FROM ");
      return From(*query.from);
    case Query::Kind::kNested:
      return Parenthesized(*query.nested);
    case Query::Kind::kSet:
      Input(*query.inputs[0]);
      for (size_t i = 1; i < query.inputs.size(); ++i) {
        Add(" " + query.set_operation + " ");
        Input(*query.inputs[i]);
      }
  }
}

// An input of a set operation.
void Printer::Input(const Query& query) {
  const bool is_primary = query.kind == Query::Kind::kSelect || query.kind == Query::Kind::kNested;
  const bool is_alone =
      query.with.empty() && query.order_by.empty() && query.limit == nullptr && query.pipes.empty();
  is_primary&& is_alone ? Body(query) : Parenthesized(query);
}

void Printer::Parenthesized(const Query& query) {
  Add("(");
  Body(query);
  Add(")");
}

void Printer::Select(const Query& query) {
  Add("SELECT ");
  if (&query != top_ && !query.hints.empty()) {
    Hints(query.hints);
    Add(" ");
  }
  if (query.distinct) Add("DISTINCT ");
  if (query.as_struct) Add("AS STRUCT ");
  if (query.as_value) Add("AS VALUE ");
  Items(query.items);
  if (query.from != nullptr) {
    Add(" FROM ");
    From(*query.from);
  }
  const auto clause = [&](std::string_view words, const ExprPtr& expr) {
    if (expr == nullptr) return;
    Add(words);
    Expression(*expr);
  };
  clause(" WHERE ", query.where);
  if (query.group_by_all) Add(" GROUP BY ALL");
  if (!query.group_by.empty()) {
    Add(" GROUP BY ");
    Expressions(query.group_by);
  }
  clause(" HAVING ", query.having);
  clause(" QUALIFY ", query.qualify);
  WindowClause(query.windows);
}

void Printer::Items(const std::vector<SelectItem>& items) {
  List(items, [&](const SelectItem& item) { Item(item); });
}

void Printer::Item(const SelectItem& item) {
  if (item.expr != nullptr) item.star ? Base(*item.expr) : Expression(*item.expr);
  if (!item.star) return Alias(item.alias);
  Add(item.expr != nullptr ? ".*" : "*");
  if (!item.except.empty()) {
    Add(" EXCEPT (");
    Names(item.except);
    Add(")");
  }
  if (item.replace.empty()) return;
  Add(" REPLACE (");
  List(item.replace, [&](const SelectItem::Replacement& replacement) {
    Expression(*replacement.expr);
    Alias(replacement.name);
  });
  Add(")");
}

void Printer::WindowClause(const Windows& windows) {
  if (windows.empty()) return;
  Add(" WINDOW ");
  List(windows, [&](const auto& window) {
    Name(window.first);
    Add(" AS ");
    Window(*window.second);
  });
}

void Printer::Limit(const ExprPtr& limit, const ExprPtr& offset) {
  Add("LIMIT ");
  Expression(*limit);
  if (offset == nullptr) return;
  Add(" OFFSET ");
  Expression(*offset);
}

void Printer::From(const FromItem& item) {
  switch (item.kind) {
    case FromKind::kJoin:
      return Join(item);
    case FromKind::kTable:
    case FromKind::kFunction:
      // UNPACK is no table function.
      IsSameWord(item.path.parts[0], "UNPACK") && item.kind == FromKind::kFunction ? Add("`UNPACK`")
                                                                                   : Dotted(item.path);
      if (item.kind == FromKind::kFunction || !item.arguments.empty()) Arguments(item);
      break;
    case FromKind::kUnnest:
      Add("UNNEST(");
      Expression(*item.array);
      Add(")");
      break;
    case FromKind::kQuery:
      Parenthesized(*item.query);
      break;
    case FromKind::kUnpack:
      Add("UNPACK(");
      Parenthesized(*item.query);
      Add(")");
      break;
  }
  if (!item.hints.empty()) Add(" ");
  Hints(item.hints);
  Alias(item.alias);
  if (item.with_offset) Add(" WITH OFFSET");
  Alias(item.offset_alias);
}

void Printer::Join(const FromItem& join) {
  From(*join.left);
  if (join.join == FromItem::Join::kComma) {
    Add(", ");
    return Right(*join.right);
  }
  Add(" ");
  JoinRight(join);
}

void Printer::Right(const FromItem& item) {
  const bool is_wrapped = item.kind == FromKind::kJoin;
  if (is_wrapped) Add("(");
  From(item);
  if (is_wrapped) Add(")");
}

// All of a join but what is on its left.
void Printer::JoinRight(const FromItem& join) {
  if (join.asof) Add("ASOF ");
  Add(JoinWords(join.join));
  Add(" ");
  Hints(join.hints);
  if (!join.hints.empty()) Add(" ");
  Right(*join.right);
  if (join.on != nullptr) {
    Add(" ON ");
    Expression(*join.on);
  }
  if (join.using_columns.empty()) return;
  Add(" USING (");
  Names(join.using_columns);
  Add(")");
}

void Printer::Arguments(const FromItem& item) {
  Add("(");
  List(item.tables, [&](const QueryPtr& query) { Parenthesized(*query); });
  if (!item.tables.empty() && !item.positional.empty()) Add(", ");
  Expressions(item.positional);
  if ((!item.tables.empty() || !item.positional.empty()) && !item.arguments.empty()) Add(", ");
  List(item.arguments, [&](const NamedArgument& argument) { Named(argument); });
  Add(")");
}

std::string Print(const Statement& statement) {
  Printer printer;
  printer.Whole(statement);
  return printer.Take();
}

std::string Print(const Query& query) {
  Printer printer;
  printer.OneQuery(query);
  return printer.Take();
}

std::string Print(const Expr& expr) {
  Printer printer;
  printer.Expression(expr);
  return printer.Take();
}

}  // namespace sonde::sql

// Pipe operators.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sql/syntax/grammar.h"

namespace sonde::sql {
namespace {

using PipeKind = PipeOperator::Kind;

// The marks of an item of AGGREGATE, as an order by the column that the item becomes.
OrderItem OrderByColumn(OrderItem marks, size_t ordinal, Position position) {
  marks.expr = std::make_unique<Expr>();
  marks.expr->kind = Expr::Kind::kInt;
  marks.expr->position = position;
  marks.expr->text = fmt::format("{}", ordinal);
  return marks;
}

}  // namespace

void Grammar::Pipes(Query* query) {
  while (tokens_.Is("|>")) {
    query->pipes.push_back(Pipe());
    CheckListLength(query->pipes.size());
  }
}

PipeOperator Grammar::Pipe() {
  PipeOperator pipe;
  pipe.position = tokens_.position();
  tokens_.Expect("|>");
  const Position position = tokens_.position();
  if (tokens_.Take("WHERE")) {
    pipe.kind = PipeKind::kWhere;
    pipe.expr = Expression();
  } else if (tokens_.Is("ORDER")) {
    pipe.kind = PipeKind::kOrderBy;
    pipe.order_by = OrderItems(true);
  } else if (tokens_.Is("LIMIT")) {
    pipe.kind = PipeKind::kLimit;
    Limit(&pipe.limit, &pipe.offset);
  } else if (tokens_.Take("DISTINCT")) {
    pipe.kind = PipeKind::kDistinct;
  } else if (tokens_.Take("AS")) {
    pipe.kind = PipeKind::kAs;
    pipe.names.push_back(tokens_.TakeName());
  } else if (tokens_.Is("GROUP")) {
    tokens_.Fail(
        position,
        "Syntax error: GROUP BY should be part of a pipe AGGREGATE operator, without a leading pipe symbol");
  } else if (!PipeOfColumns(&pipe) && !PipeOfRelations(&pipe)) {
    FailPipe();
  }
  return pipe;
}

bool Grammar::PipeOfColumns(PipeOperator* pipe) {
  if (tokens_.Take("SELECT")) {
    PipeSelect(pipe);
  } else if (tokens_.Take("EXTEND")) {
    pipe->kind = PipeKind::kExtend;
    pipe->items = PipeItems();
    if (tokens_.Is("WINDOW")) Windows(&pipe->windows, true);
  } else if (tokens_.Take("SET")) {
    PipeSet(pipe);
  } else if (tokens_.Take("DROP")) {
    PipeDrop(pipe);
  } else if (tokens_.Take("RENAME")) {
    PipeRename(pipe);
  } else if (tokens_.Take("AGGREGATE")) {
    PipeAggregate(pipe);
  } else {
    return false;
  }
  return true;
}

bool Grammar::PipeOfRelations(PipeOperator* pipe) {
  if (BeginsSetOperation()) {
    PipeUnion(pipe);
    return true;
  }
  if (tokens_.Take("CALL")) {
    PipeCall(pipe);
    return true;
  }
  auto join = std::make_unique<FromItem>();
  join->kind = FromItem::Kind::kJoin;
  join->position = tokens_.position();
  if (!JoinWords(join.get())) return false;
  pipe->kind = PipeKind::kJoin;
  JoinRight(join.get());
  pipe->from = std::move(join);
  return true;
}

void Grammar::FailPipe() {
  for (const Word word :
       {Word("WINDOW"), Word("TABLESAMPLE"), Word("PIVOT"), Word("UNPIVOT"), Word("ASSERT"), Word("FORK"),
        Word("TEE"), Word("IF"), Word("LOG"), Word("DESCRIBE"), Word("STATIC_DESCRIBE"), Word("WITH"),
        Word("EXPORT"), Word("CREATE"), Word("INSERT"), Word("RECURSIVE")}) {
    if (tokens_.Is(word)) Unsupported(tokens_.position(), fmt::format("Pipe {} is", word.text()));
  }
  tokens_.FailUnexpected({"JOIN"});
}

void Grammar::PipeSelect(PipeOperator* pipe) {
  pipe->kind = PipeKind::kSelect;
  pipe->distinct = tokens_.Take("DISTINCT");
  if (!pipe->distinct) tokens_.Take("ALL");
  if (tokens_.Is("AS")) Unsupported(tokens_.position(), "SELECT AS in pipe SELECT is");
  SelectList(&pipe->items);
  if (tokens_.Is("WINDOW")) Windows(&pipe->windows, true);
}

// Items as of a select list, without *.
std::vector<SelectItem> Grammar::PipeItems() {
  if (tokens_.Is("*")) tokens_.FailUnexpected();
  std::vector<SelectItem> items;
  SelectList(&items);
  return items;
}

// SET name = e, ...
void Grammar::PipeSet(PipeOperator* pipe) {
  pipe->kind = PipeKind::kSet;
  do {
    if (!pipe->items.empty() && !tokens_.IsName()) return;
    SelectItem item;
    item.position = tokens_.position();
    item.alias = tokens_.TakeName();
    if (tokens_.Is(".")) {
      tokens_.Fail(item.position,
                   "Syntax error: Pipe SET can only update columns by column name alone; Setting columns "
                   "under table aliases or "
                   "fields under paths is not supported");
    }
    tokens_.Expect("=", {"=", "."});
    item.expr = Expression();
    pipe->items.push_back(std::move(item));
    CheckListLength(pipe->items.size());
  } while (tokens_.Take(","));
}

// DROP name, ...
void Grammar::PipeDrop(PipeOperator* pipe) {
  pipe->kind = PipeKind::kDrop;
  do {
    if (!pipe->names.empty() && !tokens_.IsName()) return;
    const Position position = tokens_.position();
    pipe->names.push_back(tokens_.TakeName());
    if (tokens_.Is(".")) {
      tokens_.Fail(position,
                   "Syntax error: Pipe DROP can only drop columns by name alone; Dropping columns under "
                   "table aliases or fields "
                   "under paths is not supported");
    }
    CheckListLength(pipe->names.size());
  } while (tokens_.Take(","));
}

// RENAME name [AS] name, ...
void Grammar::PipeRename(PipeOperator* pipe) {
  pipe->kind = PipeKind::kRename;
  do {
    if (!pipe->names.empty() && !tokens_.IsName()) return;
    const Position position = tokens_.position();
    pipe->names.push_back(tokens_.TakeName());
    if (tokens_.Is(".")) {
      tokens_.Fail(position,
                   "Syntax error: Pipe RENAME can only rename columns by name alone; Renaming columns under "
                   "table aliases or "
                   "fields under paths is not supported");
    }
    tokens_.Take("AS");
    pipe->new_names.push_back(tokens_.TakeName());
    CheckListLength(pipe->names.size());
  } while (tokens_.Take(","));
}

// AGGREGATE [item [marks], ...] [GROUP [AND ORDER] BY item [marks], ...].
void Grammar::PipeAggregate(PipeOperator* pipe) {
  pipe->kind = PipeKind::kAggregate;
  std::vector<std::optional<OrderItem>> marks;
  while (!EndsList() && !tokens_.Is("*")) {
    pipe->items.push_back(OneSelectItem());
    CheckListLength(pipe->items.size());
    marks.emplace_back();
    const bool has_marks = tokens_.Is("ASC") || tokens_.Is("DESC");
    if (has_marks && !pipe->items.back().star) OrderMarks(&marks.back().emplace());
    if (!tokens_.Take(",")) break;
  }
  if (tokens_.Is("GROUP")) PipeGroupBy(pipe);
  for (size_t i = 0; i < marks.size(); ++i) {
    std::optional<OrderItem>& mark = marks[i];
    if (!mark.has_value()) continue;
    const size_t ordinal = pipe->group_by.size() + i + 1;
    pipe->order_by.push_back(OrderByColumn(*std::move(mark), ordinal, pipe->items[i].position));
  }
}

void Grammar::PipeGroupBy(PipeOperator* pipe) {
  tokens_.Expect("GROUP");
  pipe->group_and_order_by = tokens_.Take("AND");
  if (pipe->group_and_order_by) tokens_.Expect("ORDER");
  if (!tokens_.Take("BY")) {
    pipe->group_and_order_by ? tokens_.FailUnexpected({"BY"}) : tokens_.FailUnexpected();
  }
  do {
    if (!pipe->group_by.empty() && EndsList()) return;
    SelectItem item;
    item.position = tokens_.position();
    item.expr = GroupingItem();
    item.alias = Alias();
    const bool has_marks = tokens_.Is("ASC") || tokens_.Is("DESC") || tokens_.Is("NULLS");
    OrderItem marks;
    OrderMarks(&marks);
    pipe->group_by.push_back(std::move(item));
    CheckListLength(pipe->group_by.size());
    if (!pipe->group_and_order_by && !has_marks) continue;
    pipe->order_by.push_back(
        OrderByColumn(std::move(marks), pipe->group_by.size(), pipe->group_by.back().position));
  } while (tokens_.Take(","));
}

// CALL UNPACK() [[AS] alias], CALL f(...) [[AS] alias].
void Grammar::PipeCall(PipeOperator* pipe) {
  pipe->kind = PipeKind::kCall;
  auto function = std::make_unique<FromItem>();
  function->position = tokens_.position();
  const bool is_unpack = IsSameWord(tokens_.Raw(tokens_.Peek()), "UNPACK");
  function->path = DottedPath();
  if (!tokens_.Is("(")) tokens_.FailUnexpected({"(", "."});
  if (is_unpack && tokens_.Is(")", 1)) {
    tokens_.Skip(2);
    function->path = {};
    function->kind = FromItem::Kind::kUnpack;
  } else {
    TableArguments(function.get());
    function->kind = FromItem::Kind::kFunction;
  }
  function->alias = Alias();
  pipe->from = std::move(function);
}

// UNION ALL (query), (query), ... and its like.
void Grammar::PipeUnion(PipeOperator* pipe) {
  pipe->kind = PipeKind::kUnion;
  pipe->set_operation = SetOperation();
  do {
    if (!pipe->queries.empty() && !tokens_.Is("(")) return;
    pipe->queries.push_back(QueryInParentheses());
    CheckListLength(pipe->queries.size());
  } while (tokens_.Take(","));
}

}  // namespace sonde::sql

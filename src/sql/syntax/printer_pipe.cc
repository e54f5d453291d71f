#include <string>

#include "sql/syntax/printer_state.h"

namespace sonde::sql {
namespace {

using PipeKind = PipeOperator::Kind;

}  // namespace

void Printer::Pipe(const PipeOperator& pipe) {
  Add(" |> ");
  switch (pipe.kind) {
    case PipeKind::kWhere:
      Add("WHERE ");
      return Expression(*pipe.expr);
    case PipeKind::kDistinct:
      return Add("DISTINCT");
    case PipeKind::kOrderBy:
      return OrderBy(pipe.order_by);
    case PipeKind::kLimit:
      return Limit(pipe.limit, pipe.offset);
    case PipeKind::kJoin:
      return JoinRight(*pipe.from);
    case PipeKind::kCall:
      return PipeCall(*pipe.from);
    case PipeKind::kUnion:
      Add(pipe.set_operation + " ");
      return List(pipe.queries, [&](const QueryPtr& query) { Parenthesized(*query); });
    default:
      return PipeOfColumns(pipe);
  }
}

void Printer::PipeOfColumns(const PipeOperator& pipe) {
  switch (pipe.kind) {
    case PipeKind::kSelect:
      Add(pipe.distinct ? "SELECT DISTINCT " : "SELECT ");
      Items(pipe.items);
      return WindowClause(pipe.windows);
    case PipeKind::kExtend:
      Add("EXTEND ");
      Items(pipe.items);
      return WindowClause(pipe.windows);
    case PipeKind::kSet:
      Add("SET ");
      return List(pipe.items, [&](const SelectItem& item) {
        Name(item.alias);
        Add(" = ");
        Expression(*item.expr);
      });
    case PipeKind::kDrop:
      Add("DROP ");
      return Names(pipe.names);
    case PipeKind::kRename:
      Add("RENAME ");
      for (size_t i = 0; i < pipe.names.size(); ++i) {
        if (i > 0) Add(", ");
        Name(pipe.names[i]);
        Alias(pipe.new_names[i]);
      }
      return;
    case PipeKind::kAs:
      Add("AS ");
      return Name(pipe.names[0]);
    default:
      return Aggregate(pipe);
  }
}

void Printer::Aggregate(const PipeOperator& pipe) {
  Add("AGGREGATE");
  for (size_t i = 0; i < pipe.items.size(); ++i) {
    Add(i == 0 ? " " : ", ");
    Item(pipe.items[i]);
    Marks(pipe, pipe.group_by.size() + i + 1, true);
  }
  if (pipe.group_by.empty()) return;
  Add(pipe.group_and_order_by ? " GROUP AND ORDER BY " : " GROUP BY ");
  for (size_t i = 0; i < pipe.group_by.size(); ++i) {
    if (i > 0) Add(", ");
    Item(pipe.group_by[i]);
    Marks(pipe, i + 1, !pipe.group_and_order_by);
  }
}

// The marks of the item that becomes this column.
void Printer::Marks(const PipeOperator& pipe, size_t ordinal, bool shows_asc) {
  for (const OrderItem& item : pipe.order_by) {
    if (item.expr->text != std::to_string(ordinal)) continue;
    if (item.descending || shows_asc) Add(item.descending ? " DESC" : " ASC");
    NullsMark(item);
  }
}

void Printer::PipeCall(const FromItem& function) {
  Add("CALL ");
  if (function.kind == FromItem::Kind::kUnpack) {
    Add("UNPACK()");
  } else {
    Dotted(function.path);
    Arguments(function);
  }
  Alias(function.alias);
}

}  // namespace sonde::sql

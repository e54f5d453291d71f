// Plans as text, an operator a line, its inputs below it and further in.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/binder.h"
#include "sql/expression/expression.h"
#include "sql/plan/plan.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

std::string List(const std::vector<ExpressionPtr>& expressions) {
  std::string text;
  for (const ExpressionPtr& expression : expressions) {
    text += (text.empty() ? "" : ", ") + ToString(*expression);
  }
  return text;
}

std::string SortText(const std::vector<SortKey>& keys) {
  std::string text;
  for (const SortKey& key : keys) {
    if (!text.empty()) text += ", ";
    text += ToString(*key.expr);
    if (key.descending) text += " DESC";
    if (key.nulls_first == key.descending) text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return text;
}

std::string ItemText(const AggregateItem& item) {
  std::string text = item.function->name + "(" + (item.distinct ? "DISTINCT " : "") + List(item.arguments);
  if (item.ignores_nulls) text += " IGNORE NULLS";
  if (item.having != nullptr) {
    text += fmt::format(" HAVING {} {}", item.having_is_max ? "MAX" : "MIN", ToString(*item.having));
  }
  if (!item.order_by.empty()) text += " ORDER BY " + SortText(item.order_by);
  if (item.limit != nullptr) text += " LIMIT " + ToString(*item.limit);
  return text + ")";
}

std::string BoundText(const WindowItem::Bound& bound) {
  using Kind = WindowItem::Bound::Kind;
  std::string offset = bound.offset == nullptr ? "" : ToString(*bound.offset);
  if (!bound.part.empty()) offset = fmt::format("INTERVAL {} {}", offset, bound.part);
  switch (bound.kind) {
    case Kind::kUnboundedPreceding:
      return "UNBOUNDED PRECEDING";
    case Kind::kPreceding:
      return offset + " PRECEDING";
    case Kind::kCurrentRow:
      return "CURRENT ROW";
    case Kind::kFollowing:
      return offset + " FOLLOWING";
    case Kind::kUnboundedFollowing:
      break;
  }
  return "UNBOUNDED FOLLOWING";
}

std::string ColumnText(const ScanColumn& column, const TableSchema& table) {
  const auto cell = [&column] {
    return fmt::format("{}[{}]", column.family, BytesLiteral(column.qualifier));
  };
  switch (column.kind) {
    case ScanColumn::Kind::kKey:
      return "_key";
    case ScanColumn::Kind::kKeyField:
      return table.row_key_schema->fields[column.index].name + " of _key";
    case ScanColumn::Kind::kFamily:
      return column.family;
    case ScanColumn::Kind::kCell:
      return cell();
    case ScanColumn::Kind::kWriteTimestamp:
      return fmt::format("time of {}", cell());
    case ScanColumn::Kind::kNumberBytes:
      return fmt::format("{} otherwise", cell());
    case ScanColumn::Kind::kNumber:
      break;
  }
  const std::string_view written = column.written == NumberBytes::kBigEndianInteger  ? "big-endian integer"
                                   : column.written == NumberBytes::kBigEndianDouble ? "big-endian double"
                                                                                     : "text";
  return fmt::format("{} of {} in {}", column.type.ToString(), written, cell());
}

void AppendTemporal(const TemporalArguments& temporal, std::string* text) {
  if (temporal.with_history) *text += "; with history";
  const std::pair<std::string_view, const ExpressionPtr*> arguments[] = {
      {"as of", &temporal.as_of},   {"after", &temporal.after},           {"from", &temporal.after_or_equal},
      {"before", &temporal.before}, {"up to", &temporal.before_or_equal}, {"latest", &temporal.latest_n},
  };
  for (const auto& [name, value] : arguments) {
    if (*value != nullptr) *text += fmt::format("; {} {}", name, ToString(**value));
  }
}

std::string SeriesColumnText(const SeriesColumn& column, const series::KnownSeries& known) {
  switch (column.kind) {
    case SeriesColumn::Kind::kTag:
      return known.is_open() ? known.labels[column.index] : known.schema.tags[column.index].name;
    case SeriesColumn::Kind::kTime:
      return "time";
    case SeriesColumn::Kind::kField:
      return known.schema.fields[column.index].name;
    case SeriesColumn::Kind::kLabels:
      break;
  }
  return "labels";
}

std::string SeriesText(const Plan::SeriesScan& scan) {
  std::string columns;
  for (const SeriesColumn& column : scan.columns)
    columns += (columns.empty() ? "" : ", ") + SeriesColumnText(column, *scan.series.known);
  std::string text = fmt::format("series {}: {}", scan.series.known->schema.name, columns);
  AppendTemporal(scan.temporal, &text);
  if (!scan.conditions.empty()) text += "; points where " + List(scan.conditions);
  if (!scan.needs_all_points) text += "; points with a value";
  return text;
}

std::string ScanText(const Plan::Scan& scan) {
  std::string columns;
  for (const ScanColumn& column : scan.columns)
    columns += (columns.empty() ? "" : ", ") + ColumnText(column, *scan.table);
  std::string text =
      fmt::format("scan {}: {}", scan.table->name.substr(scan.table->name.rfind('/') + 1), columns);
  AppendTemporal(scan.temporal, &text);
  if (!scan.key_conditions.empty()) text += "; keys where " + List(scan.key_conditions);
  if (!scan.time_conditions.empty()) text += "; times where " + List(scan.time_conditions);
  if (scan.reversed) text += "; reversed";
  if (!scan.needs_all_rows) text += "; rows with a value";
  return text;
}

std::string_view JoinName(Plan::Join join) {
  switch (join) {
    case Plan::Join::kInner:
      return "inner";
    case Plan::Join::kLeft:
      return "left";
    case Plan::Join::kRight:
      return "right";
    case Plan::Join::kFull:
      break;
  }
  return "full";
}

std::string JoinText(const Plan& plan) {
  std::string text = fmt::format("{}{} join", plan.asof ? "as-of " : "", JoinName(plan.join));
  if (plan.condition != nullptr) text += " on " + ToString(*plan.condition);
  if (plan.asof) text += ", nearest by " + SortText(plan.asof_order);
  return text;
}

std::string AggregateText(const Plan& plan) {
  std::string text = "aggregate";
  for (size_t i = 0; i < plan.aggregates.size(); ++i)
    text += (i == 0 ? " " : ", ") + ItemText(plan.aggregates[i]);
  if (!plan.expressions.empty()) text += " by " + List(plan.expressions);
  return text;
}

std::string WindowText(const Plan& plan) {
  std::string text = "window";
  for (size_t i = 0; i < plan.windows.size(); ++i) {
    const WindowItem& item = plan.windows[i];
    text += fmt::format("{} {} {} {} TO {}", i == 0 ? "" : ",", ItemText(item.call),
                        item.is_range ? "RANGE" : "ROWS", BoundText(item.start), BoundText(item.end));
  }
  if (!plan.expressions.empty()) text += " partitions by " + List(plan.expressions);
  if (!plan.sort.empty()) text += " in order of " + SortText(plan.sort);
  return text;
}

std::string UnpackText(const Plan& plan) {
  std::string text = "unpack";
  for (size_t i = 0; i < plan.history.size(); ++i) {
    text += fmt::format("{}${}", i == 0 ? " " : ", ", plan.history[i].column);
  }
  return text;
}

std::string GapFillText(const GapFill& fill) {
  constexpr std::string_view kMethods[] = {"null", "locf", "linear"};
  std::string text = fmt::format("gap fill every {} {} of $0", ToString(*fill.width.count), fill.width.part);
  for (size_t i = 1; i <= fill.partition_columns; ++i)
    text += fmt::format("{}${}", i == 1 ? " by " : ", ", i);
  for (size_t i = 0; i < fill.methods.size(); ++i) {
    text += fmt::format("; ${} {}", 1 + fill.partition_columns + i,
                        kMethods[static_cast<size_t>(fill.methods[i])]);
  }
  return text;
}

std::string LimitText(const Plan& plan) {
  std::string text = "limit";
  if (plan.limit != nullptr) text += " " + ToString(*plan.limit);
  if (plan.offset != nullptr) text += " offset " + ToString(*plan.offset);
  return text;
}

std::string OperatorText(const Plan& plan) {
  switch (plan.kind) {
    case Plan::Kind::kSingleRow:
      return "single row";
    case Plan::Kind::kScan:
      return ScanText(*plan.scan);
    case Plan::Kind::kSeries:
      return SeriesText(*plan.series);
    case Plan::Kind::kUnpack:
      return UnpackText(plan);
    case Plan::Kind::kUnnest:
      return fmt::format("unnest{} {}{}", plan.is_outer ? " outer" : "", ToString(*plan.expressions[0]),
                         plan.with_offset ? " with offset" : "");
    case Plan::Kind::kFilter:
      return "filter " + ToString(*plan.expressions[0]);
    case Plan::Kind::kProject:
      return "project " + List(plan.expressions);
    case Plan::Kind::kAggregate:
      return AggregateText(plan);
    case Plan::Kind::kWindow:
      return WindowText(plan);
    case Plan::Kind::kSort:
      return "sort by " + SortText(plan.sort);
    case Plan::Kind::kLimit:
      return LimitText(plan);
    case Plan::Kind::kJoin:
      return JoinText(plan);
    case Plan::Kind::kUnion:
      return "union";
    case Plan::Kind::kGapFill:
      return GapFillText(*plan.gap_fill);
    case Plan::Kind::kSetOperation:
      return fmt::format("{} {}", plan.set_is_except ? "except" : "intersect",
                         plan.set_is_distinct ? "distinct" : "all");
  }
  return "";
}

void AppendPlan(const Plan& plan, size_t depth, std::string* text);

// The plans of subqueries in an expression.
void AppendSubqueries(const Expression& expression, size_t depth, std::string* text) {
  for (const ExpressionPtr& argument : expression.arguments) {
    if (argument != nullptr) AppendSubqueries(*argument, depth, text);
  }
  if (expression.plan == nullptr) return;
  text->append(2 * depth, ' ');
  *text += expression.is_correlated ? "subquery for each row\n" : "subquery\n";
  AppendPlan(*expression.plan, depth + 1, text);
}

void AppendPlan(const Plan& plan, size_t depth, std::string* text) {
  text->append(2 * depth, ' ');
  *text += OperatorText(plan) + "\n";
  for (const ExpressionPtr& expression : plan.expressions) AppendSubqueries(*expression, depth + 1, text);
  if (plan.condition != nullptr) AppendSubqueries(*plan.condition, depth + 1, text);
  for (const PlanPtr& input : plan.inputs) AppendPlan(*input, depth + 1, text);
}

}  // namespace

std::string ToString(const Plan& plan) {
  std::string text;
  AppendPlan(plan, 0, &text);
  return text;
}

}  // namespace sonde::sql

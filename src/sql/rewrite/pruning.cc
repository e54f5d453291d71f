#include "sql/rewrite/pruning.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/plan/access.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"
#include "sql/rewrite/column_needs.h"

namespace sonde::sql {
namespace {

class Narrower {
 public:
  explicit Narrower(bool numbers) : numbers_(numbers) {}

  absl::Status NarrowRoot(PlanPtr* plan, bool needs_columns);

 private:
  absl::Status Narrow(PlanPtr* plan, const Needs& needs, Places* places);
  absl::Status NarrowSubqueries(Plan* plan);
  // `plan` gives just these needs, in their order.
  absl::Status NarrowExactly(PlanPtr* plan, const Needs& needs);

  void NarrowScan(Plan* plan, const Needs& needs, Places* places) const;
  static void NarrowSeries(Plan* plan, const Needs& needs, Places* places);
  absl::Status NarrowThrough(Plan* plan, const Needs& needs, Places* places);
  absl::Status NarrowProject(PlanPtr* plan, const Needs& needs, Places* places);
  absl::Status NarrowAggregate(Plan* plan, const Needs& needs, Places* places);
  absl::Status NarrowWindow(PlanPtr* plan, const Needs& needs, Places* places);
  absl::Status NarrowJoin(Plan* plan, const Needs& needs, Places* places);
  absl::Status NarrowUnpack(Plan* plan, const Needs& needs, Places* places);
  absl::Status NarrowInputs(Plan* plan, const Needs& needs, Places* places);

  // What an expression over `input` (of a join: over two) needs.
  absl::Status Collect(ExpressionPtr* expression, const Plan& of, Needs* needs) const;
  void Replace(ExpressionPtr* expression, const Needs& needs, const Places& places) const;
  // Collects an expression that is a number of a cell.  False: it is none, or `of` does not say so.
  bool CollectNumber(const Expression& node, size_t level, const Plan& of, Needs* needs) const;
  bool ReplaceNumber(ExpressionPtr* node, size_t level, const Needs& needs, const Places& places) const;
  absl::Status CollectAll(Plan* plan, Needs* needs) const;
  void ReplaceAll(Plan* plan, const Needs& needs, const Places& places) const;

  const bool numbers_;
};

bool IsFamilyOfInput(const Plan& plan, size_t column) { return IsOfInput(plan, column, IsFamily); }

// A reference to a column of the plan's input, from a subquery so many levels further in.
ExpressionPtr MakeReference(size_t column, const Type& type, size_t level) {
  ExpressionPtr reference = MakeColumn(column, type);
  if (level > 0) {
    reference->kind = Expression::Kind::kOuter;
    reference->depth = level;
  }
  return reference;
}

bool Narrower::CollectNumber(const Expression& node, size_t level, const Plan& of, Needs* needs) const {
  if (!numbers_) return false;
  const std::optional<NumberAccess> access = NumberAccessOf(node);
  if (!access.has_value() || !IsReference(*access->number.family, level)) return false;
  const size_t column = access->number.family->index;
  const bool is_column = access->cell == access->number.family;
  if (column >= kLambdaBase || !IsOfInput(of, column, is_column ? IsUnpackedCell : IsFamily)) return false;
  needs->Add(column, access->number);
  needs->Add(column, access->bytes);
  return true;
}

bool Narrower::ReplaceNumber(ExpressionPtr* node, size_t level, const Needs& needs,
                             const Places& places) const {
  if (!numbers_) return false;
  const std::optional<NumberAccess> access = NumberAccessOf(**node);
  if (!access.has_value() || !IsReference(*access->number.family, level)) return false;
  const size_t column = access->number.family->index;
  const size_t number = needs.Find(column, access->number);
  if (number == needs.list().size()) return false;
  const size_t bytes = needs.Find(column, access->bytes);
  *node = MakeOfNumber(**node, *access, MakeReference(places[number], access->number.type, level),
                       MakeReference(places[bytes], access->bytes.type, level));
  return true;
}

absl::Status Narrower::Collect(ExpressionPtr* expression, const Plan& of, Needs* needs) const {
  absl::Status status;
  VisitNodes(expression, [&](ExpressionPtr* node, size_t level) {
    if (CollectNumber(**node, level, of, needs)) return true;
    const std::optional<Access> access = AccessOf(**node);
    if (access.has_value() && IsReference(*access->family, level) && access->family->index < kLambdaBase &&
        IsFamilyOfInput(of, access->family->index)) {
      needs->Add(access->family->index, access);
      return true;
    }
    if (IsWriteTimestamp(**node) && level == 0) {
      status = absl::InvalidArgumentError(
          "The first argument of WRITE_TIMESTAMP must be a column family of a table");
      return true;
    }
    if (IsReference(**node, level) && (*node)->index < kLambdaBase) needs->Add((*node)->index, std::nullopt);
    return false;
  });
  return status;
}

void Narrower::Replace(ExpressionPtr* expression, const Needs& needs, const Places& places) const {
  VisitNodes(expression, [&](ExpressionPtr* node, size_t level) {
    if (ReplaceNumber(node, level, needs, places)) return true;
    const std::optional<Access> access = AccessOf(**node);
    if (access.has_value() && IsReference(*access->family, level) && access->family->index < kLambdaBase) {
      const size_t need = needs.Find(access->family->index, access);
      if (need < needs.list().size()) {
        *node = MakeReference(places[need], access->type, level);
        return true;
      }
    }
    if (IsReference(**node, level) && (*node)->index < kLambdaBase) {
      const size_t need = needs.Find((*node)->index, std::nullopt);
      DCHECK(need < needs.list().size());
      (*node)->index = places[need];
    }
    return false;
  });
}

absl::Status Narrower::CollectAll(Plan* plan, Needs* needs) const {
  absl::Status status;
  ForEachExpression(plan, [&](ExpressionPtr* expression) {
    const absl::Status collected = Collect(expression, *plan, needs);
    if (!collected.ok()) status = collected;
  });
  return status;
}

void Narrower::ReplaceAll(Plan* plan, const Needs& needs, const Places& places) const {
  ForEachExpression(plan, [&](ExpressionPtr* expression) { Replace(expression, needs, places); });
}

absl::Status Narrower::NarrowSubqueries(Plan* plan) {
  absl::Status status;
  ForEachSubquery(plan, [&](Expression::Kind kind, PlanPtr* subquery) {
    const absl::Status narrowed = NarrowRoot(subquery, kind != Expression::Kind::kExistsQuery);
    if (!narrowed.ok()) status = narrowed;
  });
  return status;
}

absl::Status Narrower::NarrowRoot(PlanPtr* plan, bool needs_columns) {
  Needs needs;
  for (size_t i = 0; needs_columns && i < (*plan)->types.size(); ++i) needs.Add(i, std::nullopt);
  if (needs_columns) return NarrowExactly(plan, needs);
  Places places;
  return Narrow(plan, needs, &places);
}

absl::Status Narrower::NarrowExactly(PlanPtr* plan, const Needs& needs) {
  Places places;
  SONDE_TRY(Narrow(plan, needs, &places));
  bool is_exact = places.size() == (*plan)->types.size();
  for (size_t i = 0; i < places.size(); ++i) is_exact = is_exact && places[i] == i;
  if (is_exact) return absl::OkStatus();
  std::vector<ExpressionPtr> columns;
  for (const size_t place : places) columns.push_back(MakeColumn(place, (*plan)->types[place]));
  if ((*plan)->kind == Plan::Kind::kProject) {
    // One projection is enough.
    for (ExpressionPtr& column : columns) column = CloneDeep(*(*plan)->expressions[column->index]);
    PlanPtr input = std::move((*plan)->inputs[0]);
    *plan = std::move(input);
  }
  *plan = MakeProject(std::move(*plan), std::move(columns));
  return absl::OkStatus();
}

absl::Status Narrower::Narrow(PlanPtr* plan, const Needs& needs, Places* places) {
  SONDE_TRY(NarrowSubqueries(plan->get()));
  switch ((*plan)->kind) {
    case Plan::Kind::kSingleRow:
      return absl::OkStatus();
    case Plan::Kind::kScan:
      NarrowScan(plan->get(), needs, places);
      return absl::OkStatus();
    case Plan::Kind::kSeries:
      NarrowSeries(plan->get(), needs, places);
      return absl::OkStatus();
    case Plan::Kind::kFilter:
    case Plan::Kind::kSort:
    case Plan::Kind::kLimit:
    case Plan::Kind::kUnnest:
      return NarrowThrough(plan->get(), needs, places);
    case Plan::Kind::kProject:
      return NarrowProject(plan, needs, places);
    case Plan::Kind::kAggregate:
      return NarrowAggregate(plan->get(), needs, places);
    case Plan::Kind::kWindow:
      return NarrowWindow(plan, needs, places);
    case Plan::Kind::kJoin:
      return NarrowJoin(plan->get(), needs, places);
    case Plan::Kind::kUnpack:
      return NarrowUnpack(plan->get(), needs, places);
    case Plan::Kind::kUnion:
    case Plan::Kind::kGapFill:
    case Plan::Kind::kSetOperation:
      break;
  }
  return NarrowInputs(plan->get(), needs, places);
}

void Narrower::NarrowScan(Plan* plan, const Needs& needs, Places* places) const {
  std::vector<ScanColumn> columns;
  plan->types.clear();
  for (const Need& need : needs.list()) {
    ScanColumn column = plan->scan->columns[need.column];
    if (need.access.has_value()) {
      column.kind = need.access->kind;
      column.qualifier = need.access->qualifier;
      column.written = need.access->written;
      column.type = need.access->type;
    }
    places->push_back(columns.size());
    plan->types.push_back(column.type);
    columns.push_back(std::move(column));
  }
  plan->scan->columns = std::move(columns);
}

void Narrower::NarrowSeries(Plan* plan, const Needs& needs, Places* places) {
  std::vector<SeriesColumn> columns;
  plan->types.clear();
  for (const Need& need : needs.list()) {
    DCHECK(!need.access.has_value());
    places->push_back(columns.size());
    columns.push_back(plan->series->columns[need.column]);
    plan->types.push_back(columns.back().type);
  }
  plan->series->columns = std::move(columns);
}

// Operators that give the columns of their input, and maybe some more behind them.
absl::Status Narrower::NarrowThrough(Plan* plan, const Needs& needs, Places* places) {
  const size_t width = plan->inputs[0]->types.size();
  Needs below;
  SONDE_TRY(CollectAll(plan, &below));
  for (const Need& need : needs.list()) {
    if (need.column < width) below.Add(need.column, need.access);
  }
  Places below_places;
  SONDE_TRY(Narrow(&plan->inputs[0], below, &below_places));
  ReplaceAll(plan, below, below_places);
  const size_t new_width = plan->inputs[0]->types.size();
  std::vector<Type> types = plan->inputs[0]->types;
  types.insert(types.end(), plan->types.begin() + static_cast<std::ptrdiff_t>(width), plan->types.end());
  plan->types = std::move(types);
  for (const Need& need : needs.list()) {
    places->push_back(need.column < width ? below_places[below.Find(need.column, need.access)]
                                          : need.column - width + new_width);
  }
  return absl::OkStatus();
}

// The need of a project's input for a need of its columns that is an access: the column is a plain one, or a cell's history that is
// wanted as numbers.
Need BelowProject(const Expression& expression, const Access& access) {
  if (expression.kind == Expression::Kind::kColumn) return {expression.index, access};
  const std::optional<Access> cell = AccessOf(expression);
  CHECK(cell.has_value());
  Need need{cell->family->index, access};
  need.access->qualifier = cell->qualifier;
  return need;
}

absl::Status Narrower::NarrowProject(PlanPtr* plan, const Needs& needs, Places* places) {
  Plan& project = **plan;
  Needs below;
  std::vector<ExpressionPtr> kept;
  for (const Need& need : needs.list()) {
    if (need.access.has_value()) {
      const Need of_input = BelowProject(*project.expressions[need.column], *need.access);
      below.Add(of_input.column, of_input.access);
      continue;
    }
    SONDE_TRY(Collect(&project.expressions[need.column], project, &below));
  }
  Places below_places;
  SONDE_TRY(Narrow(&project.inputs[0], below, &below_places));
  for (const Need& need : needs.list()) {
    ExpressionPtr& expression = project.expressions[need.column];
    if (need.access.has_value()) {
      const Need of_input = BelowProject(*expression, *need.access);
      kept.push_back(
          MakeColumn(below_places[below.Find(of_input.column, of_input.access)], need.access->type));
    } else {
      kept.push_back(CloneDeep(*expression));
      Replace(&kept.back(), below, below_places);
    }
  }
  const bool is_plain = std::all_of(kept.begin(), kept.end(), [](const ExpressionPtr& expression) {
    return expression->kind == Expression::Kind::kColumn;
  });
  for (size_t i = 0; i < kept.size(); ++i) places->push_back(is_plain ? kept[i]->index : i);
  PlanPtr input = std::move(project.inputs[0]);
  *plan = is_plain ? std::move(input) : MakeProject(std::move(input), std::move(kept));
  return absl::OkStatus();
}

absl::Status Narrower::NarrowAggregate(Plan* plan, const Needs& needs, Places* places) {
  const size_t keys = plan->expressions.size();
  std::vector<bool> is_needed(plan->aggregates.size(), false);
  for (const Need& need : needs.list()) {
    if (need.column >= keys) is_needed[need.column - keys] = true;
  }
  // A row of no columns would be no row to some.
  if (keys == 0 && needs.list().empty() && !is_needed.empty()) is_needed[0] = true;
  std::vector<size_t> moved(keys + plan->aggregates.size());
  std::vector<AggregateItem> kept;
  plan->types.resize(keys);
  for (size_t i = 0; i < keys; ++i) moved[i] = i;
  for (size_t i = 0; i < plan->aggregates.size(); ++i) {
    if (!is_needed[i]) continue;
    moved[keys + i] = plan->types.size();
    plan->types.push_back(plan->aggregates[i].type);
    kept.push_back(std::move(plan->aggregates[i]));
  }
  plan->aggregates = std::move(kept);
  Needs below;
  SONDE_TRY(CollectAll(plan, &below));
  Places below_places;
  SONDE_TRY(Narrow(&plan->inputs[0], below, &below_places));
  ReplaceAll(plan, below, below_places);
  for (const Need& need : needs.list()) places->push_back(moved[need.column]);
  return absl::OkStatus();
}

absl::Status Narrower::NarrowWindow(PlanPtr* plan, const Needs& needs, Places* places) {
  const size_t width = (*plan)->inputs[0]->types.size();
  std::vector<bool> is_needed((*plan)->windows.size(), false);
  bool is_any = false;
  for (const Need& need : needs.list()) {
    if (need.column < width) continue;
    is_needed[need.column - width] = true;
    is_any = true;
  }
  if (!is_any) {
    PlanPtr input = std::move((*plan)->inputs[0]);
    *plan = std::move(input);
    return Narrow(plan, needs, places);
  }
  std::vector<WindowItem> kept;
  std::vector<size_t> moved(is_needed.size(), 0);
  std::vector<Type> types((*plan)->types.begin(),
                          (*plan)->types.begin() + static_cast<std::ptrdiff_t>(width));
  for (size_t i = 0; i < is_needed.size(); ++i) {
    if (!is_needed[i]) continue;
    moved[i] = kept.size();
    types.push_back((*plan)->types[width + i]);
    kept.push_back(std::move((*plan)->windows[i]));
  }
  (*plan)->windows = std::move(kept);
  (*plan)->types = std::move(types);
  Needs renamed;
  for (const Need& need : needs.list()) {
    renamed.Add(need.column < width ? need.column : width + moved[need.column - width], need.access);
  }
  return NarrowThrough(plan->get(), renamed, places);
}

absl::Status Narrower::NarrowJoin(Plan* plan, const Needs& needs, Places* places) {
  const size_t width = plan->inputs[0]->types.size();
  Needs both;
  SONDE_TRY(CollectAll(plan, &both));
  for (const Need& need : needs.list()) both.Add(need.column, need.access);
  Needs left;
  Needs right;
  for (const Need& need : both.list()) {
    if (need.column < width) {
      left.Add(need.column, need.access);
    } else {
      right.Add(need.column - width, need.access);
    }
  }
  Places left_places;
  Places right_places;
  SONDE_TRY(Narrow(&plan->inputs[0], left, &left_places));
  SONDE_TRY(Narrow(&plan->inputs[1], right, &right_places));
  const size_t new_width = plan->inputs[0]->types.size();
  Places both_places;
  for (const Need& need : both.list()) {
    both_places.push_back(need.column < width
                              ? left_places[left.Find(need.column, need.access)]
                              : new_width + right_places[right.Find(need.column - width, need.access)]);
  }
  ReplaceAll(plan, both, both_places);
  plan->types = plan->inputs[0]->types;
  plan->types.insert(plan->types.end(), plan->inputs[1]->types.begin(), plan->inputs[1]->types.end());
  for (const Need& need : needs.list()) places->push_back(both_places[both.Find(need.column, need.access)]);
  return absl::OkStatus();
}

// The same access, to a history of such values.
Access OfHistory(Access access, const Type& history) {
  const std::vector<Type::Field>& fields = history.element().fields();
  access.type = Type::Array(Type::Struct({fields[0], {fields[1].name, access.type}}));
  return access;
}

// Histories say which rows there are, so all of them stay, be it as numbers.
absl::Status Narrower::NarrowUnpack(Plan* plan, const Needs& needs, Places* places) {
  const Plan& input = *plan->inputs[0];
  const size_t width = input.types.size();
  Needs wanted = needs;
  for (const Plan::History& history : plan->history) {
    const auto is_of_it = [&history](const Need& need) { return need.column == history.column; };
    if (std::ranges::any_of(needs.list(), is_of_it)) continue;
    if (numbers_ && !history.is_map && IsCellHistory(input, history.column)) {
      const NumberAccess times = AccessOfTimes();
      wanted.Add(history.column, times.number);
      wanted.Add(history.column, times.bytes);
    } else {
      wanted.Add(history.column, std::nullopt);
    }
  }
  Needs below;
  const auto below_of = [&](const Need& need) -> std::optional<Access> {
    if (!need.access.has_value()) return std::nullopt;
    return OfHistory(*need.access, input.types[need.column]);
  };
  std::vector<std::optional<Access>> accesses;
  for (const Need& need : wanted.list()) {
    accesses.push_back(need.column < width ? below_of(need) : std::nullopt);
    if (need.column < width) below.Add(need.column, accesses.back());
  }
  const std::vector<Type> before = plan->types;
  Places below_places;
  SONDE_TRY(Narrow(&plan->inputs[0], below, &below_places));
  plan->types = plan->inputs[0]->types;
  const std::vector<Plan::History> histories = std::exchange(plan->history, {});
  for (size_t i = 0; i < wanted.list().size(); ++i) {
    const Need& need = wanted.list()[i];
    const auto history = std::ranges::find(histories, need.column, &Plan::History::column);
    if (history == histories.end()) continue;
    const size_t place = below_places[below.Find(need.column, accesses[i])];
    plan->types[place] = need.access.has_value() ? need.access->type : before[need.column];
    plan->history.push_back({place, history->is_map});
  }
  for (size_t i = 0; i < needs.list().size(); ++i) {
    const Need& need = wanted.list()[i];
    places->push_back(need.column < width ? below_places[below.Find(need.column, accesses[i])]
                                          : plan->types.size());
  }
  plan->types.emplace_back(TypeKind::kTimestamp);
  return absl::OkStatus();
}

absl::Status Narrower::NarrowInputs(Plan* plan, const Needs& needs, Places* places) {
  Needs below;
  if (plan->kind == Plan::Kind::kUnion) {
    for (const Need& need : needs.list()) below.Add(need.column, need.access);
  }
  // A set operation compares all columns, and gaps are filled in all; a union of rows without columns keeps one.
  const bool is_whole = plan->kind != Plan::Kind::kUnion;
  for (size_t i = 0; i < plan->types.size() && (is_whole || below.list().empty()); ++i)
    below.Add(i, std::nullopt);
  for (PlanPtr& input : plan->inputs) SONDE_TRY(NarrowExactly(&input, below));
  plan->types = plan->inputs[0]->types;
  for (const Need& need : needs.list()) places->push_back(below.Find(need.column, need.access));
  return absl::OkStatus();
}

// Whether a scan reads something else of a cell that it reads as a number.
bool ReadsNumbersTwice(const Plan::Scan& scan) {
  using Kind = ScanColumn::Kind;
  for (const ScanColumn& number : scan.columns) {
    if (number.kind != Kind::kNumber) continue;
    for (const ScanColumn& other : scan.columns) {
      if (other.family != number.family) continue;
      if (other.kind == Kind::kFamily) return true;
      if (other.qualifier != number.qualifier) continue;
      const bool is_number = other.kind == Kind::kNumber || other.kind == Kind::kNumberBytes;
      if (other.kind == Kind::kCell || (is_number && other.written != number.written)) return true;
    }
  }
  return false;
}

bool ReadsNumbersTwice(Plan* plan) {
  if (plan->kind == Plan::Kind::kScan) return ReadsNumbersTwice(*plan->scan);
  bool twice = false;
  for (const PlanPtr& input : plan->inputs) twice = twice || ReadsNumbersTwice(input.get());
  ForEachSubquery(plan, [&twice](Expression::Kind /*kind*/, PlanPtr* subquery) {
    twice = twice || ReadsNumbersTwice(subquery->get());
  });
  return twice;
}

}  // namespace

absl::Status NarrowColumns(const RewriteOptions& options, PlanPtr* plan) {
  if (!options.numbers) return Narrower(false).NarrowRoot(plan, /*needs_columns=*/true);
  PlanPtr with_numbers = ClonePlan(**plan);
  SONDE_TRY(Narrower(true).NarrowRoot(&with_numbers, /*needs_columns=*/true));
  // A cell that is wanted as it is, too, would be read twice.
  if (ReadsNumbersTwice(with_numbers.get())) return Narrower(false).NarrowRoot(plan, /*needs_columns=*/true);
  *plan = std::move(with_numbers);
  return absl::OkStatus();
}

}  // namespace sonde::sql

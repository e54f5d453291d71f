#include "sql/scan/scan_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/filters.h"
#include "model/quote_regex.h"

namespace sonde::sql {
namespace {

constexpr int64_t kLastMicros = std::numeric_limits<int64_t>::max();

absl::StatusOr<int64_t> ArgumentOf(const Expression& expression, std::string_view name,
                                   const EvaluationContext& evaluation) {
  const absl::StatusOr<Value> value = EvaluateConstant(expression, evaluation);
  if (!value.ok()) return value.status();
  if (value->is_null()) return absl::InvalidArgumentError(fmt::format("{} must not be NULL", name));
  return value->datum().integer;
}

// The time that a condition compares the time of a row with; nothing: it is no such condition.
struct Comparison {
  std::string_view function;  // as if the time stood first
  std::vector<const Expression*> others;
};

std::string_view Mirrored(std::string_view function) {
  if (function == "$less") return "$greater";
  if (function == "$less_or_equal") return "$greater_or_equal";
  if (function == "$greater") return "$less";
  if (function == "$greater_or_equal") return "$less_or_equal";
  return function == "$equal" ? function : std::string_view();
}

std::optional<Comparison> ComparisonOf(const Expression& condition) {
  if (condition.kind != Expression::Kind::kCall || condition.function == nullptr) return std::nullopt;
  Comparison comparison{condition.function->name, {}};
  std::optional<size_t> place_of_time;
  for (size_t i = 0; i < condition.arguments.size(); ++i) {
    const Expression& argument = *condition.arguments[i];
    if (argument.kind == Expression::Kind::kColumn) {
      if (place_of_time.has_value()) return std::nullopt;
      place_of_time = i;
    } else if (!ColumnsOf(argument).empty() || !argument.type.Is(TypeKind::kTimestamp)) {
      return std::nullopt;
    } else {
      comparison.others.push_back(&argument);
    }
  }
  if (!place_of_time.has_value()) return std::nullopt;
  if (*place_of_time > 0) comparison.function = Mirrored(comparison.function);
  return comparison;
}

// Narrows *times to those that may fulfil a condition.  What it does not know, or what fails, narrows nothing: the
// condition itself is asked of what comes.
void Narrow(const Expression& condition, const EvaluationContext& evaluation, CellTimes* times) {
  if (condition.kind == Expression::Kind::kAnd) {
    for (const ExpressionPtr& part : condition.arguments) Narrow(*part, evaluation, times);
    return;
  }
  const std::optional<Comparison> comparison = ComparisonOf(condition);
  if (!comparison.has_value()) return;
  std::vector<int64_t> micros;
  for (const Expression* other : comparison->others) {
    const absl::StatusOr<Value> value = EvaluateConstant(*other, evaluation);
    if (!value.ok() || value->is_null()) return;
    micros.push_back(value->datum().integer);
  }
  const std::string_view function = comparison->function;
  if (function == "$between" && micros.size() == 2) {
    times->KeepFrom(micros[0]);
    times->KeepTo(micros[1]);
  }
  if (micros.size() != 1) return;
  if (function == "$less") times->KeepBefore(micros[0]);
  if (function == "$greater") times->KeepAfter(micros[0]);
  if (function == "$less_or_equal" || function == "$equal") times->KeepTo(micros[0]);
  if (function == "$greater_or_equal" || function == "$equal") times->KeepFrom(micros[0]);
}

// What is read of a family.
struct FamilyNeed {
  bool is_whole = false;
  std::set<std::string> qualifiers;
};
using Needs = std::map<std::string, FamilyNeed>;

bool IsOfCells(const ScanColumn& column) {
  return column.kind != ScanColumn::Kind::kKey && column.kind != ScanColumn::Kind::kKeyField;
}

Needs NeedsOf(const Plan::Scan& scan) {
  Needs needs;
  for (const ScanColumn& column : scan.columns) {
    if (!IsOfCells(column)) continue;
    if (column.kind == ScanColumn::Kind::kFamily) {
      needs[column.family].is_whole = true;
    } else {
      needs[column.family].qualifiers.insert(column.qualifier);
    }
  }
  return needs;
}

bool AreAllWhole(const Needs& needs, const TableSchema& table) {
  return std::ranges::all_of(table.families, [&](const FamilySchema& family) {
    const auto need = needs.find(family.name);
    return need != needs.end() && need->second.is_whole;
  });
}

// A list of literals is decided by a search, and of longer ones the hints would become one range in any case.
constexpr size_t kQualifiersMax = 256;

FilterSpec OfFamily(const std::string& family, const FamilyNeed& need) {
  if (need.is_whole) return filters::Columns(family, filters::None(), filters::None());
  const std::set<std::string>& qualifiers = need.qualifiers;
  if (qualifiers.size() == 1) return filters::Column(family, *qualifiers.begin());
  if (qualifiers.begin()->empty() || qualifiers.size() > kQualifiersMax) {
    return filters::Columns(family, filters::Closed(*qualifiers.begin()),
                            filters::Closed(*qualifiers.rbegin()));
  }
  std::string pattern;
  for (const std::string& qualifier : qualifiers) {
    pattern += (pattern.empty() ? "" : "|") + QuoteRegex(qualifier);
  }
  return filters::Chain(
      {filters::Columns(family, filters::None(), filters::None()), filters::Qualifier(std::move(pattern))});
}

FilterSpec OfColumns(const Needs& needs) {
  std::vector<FilterSpec> families;
  families.reserve(needs.size());
  for (const auto& [family, need] : needs) families.push_back(OfFamily(family, need));
  return families.size() == 1 ? std::move(families[0]) : filters::Interleave(std::move(families));
}

FilterSpec OfTimes(const CellTimes& times) {
  return filters::Times(std::max<int64_t>(times.first_micros, 0),
                        times.last_micros == kLastMicros ? 0 : times.last_micros + 1);
}

}  // namespace

void CellTimes::KeepAfter(int64_t micros) {
  if (micros == kLastMicros) {
    last_micros = -1;
  } else {
    KeepFrom(micros + 1);
  }
}

void CellTimes::KeepBefore(int64_t micros) {
  if (micros == std::numeric_limits<int64_t>::min()) {
    last_micros = -1;
  } else {
    KeepTo(micros - 1);
  }
}

absl::StatusOr<CellSelection> SelectCells(const Plan::Scan& scan, const EvaluationContext& evaluation) {
  const TemporalArguments& temporal = scan.temporal;
  CellSelection selection;
  CellTimes& times = selection.times;
  using Keep = void (CellTimes::*)(int64_t);
  const std::tuple<const Expression*, std::string_view, Keep> bounds[] = {
      {temporal.as_of.get(), "as_of", &CellTimes::KeepTo},
      {temporal.after.get(), "after", &CellTimes::KeepAfter},
      {temporal.after_or_equal.get(), "after_or_equal", &CellTimes::KeepFrom},
      {temporal.before.get(), "before", &CellTimes::KeepBefore},
      {temporal.before_or_equal.get(), "before_or_equal", &CellTimes::KeepTo}};
  for (const auto& [expression, name, keep] : bounds) {
    if (expression == nullptr) continue;
    const absl::StatusOr<int64_t> micros = ArgumentOf(*expression, name, evaluation);
    if (!micros.ok()) return micros.status();
    (times.*keep)(*micros);
  }
  if (!temporal.with_history) selection.versions = 1;
  if (temporal.latest_n != nullptr) {
    const absl::StatusOr<int64_t> count = ArgumentOf(*temporal.latest_n, "latest_n", evaluation);
    if (!count.ok()) return count.status();
    if (*count < 1) {
      return absl::InvalidArgumentError(fmt::format("latest_n must be at least 1, but is {}", *count));
    }
    selection.versions = *count;
  }
  for (const ExpressionPtr& condition : scan.time_conditions) {
    Narrow(*condition, evaluation, &selection.times_further);
  }
  return selection;
}

bool ReadsKeysOnly(const Plan::Scan& scan) {
  return std::none_of(scan.columns.begin(), scan.columns.end(), IsOfCells);
}

std::optional<FilterSpec> FilterOf(const Plan::Scan& scan, const CellSelection& selection) {
  const Needs needs = NeedsOf(scan);
  std::vector<FilterSpec> chain;
  if (!needs.empty() && !scan.needs_all_rows && !AreAllWhole(needs, *scan.table)) {
    chain.push_back(OfColumns(needs));
  }
  CellTimes times = selection.times;
  const bool is_ranked = selection.versions.has_value();
  if (!is_ranked) {
    times.KeepFrom(selection.times_further.first_micros);
    times.KeepTo(selection.times_further.last_micros);
  }
  if (!times.IsAll()) chain.push_back(OfTimes(times));
  if (needs.empty()) {
    chain.push_back(filters::RowLimit(1));
    chain.push_back(filters::Strip());
  } else if (is_ranked) {
    chain.push_back(filters::ColumnLimit(
        static_cast<int32_t>(std::min<int64_t>(*selection.versions, std::numeric_limits<int32_t>::max()))));
    if (!selection.times_further.IsAll()) chain.push_back(OfTimes(selection.times_further));
  }
  const bool are_times_enough =
      !needs.empty() && std::ranges::all_of(scan.columns, [](const ScanColumn& column) {
        return !IsOfCells(column) || column.kind == ScanColumn::Kind::kWriteTimestamp;
      });
  if (are_times_enough) chain.push_back(filters::Strip());
  if (chain.empty()) return std::nullopt;
  return chain.size() == 1 ? std::move(chain[0]) : filters::Chain(std::move(chain));
}

}  // namespace sonde::sql

#include "sql/series/point_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sql/expression/evaluator.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

// More values of a tag are not looked for one by one.
constexpr size_t kValuesOfTagMax = 1'000;

absl::StatusOr<int64_t> TemporalArgument(const Expression& expression, std::string_view name,
                                         const EvaluationContext& evaluation) {
  const absl::StatusOr<Value> value = EvaluateConstant(expression, evaluation);
  if (!value.ok()) return value.status();
  if (value->is_null()) return absl::InvalidArgumentError(fmt::format("{} must not be NULL", name));
  return value->datum().integer;
}

// What the arguments of a call are: one column of the scan, and values that are known.
struct ColumnAndValues {
  const SeriesColumn* column = nullptr;
  bool column_is_first = true;
  std::vector<Value> values;
};

class Narrowing {
 public:
  Narrowing(const Plan::SeriesScan& scan, const EvaluationContext& evaluation, PointSelection* selection)
      : scan_(scan), evaluation_(evaluation), selection_(*selection) {}

  void Add(const Expression& condition);

 private:
  // Nothing: the call has other arguments, or one that fails when it is evaluated.
  std::optional<ColumnAndValues> ArgumentsOf(const Expression& call) const;
  void AddOfTime(std::string_view function, const ColumnAndValues& arguments);
  void AddOfTag(std::string_view function, const ColumnAndValues& arguments);
  // OR of equalities of one tag: as IN.
  void AddOr(const Expression& condition);
  void KeepValues(size_t tag, std::vector<std::string> values);
  void KeepPrefix(size_t tag, std::string prefix);
  void KeepMatches(size_t tag, std::string pattern);

  void KeepFrom(int64_t micros) {
    series::Selection& selection = selection_.query.selection;
    selection.from_micros = std::max(selection.from_micros, micros);
  }
  void KeepBefore(int64_t micros) {
    series::Selection& selection = selection_.query.selection;
    selection.to_micros = std::min(selection.to_micros, micros);
  }
  void KeepTo(int64_t micros) {
    if (micros < std::numeric_limits<int64_t>::max()) KeepBefore(micros + 1);
  }
  void KeepAfter(int64_t micros) {
    if (micros == std::numeric_limits<int64_t>::max()) {
      selection_.is_empty = true;
    } else {
      KeepFrom(micros + 1);
    }
  }

  const Plan::SeriesScan& scan_;
  const EvaluationContext& evaluation_;
  PointSelection& selection_;
};

// The text of a value of a tag.
std::string TagText(const Value& value) {
  return value.type().Is(TypeKind::kInt64) ? std::to_string(value.datum().integer)
                                           : std::string(value.datum().bytes());
}

std::optional<ColumnAndValues> Narrowing::ArgumentsOf(const Expression& call) const {
  ColumnAndValues found;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Expression& argument = *call.arguments[i];
    if (argument.kind == Expression::Kind::kColumn) {
      if (found.column != nullptr) return std::nullopt;
      found.column = &scan_.columns[argument.index];
      found.column_is_first = i == 0;
      continue;
    }
    if (!ColumnsOf(argument).empty()) return std::nullopt;
    absl::StatusOr<Value> value = EvaluateConstant(argument, evaluation_);
    if (!value.ok()) return std::nullopt;
    found.values.push_back(*std::move(value));
  }
  if (found.column == nullptr) return std::nullopt;
  return found;
}

std::string_view Mirrored(std::string_view function) {
  if (function == "$less") return "$greater";
  if (function == "$less_or_equal") return "$greater_or_equal";
  if (function == "$greater") return "$less";
  if (function == "$greater_or_equal") return "$less_or_equal";
  return function == "$equal" ? function : std::string_view();
}

void Narrowing::AddOfTime(std::string_view function, const ColumnAndValues& arguments) {
  std::vector<int64_t> micros;
  for (const Value& value : arguments.values) {
    if (!value.type().Is(TypeKind::kTimestamp)) return;
    if (value.is_null()) {
      // A comparison with NULL is not TRUE; IN may be, by another value.
      if (function != "$in") selection_.is_empty = true;
      return;
    }
    micros.push_back(value.datum().integer);
  }
  if (!arguments.column_is_first) function = Mirrored(function);
  if (micros.empty()) return;
  if (function == "$between" && micros.size() == 2) {
    KeepFrom(micros[0]);
    KeepTo(micros[1]);
  } else if (function == "$in") {
    KeepFrom(*std::ranges::min_element(micros));
    KeepTo(*std::ranges::max_element(micros));
  } else if (micros.size() == 1) {
    if (function == "$less") KeepBefore(micros[0]);
    if (function == "$greater") KeepAfter(micros[0]);
    if (function == "$less_or_equal" || function == "$equal") KeepTo(micros[0]);
    if (function == "$greater_or_equal" || function == "$equal") KeepFrom(micros[0]);
  }
}

void Narrowing::KeepValues(size_t tag, std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty()) selection_.is_empty = true;
  if (values.empty() || values.size() > kValuesOfTagMax) return;
  series::TagFilter& filter = selection_.query.selection.tags[tag];
  if (filter.IsAny()) {
    filter.values = std::move(values);
    return;
  }
  // Two conditions of one tag: what both let through.
  if (filter.prefix) {
    std::erase_if(values, [&](const std::string& value) { return !value.starts_with(*filter.prefix); });
    filter.prefix.reset();
  } else {
    std::erase_if(values, [&](const std::string& value) {
      return !std::binary_search(filter.values.begin(), filter.values.end(), value);
    });
  }
  if (values.empty()) selection_.is_empty = true;
  filter.values = std::move(values);
}

void Narrowing::KeepPrefix(size_t tag, std::string prefix) {
  if (prefix.empty()) return;
  series::TagFilter& filter = selection_.query.selection.tags[tag];
  if (filter.IsAny()) {
    filter.prefix = std::move(prefix);
  } else if (filter.prefix) {
    if (prefix.starts_with(*filter.prefix)) {
      filter.prefix = std::move(prefix);
    } else if (!filter.prefix->starts_with(prefix)) {
      selection_.is_empty = true;
    }
  } else {
    std::erase_if(filter.values, [&](const std::string& value) { return !value.starts_with(prefix); });
    if (filter.values.empty()) selection_.is_empty = true;
  }
}

void Narrowing::KeepMatches(size_t tag, std::string pattern) {
  // A pattern that is none, or too long, is told by the function itself.
  if (pattern.size() > series::kPatternBytesMax) return;
  selection_.query.conditions.push_back({tag, std::move(pattern), /*is_negated=*/false});
}

// The text in front of the first wildcard of LIKE; nothing: the pattern ends with a lone backslash.
std::optional<std::string> LikePrefix(std::string_view pattern, bool* is_whole) {
  std::string prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' || pattern[i] == '_') {
      *is_whole = false;
      return prefix;
    }
    if (pattern[i] == '\\' && ++i == pattern.size()) return std::nullopt;
    prefix += pattern[i];
  }
  *is_whole = true;
  return prefix;
}

void Narrowing::AddOfTag(std::string_view function, const ColumnAndValues& arguments) {
  const size_t tag = arguments.column->index;
  const Type& type = arguments.column->type;
  const std::vector<Value>& values = arguments.values;
  if (function == "$in_array" && values.size() == 1 && arguments.column_is_first) {
    if (!values[0].type().Is(TypeKind::kArray) || values[0].type().element() != type) return;
    std::vector<std::string> texts;
    if (!values[0].is_null()) {
      for (const Datum& item : values[0].datum().list()) {
        if (!item.is_there) continue;
        texts.push_back(type.Is(TypeKind::kInt64) ? std::to_string(item.integer) : std::string(item.bytes()));
      }
    }
    return KeepValues(tag, std::move(texts));
  }
  for (const Value& value : values) {
    if (value.type() != type) return;
  }
  if ((function == "$equal" && values.size() == 1) || (function == "$in" && arguments.column_is_first)) {
    std::vector<std::string> texts;
    for (const Value& value : values) {
      if (!value.is_null()) texts.push_back(TagText(value));
    }
    return KeepValues(tag, std::move(texts));
  }
  if (!type.Is(TypeKind::kString) || values.size() != 1 || !arguments.column_is_first) return;
  if (values[0].is_null()) return;
  const std::string_view text = values[0].datum().bytes();
  if (function == "STARTS_WITH") KeepPrefix(tag, std::string(text));
  if (function == "$like") {
    bool is_whole = false;
    std::optional<std::string> prefix = LikePrefix(text, &is_whole);
    if (!prefix.has_value()) return;
    if (is_whole) return KeepValues(tag, {*std::move(prefix)});
    KeepPrefix(tag, *std::move(prefix));
  }
  // A tag's pattern stands for its whole value.
  if (function == "REGEXP_CONTAINS") KeepMatches(tag, fmt::format("(?s:.*)(?:{})(?s:.*)", text));
}

void Narrowing::AddOr(const Expression& condition) {
  const SeriesColumn* column = nullptr;
  std::vector<std::string> texts;
  for (const ExpressionPtr& part : condition.arguments) {
    if (part->kind != Expression::Kind::kCall || part->function == nullptr) return;
    const std::string_view function = part->function->name;
    if (function != "$equal" && function != "$in") return;
    const std::optional<ColumnAndValues> arguments = ArgumentsOf(*part);
    if (!arguments.has_value() || arguments->column->kind != SeriesColumn::Kind::kTag) return;
    if (column != nullptr && column->index != arguments->column->index) return;
    if (function == "$in" && !arguments->column_is_first) return;
    column = arguments->column;
    for (const Value& value : arguments->values) {
      if (value.type() != column->type) return;
      if (!value.is_null()) texts.push_back(TagText(value));
    }
  }
  if (column != nullptr) KeepValues(column->index, std::move(texts));
}

void Narrowing::Add(const Expression& condition) {
  if (condition.kind == Expression::Kind::kAnd) {
    for (const ExpressionPtr& part : condition.arguments) Add(*part);
    return;
  }
  if (condition.kind == Expression::Kind::kOr) return AddOr(condition);
  if (condition.kind != Expression::Kind::kCall || condition.function == nullptr) return;
  const std::optional<ColumnAndValues> arguments = ArgumentsOf(condition);
  if (!arguments.has_value()) return;
  if (arguments->column->kind == SeriesColumn::Kind::kTime) AddOfTime(condition.function->name, *arguments);
  if (arguments->column->kind == SeriesColumn::Kind::kTag) AddOfTag(condition.function->name, *arguments);
}

absl::Status ApplyTemporal(const TemporalArguments& temporal, const EvaluationContext& evaluation,
                           PointSelection* selection) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  series::Selection& times = selection->query.selection;
  // Each with what it adds to the time to make the begin, or the end, of the times that count.
  const std::tuple<const Expression*, std::string_view, bool, int64_t> bounds[] = {
      {temporal.as_of.get(), "as_of", true, 1},
      {temporal.after.get(), "after", false, 1},
      {temporal.after_or_equal.get(), "after_or_equal", false, 0},
      {temporal.before.get(), "before", true, 0},
      {temporal.before_or_equal.get(), "before_or_equal", true, 1}};
  for (const auto& [expression, name, is_end, more] : bounds) {
    if (expression == nullptr) continue;
    absl::StatusOr<int64_t> micros = TemporalArgument(*expression, name, evaluation);
    if (!micros.ok()) return micros.status();
    const int64_t bound = *micros == kLast ? kLast : *micros + more;
    if (is_end) {
      times.to_micros = std::min(times.to_micros, bound);
    } else {
      times.from_micros = std::max(times.from_micros, bound);
    }
  }
  if (temporal.as_of != nullptr) selection->query.latest = 1;
  if (temporal.latest_n == nullptr) return absl::OkStatus();
  const absl::StatusOr<int64_t> count = TemporalArgument(*temporal.latest_n, "latest_n", evaluation);
  if (!count.ok()) return count.status();
  if (*count < 1) {
    return absl::InvalidArgumentError(fmt::format("latest_n must be at least 1, but is {}", *count));
  }
  selection->query.latest = *count;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PointSelection> SelectPoints(const Plan::SeriesScan& scan, const EvaluationContext& evaluation,
                                            std::optional<int64_t> from_micros) {
  const series::KnownSeries& known = *scan.series.known;
  PointSelection selection;
  series::Query& query = selection.query;
  query.selection.tags.resize(known.is_open() ? known.labels.size() : known.schema.tags.size());
  query.takes_any_value = true;
  query.now_micros = evaluation.facts.now_micros;
  query.index = scan.series.index;
  if (absl::Status status = ApplyTemporal(scan.temporal, evaluation, &selection); !status.ok()) return status;
  Narrowing narrowing(scan, evaluation, &selection);
  for (const ExpressionPtr& condition : scan.conditions) narrowing.Add(*condition);
  if (from_micros.has_value())
    query.selection.from_micros = std::max(query.selection.from_micros, *from_micros);
  selection.is_empty |= query.selection.from_micros >= query.selection.to_micros;
  const auto add_field = [&query](size_t field) {
    if (std::ranges::find(query.fields, field) == query.fields.end()) query.fields.push_back(field);
  };
  for (const SeriesColumn& column : scan.columns) {
    if (column.kind == SeriesColumn::Kind::kField) add_field(column.index);
  }
  for (size_t field = 0; field < known.schema.fields.size(); ++field) {
    const bool is_read = std::ranges::find(query.fields, field) != query.fields.end();
    if (scan.IsOfNewest() || query.fields.empty()) {
      add_field(field);
    } else if (scan.needs_all_points && !is_read) {
      query.witnesses.push_back(field);
    }
  }
  selection.is_empty |= query.fields.empty();
  return selection;
}

}  // namespace sonde::sql

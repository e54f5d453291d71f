// info: adds labels of info series, such as target_info, to other series.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "promql/evaluate/evaluator.h"

namespace sonde::promql {
namespace {

// An info series belongs to the series that have the same values of these.
constexpr std::array<const char*, 2> kIdentifying = {"instance", "job"};
// More values of an identifying label than these are looked up series by series and not by a pattern.
constexpr size_t kPatternValuesMax = 1'000;
constexpr size_t kNone = std::numeric_limits<size_t>::max();

using Values = std::set<std::string, std::less<>>;

absl::StatusOr<std::vector<Matcher>> NameMatchers(const std::vector<Matcher>& given) {
  const bool has_positive = std::any_of(given.begin(), given.end(), [](const Matcher& matcher) {
    return matcher.kind() == MatchKind::kEqual || matcher.kind() == MatchKind::kMatches;
  });
  if (has_positive) return given;
  std::vector<Matcher> result;
  const absl::StatusOr<Matcher> first = given.empty()
                                            ? Matcher::Create(MatchKind::kEqual, kMetricLabel, "target_info")
                                            : Matcher::Create(MatchKind::kMatches, kMetricLabel, ".+_info");
  if (!first.ok()) return first.status();
  result.push_back(*first);
  result.insert(result.end(), given.begin(), given.end());
  return result;
}

// The first selector of an expression, as it is written, or the subquery that it stands in.  Null: there is none.
const Expression* FirstSelector(const Expression& node) {
  const bool is_subquery = node.kind == ExpressionKind::kSubquery && !node.is_step_invariant;
  if (is_subquery || node.kind == ExpressionKind::kSelector) return &node;
  const bool is_vector_first = node.kind == ExpressionKind::kAggregate && node.operands.size() > 1;
  if (is_vector_first) {
    if (const Expression* found = FirstSelector(node.AggregateOperand())) return found;
  }
  for (const ExpressionPtr& operand : node.operands) {
    if (const Expression* found = FirstSelector(*operand)) return found;
  }
  return nullptr;
}

// The info series and labels that the second argument of info selects.
struct InfoSelector {
  std::vector<Matcher> names;  // of info metrics
  std::vector<Matcher> data;   // of the labels that are added; none: all labels are
  bool needs_match = false;    // a series without info series is left out

  static absl::StatusOr<InfoSelector> Make(const Expression& call) {
    InfoSelector result;
    std::vector<Matcher> names;
    if (call.operands.size() > 1) {
      for (const Matcher& matcher : call.operands[1]->matchers) {
        (matcher.name() == kMetricLabel ? names : result.data).push_back(matcher);
      }
    }
    absl::StatusOr<std::vector<Matcher>> effective = NameMatchers(names);
    if (!effective.ok()) return effective.status();
    result.names = *std::move(effective);
    result.needs_match = std::any_of(result.data.begin(), result.data.end(),
                                     [](const Matcher& matcher) { return !matcher.Matches(""); });
    return result;
  }
  bool IsInfo(const Labels& labels) const {
    return std::all_of(names.begin(), names.end(), [&](const Matcher& matcher) {
      return matcher.Matches(LabelOf(labels, kMetricLabel));
    });
  }
  bool Adds(std::string_view label) const {
    if (label == kMetricLabel) return false;
    return data.empty() || std::any_of(data.begin(), data.end(),
                                       [&](const Matcher& matcher) { return matcher.name() == label; });
  }
};

// The conditions on info series: those of the selector, and that they belong to a series with these values.
absl::StatusOr<std::vector<Matcher>> MatchersFor(const InfoSelector& selector,
                                                 const std::vector<Values>& values) {
  std::vector<Matcher> result = selector.names;
  result.insert(result.end(), selector.data.begin(), selector.data.end());
  for (size_t k = 0; k < kIdentifying.size(); ++k) {
    if (values[k].empty() || values[k].size() > kPatternValuesMax) continue;
    std::string pattern;
    for (const std::string& value : values[k]) {
      pattern += (pattern.empty() ? "" : "|") + re2::RE2::QuoteMeta(value);
    }
    const absl::StatusOr<Matcher> matcher =
        Matcher::Create(MatchKind::kMatches, kIdentifying[k], std::move(pattern));
    if (!matcher.ok()) return matcher.status();
    result.push_back(*matcher);
  }
  return result;
}

// A metric's name, and the values of the identifying labels.
using Identity = std::tuple<std::string, std::string, std::string>;

Identity IdentityOf(std::string_view name, const Labels& labels) {
  return {std::string(name), std::string(LabelOf(labels, kIdentifying[0])),
          std::string(LabelOf(labels, kIdentifying[1]))};
}

// Info series by the series that they belong to.  The values of their rows are the times of their samples.
class InfoSeries {
 public:
  // The info series of one metric for one identity.
  struct Group {
    std::vector<size_t> rows;
    size_t newest = kNone;  // the row whose sample is the latest at the step that was set
  };

  InfoSeries(const InfoSelector* selector, Matrix rows) : selector_(selector), rows_(std::move(rows)) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const std::string_view name = LabelOf(rows_[i].labels, kMetricLabel);
      groups_[IdentityOf(name, rows_[i].labels)].rows.push_back(i);
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
    }
  }

  // Chooses the newest of each group.
  absl::Status SetStep(size_t step) {
    for (auto& [identity, group] : groups_) {
      group.newest = kNone;
      for (const size_t i : group.rows) {
        if (!rows_[i].present[step]) continue;
        const double time = rows_[i].values[step];
        const double best = group.newest == kNone ? -1 : rows_[group.newest].values[step];
        if (group.newest != kNone && time == best) {
          return ExecutionError(
              fmt::format("found duplicate series for info metric: existing {} @ {}, new {} @ {}",
                          LabelsText(rows_[group.newest].labels), static_cast<int64_t>(best),
                          LabelsText(rows_[i].labels), static_cast<int64_t>(time)));
        }
        if (group.newest == kNone || time > best) group.newest = i;
      }
    }
    return absl::OkStatus();
  }

  // The groups of a series, one of each metric that has any.  They are valid as long as this.
  std::vector<const Group*> GroupsFor(const Labels& labels) const {
    std::vector<const Group*> result;
    for (const std::string& name : names_) {
      const auto found = groups_.find(IdentityOf(name, labels));
      if (found != groups_.end()) result.push_back(&found->second);
    }
    return result;
  }

  // `base` with the labels of info series that it does not have.
  absl::StatusOr<Labels> AddTo(const Labels& base, const std::vector<size_t>& rows) const {
    Labels added;
    for (const size_t i : rows) {
      for (const auto& [name, value] : rows_[i].labels) {
        if (!selector_->Adds(name)) continue;
        const std::string_view before = LabelOf(added, name);
        if (!before.empty() && before != value) {
          return ExecutionError(fmt::format("conflicting label: {}", name));
        }
        if (LabelOf(base, name).empty()) SetLabel(name, value, &added);
      }
    }
    Labels result = base;
    for (const auto& [name, value] : added) SetLabel(name, value, &result);
    return result;
  }

 private:
  const InfoSelector* const selector_;
  const Matrix rows_;
  std::map<Identity, Group> groups_;
  std::vector<std::string> names_;
};

// A series that labels are added to.
struct Enriched {
  bool is_info = false;  // it is an info series itself, and stays as it is
  std::vector<const InfoSeries::Group*> groups;
  // Its labels change where its info series does.
  std::vector<size_t> info_rows;
  size_t result_row = kNone;  // none: it had no step yet
};

// `base`, and `enriched` of each of its rows, with the labels of `info`.
absl::StatusOr<Matrix> Join(const Matrix& base, std::vector<Enriched> enriched, bool needs_match,
                            InfoSeries* info, QueryContext* context) {
  Matrix result;
  absl::flat_hash_map<Labels, size_t> known;
  const size_t steps = base.empty() ? 0 : base[0].values.size();
  std::vector<size_t> info_rows;
  for (size_t step = 0; step < steps; ++step) {
    if (absl::Status status = context->Interrupted(); !status.ok()) return status;
    bool is_step_set = false;
    for (size_t i = 0; i < base.size(); ++i) {
      if (!base[i].present[step]) continue;
      if (!std::exchange(is_step_set, true)) {
        if (absl::Status status = info->SetStep(step); !status.ok()) return status;
      }
      Enriched& one = enriched[i];
      info_rows.clear();
      for (const InfoSeries::Group* const group : one.groups) {
        if (group->newest != kNone) info_rows.push_back(group->newest);
      }
      if (!one.is_info && info_rows.empty() && needs_match) continue;
      if (one.result_row == kNone || one.info_rows != info_rows) {
        absl::StatusOr<Labels> labels = info->AddTo(base[i].labels, info_rows);
        if (!labels.ok()) return labels.status();
        const auto [at, is_new] = known.try_emplace(*labels, result.size());
        if (is_new) {
          if (absl::Status status = context->Hold(static_cast<int64_t>(steps)); !status.ok()) return status;
          result.emplace_back(*std::move(labels), steps);
        }
        one.result_row = at->second;
        one.info_rows = info_rows;
      }
      if (result[one.result_row].present[step]) return SameLabelsError();
      result[one.result_row].Set(step, base[i].values[step]);
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<Matrix> Evaluator::ReadInfo(const Expression& node, const std::vector<Matcher>& matchers,
                                           const std::vector<Values>& values) {
  // As Prometheus: samples are read from where those of the first selector are, and looked for at the time of the step.
  const Expression* const first = FirstSelector(*node.operands[0]);
  const int64_t lookback = context_->settings().lookback_millis;
  const int64_t offset = first == nullptr ? 0 : first->shift.offset.nanos / kNanosPerMilli;
  const std::optional<int64_t> at = first == nullptr ? std::nullopt : first->shift.at_millis;
  Leaf leaf{.node = &node, .matchers = &matchers};
  leaf.start_millis = at.value_or(start_) - lookback + 1 - offset;
  leaf.end_millis = at.value_or(end_) - offset;
  leaf.work = [this, lookback, &values](SampleSeries* series, SeriesRows* made) -> absl::Status {
    if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
    for (size_t i = 0; i < kIdentifying.size(); ++i) {
      if (!values[i].empty() && !values[i].contains(LabelOf(series->labels, kIdentifying[i]))) {
        return absl::OkStatus();
      }
    }
    made->samples_read += static_cast<int64_t>(series->times.size());
    Row row(std::move(series->labels), steps_);
    size_t next = 0;  // the first sample past the time of the step
    for (size_t step = 0; step < steps_; ++step) {
      next = FirstPast(series->times, next, TimeOf(step));
      if (next == 0 || series->times[next - 1] <= TimeOf(step) - lookback) continue;
      if (IsStale(series->values[next - 1])) continue;
      row.Set(step, static_cast<double>(series->times[next - 1]));
      ++made->samples;
    }
    if (!row.IsEmpty()) made->rows.push_back(std::move(row));
    return absl::OkStatus();
  };
  return MakeRows(leaf);
}

absl::StatusOr<Matrix> Evaluator::AddInfo(const Expression& node) {
  const absl::StatusOr<InfoSelector> selector = InfoSelector::Make(node);
  if (!selector.ok()) return selector.status();
  const absl::StatusOr<Matrix> base = Evaluate(*node.operands[0]);
  if (!base.ok()) return base;
  std::vector<Enriched> enriched(base->size());
  std::vector<Values> values(kIdentifying.size());
  for (size_t i = 0; i < base->size(); ++i) {
    const Labels& labels = (*base)[i].labels;
    enriched[i].is_info = selector->IsInfo(labels);
    if (enriched[i].is_info || (*base)[i].IsEmpty()) continue;
    for (size_t k = 0; k < kIdentifying.size(); ++k) {
      const std::string_view value = LabelOf(labels, kIdentifying[k]);
      if (!value.empty()) values[k].emplace(value);
    }
  }
  Matrix rows;
  if (std::any_of(values.begin(), values.end(), [](const Values& one) { return !one.empty(); })) {
    const absl::StatusOr<std::vector<Matcher>> matchers = MatchersFor(*selector, values);
    if (!matchers.ok()) return matchers.status();
    absl::StatusOr<Matrix> read = ReadInfo(node, *matchers, values);
    if (!read.ok()) return read;
    rows = *std::move(read);
  }
  InfoSeries info(&*selector, std::move(rows));
  for (size_t i = 0; i < base->size(); ++i) {
    if (!enriched[i].is_info) enriched[i].groups = info.GroupsFor((*base)[i].labels);
  }
  return Join(*base, std::move(enriched), selector->needs_match, &info, context_);
}

}  // namespace sonde::promql

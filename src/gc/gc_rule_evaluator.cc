#include "gc/gc_rule_evaluator.h"

#include <algorithm>
#include <limits>

namespace sonde {
namespace {

constexpr int64_t kForgetsAll = std::numeric_limits<int64_t>::max();

// Cells of a column often share the bytes of its qualifier.
bool SameBytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

// The first cell from `from` on that is not of `qualifier`; near ones are found fast.
size_t ColumnEnd(const std::vector<CellView>& cells, size_t from, std::string_view qualifier) {
  size_t in_column = from;  // everything before is of the column
  size_t stride = 1;
  while (in_column + stride <= cells.size() &&
         SameBytes(cells[in_column + stride - 1].qualifier, qualifier)) {
    in_column += stride;
    stride *= 2;
  }
  const auto end = cells.begin() + std::min(cells.size(), in_column + stride);
  return std::partition_point(cells.begin() + in_column, end,
                              [&](const CellView& cell) { return SameBytes(cell.qualifier, qualifier); }) -
         cells.begin();
}

}  // namespace

GcRuleEvaluator::GcRuleEvaluator(const GcRule& rule, int64_t now_micros) {
  const Steps steps = Compile(rule, now_micros);
  count_ = static_cast<uint32_t>(steps.size());
  const size_t inline_count = std::min<size_t>(count_, kInlineSteps);
  std::copy_n(steps.begin(), inline_count, inline_steps_.begin());
  more_steps_.assign(steps.begin() + inline_count, steps.end());
}

GcRuleEvaluator::Steps GcRuleEvaluator::Compile(const GcRule& rule, int64_t now_micros) {
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    return {{versions->count, kForgetsAll}};
  }
  if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    int64_t newest_forgotten_micros = 0;
    // An age that reaches back past the first representable time forgets nothing.
    if (__builtin_sub_overflow(now_micros, age->micros, &newest_forgotten_micros) ||
        __builtin_sub_overflow(newest_forgotten_micros, 1, &newest_forgotten_micros)) {
      return {};
    }
    return {{0, newest_forgotten_micros}};
  }
  const auto* all = std::get_if<GcRule::Intersection>(&rule.rule);
  const auto* any = std::get_if<GcRule::Union>(&rule.rule);
  if (all == nullptr && any == nullptr) return {};
  const std::vector<GcRule>& rules = all != nullptr ? all->rules : any->rules;
  if (rules.empty()) return {};
  Steps steps = Compile(rules.front(), now_micros);
  for (size_t i = 1; i < rules.size(); ++i) {
    steps = Combine(steps, Compile(rules[i], now_micros), all != nullptr);
  }
  return steps;
}

// The lower (`both`) or the upper of two staircases.
GcRuleEvaluator::Steps GcRuleEvaluator::Combine(const Steps& a, const Steps& b, bool both) {
  Steps result;
  size_t a_count = 0;
  size_t b_count = 0;
  while (a_count < a.size() || b_count < b.size()) {
    const int64_t rank = b_count == b.size()   ? a[a_count].rank
                         : a_count == a.size() ? b[b_count].rank
                                               : std::min(a[a_count].rank, b[b_count].rank);
    if (a_count < a.size() && a[a_count].rank == rank) ++a_count;
    if (b_count < b.size() && b[b_count].rank == rank) ++b_count;
    if (both && (a_count == 0 || b_count == 0)) continue;  // one of the two still forgets nothing
    int64_t forgotten_micros = 0;
    if (a_count == 0) {
      forgotten_micros = b[b_count - 1].newest_forgotten_micros;
    } else if (b_count == 0) {
      forgotten_micros = a[a_count - 1].newest_forgotten_micros;
    } else {
      const int64_t a_micros = a[a_count - 1].newest_forgotten_micros;
      const int64_t b_micros = b[b_count - 1].newest_forgotten_micros;
      forgotten_micros = both ? std::min(a_micros, b_micros) : std::max(a_micros, b_micros);
    }
    if (result.empty() || result.back().newest_forgotten_micros < forgotten_micros) {
      result.push_back({rank, forgotten_micros});
    }
  }
  return result;
}

std::optional<int64_t> GcRuleEvaluator::VersionsMax() const {
  if (count_ == 0 || StepAt(count_ - 1).newest_forgotten_micros != kForgetsAll) return std::nullopt;
  return StepAt(count_ - 1).rank;
}

std::optional<int64_t> GcRuleEvaluator::OldestKeptMicros() const {
  if (count_ == 0 || StepAt(0).rank > 0 || StepAt(0).newest_forgotten_micros == kForgetsAll)
    return std::nullopt;
  return StepAt(0).newest_forgotten_micros + 1;
}

bool GcRuleEvaluator::DependsOnRank() const { return count_ > 0 && StepAt(count_ - 1).rank > 0; }

void GcRuleEvaluator::Filter(std::vector<CellView>* cells, int64_t kept_before) const {
  if (KeepsEverything() || cells->empty()) return;
  size_t kept = 0;
  int64_t rank = kept_before;
  std::string_view qualifier = cells->front().qualifier;
  for (size_t i = 0; i < cells->size();) {
    const CellView& cell = (*cells)[i];
    if (!SameBytes(cell.qualifier, qualifier)) {
      qualifier = cell.qualifier;
      rank = 0;
    }
    if (!Keeps(rank, cell.timestamp_micros)) {
      i = ColumnEnd(*cells, i + 1, qualifier);
      continue;
    }
    if (kept != i) (*cells)[kept] = cell;
    ++kept;
    ++rank;
    ++i;
  }
  cells->resize(kept);
}

void RefineReadHints(const std::vector<GcRuleEvaluator>& rules, ReadHints* hints) {
  if (rules.empty()) return;
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  int64_t versions_max = 0;
  int64_t oldest_micros = kNoLimit;
  for (const GcRuleEvaluator& rule : rules) {
    if (rule.DependsOnRank()) hints->time_range.end_micros = 0;
    versions_max = std::max(versions_max, rule.VersionsMax().value_or(kNoLimit));
    oldest_micros =
        std::min(oldest_micros, rule.OldestKeptMicros().value_or(std::numeric_limits<int64_t>::min()));
  }
  hints->time_range.start_micros = std::max(hints->time_range.start_micros, oldest_micros);
  // The time range has no upper end now: its newest cells are the column's.
  if (versions_max != kNoLimit) {
    hints->newest_per_column = std::min(hints->newest_per_column.value_or(versions_max), versions_max);
  }
}

}  // namespace sonde

#include "filter/filter_evaluator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace sonde {

using Kind = FilterNode::Kind;

namespace {

constexpr uint64_t kMergeUnitsPerCell = 4;
// Each takes some 10 kB.
constexpr size_t kAnswerCachesMax = 32;
// Room for so many cells a branch is kept.
constexpr size_t kSpareCellsOfRun = 16;

}  // namespace

// Remembers what a regex said of short texts, from row to row.
class FilterEvaluator::AnswerCache {
 public:
  bool Matches(const RegexMatcher& matcher, std::string_view text, FilterBudget* budget) {
    if (text.size() > kTextBytesMax) return matcher.Matches(text, budget);
    Entry& entry = entries_[std::hash<std::string_view>()(text) % kEntries];
    if (entry.is_set && entry.text == text) return entry.matches;
    entry.is_set = true;
    entry.text.assign(text);
    entry.matches = matcher.Matches(text, budget);
    return entry.matches;
  }

 private:
  static constexpr size_t kEntries = 128;
  static constexpr size_t kTextBytesMax = 64;
  struct Entry {
    bool is_set = false;
    bool matches = false;
    std::string text;
  };
  std::array<Entry, kEntries> entries_;
};

// Remembers what a regex said of families: of a table's thousand, a row has few.
class FilterEvaluator::FamilyAnswers {
 public:
  bool Matches(const RegexMatcher& matcher, const TableSchema& schema, uint32_t family,
               FilterBudget* budget) {
    if (is_known_.empty()) {
      is_known_.resize(schema.families.size());
      matches_.resize(schema.families.size());
    }
    if (!is_known_[family]) {
      matches_[family] = matcher.Matches(schema.families[family].name, budget);
      is_known_[family] = true;
    }
    return matches_[family];
  }

 private:
  std::vector<bool> is_known_;
  std::vector<bool> matches_;
};

struct FilterEvaluator::NodeState {
  std::unique_ptr<AnswerCache> answers;           // kQualifierRegex, unless it is simple
  std::shared_ptr<FamilyAnswers> family_answers;  // kFamilyRegex: one for all that have the same pattern
  std::optional<uint32_t> family;                 // kColumnRange: none if the table has it not
};

namespace {

// Keeps the cells for which `keeps` is true.
template <typename Keeps>
void Compact(std::vector<FilterCell>* cells, Keeps keeps) {
  FilterCell* const begin = cells->data();
  FilterCell* const end = begin + cells->size();
  FilterCell* from = begin;
  while (from != end && keeps(*from)) ++from;
  FilterCell* to = from;
  if (from != end) ++from;
  for (; from != end; ++from) {
    if (keeps(*from)) *to++ = *from;
  }
  cells->resize(static_cast<size_t>(to - begin));
}

// Cells of a column come one after the other and mostly share the bytes of its qualifier.
bool SameBytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

// Keeps the cells of the qualifiers for which `keeps` is true, which is asked once for each run of a
// qualifier.
template <typename Keeps>
void CompactQualifiers(std::vector<FilterCell>* cells, Keeps keeps) {
  if (cells->empty()) return;
  std::string_view qualifier = cells->front().cell.qualifier;
  bool is_kept = keeps(qualifier);
  Compact(cells, [&](const FilterCell& cell) {
    if (!SameBytes(cell.cell.qualifier, qualifier)) {
      qualifier = cell.cell.qualifier;
      is_kept = keeps(qualifier);
    }
    return is_kept;
  });
}

// Asks `keeps` of a cell's family, once for each run of a family.
template <typename Keeps>
auto OfFamilies(Keeps keeps) {
  return [keeps, family = std::optional<uint32_t>(), is_kept = false](const FilterCell& cell) mutable {
    if (family != cell.family) {
      family = cell.family;
      is_kept = keeps(cell.family);
    }
    return is_kept;
  };
}

void KeepNewest(int64_t count, std::vector<FilterCell>* cells) {
  if (cells->empty()) return;
  uint32_t family = cells->front().family;
  std::string_view qualifier = cells->front().cell.qualifier;
  int64_t rank = 0;
  Compact(cells, [&](const FilterCell& cell) {
    if (cell.family != family || !SameBytes(cell.cell.qualifier, qualifier)) {
      family = cell.family;
      qualifier = cell.cell.qualifier;
      rank = 0;
    }
    return rank++ < count;
  });
}

bool HasBits(std::string_view value, std::string_view mask) {
  if (value.size() != mask.size()) return false;
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((value[i] & mask[i]) != mask[i]) return false;
  }
  return true;
}

}  // namespace

FilterEvaluator::FilterEvaluator(const CompiledFilter& filter, const TableSchema& schema,
                                 FilterBudget* budget, RandomSource* random)
    : filter_(filter), schema_(schema), budget_(budget), random_(random), states_(filter.nodes().size()) {
  std::map<const RegexMatcher*, std::shared_ptr<FamilyAnswers>> family_answers;
  size_t answer_caches = 0;
  for (size_t i = 0; i < states_.size(); ++i) {
    const FilterNode& node = filter.nodes()[i];
    if (node.kind == Kind::kColumnRange) {
      const FamilySchema* const family = schema.FindFamily(node.text);
      if (family != nullptr) states_[i].family = static_cast<uint32_t>(family - schema.families.data());
    }
    if (node.kind == Kind::kFamilyRegex) {
      std::shared_ptr<FamilyAnswers>& answers = family_answers[node.matcher.get()];
      if (answers == nullptr) answers = std::make_shared<FamilyAnswers>();
      states_[i].family_answers = answers;
    }
    if (node.kind == Kind::kQualifierRegex && !node.matcher->IsSimple() &&
        ++answer_caches <= kAnswerCachesMax) {
      states_[i].answers = std::make_unique<AnswerCache>();
    }
  }
}

FilterEvaluator::~FilterEvaluator() = default;

absl::Status FilterEvaluator::Run(std::string_view row_key, Cells* cells) {
  row_key_ = row_key;
  row_cells_ = cells->size();
  size_t qualifier_bytes = 0;
  size_t value_bytes = 0;
  for (const FilterCell& cell : *cells) {
    qualifier_bytes += cell.cell.qualifier.size();
    value_bytes += cell.cell.value.size();
  }
  qualifier_units_ = qualifier_bytes / kComparedBytesPerUnit;
  budget_->StartRow(row_key.size() + qualifier_bytes + value_bytes);
  const bool is_done = RunOnRow(cells);
  budget_->EndRow();
  return is_done ? absl::OkStatus() : budget_->status();
}

bool FilterEvaluator::RunOnRow(Cells* cells) {
  copied_cells_ = 0;
  sunk_.clear();
  sunk_cells_ = 0;
  if (!Evaluate(filter_.root_index(), cells)) return false;
  sunk_cells_ = 0;  // they are runs like others now
  if (!sunk_.empty() && (!AddRun(TakeAll(cells), &sunk_) || !MergeRuns(&sunk_, cells))) return false;
  if (cells->size() <= row_cells_) return true;
  size_t bytes = 0;
  for (const FilterCell& cell : *cells) bytes += cell.cell.qualifier.size() + cell.cell.value.size();
  return budget_->AdmitOutput(bytes);
}

FilterEvaluator::List FilterEvaluator::Borrow() {
  if (free_cells_.empty()) return std::make_unique<Cells>();
  List list = std::move(free_cells_.back());
  free_cells_.pop_back();
  kept_cells_ -= list->capacity();
  list->clear();
  return list;
}

void FilterEvaluator::Return(List list) {
  if (kept_cells_ + list->capacity() > kKeptCellsMax) return;
  kept_cells_ += list->capacity();
  free_cells_.push_back(std::move(list));
}

FilterEvaluator::List FilterEvaluator::TakeAll(Cells* cells) {
  List list = Borrow();
  list->swap(*cells);
  return list;
}

bool FilterEvaluator::Evaluate(NodeIndex index, Cells* cells) {
  const FilterNode& node = filter_.nodes()[index];
  if (!budget_->Work(1 + cells->size() + qualifier_units_ + cells->size() * node.CompareUnits()))
    return false;
  switch (node.kind) {
    case Kind::kChain:
      return EvaluateChain(node, cells);
    case Kind::kInterleave:
      return EvaluateInterleave(node, cells);
    case Kind::kCondition:
      return EvaluateCondition(node, cells);
    case Kind::kSink:
      // Held to the end of the row, whatever is given back of the copies that led here.
      sunk_cells_ += cells->size();
      return AddRun(TakeAll(cells), &sunk_);
    case Kind::kRowKeyRegex:
      if (!node.matcher->Matches(row_key_, budget_)) cells->clear();
      return budget_->status().ok();
    case Kind::kFamilyRegex:
      return EvaluateFamilyRegex(index, cells);
    case Kind::kQualifierRegex:
      return EvaluateQualifierRegex(index, cells);
    case Kind::kValueRegex:
      return EvaluateValueRegex(node, cells);
    default:
      EvaluateSimple(index, cells);
      return true;
  }
}

// Filters that cost next to nothing a cell.
void FilterEvaluator::EvaluateSimple(NodeIndex index, Cells* cells) {
  const FilterNode& node = filter_.nodes()[index];
  switch (node.kind) {
    case Kind::kBlockAll:
      return cells->clear();
    case Kind::kStripValue:
      for (FilterCell& cell : *cells) cell.cell.value = {};
      return;
    case Kind::kApplyLabel:
      for (FilterCell& cell : *cells) cell.label = node.label;
      return;
    case Kind::kRowSample:
      if (random_->UniformReal() >= node.probability) cells->clear();
      return;
    case Kind::kColumnRange:
      Compact(cells, [&](const FilterCell& cell) { return states_[index].family == cell.family; });
      return CompactQualifiers(cells,
                               [&](std::string_view qualifier) { return node.range.Contains(qualifier); });
    case Kind::kTimestampRange:
      return Compact(cells, [&](const FilterCell& cell) {
        return node.time_range.Contains(cell.cell.timestamp_micros);
      });
    case Kind::kValueRange:
      return Compact(cells, [&](const FilterCell& cell) { return node.range.Contains(cell.cell.value); });
    case Kind::kValueBitmask:
      return Compact(cells, [&](const FilterCell& cell) { return HasBits(cell.cell.value, node.text); });
    case Kind::kCellsPerRowOffset:
      cells->erase(cells->begin(), cells->begin() + std::min<int64_t>(node.count, std::ssize(*cells)));
      return;
    case Kind::kCellsPerRowLimit:
      cells->resize(std::min<int64_t>(node.count, std::ssize(*cells)));
      return;
    case Kind::kCellsPerColumnLimit:
      return KeepNewest(node.count, cells);
    default:
      return;  // kPassAll; the others are not simple
  }
}

bool FilterEvaluator::EvaluateQualifierRegex(NodeIndex index, Cells* cells) {
  const RegexMatcher& matcher = *filter_.nodes()[index].matcher;
  AnswerCache* answers = states_[index].answers.get();
  CompactQualifiers(cells, [&](std::string_view qualifier) {
    return answers != nullptr ? answers->Matches(matcher, qualifier, budget_)
                              : matcher.Matches(qualifier, budget_);
  });
  return budget_->status().ok();
}

bool FilterEvaluator::FamilyMatches(NodeIndex index, uint32_t family) {
  return states_[index].family_answers->Matches(*filter_.nodes()[index].matcher, schema_, family, budget_);
}

bool FilterEvaluator::EvaluateFamilyRegex(NodeIndex index, Cells* cells) {
  Compact(cells, OfFamilies([&](uint32_t family) { return FamilyMatches(index, family); }));
  return budget_->status().ok();
}

bool FilterEvaluator::EvaluateValueRegex(const FilterNode& node, Cells* cells) {
  Compact(cells, [&](const FilterCell& cell) { return node.matcher->Matches(cell.cell.value, budget_); });
  return budget_->status().ok();
}

bool FilterEvaluator::EvaluateChain(const FilterNode& node, Cells* cells) {
  for (const NodeIndex child : node.children) {
    if (cells->empty()) return true;
    if (!Evaluate(child, cells)) return false;
  }
  return true;
}

bool FilterEvaluator::EvaluateInterleave(const FilterNode& node, Cells* cells) {
  if (cells->empty()) return true;
  const size_t copied_before = copied_cells_;
  const size_t input_cells = cells->size();
  Runs runs;
  for (size_t i = 0; i + 1 < node.children.size(); ++i) {
    List copy = EvaluateCopy(node.children[i], *cells);
    if (copy == nullptr || !AddRun(std::move(copy), &runs)) return false;
  }
  // The last one may have the input itself.
  if (!Evaluate(node.children.back(), cells)) return false;
  copied_cells_ -= std::min(copied_cells_, input_cells);
  if (!AddRun(TakeAll(cells), &runs)) return false;
  if (!MergeRuns(&runs, cells)) return false;
  copied_cells_ = copied_before + (cells->size() > input_cells ? cells->size() - input_cells : 0);
  return true;
}

// Null when the budget refused.
FilterEvaluator::List FilterEvaluator::EvaluateCopy(NodeIndex index, const Cells& cells) {
  if (!budget_->Work(cells.size())) return nullptr;
  const size_t copied_before = copied_cells_;
  List copy = Borrow();
  const bool is_done = CopyFor(index, cells, copy.get()) && Evaluate(index, copy.get());
  copied_cells_ = copied_before;
  return is_done ? std::move(copy) : nullptr;
}

// Most filters of an interleave begin with one that leaves little of a row: the rest need not be copied.
bool FilterEvaluator::CopyFor(NodeIndex index, const Cells& cells, Cells* copy) {
  while (filter_.nodes()[index].kind == Kind::kChain) index = filter_.nodes()[index].children.front();
  const FilterNode& node = filter_.nodes()[index];
  const auto copy_if = [&](const auto& passes) {
    const auto count = static_cast<size_t>(std::count_if(cells.begin(), cells.end(), passes));
    copied_cells_ += count;
    if (!budget_->AdmitCopies(copied_cells_ + sunk_cells_, row_cells_)) return false;
    copy->reserve(count);
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(*copy), passes);
    return true;
  };
  switch (node.kind) {
    case Kind::kBlockAll:
      return true;
    case Kind::kFamilyRegex:
      return copy_if(OfFamilies([&](uint32_t family) { return FamilyMatches(index, family); }));
    case Kind::kColumnRange:
      return copy_if([&](const FilterCell& cell) {
        return states_[index].family == cell.family && node.range.Contains(cell.cell.qualifier);
      });
    case Kind::kTimestampRange:
      return copy_if(
          [&](const FilterCell& cell) { return node.time_range.Contains(cell.cell.timestamp_micros); });
    default:
      return copy_if([](const FilterCell&) { return true; });
  }
}

bool FilterEvaluator::EvaluateCondition(const FilterNode& node, Cells* cells) {
  if (cells->empty()) return true;
  List copy = EvaluateCopy(node.children[0], *cells);
  if (copy == nullptr) return false;
  const bool is_true = !copy->empty();
  Return(std::move(copy));
  const NodeIndex branch = node.children[is_true ? 1 : 2];
  if (branch != kNoNode) return Evaluate(branch, cells);
  cells->clear();
  return true;
}

bool FilterEvaluator::AddRun(List run, Runs* runs) {
  if (run->empty()) {
    Return(std::move(run));
    return true;
  }
  // A branch begins with a copy of all cells, of which few may be left: its room must not be held with them.
  if (run->capacity() > 2 * run->size() + kSpareCellsOfRun) run->shrink_to_fit();
  if (runs != &sunk_ || sunk_cells_ == 0) copied_cells_ += run->size();
  if (!budget_->AdmitCopies(copied_cells_ + sunk_cells_, row_cells_)) return false;
  runs->push_back(std::move(run));
  return true;
}

// Neighbours are merged, then neighbours of what came out, so that the order of equal cells is that of the
// runs.
bool FilterEvaluator::MergeRuns(Runs* runs, Cells* merged) {
  size_t cells_count = 0;
  for (const List& run : *runs) cells_count += run->size();
  // The output is held beside the input.
  if (runs->size() > 1 && !budget_->AdmitCopies(copied_cells_ + sunk_cells_ + cells_count, row_cells_))
    return false;
  while (runs->size() > 1) {
    if (!budget_->Work(cells_count * kMergeUnitsPerCell + qualifier_units_)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < runs->size(); i += 2) {
      List run = std::move((*runs)[i]);
      if (i + 1 < runs->size()) run = Merge(std::move(run), std::move((*runs)[i + 1]));
      (*runs)[kept++] = std::move(run);
    }
    runs->resize(kept);
  }
  if (runs->empty()) return true;
  merged->swap(*runs->front());
  Return(std::move(runs->front()));
  runs->clear();
  return true;
}

FilterEvaluator::List FilterEvaluator::Merge(List a, List b) {
  List merged;
  if (ComesBefore(b->front(), a->back())) {
    merged = Borrow();
    merged->reserve(a->size() + b->size());
    std::merge(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*merged), ComesBefore);
    Return(std::move(a));
  } else {  // one lies behind the other
    merged = std::move(a);
    merged->reserve(merged->size() + b->size());  // insert would take twice as much as there is
    merged->insert(merged->end(), b->begin(), b->end());
  }
  Return(std::move(b));
  return merged;
}

}  // namespace sonde

#include "filter/filter_evaluator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace sonde {

using Kind = FilterNode::Kind;

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

struct FilterEvaluator::NodeState {
  std::vector<uint8_t> family_passes;    // kFamilyRegex, kColumnRange
  std::unique_ptr<AnswerCache> answers;  // kQualifierRegex, unless it is simple
};

// A list from the evaluator's stock, empty, given back at the end of the block.
class FilterEvaluator::BorrowedCells {
 public:
  explicit BorrowedCells(FilterEvaluator* owner) : owner_(owner) {
    if (owner_->free_cells_.empty()) owner_->free_cells_.push_back(std::make_unique<Cells>());
    cells_ = std::move(owner_->free_cells_.back());
    owner_->free_cells_.pop_back();
    cells_->clear();
  }
  ~BorrowedCells() {
    if (cells_->capacity() <= kKeptCellsMax) owner_->free_cells_.push_back(std::move(cells_));
  }
  BorrowedCells(const BorrowedCells&) = delete;
  BorrowedCells& operator=(const BorrowedCells&) = delete;
  Cells* operator->() { return cells_.get(); }
  Cells* get() { return cells_.get(); }

 private:
  FilterEvaluator* owner_;
  std::unique_ptr<Cells> cells_;
};

class FilterEvaluator::BorrowedPool {
 public:
  explicit BorrowedPool(FilterEvaluator* owner) : owner_(owner) {
    if (owner_->free_pools_.empty()) owner_->free_pools_.push_back(std::make_unique<Pool>());
    pool_ = std::move(owner_->free_pools_.back());
    owner_->free_pools_.pop_back();
    pool_->cells.clear();
    pool_->run_starts.clear();
  }
  ~BorrowedPool() {
    owner_->interleaved_cells_ -= pool_->cells.size();
    if (pool_->cells.capacity() <= kKeptCellsMax) owner_->free_pools_.push_back(std::move(pool_));
  }
  BorrowedPool(const BorrowedPool&) = delete;
  BorrowedPool& operator=(const BorrowedPool&) = delete;
  Pool* get() { return pool_.get(); }

 private:
  FilterEvaluator* owner_;
  std::unique_ptr<Pool> pool_;
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

FilterEvaluator::FilterEvaluator(const CompiledFilter& filter, const std::vector<std::string>& families,
                                 FilterBudget* budget, RandomSource* random)
    : filter_(filter), budget_(budget), random_(random), states_(filter.nodes().size()) {
  for (size_t i = 0; i < states_.size(); ++i) {
    const FilterNode& node = filter.nodes()[i];
    if (node.kind == Kind::kFamilyRegex || node.kind == Kind::kColumnRange) {
      for (const std::string& family : families) {
        states_[i].family_passes.push_back(node.kind == Kind::kColumnRange ? family == node.text
                                                                           : node.matcher->Matches(family));
      }
    }
    if (node.kind == Kind::kQualifierRegex && !node.matcher->IsSimple()) {
      states_[i].answers = std::make_unique<AnswerCache>();
    }
  }
}

FilterEvaluator::~FilterEvaluator() = default;

absl::Status FilterEvaluator::Run(std::string_view row_key, Cells* cells) {
  row_key_ = row_key;
  row_cells_ = cells->size();
  interleaved_cells_ = 0;
  sunk_.cells.clear();
  sunk_.run_starts.clear();
  if (!Evaluate(filter_.root_index(), cells)) return budget_->status();
  if (sunk_.cells.empty()) return absl::OkStatus();
  sunk_.run_starts.push_back(sunk_.cells.size());
  sunk_.cells.insert(sunk_.cells.end(), cells->begin(), cells->end());
  MergeRuns(&sunk_, cells);
  if (sunk_.cells.capacity() > kKeptCellsMax) sunk_ = {};
  return absl::OkStatus();
}

bool FilterEvaluator::Evaluate(NodeIndex index, Cells* cells) {
  const FilterNode& node = filter_.nodes()[index];
  if (!budget_->Work(1 + cells->size())) return false;
  switch (node.kind) {
    case Kind::kChain:
      return EvaluateChain(node, cells);
    case Kind::kInterleave:
      return EvaluateInterleave(node, cells);
    case Kind::kCondition:
      return EvaluateCondition(node, cells);
    case Kind::kSink:
      if (!AddRun(*cells, &sunk_)) return false;
      cells->clear();
      return true;
    case Kind::kRowKeyRegex:
      if (!node.matcher->Matches(row_key_, budget_)) cells->clear();
      return budget_->status().ok();
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
  const std::vector<uint8_t>& family_passes = states_[index].family_passes;
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
    case Kind::kFamilyRegex:
      return Compact(cells, [&](const FilterCell& cell) { return family_passes[cell.family] != 0; });
    case Kind::kColumnRange:
      Compact(cells, [&](const FilterCell& cell) { return family_passes[cell.family] != 0; });
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
  BorrowedPool pool(this);
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i + 1 == node.children.size()) {  // the last one may have the input itself
      if (!Evaluate(node.children[i], cells) || !AddRun(*cells, pool.get())) return false;
      break;
    }
    BorrowedCells copy(this);
    copy->assign(cells->begin(), cells->end());
    if (!Evaluate(node.children[i], copy.get()) || !AddRun(*copy.get(), pool.get())) return false;
  }
  MergeRuns(pool.get(), cells);
  return true;
}

bool FilterEvaluator::EvaluateCondition(const FilterNode& node, Cells* cells) {
  if (cells->empty()) return true;
  bool is_true = false;
  {
    BorrowedCells copy(this);
    copy->assign(cells->begin(), cells->end());
    if (!Evaluate(node.children[0], copy.get())) return false;
    is_true = !copy->empty();
  }
  const NodeIndex branch = node.children[is_true ? 1 : 2];
  if (branch != kNoNode) return Evaluate(branch, cells);
  cells->clear();
  return true;
}

bool FilterEvaluator::AddRun(const Cells& cells, Pool* pool) {
  if (cells.empty()) return true;
  interleaved_cells_ += cells.size();
  if (!budget_->AdmitInterleaved(interleaved_cells_, row_cells_)) return false;
  pool->run_starts.push_back(pool->cells.size());
  pool->cells.insert(pool->cells.end(), cells.begin(), cells.end());
  return true;
}

// Neighbours are merged, then neighbours of what came out, so that the order of equal cells is that of the
// runs.
void FilterEvaluator::MergeRuns(Pool* pool, Cells* merged) {
  std::vector<size_t>& starts = pool->run_starts;
  Cells& cells = pool->cells;
  const size_t count = cells.size();
  merged->resize(count);
  while (starts.size() > 1) {
    size_t runs = 0;
    for (size_t i = 0; i < starts.size(); i += 2) {
      const size_t start = starts[i];
      const size_t middle = i + 1 < starts.size() ? starts[i + 1] : count;
      const size_t end = i + 2 < starts.size() ? starts[i + 2] : count;
      std::merge(cells.begin() + start, cells.begin() + middle, cells.begin() + middle, cells.begin() + end,
                 merged->begin() + start, ComesBefore);
      starts[runs++] = start;
    }
    starts.resize(runs);
    cells.swap(*merged);
  }
  merged->swap(cells);
}

}  // namespace sonde

// A filter's judgement of a row by its key alone, and whether it judges cell by cell.
#include <algorithm>

#include "filter/compiled_filter.h"

namespace sonde {

using Kind = FilterNode::Kind;

bool CompiledFilter::RowKeyMayPass(std::string_view row_key, FilterBudget* budget) const {
  budget->StartRow(row_key.size());
  const bool may_pass = RowKeyMayPass(root_index(), row_key, budget);
  budget->EndRow();
  return may_pass || !budget->status().ok();
}

bool CompiledFilter::RowKeyMayPass(NodeIndex index, std::string_view row_key, FilterBudget* budget) const {
  const FilterNode& node = nodes_[index];
  if (!node.depends_on_row_key) return true;
  if (!budget->Work(1)) return true;
  switch (node.kind) {
    case Kind::kBlockAll:
      return false;
    case Kind::kRowKeyRegex:
      return node.matcher->Matches(row_key, budget);
    case Kind::kChain:
      for (const NodeIndex child : node.children) {
        if (!RowKeyMayPass(child, row_key, budget)) return false;
        // Cells may leave through the sink, whatever comes after it.
        if (nodes_[child].has_sink) return true;
      }
      return true;
    case Kind::kInterleave:
      for (const NodeIndex child : node.children) {
        if (RowKeyMayPass(child, row_key, budget)) return true;
      }
      return false;
    case Kind::kCondition:
      for (const size_t branch : {1, 2}) {
        if (node.children[branch] != kNoNode && RowKeyMayPass(node.children[branch], row_key, budget))
          return true;
      }
      return false;
    default:
      return true;
  }
}

// Copies of a cell, which interleaves and sinks make, follow each other wherever it is.
bool CompiledFilter::SeesCellsAlone() const {
  return std::none_of(nodes_.begin(), nodes_.end(), [](const FilterNode& node) {
    switch (node.kind) {
      case Kind::kCondition:
      case Kind::kRowSample:
      case Kind::kCellsPerRowOffset:
      case Kind::kCellsPerRowLimit:
      case Kind::kCellsPerColumnLimit:
        return true;
      default:
        return false;
    }
  });
}

std::vector<RowRange> CompiledFilter::PossibleRows() const {
  std::vector<RowRange> rows;
  for (ByteRange& range : PossibleRowKeys(root_index())) {
    if (range.end.has_value() && range.end->empty()) continue;
    rows.push_back({std::move(range.start), range.end.has_value() ? *std::move(range.end) : std::string()});
  }
  return rows;
}

ByteRanges CompiledFilter::PossibleRowKeys(NodeIndex index) const {
  const FilterNode& node = nodes_[index];
  if (!node.depends_on_row_key) return {ByteRange{}};
  ByteRanges rows;
  switch (node.kind) {
    case Kind::kBlockAll:
      return {};
    case Kind::kRowKeyRegex:
      return node.matcher->PossibleMatches();
    case Kind::kChain:
      rows = {ByteRange{}};
      for (const NodeIndex child : node.children) {
        if (nodes_[child].depends_on_row_key) rows = IntersectionOf(rows, PossibleRowKeys(child));
        if (nodes_[child].has_sink) break;
      }
      return rows;
    case Kind::kInterleave:
      for (const NodeIndex child : node.children) {
        for (ByteRange& range : PossibleRowKeys(child)) rows.push_back(std::move(range));
      }
      return AtMost(RegexMatcher::kPossibleRangesMax, NormalizeByteRanges(std::move(rows)));
    case Kind::kCondition:
      for (const size_t branch : {1, 2}) {
        if (node.children[branch] == kNoNode) continue;
        rows = UnionOf(std::move(rows), PossibleRowKeys(node.children[branch]));
      }
      return rows;
    default:
      return {ByteRange{}};
  }
}

}  // namespace sonde

// A row filter, checked and compiled.  A request makes it once, and all evaluators of the request share it.
//
// Source: the comments of google.bigtable.v2.RowFilter (data.proto) give the meaning of each kind.  Beyond
// them:
// - Regexes are RE2, Latin-1, and match whole strings.
// - Cells of equal column and timestamp, whose order the comments leave "unspecified", come in this order:
//  first the cells of a sink, then those of an interleave's filters, in the order of the filters.
// - A condition's predicate and branch see the same row.
//
// Threads: a filter is immutable; any number of threads may call its functions at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "filter/filter_node.h"
#include "model/filter_spec.h"
#include "model/read_hints.h"
#include "model/row_range.h"
#include "model/table_schema.h"

namespace sonde {

// The parts of a row that a filter looks at.
struct FilterNeeds {
  // The filter gives nothing for any row, so that nothing has to be read.
  bool nothing = false;
  // A row that is reduced by these hints, in any way that ReadHints allow, gives the same output.  The hints
  // do not consider garbage collection: see RefineReadHints (gc/gc_rule_evaluator.h).
  ReadHints hints;
};

class CompiledFilter {
 public:
  // Compiles `spec`, which is not used afterwards.
  // INVALID_ARGUMENT, naming the place ("filter.chain[1].value_regex") and the rule:
  //  a chain or interleave of fewer than 2 filters;
  //  a filter that nests deeper than kFilterDepthMax;
  //  a probability outside (0, 1), or a count below 1;
  //  a pattern that is no regular expression, or too large; ':' in a family regex;
  //  a label that is not 1 to 15 of [a-z0-9-]; more than one filter with a label in a chain;
  //  a sink in a condition;
  //  a range of columns or values that is empty by construction;
  //  a timestamp range that is negative or reversed.
  // INVALID_ARGUMENT, with production's words and no place:
  //  a row key regex, family regex or bitmask that is empty;
  //  a column range whose family is no family's name.
  // RESOURCE_EXHAUSTED: too many filters; too many, or too large, regular expressions that need an automaton.
  static absl::StatusOr<std::shared_ptr<const CompiledFilter>> Create(const FilterSpec& spec);

  CompiledFilter(const CompiledFilter&) = delete;
  CompiledFilter& operator=(const CompiledFilter&) = delete;

  // NOT_FOUND, with production's words: the table lacks a family that the filter names anywhere, by a column
  // range or by a family regex that is a literal.
  absl::Status CheckFamilies(const TableSchema& schema) const;

  // Returns what a row must have for this filter.  If the budget's time for planning does not suffice, the
  // result asks for more than it had to; the budget's refusal has no other effect.
  FilterNeeds Needs(const TableSchema& schema, FilterBudget* budget) const;

  // Returns false if the row gives nothing, whatever its cells.  Once the budget refuses, it returns true,
  // and an evaluator with the same budget answers with the budget's status.
  bool RowKeyMayPass(std::string_view row_key, FilterBudget* budget) const;

  // Returns ranges, in normal form.  No row outside them gives anything.
  std::vector<RowRange> PossibleRows() const;

  // Whether the filter's decision on a cell depends on the cell and the row key alone.  If so, a row may be
  // filtered in parts, one after the other, with the same result.
  bool SeesCellsAlone() const;

  bool PassesAll() const { return root().kind == FilterNode::Kind::kPassAll; }

  // The text of FilterCell::label.  It is empty for kNoLabel.
  std::string_view Label(uint32_t label) const { return labels_[label]; }

  // These two are for the evaluator.
  const std::vector<FilterNode>& nodes() const { return nodes_; }
  NodeIndex root_index() const { return static_cast<NodeIndex>(nodes_.size() - 1); }

 private:
  friend class FilterCompiler;
  CompiledFilter() = default;

  const FilterNode& root() const { return nodes_.back(); }
  bool RowKeyMayPass(NodeIndex index, std::string_view row_key, FilterBudget* budget) const;
  ByteRanges PossibleRowKeys(NodeIndex index) const;

  std::vector<FilterNode> nodes_;  // children before parents; the last is the root
  std::vector<std::string> labels_ = {""};
};

inline absl::StatusOr<std::shared_ptr<const CompiledFilter>> CompileFilter(const FilterSpec& spec) {
  return CompiledFilter::Create(spec);
}

}  // namespace sonde

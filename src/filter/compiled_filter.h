// A row filter, checked and ready: a request makes it once, and all who evaluate it share it.
//
// The comments of google.bigtable.v2.RowFilter (data.proto) say what each kind means.  Beyond them:
// - Regexes are RE2, Latin-1, and match whole strings.
// - Cells of equal column and timestamp, whose order the comments leave "unspecified", come in this order:
//   first those of a sink, then those of an interleave's filters, in the order of the filters.
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

// What of a row a filter looks at.
struct FilterNeeds {
  // The filter gives nothing for any row: nothing has to be read.
  bool nothing = false;
  // A row that is reduced by these, in any way that ReadHints allow, gives the same output.  They know
  // nothing of garbage collection: see RefineReadHints of gc.
  ReadHints hints;
};

class CompiledFilter {
 public:
  // The spec is not used after this.  INVALID_ARGUMENT, naming the place ("filter.chain[1].value_regex") and
  // the rule: fewer than 2 filters in a chain or interleave; nested deeper than kFilterDepthMax; a
  // probability outside (0, 1); a count below 1; not a regular expression, or too large; ':' in a family
  // regex; a label that is not 1 to 15 of [a-z0-9-]; more than one filter with a label in a chain; a sink in
  // a condition; a range of columns or values that is empty by construction; a timestamp range that is
  // negative or reversed.  Likewise, with production's words and no place: a row key or family regex or a
  // bitmask that is empty; a column range whose family is no family's name.  RESOURCE_EXHAUSTED: too many
  // filters, too many regular expressions that need an automaton, or too large ones.
  static absl::StatusOr<std::shared_ptr<const CompiledFilter>> Create(const FilterSpec& spec);

  CompiledFilter(const CompiledFilter&) = delete;
  CompiledFilter& operator=(const CompiledFilter&) = delete;

  // NOT_FOUND, with production's words, if the table has not a family that a column range names, or that a
  // family regex names which is a literal, wherever in the filter that is.
  absl::Status CheckFamilies(const TableSchema& schema) const;

  // Where the budget's time for planning does not suffice, more is needed than had to be; it never refuses
  // by that.
  FilterNeeds Needs(const TableSchema& schema, FilterBudget* budget) const;

  // False: the row gives nothing, whatever its cells.  Once the budget refuses, this is true, and an
  // evaluator with the same budget answers with the budget's status.
  bool RowKeyMayPass(std::string_view row_key, FilterBudget* budget) const;

  // Ranges, in normal form, outside of which no row gives anything.
  std::vector<RowRange> PossibleRows() const;

  // Whether what becomes of a cell depends on itself and the row key alone: of a row in parts, one after the
  // other, the filter gives what it gives of the row.
  bool SeesCellsAlone() const;

  bool PassesAll() const { return root().kind == FilterNode::Kind::kPassAll; }

  // The text of FilterCell::label; empty for kNoLabel.
  std::string_view Label(uint32_t label) const { return labels_[label]; }

  // For the evaluator.
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

// Applies a compiled filter to row after row, in place.
//
//   FilterEvaluator evaluator(*filter, schema, &budget, &random);
//   std::vector<FilterCell> cells = ...;                 // a row
//   if (filter->RowKeyMayPass(row_key, &budget)) {
//     absl::Status status = evaluator.Run(row_key, &cells);   // `cells` is now the output, perhaps empty
//   }
//
// Order:     Cells are ordered by family, qualifier ascending, timestamp descending, before and after Run.
//            After it, copies of a cell may follow each other.
// Ownership: Cells keep pointing into the row that they were given with.  The filter, schema, budget and
//            random source must outlive the evaluator.  Memory for copies is kept from row to row, up to
//            kKeptCellsMax cells.
// Threads:   One thread at a time.
// Errors:    The budget's refusal: RESOURCE_EXHAUSTED, or the answer of its `interrupted`.  `cells` is then
//            undefined.
// Cost:      A simple filter of a chain is a pass over the cells.  Each filter of an interleave, and a
//            condition's predicate, copies the cells.  A regex on families is evaluated once for each family
//            that has cells.  A regex on qualifiers that is no literal and no prefix is evaluated at most
//            once for each column of a row; a cache saves more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "filter/compiled_filter.h"
#include "filter/filter_budget.h"
#include "filter/filter_cell.h"
#include "model/table_schema.h"

namespace sonde {

class FilterEvaluator {
 public:
  static constexpr size_t kKeptCellsMax = 4 * 1024;

  // FilterCell::family is an index into the schema's families.
  FilterEvaluator(const CompiledFilter& filter, const TableSchema& schema, FilterBudget* budget,
                  RandomSource* random);
  ~FilterEvaluator();
  FilterEvaluator(const FilterEvaluator&) = delete;
  FilterEvaluator& operator=(const FilterEvaluator&) = delete;

  absl::Status Run(std::string_view row_key, std::vector<FilterCell>* cells);

 private:
  using Cells = std::vector<FilterCell>;
  class AnswerCache;
  class FamilyAnswers;
  struct NodeState;
  using List = std::unique_ptr<Cells>;
  // Sorted lists of cells, none of them empty.
  using Runs = std::vector<List>;

  // Takes a list from a stock of lists, or gives it back.
  List Borrow();
  void Return(List list);
  // Moves all cells into a list of its own.
  List TakeAll(Cells* cells);

  // All functions below return false if the budget refused.
  bool RunOnRow(Cells* cells);
  bool Evaluate(NodeIndex index, Cells* cells);
  bool EvaluateChain(const FilterNode& node, Cells* cells);
  bool EvaluateInterleave(const FilterNode& node, Cells* cells);
  bool EvaluateCondition(const FilterNode& node, Cells* cells);
  bool EvaluateValueRegex(const FilterNode& node, Cells* cells);
  bool EvaluateQualifierRegex(NodeIndex index, Cells* cells);
  bool EvaluateFamilyRegex(NodeIndex index, Cells* cells);
  bool FamilyMatches(NodeIndex index, uint32_t family);
  List EvaluateCopy(NodeIndex index, const Cells& cells);
  bool CopyFor(NodeIndex index, const Cells& cells, Cells* copy);
  bool AddRun(List run, Runs* runs);
  bool MergeRuns(Runs* runs, Cells* merged);
  List Merge(List a, List b);

  void EvaluateSimple(NodeIndex index, Cells* cells);

  const CompiledFilter& filter_;
  const TableSchema& schema_;
  FilterBudget* budget_;
  RandomSource* random_;
  std::vector<NodeState> states_;  // by node
  std::vector<List> free_cells_;
  size_t kept_cells_ = 0;  // cells that free_cells_ has room for
  Runs sunk_;

  // Facts about the row at hand.
  std::string_view row_key_;
  size_t row_cells_ = 0;
  uint64_t qualifier_units_ = 0;  // units of work to compare all its qualifiers
  size_t copied_cells_ = 0;       // copies that are held besides the row's own cells
  size_t sunk_cells_ = 0;         // cells in sunk_, while the row is worked on
};

}  // namespace sonde

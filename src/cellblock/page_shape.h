// The shape of a page: which columns each row has, with which timestamps, and where their values are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cellblock/page_format.h"
#include "codec/integers.h"

namespace sonde {

// Not for several threads.  Errors of all functions: DATA_LOSS if the bytes are damaged.
class PageShape {
 public:
  // Parses the shape of a page with the header in `parts`.  Each column has `cells_of` cells and begins at
  // `base_of` in its stream.  Views `times`.  DATA_LOSS: the bytes do not fit these.
  absl::Status Parse(std::string_view shape, std::string_view times, const PageParts& parts,
                     absl::Span<const int64_t> cells_of, absl::Span<const uint32_t> base_of);

  // The number of the row's set of columns.  Rows with the same columns have the same set.
  size_t SetOf(size_t row) const { return set_ids_.empty() ? 0 : static_cast<size_t>(set_ids_[row]); }
  // The columns of a row, ascending.
  absl::Span<const uint32_t> ColumnsOf(size_t row) const {
    const size_t set = SetOf(row);
    return {set_members_.data() + set_starts_[set], set_starts_[set + 1] - set_starts_[set]};
  }
  // Not 0 if the page is regular: all rows have all columns, each column has this many cells in each row, and
  // all columns of a row have the same timestamps.  0 otherwise.
  size_t CellsOfEach() const { return regular_ ? list_cells_ : 0; }
  // How many cells rows [begin, end) have.
  size_t CellsOf(size_t begin, size_t end) const;
  // Where the cells of the i-th column of a row begin, in the column's stream.
  size_t FirstValue(size_t row, size_t i) const {
    if (!regular_) return group_values_[row_groups_[row] + i];
    if (order_ == PageOrder::kByRow) return (row * header_.columns + i) * list_cells_;
    return base_of_[i] + row * list_cells_;
  }

  // About how many bytes of decoded data the shape keeps.
  size_t KeptBytes() const;

  // Decodes the timestamps of rows [begin, end).  TimesOf then answers for these rows.
  absl::Status DecodeTimes(size_t begin, size_t end);
  // The timestamps of the i-th column of a row, descending.  They hold until DecodeTimes is called for other
  // rows.
  absl::Span<const int64_t> TimesOf(size_t row, size_t i) const {
    size_t list = ListOf(row);
    if (!regular_ && modes_[row] != static_cast<int64_t>(TimeMode::kShared)) {
      if (modes_[row] == static_cast<int64_t>(TimeMode::kSubset)) {
        const size_t group = row_subsets_[row] + i - row_subsets_[times_row_];
        return {subset_times_.data() + subset_starts_[group],
                subset_starts_[group + 1] - subset_starts_[group]};
      }
      list += i;
    }
    const size_t start = ListStart(list);
    return {times_.data() + (start - ListStart(ListOf(times_row_))), ListStart(list + 1) - start};
  }

 private:
  absl::Status ParseSets(std::string_view* in);
  absl::Status ParseLists(std::string_view* in);
  absl::Status PlaceRows(absl::Span<const int64_t> cells_of, absl::Span<const uint32_t> base_of);
  // Returns how many cells the i-th column of a row has; checks the list of timestamps that the column lacks.
  absl::StatusOr<size_t> CountOf(size_t row, size_t i) const;
  absl::Status CheckRegular(absl::Span<const int64_t> cells_of) const;
  void FindSubsetTimes(size_t begin, size_t end);
  size_t ListOf(size_t row) const { return regular_ ? row : row_lists_[row]; }
  size_t ListStart(size_t list) const { return regular_ ? list * list_cells_ : list_starts_[list]; }

  PageHeader header_;
  PageOrder order_ = PageOrder::kByColumn;

  std::vector<uint32_t> set_starts_, set_members_;
  std::vector<int64_t> set_ids_;  // by row; empty if there is only one set
  std::vector<int64_t> modes_;    // by row; empty if regular

  // Whether all rows have all columns, with equally many cells in each, and with the same timestamps in all
  // columns of a row.  A regular page needs no counting.
  bool regular_ = false;
  size_t list_cells_ = 0;  // cells of each list, if regular
  std::vector<uint32_t> base_of_;

  std::vector<uint32_t> row_lists_;      // the first list of each row, and the end
  std::vector<uint32_t> list_starts_;    // where each list begins in the sequence of all lists, and the end
  std::vector<uint32_t> row_groups_;     // the first group (column of a row) of each row, and the end
  std::vector<uint32_t> group_values_;   // where the values of each group begin, in its stream
  std::vector<uint32_t> group_missing_;  // where the missing timestamps of each group of a kSubset row begin,
                                         // and the end
  std::vector<uint32_t> row_subsets_;    // the number of groups of kSubset rows before each row
  std::vector<int64_t> missing_;

  codec::IntegerColumn newest_, steps_;
  // The decoded timestamps, and the rows [times_row_, times_row_end_) that they belong to.
  size_t times_row_ = 0, times_row_end_ = 0;
  std::vector<int64_t> times_;
  std::vector<int64_t> subset_times_;
  std::vector<uint32_t> subset_starts_;  // where each group of a decoded kSubset row begins
};

}  // namespace sonde

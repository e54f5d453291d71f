#include "cellblock/page_shape.h"

#include <algorithm>
#include <numeric>

#include "base/varint.h"

namespace sonde {
namespace {

constexpr auto kShared = static_cast<int64_t>(TimeMode::kShared);
constexpr auto kSubset = static_cast<int64_t>(TimeMode::kSubset);

}  // namespace

absl::Status PageShape::Parse(std::string_view shape, std::string_view times, const PageParts& parts,
                              absl::Span<const int64_t> cells_of, absl::Span<const uint32_t> base_of) {
  header_ = parts.header;
  order_ = parts.order;
  if (absl::Status status = ParseSets(&shape); !status.ok()) return status;
  if (absl::Status status = ParseLists(&shape); !status.ok()) return status;
  if (!shape.empty()) return DamagedPage("bytes left over in its shape");
  const size_t lists = regular_ ? header_.rows : list_starts_.size() - 1;
  const size_t cells = ListStart(lists);
  if (!newest_.Parse(&times, lists) || (cells > lists && !steps_.Parse(&times, cells - lists)) ||
      !times.empty()) {
    return DamagedPage("timestamps");
  }
  if (!regular_) return PlaceRows(cells_of, base_of);
  base_of_.assign(base_of.begin(), base_of.end());
  return CheckRegular(cells_of);
}

absl::Status PageShape::ParseSets(std::string_view* in) {
  uint64_t sets = 0;
  codec::IntegerColumn column;
  std::vector<int64_t> sizes, members;
  if (!GetVarint(in, &sets) || sets == 0 || sets > header_.rows || !column.Parse(in, sets) ||
      !column.DecodeAll(1, static_cast<int64_t>(header_.columns), &sizes)) {
    return DamagedPage("sets of columns");
  }
  set_starts_.push_back(0);
  uint64_t total = 0;
  for (const int64_t size : sizes) {
    total += static_cast<uint64_t>(size);
    if (total > header_.cells) return DamagedPage("sets of columns");
    set_starts_.push_back(static_cast<uint32_t>(total));
  }
  if (!column.Parse(in, total) || !column.DecodeAll(0, static_cast<int64_t>(header_.columns) - 1, &members)) {
    return DamagedPage("sets of columns");
  }
  set_members_.assign(members.begin(), members.end());
  for (size_t set = 0; set < sets; ++set) {
    for (size_t i = set_starts_[set] + 1; i < set_starts_[set + 1]; ++i) {
      if (set_members_[i] <= set_members_[i - 1]) return DamagedPage("columns out of order");
    }
  }
  if (!column.Parse(in, header_.rows)) return DamagedPage("sets of rows");
  if (sets > 1 && !column.DecodeAll(0, static_cast<int64_t>(sets) - 1, &set_ids_)) {
    return DamagedPage("sets of rows");
  }
  return absl::OkStatus();
}

absl::Status PageShape::ParseLists(std::string_view* in) {
  codec::IntegerColumn column;
  if (!column.Parse(in, header_.rows)) return DamagedPage("time modes");
  int64_t mode = 0;
  const bool all_shared = column.IsConstant(&mode) && mode == kShared;
  uint64_t lists = header_.rows;
  uint64_t subsets = 0;
  if (!all_shared) {
    if (!column.DecodeAll(0, kTimeModeMax, &modes_)) return DamagedPage("time modes");
    lists = 0;
    row_lists_.reserve(header_.rows + 1);
    row_subsets_.reserve(header_.rows + 1);
    for (size_t row = 0; row < header_.rows; ++row) {
      row_lists_.push_back(static_cast<uint32_t>(lists));
      row_subsets_.push_back(static_cast<uint32_t>(subsets));
      const size_t columns = ColumnsOf(row).size();
      lists += modes_[row] == kShared || modes_[row] == kSubset ? 1 : columns;
      if (modes_[row] == kSubset) subsets += columns;
      if (lists > header_.cells || subsets > header_.cells) return DamagedPage("timestamp lists");
    }
    row_lists_.push_back(static_cast<uint32_t>(lists));
    row_subsets_.push_back(static_cast<uint32_t>(subsets));
  }
  if (!column.Parse(in, lists)) return DamagedPage("timestamp lists");
  int64_t list_cells = 0;
  if (all_shared && set_starts_.size() == 2 && set_members_.size() == header_.columns &&
      column.IsConstant(&list_cells)) {
    if (list_cells <= 0 ||
        static_cast<uint64_t>(list_cells) * header_.rows * header_.columns != header_.cells ||
        static_cast<uint64_t>(list_cells) > header_.cells) {
      return DamagedPage("timestamp lists");
    }
    list_cells_ = static_cast<size_t>(list_cells);
    regular_ = true;
    return absl::OkStatus();
  }
  std::vector<int64_t> counts;
  if (!column.DecodeAll(1, static_cast<int64_t>(header_.cells), &counts))
    return DamagedPage("timestamp lists");
  uint64_t total = 0;
  list_starts_.reserve(lists + 1);
  for (const int64_t count : counts) {
    list_starts_.push_back(static_cast<uint32_t>(total));
    total += static_cast<uint64_t>(count);
    // A list of a kSubset row has at most twice the cells that its columns have
    // of it.
    if (total > 2 * header_.cells) return DamagedPage("timestamp lists");
  }
  list_starts_.push_back(static_cast<uint32_t>(total));
  if (all_shared) {
    modes_.assign(header_.rows, kShared);
    row_lists_.resize(header_.rows + 1);
    std::iota(row_lists_.begin(), row_lists_.end(), 0);
    row_subsets_.assign(header_.rows + 1, 0);
  }
  if (subsets == 0) return absl::OkStatus();
  std::vector<int64_t> missing_counts;
  if (!column.Parse(in, subsets) ||
      !column.DecodeAll(0, static_cast<int64_t>(2 * header_.cells), &missing_counts)) {
    return DamagedPage("missing timestamps");
  }
  uint64_t missing = 0;
  for (const int64_t count : missing_counts) {
    group_missing_.push_back(static_cast<uint32_t>(missing));
    missing += static_cast<uint64_t>(count);
    if (missing > 2 * header_.cells) return DamagedPage("missing timestamps");
  }
  group_missing_.push_back(static_cast<uint32_t>(missing));
  if (missing > 0 && (!column.Parse(in, missing) ||
                      !column.DecodeAll(0, static_cast<int64_t>(2 * header_.cells), &missing_))) {
    return DamagedPage("missing timestamps");
  }
  return absl::OkStatus();
}

absl::Status PageShape::CheckRegular(absl::Span<const int64_t> cells_of) const {
  const auto cells = static_cast<int64_t>(list_cells_ * header_.rows);
  const bool fits =
      std::all_of(cells_of.begin(), cells_of.end(), [cells](int64_t count) { return count == cells; });
  return fits ? absl::OkStatus() : DamagedPage("cells of a column");
}

absl::StatusOr<size_t> PageShape::CountOf(size_t row, size_t i) const {
  const size_t list = row_lists_[row] + (modes_[row] == kShared || modes_[row] == kSubset ? 0 : i);
  const size_t count = list_starts_[list + 1] - list_starts_[list];
  if (modes_[row] != kSubset) return count;
  const size_t group = row_subsets_[row] + i;
  const size_t missing = group_missing_[group + 1] - group_missing_[group];
  if (missing >= count) return DamagedPage("missing timestamps");
  for (size_t at = group_missing_[group]; at < group_missing_[group + 1]; ++at) {
    if (static_cast<uint64_t>(missing_[at]) >= count ||
        (at > group_missing_[group] && missing_[at] <= missing_[at - 1])) {
      return DamagedPage("missing timestamps");
    }
  }
  return count - missing;
}

absl::Status PageShape::PlaceRows(absl::Span<const int64_t> cells_of, absl::Span<const uint32_t> base_of) {
  size_t groups = 0;
  row_groups_.reserve(header_.rows + 1);
  for (size_t row = 0; row < header_.rows; ++row) {
    row_groups_.push_back(static_cast<uint32_t>(groups));
    groups += ColumnsOf(row).size();
    if (groups > header_.cells) return DamagedPage("number of cells");
  }
  row_groups_.push_back(static_cast<uint32_t>(groups));
  group_values_.resize(groups);
  std::vector<uint32_t> next(base_of.begin(), base_of.end());
  uint32_t* to = group_values_.data();
  size_t cells = 0;
  for (size_t row = 0; row < header_.rows; ++row) {
    const absl::Span<const uint32_t> columns = ColumnsOf(row);
    size_t count = list_starts_[row_lists_[row] + 1] - list_starts_[row_lists_[row]];
    for (size_t i = 0; i < columns.size(); ++i) {
      if (modes_[row] != kShared) {
        const absl::StatusOr<size_t> own_count = CountOf(row, i);
        if (!own_count.ok()) return own_count.status();
        count = *own_count;
      }
      *to++ = order_ == PageOrder::kByRow ? static_cast<uint32_t>(cells) : next[columns[i]];
      next[columns[i]] += static_cast<uint32_t>(count);
      cells += count;
    }
    if (cells > header_.cells) return DamagedPage("number of cells");
  }
  for (size_t column = 0; column < header_.columns; ++column) {
    if (next[column] - base_of[column] != static_cast<uint64_t>(cells_of[column])) {
      return DamagedPage("cells of a column");
    }
  }
  return cells == header_.cells ? absl::OkStatus() : DamagedPage("number of cells");
}

size_t PageShape::CellsOf(size_t begin, size_t end) const {
  if (regular_) return (end - begin) * list_cells_ * header_.columns;
  size_t cells = 0;
  for (size_t row = begin; row < end; ++row) {
    const size_t times = list_starts_[row_lists_[row + 1]] - list_starts_[row_lists_[row]];
    cells += modes_[row] == kShared || modes_[row] == kSubset ? times * ColumnsOf(row).size() : times;
  }
  return cells;
}

absl::Status PageShape::DecodeTimes(size_t begin, size_t end) {
  if (begin == times_row_ && end == times_row_end_) return absl::OkStatus();
  times_row_ = begin;
  times_row_end_ = begin;  // until it is done
  const size_t lists_begin = ListOf(begin), lists_end = ListOf(end);
  const size_t lists = lists_end - lists_begin;
  const size_t start = ListStart(lists_begin);
  const size_t count = ListStart(lists_end) - start;
  times_.resize(count);
  if (count == lists) {  // each of one timestamp
    if (!newest_.Decode(lists_begin, lists_end, times_.data())) return DamagedPage("timestamps");
    const auto [oldest, newest] = std::minmax_element(times_.begin(), times_.end());
    if (count > 0 && (*oldest < header_.timestamp_micros_min || *newest > header_.timestamp_micros_max)) {
      return DamagedPage("timestamps");
    }
  } else {
    std::vector<int64_t> newest(lists);
    // The steps of a list are read to where its timestamps go, which are one
    // more.
    if (!newest_.Decode(lists_begin, lists_end, newest.data())) return DamagedPage("timestamps");
    std::vector<int64_t> steps(count - lists);
    if (!steps_.Decode(start - lists_begin, start - lists_begin + count - lists, steps.data())) {
      return DamagedPage("timestamps");
    }
    const int64_t* step = steps.data();
    int64_t* to = times_.data();
    for (size_t i = 0; i < lists; ++i) {
      const size_t list = lists_begin + i;
      const size_t size = ListStart(list + 1) - ListStart(list);
      int64_t now = newest[i];
      if (now > header_.timestamp_micros_max) return DamagedPage("timestamps");
      *to++ = now;
      bool descends = true;
      for (size_t k = 1; k < size; ++k) {
        const int64_t before = now;
        now = static_cast<int64_t>(static_cast<uint64_t>(now) - static_cast<uint64_t>(*step++));
        descends &= now < before;
        *to++ = now;
      }
      if (!descends || now < header_.timestamp_micros_min) return DamagedPage("timestamps");
    }
  }
  if (!regular_) FindSubsetTimes(begin, end);
  times_row_end_ = end;
  return absl::OkStatus();
}

void PageShape::FindSubsetTimes(size_t begin, size_t end) {
  subset_times_.clear();
  subset_starts_.clear();
  const size_t start = ListStart(ListOf(begin));
  for (size_t row = begin; row < end; ++row) {
    if (modes_[row] != kSubset) continue;
    const size_t list = row_lists_[row];
    const int64_t* const all = times_.data() + (list_starts_[list] - start);
    const size_t size = list_starts_[list + 1] - list_starts_[list];
    for (size_t group = row_subsets_[row]; group < row_subsets_[row + 1]; ++group) {
      subset_starts_.push_back(static_cast<uint32_t>(subset_times_.size()));
      size_t from = 0;
      for (size_t at = group_missing_[group]; at < group_missing_[group + 1]; ++at) {
        const auto gap = static_cast<size_t>(missing_[at]);
        subset_times_.insert(subset_times_.end(), all + from, all + gap);
        from = gap + 1;
      }
      subset_times_.insert(subset_times_.end(), all + from, all + size);
    }
  }
  subset_starts_.push_back(static_cast<uint32_t>(subset_times_.size()));
}

size_t PageShape::KeptBytes() const {
  const auto bytes = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  return bytes(set_starts_) + bytes(set_members_) + bytes(set_ids_) + bytes(modes_) + bytes(base_of_) +
         bytes(row_lists_) + bytes(list_starts_) + bytes(row_groups_) + bytes(group_values_) +
         bytes(group_missing_) + bytes(row_subsets_) + bytes(missing_) + bytes(times_) +
         bytes(subset_times_) + bytes(subset_starts_) + newest_.KeptBytes() + steps_.KeptBytes();
}

}  // namespace sonde

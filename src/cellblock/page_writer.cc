#include "cellblock/page_writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "base/varint.h"
#include "codec/integers.h"
#include "codec/texts.h"
#include "codec/values.h"

namespace sonde {
namespace {

// A column with fewer cells than this shares a stream, once there are more such columns than
// kSparseColumnsMax.
constexpr size_t kOwnStreamCellsMin = 32;
constexpr size_t kSparseColumnsMax = 32;
// With more columns than this, their cells may be more alike along a row: what a qualifier says is a time.
constexpr size_t kColumnsByColumnMax = 64;
// It is tried on so many stretches of so many cells, and must leave no more than this share.
constexpr size_t kByRowTrialStretches = 64;
constexpr size_t kByRowTrialCells = 128;
constexpr double kByRowShare = 0.8;

// Rows that are more than this part of a page are split where the page is full.
constexpr size_t kSplitRowsPerPage = 4;

void EncodeUnsigned(const std::vector<int64_t>& values, std::string* out) {
  if (!values.empty()) codec::EncodeIntegers(values, out);
}

// Equality of strings that mostly are in one place.
bool IsSame(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

// A row has many short lists: no call for each.
bool IsSame(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// The union of lists of timestamps, descending.
void Unite(absl::Span<const int64_t> more, std::vector<int64_t>* all, std::vector<int64_t>* scratch) {
  scratch->clear();
  std::set_union(all->begin(), all->end(), more.begin(), more.end(), std::back_inserter(*scratch),
                 std::greater<>());
  all->swap(*scratch);
}

// Lists of timestamps: their lengths, their first, and the steps between the others.
struct TimeLists {
  std::vector<int64_t> counts, newest, steps;

  void Add(absl::Span<const int64_t> times) {
    counts.push_back(static_cast<int64_t>(times.size()));
    newest.push_back(times[0]);
    for (size_t i = 1; i < times.size(); ++i) steps.push_back(times[i - 1] - times[i]);
  }
};

}  // namespace

std::string_view PageWriter::Keep(std::string_view bytes) {
  char* const to = arena_.Reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), to);
  arena_.Commit(bytes.size());
  return {to, bytes.size()};
}

PageWriter::ColumnId PageWriter::FindColumn(std::string_view qualifier) {
  const auto found = column_ids_.find(qualifier);
  if (found != column_ids_.end()) return found->second;
  const auto id = static_cast<ColumnId>(columns_.size());
  columns_.push_back(Keep(qualifier));
  column_ids_[columns_.back()] = id;
  return id;
}

// How many of the cells the page has room for, and the bytes of their values.
size_t PageWriter::RoomFor(bool same_row, absl::Span<const CellView> cells, size_t* value_bytes) const {
  // A page of whole rows is the simplest to read.
  if (!rows_.empty() && !same_row && timestamps_.size() + cells.size() > limits_.cells_max &&
      cells.size() <= limits_.cells_max / kSplitRowsPerPage) {
    return 0;
  }
  if (timestamps_.size() >= limits_.cells_max) return 0;
  const size_t cells_max = std::min(cells.size(), limits_.cells_max - timestamps_.size());
  *value_bytes = 0;
  for (size_t i = 0; i < cells_max; ++i) {
    const size_t bytes = *value_bytes + cells[i].value.size();
    if (plain_bytes_ + bytes > limits_.plain_bytes_max && (i > 0 || !timestamps_.empty())) return i;
    *value_bytes = bytes;
  }
  return cells_max;
}

size_t PageWriter::Add(std::string_view row_key, absl::Span<const CellView> cells) {
  const bool same_row = !rows_.empty() && rows_.back().key == row_key;
  size_t value_bytes = 0;
  cells = cells.first(RoomFor(same_row, cells, &value_bytes));
  if (cells.empty()) return 0;
  // Readers look for rows by halves: what is out of order would not be found.
  CHECK(same_row || rows_.empty() || rows_.back().key < row_key);
  // A row mostly has the columns of the row before it.
  size_t guess = same_row || rows_.empty() ? groups_.size() : rows_.back().group;
  const size_t guess_end = groups_.size();
  std::string_view qualifier;
  bool is_new_column = true;
  if (same_row) {
    qualifier = columns_[groups_.back().column];
    is_new_column = qualifier != cells[0].qualifier;
    CHECK(is_new_column ? qualifier < cells[0].qualifier : timestamps_.back() > cells[0].timestamp_micros);
  } else {
    rows_.push_back({Keep(row_key), groups_.size()});
    plain_bytes_ += row_key.size();
  }
  plain_bytes_ += value_bytes;
  char* to = arena_.Reserve(value_bytes);
  arena_.Commit(value_bytes);
  const size_t first = timestamps_.size();
  timestamps_.resize(first + cells.size());
  values_.resize(first + cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const CellView& cell = cells[i];
    if (is_new_column || !IsSame(cell.qualifier, qualifier)) {
      CHECK(i == 0 || cells[i - 1].qualifier < cell.qualifier);
      is_new_column = false;
      ColumnId column = 0;
      if (guess < guess_end && IsSame(columns_[groups_[guess].column], cell.qualifier)) {
        column = groups_[guess].column;
        ++guess;
      } else {
        column = FindColumn(cell.qualifier);
      }
      groups_.push_back({column, first + i});
    } else if (i > 0) {
      CHECK(cells[i - 1].timestamp_micros > cell.timestamp_micros);
    }
    qualifier = cell.qualifier;
    timestamps_[first + i] = cell.timestamp_micros;
    values_[first + i] = {to, cell.value.size()};
    to = std::copy(cell.value.begin(), cell.value.end(), to);
  }
  return cells.size();
}

void PageWriter::Finish(std::string* page) {
  CHECK(!timestamps_.empty());
  const size_t groups = groups_.size();
  rows_.push_back({{}, groups});  // ends the last
  groups_.push_back({0, timestamps_.size()});

  PageParts parts;
  parts.header.rows = rows_.size() - 1;
  parts.header.cells = timestamps_.size();
  parts.header.columns = columns_.size();
  const auto [oldest, newest] = std::minmax_element(timestamps_.begin(), timestamps_.end());
  parts.header.timestamp_micros_min = *oldest;
  parts.header.timestamp_micros_max = *newest;
  parts.header.first_row_key = rows_.front().key;
  parts.header.last_row_key = rows_[rows_.size() - 2].key;

  std::string keys, columns, shape, times, values;
  SortColumns();
  EncodeKeys(&keys);
  EncodeColumns(&columns);
  EncodeShape(&shape, &times);
  parts.order = EncodeValues(&values);
  parts.sections = {keys.size(), columns.size(), shape.size(), times.size(), values.size()};

  const size_t start = page->size();
  AppendPageHeader(parts, page);
  // A page of one long value would take twice its size otherwise, and half of that while it grows.
  size_t bytes = page->size() + sizeof(uint64_t);
  for (const std::string* section : {&keys, &columns, &shape, &times, &values}) bytes += section->size();
  page->reserve(bytes);
  for (const std::string* section : {&keys, &columns, &shape, &times, &values}) *page += *section;
  PutFixed64(page, PageChecksum(std::string_view(*page).substr(start)));

  arena_.Clear();
  rows_.clear();
  groups_.clear();
  timestamps_.clear();
  values_.clear();
  columns_.clear();
  column_ids_.clear();
  plain_bytes_ = 0;
}

void PageWriter::SortColumns() {
  sorted_.resize(columns_.size());
  std::iota(sorted_.begin(), sorted_.end(), 0);
  std::sort(sorted_.begin(), sorted_.end(),
            [&](ColumnId a, ColumnId b) { return columns_[a] < columns_[b]; });
  ranks_.resize(columns_.size());
  for (uint32_t rank = 0; rank < sorted_.size(); ++rank) ranks_[sorted_[rank]] = rank;
  counts_.assign(columns_.size(), 0);
  for (size_t group = 0; group + 1 < groups_.size(); ++group)
    counts_[groups_[group].column] += CountOf(group);
}

void PageWriter::EncodeKeys(std::string* out) const {
  std::vector<std::string_view> keys;
  keys.reserve(rows_.size());
  for (const Row& row : rows_) keys.push_back(row.key);
  keys.pop_back();
  codec::EncodeTexts(keys, out);
}

void PageWriter::EncodeColumns(std::string* out) const {
  std::vector<std::string_view> names;
  std::vector<int64_t> counts;
  for (const ColumnId column : sorted_) {
    names.push_back(columns_[column]);
    counts.push_back(static_cast<int64_t>(counts_[column]));
  }
  codec::EncodeTexts(names, out);
  codec::EncodeIntegers(counts, out);
}

void PageWriter::EncodeSets(std::string* out) const {
  std::vector<int64_t> ids, sizes, members;
  absl::flat_hash_map<std::vector<uint32_t>, int64_t> sets;
  std::vector<uint32_t> set, before;
  for (size_t row = 0; row + 1 < rows_.size(); ++row) {
    set.clear();
    for (size_t group = rows_[row].group; group < rows_[row + 1].group; ++group) {
      set.push_back(ranks_[groups_[group].column]);
    }
    if (set == before) {
      ids.push_back(ids.back());
      continue;
    }
    const auto [found, added] = sets.try_emplace(set, sets.size());
    ids.push_back(found->second);
    if (added) {
      sizes.push_back(static_cast<int64_t>(set.size()));
      members.insert(members.end(), set.begin(), set.end());
    }
    before.swap(set);
  }
  PutVarint(out, sizes.size());
  EncodeUnsigned(sizes, out);
  EncodeUnsigned(members, out);
  EncodeUnsigned(ids, out);
}

void PageWriter::EncodeShape(std::string* out, std::string* times) {
  EncodeSets(out);
  std::vector<int64_t> modes, missing_counts, missing;
  TimeLists lists;
  std::vector<int64_t> all, scratch;
  for (size_t row = 0; row + 1 < rows_.size(); ++row) {
    const size_t begin = rows_[row].group, end = rows_[row + 1].group;
    const absl::Span<const int64_t> first = TimesOf(begin);
    bool shared = true;
    for (size_t group = begin + 1; group < end && shared; ++group) shared = IsSame(TimesOf(group), first);
    if (shared) {
      modes.push_back(static_cast<int64_t>(TimeMode::kShared));
      lists.Add(first);
      continue;
    }
    // One list for all is worth it while most columns have most of it.
    all.assign(first.begin(), first.end());
    const size_t cells = groups_[end].cell - groups_[begin].cell;
    for (size_t group = begin + 1; group < end && all.size() * (end - begin) <= 2 * cells; ++group) {
      Unite(TimesOf(group), &all, &scratch);
    }
    if (all.size() * (end - begin) > 2 * cells) {
      modes.push_back(static_cast<int64_t>(TimeMode::kSeparate));
      for (size_t group = begin; group < end; ++group) lists.Add(TimesOf(group));
      continue;
    }
    modes.push_back(static_cast<int64_t>(TimeMode::kSubset));
    lists.Add(all);
    for (size_t group = begin; group < end; ++group) {
      const absl::Span<const int64_t> some = TimesOf(group);
      missing_counts.push_back(static_cast<int64_t>(all.size() - some.size()));
      for (size_t i = 0, at = 0; i < all.size(); ++i) {
        if (at < some.size() && some[at] == all[i]) {
          ++at;
        } else {
          missing.push_back(static_cast<int64_t>(i));
        }
      }
    }
  }
  EncodeUnsigned(modes, out);
  EncodeUnsigned(lists.counts, out);
  EncodeUnsigned(missing_counts, out);
  EncodeUnsigned(missing, out);
  EncodeUnsigned(lists.newest, times);
  EncodeUnsigned(lists.steps, times);
}

void PageWriter::EncodeValuesByColumn(std::string* out) const {
  size_t sparse = 0;
  for (const size_t count : counts_) sparse += count < kOwnStreamCellsMin ? 1 : 0;
  const size_t own_min = sparse > kSparseColumnsMax ? kOwnStreamCellsMin : 0;
  // Where the cells of each column go, by ColumnId.
  std::vector<size_t> next(columns_.size());
  std::vector<size_t> stream_sizes;
  std::vector<int64_t> is_own;
  size_t at = 0;
  for (const ColumnId column : sorted_) {
    is_own.push_back(counts_[column] >= own_min ? 1 : 0);
    if (is_own.back() == 0) continue;
    next[column] = at;
    at += counts_[column];
    stream_sizes.push_back(counts_[column]);
  }
  const size_t pooled = at;
  for (size_t rank = 0; rank < sorted_.size(); ++rank) {
    if (is_own[rank] != 0) continue;
    next[sorted_[rank]] = at;
    at += counts_[sorted_[rank]];
  }
  if (at > pooled) stream_sizes.push_back(at - pooled);

  std::vector<std::string_view> values(at);
  for (size_t group = 0; group + 1 < groups_.size(); ++group) {
    const absl::Span<const std::string_view> from = ValuesOf(group);
    size_t& to = next[groups_[group].column];
    std::copy(from.begin(), from.end(), values.begin() + static_cast<std::ptrdiff_t>(to));
    to += from.size();
  }
  std::string streams;
  std::vector<int64_t> bytes;
  at = 0;
  for (const size_t size : stream_sizes) {
    const size_t start = streams.size();
    codec::EncodeValues(absl::MakeConstSpan(values).subspan(at, size), &streams);
    bytes.push_back(static_cast<int64_t>(streams.size() - start));
    at += size;
  }
  codec::EncodeIntegers(is_own, out);
  codec::EncodeIntegers(bytes, out);
  *out += streams;
}

PageOrder PageWriter::EncodeValues(std::string* out) const {
  EncodeValuesByColumn(out);
  if (columns_.size() <= kColumnsByColumnMax) return PageOrder::kByColumn;
  std::vector<std::string_view> trial;
  const size_t stretch = values_.size() / kByRowTrialStretches;
  for (size_t i = 0; i < kByRowTrialStretches; ++i) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(i * stretch);
    trial.insert(trial.end(), from, from + static_cast<std::ptrdiff_t>(std::min(stretch, kByRowTrialCells)));
  }
  if (trial.empty()) return PageOrder::kByColumn;
  std::string by_row;
  codec::EncodeValues(trial, &by_row);
  const double scale = static_cast<double>(values_.size()) / static_cast<double>(trial.size());
  if (static_cast<double>(by_row.size()) * scale > static_cast<double>(out->size()) * kByRowShare) {
    return PageOrder::kByColumn;
  }
  // Stretches may have met other columns than most cells are of.
  by_row.clear();
  codec::EncodeValues(values_, &by_row);
  if (static_cast<double>(by_row.size()) > static_cast<double>(out->size()) * kByRowShare) {
    return PageOrder::kByColumn;
  }
  *out = std::move(by_row);
  return PageOrder::kByRow;
}

}  // namespace sonde

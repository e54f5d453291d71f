#include "cellblock/page_cursor.h"

#include <algorithm>

namespace sonde {
namespace {

// Rows are decoded so many cells at a time, and with so many that nobody wants; or one by one if they have
// more.
constexpr size_t kCellsAtOnce = 4096;
constexpr size_t kCellsPassedAtOnce = 16'384;
// Rows whose keys are looked at together, to pass over those that nobody wants.
constexpr size_t kKeysAtOnce = 128;

// The largest scratch that a cursor leaves to the next one: enough for a read of some rows.
constexpr size_t kScratchBytesKept = 64 << 10;

absl::Status DamagedValues() { return DamagedPage("values"); }

}  // namespace

PageCursor::PageCursor(PageReader* reader, RowRange rows, ReadHints hints, bool reverse)
    : reader_(reader),
      rows_(std::move(rows)),
      hints_(std::move(hints)),
      reverse_(reverse),
      scratch_(SpareOfThread() == nullptr ? std::make_unique<Scratch>() : std::move(SpareOfThread())) {}

PageCursor::~PageCursor() {
  if (SpareOfThread() != nullptr || scratch_->MemoryBytes() > kScratchBytesKept) return;
  scratch_->Clear();
  SpareOfThread() = std::move(scratch_);
}

std::unique_ptr<PageCursor::Scratch>& PageCursor::SpareOfThread() {
  static thread_local std::unique_ptr<Scratch> spare;
  return spare;
}

void PageCursor::Scratch::Clear() {
  wanted.clear();
  read_as.clear();
  picked.clear();
  row_groups.clear();
  groups.clear();
  for (Decoded& of_stream : decoded) {
    of_stream.ranges.clear();
    of_stream.count = 0;
    of_stream.values.clear();
    of_stream.ints.clear();
    of_stream.doubles.clear();
  }
  arena.Clear();
  keys.clear();
  are_wanted.clear();
}

// Counts the memory of the members that grow with the read.
size_t PageCursor::Scratch::MemoryBytes() const {
  size_t bytes = wanted.capacity() * sizeof(Wanted) + read_as.capacity() * sizeof(ReadAs) +
                 picked.capacity() * sizeof(picked[0]) + arena.MemoryBytes() +
                 keys.capacity() * sizeof(std::string_view) + row_groups.capacity() * sizeof(row_groups[0]) +
                 groups.capacity() * sizeof(Group) + decoded.capacity() * sizeof(Decoded);
  for (const Decoded& of_stream : decoded) {
    bytes += of_stream.ranges.capacity() * sizeof(of_stream.ranges[0]) +
             of_stream.values.capacity() * sizeof(std::string_view) +
             (of_stream.ints.capacity() + of_stream.doubles.capacity()) * sizeof(double);
  }
  return bytes;
}

void PageCursor::Restart(RowRange rows) {
  rows_ = std::move(rows);
  are_rows_found_ = false;
}

absl::Status PageCursor::FindRows() {
  are_rows_found_ = true;
  rows_begin_ = rows_end_ = rows_done_ = rows_decoded_ = 0;
  if (!std::exchange(has_chosen_, true)) {
    if (absl::Status status = Choose(); !status.ok()) return status;
  }
  return wants_none_ ? absl::OkStatus() : reader_->FindRows(rows_, &rows_begin_, &rows_end_);
}

absl::Status PageCursor::Choose() {
  wants_none_ = true;
  const PageHeader& header = reader_->header();
  if (header.timestamp_micros_max < hints_.time_range.start_micros ||
      (hints_.time_range.end_micros != 0 && header.timestamp_micros_min >= hints_.time_range.end_micros)) {
    return absl::OkStatus();
  }
  takes_all_times_ =
      header.timestamp_micros_min >= hints_.time_range.start_micros &&
      (hints_.time_range.end_micros == 0 || header.timestamp_micros_max < hints_.time_range.end_micros);
  ChooseColumns();
  if (scratch_->wanted.empty()) return absl::OkStatus();
  scratch_->decoded.resize(reader_->streams_.size());
  wants_none_ = false;
  return ChooseNumbers();
}

void PageCursor::ChooseColumns() {
  const std::vector<std::string_view>& columns = reader_->columns();
  if (!hints_.columns.has_value()) {
    scratch_->wanted.push_back({0, static_cast<uint32_t>(columns.size()), 0});
    return;
  }
  for (size_t i = 0; i < hints_.columns->size(); ++i) {
    const ReadHints::ColumnRange& range = (*hints_.columns)[i];
    const auto begin = std::lower_bound(columns.begin(), columns.end(), range.start);
    const auto end = range.end.empty() ? columns.end() : std::lower_bound(begin, columns.end(), range.end);
    if (begin < end) {
      scratch_->wanted.push_back(
          {static_cast<uint32_t>(begin - columns.begin()), static_cast<uint32_t>(end - columns.begin()), i});
    }
  }
}

// A stream is read as numbers if all that is wanted of it is wanted so, and is written so.
absl::Status PageCursor::ChooseNumbers() {
  if (hints_.numbers.empty() || hints_.keys_only || !hints_.columns.has_value()) return absl::OkStatus();
  std::vector<ReadAs>& read_as = scratch_->read_as;
  read_as.resize(reader_->streams_.size());
  std::vector<char> is_refused(read_as.size(), 0);
  for (const auto& [begin, end, range] : scratch_->wanted) {
    const NumberBytes written = hints_.numbers[range];
    for (uint32_t column = begin; column < end; ++column) {
      const uint32_t stream = reader_->stream_of_[column];
      if (written == NumberBytes::kTimesOnly) continue;
      read_as[stream].times_only = false;
      if (read_as[stream].written.value_or(written) != written) is_refused[stream] = 1;
      read_as[stream].written = written;
    }
  }
  for (size_t stream = 0; stream < read_as.size(); ++stream) {
    if (!read_as[stream].written.has_value() || is_refused[stream]) continue;
    absl::StatusOr<codec::ValueColumn*> values = reader_->Values(stream);
    if (!values.ok()) return values.status();
    read_as[stream].kind = (*values)->NumbersIn(*read_as[stream].written);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> PageCursor::Next(RowPiece* piece) {
  if (!are_rows_found_) {
    if (absl::Status status = FindRows(); !status.ok()) return status;
  }
  while (true) {
    if (rows_done_ == rows_decoded_) {
      if (rows_begin_ == rows_end_) return false;
      if (absl::Status status = DecodeRows(); !status.ok()) return status;
      continue;
    }
    const size_t index = reverse_ ? rows_decoded_ - 1 - rows_done_ : rows_done_;
    ++rows_done_;
    const absl::Span<const Group> groups = scratch_->groups;
    if (scratch_->row_groups.empty()) {
      FillPiece(scratch_->keys[index], groups, index * groups.front().count, piece);
      return true;
    }
    const size_t begin = scratch_->row_groups[index];
    const size_t end = scratch_->row_groups[index + 1];
    if (begin == end) continue;
    FillPiece(scratch_->keys[index], groups.subspan(begin, end - begin), 0, piece);
    return true;
  }
}

void PageCursor::FillNewest(absl::Span<const Group> groups, size_t shift, RowPiece* piece) const {
  // Each column's newest cell comes first.
  const Group* newest = &groups.front();
  for (const Group& group : groups) {
    if (group.timestamps[shift] > newest->timestamps[shift]) newest = &group;
  }
  const Decoded& decoded = scratch_->decoded[newest->stream];
  const std::string_view value =
      hints_.keys_only ? std::string_view() : decoded.values[newest->value + shift];
  piece->numbers.clear();
  piece->cells.push_back({reader_->columns()[newest->column], newest->timestamps[shift], value});
}

void PageCursor::FillPiece(std::string_view key, absl::Span<const Group> groups, size_t shift,
                           RowPiece* piece) const {
  piece->row_key = key;
  piece->cells.clear();
  if (hints_.newest_of_row && hints_.numbers.empty()) return FillNewest(groups, shift, piece);
  size_t columns = 0;  // of numbers: one after the other takes the place of one of the row before
  for (const Group& group : groups) {
    const Decoded& decoded = scratch_->decoded[group.stream];
    const std::string_view qualifier = reader_->columns()[group.column];
    const int64_t* const timestamps = group.timestamps + shift;
    const size_t value = group.value + shift;
    const bool times_only = !scratch_->read_as.empty() && scratch_->read_as[group.stream].times_only;
    if (times_only || !decoded.ints.empty() || !decoded.doubles.empty()) {
      if (columns == piece->numbers.size()) piece->numbers.emplace_back();
      NumberColumn& column = piece->numbers[columns++];
      column.qualifier = qualifier;
      column.range = group.range;
      column.timestamps_micros = {timestamps, group.count};
      if (times_only) {
        static constexpr int64_t kAny = 0;
        column.numbers = ColumnView::Constant(ColumnView::OfInts({&kAny, 1}), group.count);
        continue;
      }
      column.numbers = decoded.doubles.empty()
                           ? ColumnView::OfInts({decoded.ints.data() + value, group.count})
                           : ColumnView::OfDoubles({decoded.doubles.data() + value, group.count});
      continue;
    }
    const std::string_view* const values = hints_.keys_only ? nullptr : decoded.values.data() + value;
    const size_t at = piece->cells.size();
    piece->cells.resize(at + group.count);
    CellView* const cells = piece->cells.data() + at;
    for (size_t k = 0; k < group.count; ++k) {
      cells[k] = {qualifier, timestamps[k], values == nullptr ? std::string_view() : values[k]};
    }
  }
  piece->numbers.resize(columns);
}

absl::Status PageCursor::PassOverRows(size_t* end) {
  std::vector<uint8_t>& wanted = scratch_->are_wanted;
  while (rows_begin_ < rows_end_) {
    if (rows_begin_ < asked_begin_ || rows_begin_ >= asked_begin_ + wanted.size()) {
      const size_t count = std::min(kKeysAtOnce, rows_end_ - rows_begin_);
      asked_begin_ = rows_begin_;
      scratch_->arena.Clear();
      scratch_->keys.resize(count);
      if (!reader_->keys_.Decode(rows_begin_, rows_begin_ + count, &scratch_->arena, scratch_->keys.data()))
        return DamagedPage("row keys");
      wanted.resize(count);
      for (size_t i = 0; i < count; ++i) wanted[i] = hints_.wants_row(scratch_->keys[i]) ? 1 : 0;
    }
    const auto from = wanted.begin() + static_cast<std::ptrdiff_t>(rows_begin_ - asked_begin_);
    // They may have been asked for an earlier range, which reached further.
    const auto known_end =
        wanted.begin() + static_cast<std::ptrdiff_t>(std::min(wanted.size(), rows_end_ - asked_begin_));
    const auto first = std::find(from, known_end, 1);
    rows_begin_ += static_cast<size_t>(first - from);
    if (first == known_end) continue;
    *end = rows_begin_ + static_cast<size_t>(std::find(first, known_end, 0) - first);
    return absl::OkStatus();
  }
  *end = rows_end_;
  return absl::OkStatus();
}

// The next rows to decode, of those that are left.
void PageCursor::ChooseRows(const PageShape& shape, size_t* begin, size_t* end) {
  size_t cells = 0, wanted = 0;
  const auto take = [&](size_t row) {
    if (cells >= kCellsPassedAtOnce || wanted >= kCellsAtOnce) return false;
    if (picked_set_ != shape.SetOf(row)) PickColumns(shape, row);
    const size_t of_row = shape.CellsOf(row, row + 1);
    cells += of_row;
    wanted += of_row * scratch_->picked.size() / shape.ColumnsOf(row).size();
    return true;
  };
  *begin = rows_begin_;
  if (reverse_) {
    for (*begin = *end; *begin > rows_begin_ && take(*begin - 1);) --*begin;
    rows_end_ = *begin;
  } else {
    const size_t wanted_end = *end;
    for (*end = *begin; *end < wanted_end && take(*end);) ++*end;
    rows_begin_ = *end;
  }
}

absl::Status PageCursor::DecodeRows() {
  absl::StatusOr<PageShape*> shape = reader_->Shape();
  if (!shape.ok()) return shape.status();
  size_t begin = 0, end = rows_end_;
  if (hints_.wants_row && !reverse_) {
    if (absl::Status status = PassOverRows(&end); !status.ok()) return status;
  }
  rows_done_ = rows_decoded_ = 0;
  if (rows_begin_ == rows_end_) return absl::OkStatus();
  ChooseRows(**shape, &begin, &end);
  scratch_->arena.Clear();
  scratch_->keys.resize(end - begin);
  if (!reader_->keys_.Decode(begin, end, &scratch_->arena, scratch_->keys.data()))
    return DamagedPage("row keys");
  if (absl::Status status = (*shape)->DecodeTimes(begin, end); !status.ok()) return status;
  scratch_->row_groups.clear();
  scratch_->groups.clear();
  for (Decoded& decoded : scratch_->decoded) {
    decoded.ranges.clear();
    decoded.count = 0;
  }
  if (AreAlike(**shape)) {
    PlanAlike(**shape, begin, end);
  } else {
    PlanRows(**shape, begin, end);
  }
  if (!hints_.keys_only) {
    if (absl::Status status = DecodeValues(); !status.ok()) return status;
  }
  rows_decoded_ = end - begin;
  return absl::OkStatus();
}

bool PageCursor::AreAlike(const PageShape& shape) const {
  return shape.CellsOfEach() > 0 && takes_all_times_ && reader_->parts_.order == PageOrder::kByColumn &&
         (!hints_.newest_per_column.has_value() ||
          *hints_.newest_per_column >= static_cast<int64_t>(shape.CellsOfEach()));
}

void PageCursor::PlanAlike(const PageShape& shape, size_t begin, size_t end) {
  const auto count = static_cast<uint32_t>(shape.CellsOfEach());
  const absl::Span<const uint32_t> columns = shape.ColumnsOf(begin);
  for (const auto& [i, range] : scratch_->picked) {
    const uint32_t stream = reader_->stream_of_[columns[i]];
    const size_t value = shape.FirstValue(begin, i);
    scratch_->groups.push_back(
        {columns[i], count, shape.TimesOf(begin, i).data(), stream, range, scratch_->decoded[stream].count});
    PlanValues(stream, value, value + (end - begin) * count);
  }
}

void PageCursor::PlanRows(const PageShape& shape, size_t begin, size_t end) {
  for (size_t row = begin; row < end; ++row) {
    scratch_->row_groups.push_back(scratch_->groups.size());
    if (picked_set_ != shape.SetOf(row)) PickColumns(shape, row);
    for (const Picked& picked : scratch_->picked) PlanGroup(shape, row, picked);
  }
  scratch_->row_groups.push_back(scratch_->groups.size());
}

void PageCursor::PickColumns(const PageShape& shape, size_t row) {
  picked_set_ = shape.SetOf(row);
  scratch_->picked.clear();
  const absl::Span<const uint32_t> columns = shape.ColumnsOf(row);
  const auto* from = columns.begin();
  for (const auto& [begin, end, range] : scratch_->wanted) {
    from = std::lower_bound(from, columns.end(), begin);
    for (; from != columns.end() && *from < end; ++from) {
      scratch_->picked.push_back(
          {static_cast<uint32_t>(from - columns.begin()), static_cast<uint32_t>(range)});
    }
  }
}

void PageCursor::PlanGroup(const PageShape& shape, size_t row, const Picked& picked) {
  const absl::Span<const int64_t> timestamps = shape.TimesOf(row, picked.place);
  const TimeRange& range = hints_.time_range;
  const int64_t* begin = timestamps.begin();
  const int64_t* end = timestamps.end();
  if (!takes_all_times_) {
    const auto newer = [](int64_t a, int64_t b) { return a > b; };
    // Descending: those before the end of the range, then those from its start
    // on.
    if (range.end_micros != 0) {
      begin = std::lower_bound(begin, end, range.end_micros - 1, newer);
    }
    end = std::upper_bound(begin, end, range.start_micros, newer);
  }
  size_t count = end - begin;
  if (hints_.newest_per_column.has_value()) {
    count = std::min(count, static_cast<size_t>(std::max<int64_t>(*hints_.newest_per_column, 0)));
  }
  if (count == 0) return;
  const uint32_t column = shape.ColumnsOf(row)[picked.place];
  const uint32_t stream = reader_->stream_of_[column];
  const size_t value = shape.FirstValue(row, picked.place) + (begin - timestamps.begin());
  scratch_->groups.push_back(
      {column, static_cast<uint32_t>(count), begin, stream, picked.range, scratch_->decoded[stream].count});
  PlanValues(stream, value, value + count);
}

void PageCursor::PlanValues(uint32_t stream, size_t begin, size_t end) {
  Decoded& decoded = scratch_->decoded[stream];
  if (!decoded.ranges.empty() && decoded.ranges.back().second == begin) {
    decoded.ranges.back().second = end;
  } else {
    decoded.ranges.emplace_back(begin, end);
  }
  decoded.count += end - begin;
}

absl::StatusOr<bool> PageCursor::DecodeNumbers(const ReadAs& read_as, codec::ValueColumn* values,
                                               Decoded* decoded) const {
  if (read_as.kind == codec::NumberKind::kInt64) {
    decoded->ints.resize(decoded->count);
    int64_t* to = decoded->ints.data();
    for (const auto& [begin, end] : decoded->ranges) {
      if (!values->DecodeInts(*read_as.written, begin, end, to)) return DamagedValues();
      to += end - begin;
    }
    return true;
  }
  decoded->doubles.resize(decoded->count);
  double* to = decoded->doubles.data();
  bool are_nearest = true;
  for (const auto& [begin, end] : decoded->ranges) {
    bool are_these = true;
    if (!values->DecodeDoubles(*read_as.written, begin, end, to, &are_these)) return DamagedValues();
    are_nearest &= are_these;
    to += end - begin;
  }
  return are_nearest;
}

absl::Status PageCursor::DecodeValues() {
  for (size_t stream = 0; stream < scratch_->decoded.size(); ++stream) {
    Decoded& decoded = scratch_->decoded[stream];
    if (decoded.count == 0) continue;
    if (!scratch_->read_as.empty() && scratch_->read_as[stream].times_only) continue;
    absl::StatusOr<codec::ValueColumn*> values = reader_->Values(stream);
    if (!values.ok()) return values.status();
    if (!scratch_->read_as.empty() && scratch_->read_as[stream].kind != codec::NumberKind::kNone) {
      absl::StatusOr<bool> are_numbers = DecodeNumbers(scratch_->read_as[stream], *values, &decoded);
      if (!are_numbers.ok()) return are_numbers.status();
      if (*are_numbers) continue;
      // They come as cells, from here on.
      decoded.doubles.clear();
      scratch_->read_as[stream].kind = codec::NumberKind::kNone;
    }
    decoded.values.resize(decoded.count);
    std::string_view* to = decoded.values.data();
    for (const auto& [begin, end] : decoded.ranges) {
      if (!(*values)->Decode(begin, end, &scratch_->arena, to)) return DamagedValues();
      to += end - begin;
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde

#include "cellblock/page_reader.h"

#include <algorithm>

#include "base/varint.h"

namespace sonde {
namespace {

// Rows are decoded so many cells at a time, or one by one if they have more.
constexpr size_t kCellsAtOnce = 4096;

absl::Status DamagedValues() { return DamagedPage("values"); }

}  // namespace

absl::StatusOr<std::unique_ptr<PageReader>> PageReader::Open(std::string_view page) {
  std::unique_ptr<PageReader> reader(new PageReader());
  if (absl::Status status = reader->Parse(page); !status.ok()) return status;
  return reader;
}

absl::Status PageReader::Parse(std::string_view page) {
  if (absl::Status status = ParsePageHeader(page, &parts_); !status.ok()) return status;
  const PageSections& sections = parts_.sections;
  if (parts_.header.page_bytes != page.size()) return DamagedPage("cut short, or too long");
  if (ChecksumOfPage(page) != PageChecksum(page.substr(0, page.size() - kPageChecksumBytes))) {
    return DamagedPage("the checksum does not match");
  }
  std::string_view rest = page.substr(parts_.header.header_bytes);
  const auto take = [&rest](uint64_t bytes) {
    const std::string_view section = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return section;
  };
  std::string_view keys = take(sections.keys);
  if (!keys_.Parse(&keys, parts_.header.rows) || !keys.empty()) return DamagedPage("row keys");
  if (absl::Status status = ParseColumns(take(sections.columns)); !status.ok()) return status;
  shape_bytes_ = take(sections.shape);
  times_bytes_ = take(sections.times);
  return ParseStreams(take(sections.values));
}

absl::Status PageReader::ParseColumns(std::string_view bytes) {
  const size_t columns = parts_.header.columns;
  codec::TextColumn names;
  columns_.resize(columns);
  if (!names.Parse(&bytes, columns) || !names.Decode(0, columns, &names_, columns_.data())) {
    return DamagedPage("columns");
  }
  // What front-coded names view goes with `names`.
  for (std::string_view& name : columns_) {
    char* const to = names_.Reserve(name.size());
    std::copy(name.begin(), name.end(), to);
    names_.Commit(name.size());
    name = {to, name.size()};
  }
  if (std::adjacent_find(columns_.begin(), columns_.end(), std::greater_equal<>()) != columns_.end()) {
    return DamagedPage("columns out of order");
  }
  codec::IntegerColumn counts;
  if (!counts.Parse(&bytes, columns) ||
      !counts.DecodeAll(1, static_cast<int64_t>(parts_.header.cells), &cells_of_) || !bytes.empty()) {
    return DamagedPage("cells of columns");
  }
  uint64_t cells = 0;
  for (const int64_t count : cells_of_) cells += static_cast<uint64_t>(count);
  return cells == parts_.header.cells ? absl::OkStatus() : DamagedPage("cells of columns");
}

absl::Status PageReader::ParseStreams(std::string_view bytes) {
  const size_t columns = parts_.header.columns;
  stream_of_.assign(columns, 0);
  base_of_.assign(columns, 0);
  if (parts_.order == PageOrder::kByRow) {
    streams_.push_back({bytes, parts_.header.cells, nullptr});
    return absl::OkStatus();
  }
  codec::IntegerColumn column;
  std::vector<int64_t> is_own, sizes;
  if (!column.Parse(&bytes, columns) || !column.DecodeAll(0, 1, &is_own)) return DamagedPage("streams");
  size_t pooled = 0;
  for (size_t i = 0; i < columns; ++i) {
    if (is_own[i] == 0) {
      base_of_[i] = static_cast<uint32_t>(pooled);
      pooled += CellsOf(i);
    } else {
      stream_of_[i] = static_cast<uint32_t>(streams_.size());
      streams_.push_back({{}, CellsOf(i), nullptr});
    }
  }
  for (size_t i = 0; i < columns && pooled > 0; ++i) {
    if (is_own[i] == 0) stream_of_[i] = static_cast<uint32_t>(streams_.size());
  }
  if (pooled > 0) streams_.push_back({{}, pooled, nullptr});
  if (!column.Parse(&bytes, streams_.size()) ||
      !column.DecodeAll(0, static_cast<int64_t>(bytes.size()), &sizes)) {
    return DamagedPage("streams");
  }
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (static_cast<uint64_t>(sizes[i]) > bytes.size()) return DamagedPage("streams");
    streams_[i].bytes = bytes.substr(0, sizes[i]);
    bytes.remove_prefix(sizes[i]);
  }
  return bytes.empty() ? absl::OkStatus() : DamagedPage("streams");
}

absl::StatusOr<PageShape*> PageReader::Shape() {
  if (shape_ == nullptr) {
    auto shape = std::make_unique<PageShape>();
    absl::Status status = shape->Parse(shape_bytes_, times_bytes_, parts_, cells_of_, base_of_);
    if (!status.ok()) return status;
    shape_ = std::move(shape);
  }
  return shape_.get();
}

absl::StatusOr<codec::ValueColumn*> PageReader::Values(size_t stream) {
  Stream& found = streams_[stream];
  if (found.values == nullptr) {
    auto values = std::make_unique<codec::ValueColumn>();
    if (!values->Parse(found.bytes, found.cells)) return DamagedValues();
    found.values = std::move(values);
  }
  return found.values.get();
}

absl::Status PageReader::FindRows(const RowRange& range, size_t* begin, size_t* end) {
  const PageHeader& header = parts_.header;
  *begin = 0;
  *end = header.rows;
  if (range.start > header.first_row_key && !keys_.LowerBound(range.start, begin))
    return DamagedPage("row keys");
  if (!range.end.empty() && range.end <= header.last_row_key && !keys_.LowerBound(range.end, end)) {
    return DamagedPage("row keys");
  }
  *end = std::max(*begin, *end);
  return absl::OkStatus();
}

absl::Status PageReader::RowKey(size_t row, std::string* row_key) {
  return keys_.At(row, row_key) ? absl::OkStatus() : DamagedPage("row keys");
}

size_t PageReader::KeptBytes() const {
  size_t bytes = keys_.KeptBytes();
  if (shape_ != nullptr) bytes += shape_->KeptBytes();
  for (const Stream& stream : streams_) {
    if (stream.values != nullptr) bytes += stream.values->KeptBytes();
  }
  return bytes;
}

absl::StatusOr<bool> PageReader::ReadNumbers(size_t column, NumberBytes written, size_t begin, size_t end,
                                             ColumnNumbers* out) {
  absl::StatusOr<PageShape*> shape = Shape();
  if (!shape.ok()) return shape.status();
  absl::StatusOr<codec::ValueColumn*> values = Values(stream_of_[column]);
  if (!values.ok()) return values.status();
  if (!(*values)->HoldsNumbers(written)) return false;
  out->rows.clear();
  out->timestamps_micros.clear();
  out->numbers.clear();
  if (begin == end) return true;
  if (absl::Status status = (*shape)->DecodeTimes(begin, end); !status.ok()) return status;
  const size_t cells_max = std::min(CellsOf(column), (*shape)->CellsOf(begin, end));
  out->rows.reserve(cells_max);
  out->timestamps_micros.reserve(cells_max);
  out->numbers.reserve(cells_max);
  const std::optional<size_t> regular_cells = (*shape)->regular_cells();
  if (regular_cells.has_value() && parts_.order == PageOrder::kByColumn) {
    const absl::Span<const int64_t> times = (*shape)->times();
    out->timestamps_micros.assign(times.begin(), times.end());
    out->rows.resize(times.size());
    uint32_t* row_out = out->rows.data();
    for (size_t row = begin; row < end; ++row) {
      for (size_t i = 0; i < *regular_cells; ++i) *row_out++ = static_cast<uint32_t>(row);
    }
    out->numbers.resize(times.size());
    const size_t first = (*shape)->FirstValue(begin, column);
    if (!(*values)->DecodeNumbers(written, first, first + times.size(), out->numbers.data()))
      return DamagedValues();
    return true;
  }
  const std::vector<std::optional<size_t>> indexes = (*shape)->IndexesOf(column);
  // Stretches of values that lie one after the other are decoded at once: all
  // of a column of its own.
  size_t value_begin = 0, value_end = 0;
  const auto decode = [&] {
    const size_t at = out->numbers.size();
    out->numbers.resize(at + value_end - value_begin);
    return (*values)->DecodeNumbers(written, value_begin, value_end, out->numbers.data() + at);
  };
  for (size_t row = begin; row < end; ++row) {
    const std::optional<size_t> i = indexes[(*shape)->SetOf(row)];
    if (!i.has_value()) continue;
    const absl::Span<const int64_t> times = (*shape)->TimesOf(row, *i);
    const size_t first = (*shape)->FirstValue(row, *i);
    for (const int64_t time : times) {
      out->rows.push_back(static_cast<uint32_t>(row));
      out->timestamps_micros.push_back(time);
    }
    if (first != value_end) {
      if (!decode()) return DamagedValues();
      value_begin = first;
    }
    value_end = first + times.size();
  }
  if (!decode()) return DamagedValues();
  return true;
}

absl::Status PageCursor::Start() {
  started_ = true;
  decoded_.resize(reader_->streams_.size());
  const PageHeader& header = reader_->header();
  if (header.timestamp_micros_max < hints_.time_range.start_micros ||
      (hints_.time_range.end_micros != 0 && header.timestamp_micros_min >= hints_.time_range.end_micros)) {
    return absl::OkStatus();
  }
  ChooseColumns();
  if (!all_columns_ && std::find(wanted_.begin(), wanted_.end(), 1) == wanted_.end()) return absl::OkStatus();
  absl::StatusOr<bool> as_numbers = FindNumbers();
  if (!as_numbers.ok()) return as_numbers.status();
  as_numbers_ = *as_numbers;
  return reader_->FindRows(rows_, &rows_begin_, &rows_end_);
}

absl::StatusOr<bool> PageCursor::FindNumbers() {
  if (!hints_.numbers.has_value() || hints_.keys_only) return false;
  size_t column = 0;
  if (all_columns_) {
    if (reader_->columns().size() != 1) return false;
  } else {
    if (std::count(wanted_.begin(), wanted_.end(), 1) != 1) return false;
    column = std::find(wanted_.begin(), wanted_.end(), 1) - wanted_.begin();
  }
  absl::StatusOr<codec::ValueColumn*> values = reader_->Values(reader_->stream_of_[column]);
  if (!values.ok()) return values.status();
  return (*values)->HoldsNumbers(*hints_.numbers);
}

void PageCursor::ChooseColumns() {
  all_columns_ = !hints_.columns.has_value();
  if (all_columns_) return;
  const std::vector<std::string_view>& columns = reader_->columns();
  wanted_.assign(columns.size(), 0);
  for (const ReadHints::ColumnRange& range : *hints_.columns) {
    const auto begin = std::lower_bound(columns.begin(), columns.end(), range.start);
    const auto end =
        range.end.empty() ? columns.end() : std::lower_bound(columns.begin(), columns.end(), range.end);
    if (begin < end) {
      std::fill(wanted_.begin() + (begin - columns.begin()), wanted_.begin() + (end - columns.begin()), 1);
    }
  }
  all_columns_ = std::find(wanted_.begin(), wanted_.end(), 0) == wanted_.end();
}

absl::StatusOr<bool> PageCursor::Next(RowPiece* piece) {
  if (!started_) {
    if (absl::Status status = Start(); !status.ok()) return status;
  }
  while (true) {
    const size_t decoded = decoded_rows_.empty() ? 0 : decoded_rows_.size() - 1;
    if (rows_done_ == decoded) {
      if (rows_begin_ == rows_end_) return false;
      if (absl::Status status = DecodeRows(); !status.ok()) return status;
      continue;
    }
    const size_t index = reverse_ ? decoded - 1 - rows_done_ : rows_done_;
    ++rows_done_;
    const Row& row = decoded_rows_[index];
    const size_t group_end = decoded_rows_[index + 1].group;
    if (row.group == group_end) continue;
    piece->row_key = row.key;
    piece->cells.clear();
    piece->numbers = {};
    if (as_numbers_) {
      const Group& group = groups_[row.group];
      piece->numbers = {reader_->columns()[group.column],
                        {group.timestamps, group.count},
                        absl::MakeSpan(decoded_[group.stream].numbers).subspan(group.value, group.count)};
    } else {
      FillCells(row, group_end, piece);
    }
    return true;
  }
}

void PageCursor::FillCells(const Row& row, size_t group_end, RowPiece* piece) const {
  for (size_t i = row.group; i < group_end; ++i) {
    const Group& group = groups_[i];
    const std::string_view qualifier = reader_->columns()[group.column];
    const std::string_view* const values =
        hints_.keys_only ? nullptr : decoded_[group.stream].values.data() + group.value;
    const size_t at = piece->cells.size();
    piece->cells.resize(at + group.count);
    CellView* const cells = piece->cells.data() + at;
    for (size_t k = 0; k < group.count; ++k) {
      cells[k] = {qualifier, group.timestamps[k], values == nullptr ? std::string_view() : values[k]};
    }
  }
}

absl::Status PageCursor::DecodeRows() {
  absl::StatusOr<PageShape*> shape = reader_->Shape();
  if (!shape.ok()) return shape.status();
  size_t begin = rows_begin_, end = rows_end_;
  size_t cells = 0;
  if (reverse_) {
    for (begin = end; begin > rows_begin_ && cells < kCellsAtOnce; --begin)
      cells += (*shape)->CellsOf(begin - 1, begin);
    rows_end_ = begin;
  } else {
    for (end = begin; end < rows_end_ && cells < kCellsAtOnce; ++end)
      cells += (*shape)->CellsOf(end, end + 1);
    rows_begin_ = end;
  }
  arena_.Clear();
  keys_.resize(end - begin);
  if (!reader_->keys_.Decode(begin, end, &arena_, keys_.data())) return DamagedPage("row keys");
  if (absl::Status status = (*shape)->DecodeTimes(begin, end); !status.ok()) return status;
  decoded_rows_.clear();
  groups_.clear();
  rows_done_ = 0;
  for (Decoded& decoded : decoded_) {
    decoded.ranges.clear();
    decoded.count = 0;
  }
  for (size_t row = begin; row < end; ++row) {
    decoded_rows_.push_back({groups_.size(), keys_[row - begin]});
    const absl::Span<const uint32_t> columns = (*shape)->ColumnsOf(row);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (all_columns_ || wanted_[columns[i]]) {
        PlanGroup(columns[i], (*shape)->FirstValue(row, i), (*shape)->TimesOf(row, i));
      }
    }
  }
  decoded_rows_.push_back({groups_.size(), {}});
  return hints_.keys_only ? absl::OkStatus() : DecodeValues();
}

void PageCursor::PlanGroup(uint32_t column, size_t first_value, absl::Span<const int64_t> timestamps) {
  const TimeRange& range = hints_.time_range;
  const int64_t* begin = timestamps.begin();
  const int64_t* end = timestamps.end();
  if (!range.IsAll()) {
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
  const uint32_t stream = reader_->stream_of_[column];
  Decoded& decoded = decoded_[stream];
  const size_t value = first_value + (begin - timestamps.begin());
  if (!decoded.ranges.empty() && decoded.ranges.back().second == value) {
    decoded.ranges.back().second = value + count;
  } else {
    decoded.ranges.emplace_back(value, value + count);
  }
  groups_.push_back({column, static_cast<uint32_t>(count), begin, stream, decoded.count});
  decoded.count += count;
}

absl::Status PageCursor::DecodeValues() {
  for (size_t stream = 0; stream < decoded_.size(); ++stream) {
    Decoded& decoded = decoded_[stream];
    if (decoded.count == 0) continue;
    absl::StatusOr<codec::ValueColumn*> values = reader_->Values(stream);
    if (!values.ok()) return values.status();
    if (as_numbers_) {
      decoded.numbers.resize(decoded.count);
      double* to = decoded.numbers.data();
      for (const auto& [begin, end] : decoded.ranges) {
        if (!(*values)->DecodeNumbers(*hints_.numbers, begin, end, to)) return DamagedValues();
        to += end - begin;
      }
      continue;
    }
    decoded.values.resize(decoded.count);
    std::string_view* to = decoded.values.data();
    for (const auto& [begin, end] : decoded.ranges) {
      if (!(*values)->Decode(begin, end, &arena_, to)) return DamagedValues();
      to += end - begin;
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde

#include "cellblock/page_reader.h"

#include <algorithm>

namespace sonde {
namespace {

// Ranges are near each other if fewer rows lie between them; after so many that are, keys are decoded together.
constexpr size_t kNear = 64;
constexpr int kNearFindsMin = 8;
constexpr size_t kKeysOfNear = 128;
// After so many searches every so manieth key is kept, and those between two of them are decoded together.
constexpr int kFindsMin = 32;
constexpr size_t kKeysApart = codec::kFewValues;

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
  if (!HasItsChecksum(page)) return DamagedPage("the checksum does not match");
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
  // The bytes that front-coded names view go with `names`.
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
    if (!values->Parse(found.bytes, found.cells)) return DamagedPage("values");
    found.values = std::move(values);
  }
  return found.values.get();
}

absl::Status PageReader::FindRows(const RowRange& range, size_t* begin, size_t* end) {
  const PageHeader& header = parts_.header;
  *begin = 0;
  *end = header.rows;
  // The next of many ranges is often near the one before.
  const size_t from = !found_end_.empty() && range.start >= found_end_ ? found_end_row_ : 0;
  if (range.start > header.first_row_key && !FindKey(from, range.start, begin))
    return DamagedPage("row keys");
  near_finds_ = from > 0 && *begin - from < kNear ? near_finds_ + 1 : 0;
  if (!range.end.empty() && range.end <= header.last_row_key && !FindInWindow(*begin, range.end, end) &&
      !keys_.LowerBoundNear(*begin, range.end, end)) {
    return DamagedPage("row keys");
  }
  *end = std::max(*begin, *end);
  found_end_ = range.end.empty() ? range.end : std::max(range.start, range.end);
  found_end_row_ = *end;
  return absl::OkStatus();
}

bool PageReader::FindKey(size_t from, std::string_view key, size_t* row) {
  if (FindInWindow(from, key, row)) return true;
  if (some_keys_.empty()) {
    if (++finds_ < kFindsMin)
      return from > 0 ? keys_.LowerBoundNear(from, key, row) : keys_.LowerBound(key, row);
    for (size_t some = 0; some < keys_.size(); some += kKeysApart) {
      if (!keys_.At(some, &some_keys_.emplace_back())) return false;
    }
  }
  const auto above = std::lower_bound(some_keys_.begin(), some_keys_.end(), key);
  const auto place = static_cast<size_t>(above - some_keys_.begin());
  const size_t low = std::max(from, place == 0 ? 0 : (place - 1) * kKeysApart + 1);
  const size_t high = std::max(low, std::min(place * kKeysApart, keys_.size()));
  if (low == keys_.size()) {
    *row = low;
    return true;
  }
  window_.resize(std::min(near_finds_ < kNearFindsMin ? kKeysApart : kKeysOfNear, keys_.size() - low));
  window_begin_ = low;
  window_bytes_.Clear();
  if (!keys_.Decode(low, low + window_.size(), &window_bytes_, window_.data())) {
    window_.clear();
    return false;
  }
  if (!FindInWindow(low, key, row)) *row = high;
  return true;
}

bool PageReader::FindInWindow(size_t from, std::string_view key, size_t* row) const {
  if (from < window_begin_ || from >= window_begin_ + window_.size()) return false;
  const auto begin = window_.begin() + static_cast<std::ptrdiff_t>(from - window_begin_);
  const auto found = std::lower_bound(begin, window_.end(), key);
  *row = window_begin_ + static_cast<size_t>(found - window_.begin());
  return found != window_.end();
}

absl::Status PageReader::RowKey(size_t row, std::string* row_key) {
  return keys_.At(row, row_key) ? absl::OkStatus() : DamagedPage("row keys");
}

size_t PageReader::KeptBytes() const {
  size_t bytes =
      keys_.KeptBytes() + window_.capacity() * sizeof(std::string_view) + window_bytes_.MemoryBytes();
  for (const std::string& key : some_keys_) bytes += sizeof(key) + key.capacity();
  if (shape_ != nullptr) bytes += shape_->KeptBytes();
  for (const Stream& stream : streams_) {
    if (stream.values != nullptr) bytes += stream.values->KeptBytes();
  }
  return bytes;
}

}  // namespace sonde

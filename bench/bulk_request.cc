#include "bench/bulk_request.h"

#include <fmt/format.h>

#include <array>

#include "base/varint.h"

namespace sonde::bench {
namespace {

// Field numbers of google.bigtable.v2, as tags of the wire format.
constexpr uint64_t Delimited(int field) { return static_cast<uint64_t>(field) << 3 | 2; }
constexpr uint64_t Varint(int field) { return static_cast<uint64_t>(field) << 3; }
constexpr uint64_t kRequestTableName = Delimited(1);
constexpr uint64_t kRequestEntries = Delimited(2);
constexpr uint64_t kEntryRowKey = Delimited(1);
constexpr uint64_t kEntryMutations = Delimited(2);
constexpr uint64_t kMutationSetCell = Delimited(1);
constexpr uint64_t kSetCellFamilyName = Delimited(1);
constexpr uint64_t kSetCellColumnQualifier = Delimited(2);
constexpr uint64_t kSetCellTimestampMicros = Varint(3);
constexpr uint64_t kSetCellValue = Delimited(4);

void PutField(std::string* out, uint64_t tag, std::string_view bytes) {
  PutVarint(out, tag);
  PutBytes(out, bytes);
}

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// The numbers 0 to 100 as text.
const std::array<std::string, 101>& Decimals() {
  static const auto decimals = [] {
    std::array<std::string, 101> texts;
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = std::to_string(i);
    return texts;
  }();
  return decimals;
}

}  // namespace

BulkRequests::BulkRequests(const DataShape& shape, std::string_view table_name, int host_begin, int host_end,
                           int64_t steps, int rows_per_request)
    : shape_(shape), host_begin_(host_begin), steps_(steps), rows_per_request_(rows_per_request) {
  PutField(&request_start_, kRequestTableName, table_name);
  for (int metric = 0; metric < shape.cells_per_row; ++metric) {
    const std::string name = MetricName(metric);
    std::string& start = cell_starts_.emplace_back();
    PutField(&start, kSetCellFamilyName, kFamily);
    PutField(&start, kSetCellColumnQualifier, name);
    qualifiers_.push_back(CellSum::Hash(name));
  }
  for (int host = host_begin; host < host_end; ++host) walks_.emplace_back(shape, host);
}

std::string_view BulkRequests::Next() {
  if (step_ >= steps_) return {};
  buffer_ = request_start_;
  for (int row = 0; row < rows_per_request_ && step_ < steps_; ++row) {
    AppendRow();
    if (++next_walk_ < walks_.size()) continue;
    next_walk_ = 0;
    ++step_;
  }
  bytes_ += buffer_.size();
  return buffer_;
}

void BulkRequests::AppendRow() {
  const std::string key = RowKey(shape_, host_begin_ + static_cast<int>(next_walk_), step_);
  const int64_t micros = StepMicros(step_);
  walks_[next_walk_].Next(&values_);

  std::string timestamp;
  PutVarint(&timestamp, kSetCellTimestampMicros);
  PutVarint(&timestamp, static_cast<uint64_t>(micros));
  const uint64_t row = CellSum::Hash(key);
  entry_.clear();
  PutField(&entry_, kEntryRowKey, key);
  for (size_t i = 0; i < values_.size(); ++i) {
    const std::string& value = Decimals()[values_[i]];
    const size_t cell_bytes = cell_starts_[i].size() + timestamp.size() + 2 + value.size();
    PutVarint(&entry_, kEntryMutations);
    PutVarint(&entry_, 1 + VarintBytes(cell_bytes) + cell_bytes);
    PutVarint(&entry_, kMutationSetCell);
    PutVarint(&entry_, cell_bytes);
    entry_ += cell_starts_[i];
    entry_ += timestamp;
    PutField(&entry_, kSetCellValue, value);
    sum_.Add(row, qualifiers_[i], micros, value);
  }
  PutField(&buffer_, kRequestEntries, entry_);
  ++rows_;
}

}  // namespace sonde::bench

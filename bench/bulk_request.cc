#include "bench/bulk_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

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

// Of every step that there can be (see RunIngest), so that cell lengths do not depend on it.
constexpr size_t kTimestampBytes = 8;

// A value as it ends a cell: tag, length and digits.
struct ValueText {
  std::array<char, 5> bytes{};
  uint8_t size = 0;
  uint64_t hash = 0;

  int digits() const { return size - 2; }
};

// Of the values 0 to 100.
const std::array<ValueText, 101>& ValueTexts() {
  static const auto texts = [] {
    std::array<ValueText, 101> result;
    for (size_t i = 0; i < result.size(); ++i) {
      std::string bytes;
      PutField(&bytes, kSetCellValue, std::to_string(i));
      std::copy(bytes.begin(), bytes.end(), result[i].bytes.begin());
      result[i].size = static_cast<uint8_t>(bytes.size());
      result[i].hash = CellSum::Hash(std::to_string(i));
    }
    return result;
  }();
  return texts;
}

std::string CellStart(const std::string& metric, int digits) {
  std::string names;
  PutField(&names, kSetCellFamilyName, kFamily);
  PutField(&names, kSetCellColumnQualifier, metric);
  PutVarint(&names, kSetCellTimestampMicros);
  std::string cell_head;
  PutVarint(&cell_head, kMutationSetCell);
  PutVarint(&cell_head, names.size() + kTimestampBytes + 2 + digits);
  const size_t mutation_bytes = cell_head.size() + names.size() + kTimestampBytes + 2 + digits;
  std::string start;
  PutVarint(&start, kEntryMutations);
  PutVarint(&start, mutation_bytes);
  return start + cell_head + names;
}

}  // namespace

BulkRequests::BulkRequests(const DataShape& shape, std::string_view table_name, int host_begin, int host_end,
                           int64_t steps, int rows_per_request)
    : shape_(shape), steps_(steps), rows_per_request_(rows_per_request) {
  PutField(&request_start_, kRequestTableName, table_name);
  for (int metric = 0; metric < shape.cells_per_row; ++metric) {
    const std::string name = MetricName(metric);
    auto& starts = cell_starts_.emplace_back();
    for (int digits = 1; digits <= kDigitsMax; ++digits) starts[digits - 1] = CellStart(name, digits);
    qualifiers_.push_back(CellSum::Hash(name));
  }
  for (int host = host_begin; host < host_end; ++host) {
    walks_.emplace_back(shape, host);
    host_prefixes_.push_back(HostPrefix(host));
  }
  BeginStep();
}

std::string_view BulkRequests::Next() {
  if (step_ >= steps_) return {};
  buffer_ = request_start_;
  for (int row = 0; row < rows_per_request_ && step_ < steps_; ++row) {
    AppendRow();
    if (++next_walk_ < walks_.size()) continue;
    next_walk_ = 0;
    ++step_;
    BeginStep();
  }
  bytes_ += buffer_.size();
  return buffer_;
}

void BulkRequests::BeginStep() {
  key_time_ = KeyTime(shape_, step_);
  timestamp_.clear();
  PutVarint(&timestamp_, static_cast<uint64_t>(StepMicros(step_)));
}

void BulkRequests::AppendRow() {
  const std::string key = host_prefixes_[next_walk_] + key_time_;
  const int64_t micros = StepMicros(step_);
  const auto& texts = ValueTexts();
  walks_[next_walk_].Next(&values_);

  size_t mutations_bytes = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    const ValueText& value = texts[values_[i]];
    mutations_bytes += cell_starts_[i][value.digits() - 1].size() + kTimestampBytes + value.size;
  }
  // A key takes one byte for its tag and one for its length.
  PutVarint(&buffer_, kRequestEntries);
  PutVarint(&buffer_, 2 + key.size() + mutations_bytes);
  PutField(&buffer_, kEntryRowKey, key);
  const size_t begin = buffer_.size();
  buffer_.resize(begin + mutations_bytes);
  char* out = buffer_.data() + begin;
  const uint64_t row = CellSum::Hash(key);
  for (size_t i = 0; i < values_.size(); ++i) {
    const ValueText& value = texts[values_[i]];
    const std::string& start = cell_starts_[i][value.digits() - 1];
    std::memcpy(out, start.data(), start.size());
    out += start.size();
    std::memcpy(out, timestamp_.data(), kTimestampBytes);
    out += kTimestampBytes;
    std::memcpy(out, value.bytes.data(), value.size);
    out += value.size;
    sum_.Add(row, qualifiers_[i], micros, value.hash);
  }
  ++rows_;
}

}  // namespace sonde::bench

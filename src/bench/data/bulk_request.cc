#include "bench/data/bulk_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/varint.h"

namespace sonde::bench {
namespace {

// Field numbers of google.bigtable.v2, as tags of the wire format.
constexpr uint8_t Delimited(int field) { return static_cast<uint8_t>(field << 3 | 2); }
constexpr uint8_t Varint(int field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t kRequestTableName = Delimited(1);
constexpr uint8_t kRequestEntries = Delimited(2);
constexpr uint8_t kEntryRowKey = Delimited(1);
constexpr uint8_t kEntryMutations = Delimited(2);
constexpr uint8_t kMutationSetCell = Delimited(1);
constexpr uint8_t kSetCellFamilyName = Delimited(1);
constexpr uint8_t kSetCellColumnQualifier = Delimited(2);
constexpr uint8_t kSetCellTimestampMicros = Varint(3);
constexpr uint8_t kSetCellValue = Delimited(4);

// Bytes of the timestamp with its tag, and of the value's tag and length, which is one byte.
constexpr size_t kTimestampBytesMax = 11;
constexpr size_t kValueHeadBytes = 2;

void PutField(std::string* out, uint8_t tag, std::string_view bytes) {
  PutVarint(out, tag);
  PutBytes(out, bytes);
}

size_t VarintBytes(uint64_t number) {
  size_t bytes = 1;
  for (; number >= 0x80; number >>= 7) ++bytes;
  return bytes;
}

char* WriteVarint(char* out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) *out++ = static_cast<char>(number | 0x80);
  *out++ = static_cast<char>(number);
  return out;
}

char* Write(char* out, std::string_view bytes) {
  std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

// The value of a cell, as text or as eight bytes: views the cell, or `bytes`.
class CellValue {
 public:
  CellValue(const ReadingCell& cell, bool is_big_endian)
      : text_(cell.value()), is_big_endian_(is_big_endian) {
    if (!is_big_endian) return;
    int64_t number = 0;
    std::from_chars(text_.data(), text_.data() + text_.size(), number);
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(number >> (56 - 8 * i));
  }
  std::string_view view() const {
    return is_big_endian_ ? std::string_view(bytes_.data(), bytes_.size()) : text_;
  }

 private:
  std::string_view text_;
  std::array<char, 8> bytes_{};
  bool is_big_endian_;
};

}  // namespace

BulkRequests::BulkRequests(const DataShape& shape, std::string_view table_name, int entity_begin,
                           int entity_end, int64_t steps, int rows_per_request)
    : keys_(shape),
      is_big_endian_(shape.big_endian),
      steps_(steps),
      rows_per_request_(rows_per_request),
      entity_begin_(entity_begin),
      readings_(shape, entity_begin, entity_end) {
  PutField(&request_start_, kRequestTableName, table_name);
  const std::vector<FieldGroup>& groups = keys_.model().groups;
  for (const FieldGroup& group : groups) {
    auto& columns = columns_.emplace_back();
    for (const Field& field : group.fields) {
      Column& column = columns.emplace_back();
      PutField(&column.names, kSetCellFamilyName, kFamily);
      PutField(&column.names, kSetCellColumnQualifier, field.name);
      column.name_bytes = kFamily.size() + field.name.size();
      column.qualifier = CellSum::Hash(field.name);
    }
  }
  for (int entity = entity_begin; entity < entity_end; ++entity) {
    for (size_t group = 0; group < groups.size(); ++group) {
      prefixes_.push_back(keys_.GroupPrefix(entity, static_cast<int>(group)));
    }
  }
}

std::string_view BulkRequests::Next() {
  buffer_ = request_start_;
  uint64_t rows_left = rows_per_request_;
  while (rows_left > 0 && readings_.Next(steps_)) {
    for (const Reading& reading : readings_.readings()) AppendRow(reading);
    rows_left -= std::min<uint64_t>(rows_left, readings_.readings().size());
  }
  if (buffer_.size() == request_start_.size()) return {};
  bytes_ += buffer_.size();
  return buffer_;
}

void BulkRequests::AppendRow(const Reading& reading) {
  if (reading.micros != key_time_micros_) {
    key_time_micros_ = reading.micros;
    key_time_ = keys_.KeyTime(reading.micros);
  }
  const std::vector<Column>& columns = columns_[reading.group];
  const size_t series = (readings_.entity() - entity_begin_) * columns_.size() + reading.group;
  const std::string key = prefixes_[series] + key_time_;
  char timestamp_bytes[kTimestampBytesMax] = {static_cast<char>(kSetCellTimestampMicros)};
  const std::string_view timestamp(
      timestamp_bytes,
      WriteVarint(timestamp_bytes + 1, static_cast<uint64_t>(reading.micros)) - timestamp_bytes);

  // A cell in its mutation in its entry: each a tag, a length, and what is in it.
  const auto value_size = [&](const ReadingCell& cell) {
    return is_big_endian_ ? sizeof(int64_t) : size_t{cell.size};
  };
  const auto cell_size = [&](const ReadingCell& cell) {
    return columns[cell.field].names.size() + timestamp.size() + kValueHeadBytes + value_size(cell);
  };
  const auto mutation_size = [](size_t cell_bytes) { return 1 + VarintBytes(cell_bytes) + cell_bytes; };
  size_t entry_size = 1 + VarintBytes(key.size()) + key.size();
  for (const ReadingCell& cell : reading.cells) {
    const size_t mutation_bytes = mutation_size(cell_size(cell));
    entry_size += 1 + VarintBytes(mutation_bytes) + mutation_bytes;
  }
  const size_t begin = buffer_.size();
  buffer_.resize(begin + 1 + VarintBytes(entry_size) + entry_size);
  char* out = buffer_.data() + begin;
  *out++ = static_cast<char>(kRequestEntries);
  out = WriteVarint(out, entry_size);
  *out++ = static_cast<char>(kEntryRowKey);
  out = Write(WriteVarint(out, key.size()), key);
  const uint64_t row = CellSum::Hash(key);
  for (const ReadingCell& cell : reading.cells) {
    const Column& column = columns[cell.field];
    const size_t cell_bytes = cell_size(cell);
    const CellValue value(cell, is_big_endian_);
    *out++ = static_cast<char>(kEntryMutations);
    out = WriteVarint(out, mutation_size(cell_bytes));
    *out++ = static_cast<char>(kMutationSetCell);
    out = WriteVarint(out, cell_bytes);
    out = Write(Write(out, column.names), timestamp);
    *out++ = static_cast<char>(kSetCellValue);
    *out++ = static_cast<char>(value_size(cell));
    out = Write(out, value.view());
    sum_.Add(row, column.qualifier, reading.micros, CellSum::Hash(value.view()));
    cell_bytes_ += key.size() + column.name_bytes + sizeof(int64_t) + value_size(cell);
  }
  ++rows_;
}

}  // namespace sonde::bench

#include "hbase/wire/cell_block.h"

#include "base/check.h"
#include "base/varint.h"

namespace sonde::hbase {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kRowLengthBytes = 2;
constexpr size_t kFamilyLengthBytes = 1;
constexpr size_t kTimeAndTypeBytes = 8 + 1;
constexpr size_t kKeyBytesMin = kRowLengthBytes + kFamilyLengthBytes + kTimeAndTypeBytes;

absl::Status NoCell(std::string_view why) {
  return absl::DataLossError("HBase sent bytes that are no cell: " + std::string(why));
}

bool IsKnown(uint8_t type) {
  switch (static_cast<CellType>(type)) {
    case CellType::kPut:
    case CellType::kDeleteCell:
    case CellType::kDeleteFamilyAtTime:
    case CellType::kDeleteColumn:
    case CellType::kDeleteFamily:
      return true;
  }
  return false;
}

}  // namespace

void AppendCell(std::string* block, const Cell& cell) {
  CHECK(cell.row.size() <= kRowBytesMax && cell.family.size() <= kFamilyBytesMax);
  const size_t key_bytes = kKeyBytesMin + cell.row.size() + cell.family.size() + cell.qualifier.size();
  const size_t all_bytes = 2 * kLengthBytes + key_bytes + cell.value.size();
  CHECK(all_bytes <= INT32_MAX);
  PutFixed32(block, static_cast<uint32_t>(all_bytes));
  PutFixed32(block, static_cast<uint32_t>(key_bytes));
  PutFixed32(block, static_cast<uint32_t>(cell.value.size()));
  block->push_back(static_cast<char>(cell.row.size() >> 8));
  block->push_back(static_cast<char>(cell.row.size()));
  block->append(cell.row);
  block->push_back(static_cast<char>(cell.family.size()));
  block->append(cell.family);
  block->append(cell.qualifier);
  PutFixed64(block, static_cast<uint64_t>(cell.timestamp));
  block->push_back(static_cast<char>(cell.type));
  block->append(cell.value);
}

absl::StatusOr<Cell> CellReader::Next() {
  uint32_t all_bytes = 0;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  if (!GetFixed32(&rest_, &all_bytes) || all_bytes > rest_.size()) return NoCell("the block ends in a cell");
  if (!GetFixed32(&rest_, &key_bytes) || !GetFixed32(&rest_, &value_bytes) ||
      uint64_t{2 * kLengthBytes} + key_bytes + value_bytes != all_bytes || key_bytes < kKeyBytesMin) {
    return NoCell("the lengths do not match");
  }
  std::string_view key = rest_.substr(0, key_bytes);
  Cell cell;
  cell.value = rest_.substr(key_bytes, value_bytes);
  rest_.remove_prefix(size_t{key_bytes} + value_bytes);

  const auto byte = [&key](size_t index) { return static_cast<unsigned char>(key[index]); };
  const size_t row_bytes = static_cast<size_t>(byte(0)) << 8 | byte(1);
  if (row_bytes > kRowBytesMax || kKeyBytesMin + row_bytes > key.size())
    return NoCell("the row is longer than the key");
  cell.row = key.substr(kRowLengthBytes, row_bytes);
  const size_t family_bytes = byte(kRowLengthBytes + row_bytes);
  if (kKeyBytesMin + row_bytes + family_bytes > key.size())
    return NoCell("the family is longer than the key");
  key.remove_prefix(kRowLengthBytes + row_bytes + kFamilyLengthBytes);
  cell.family = key.substr(0, family_bytes);
  key.remove_prefix(family_bytes);
  cell.qualifier = key.substr(0, key.size() - kTimeAndTypeBytes);
  key.remove_prefix(cell.qualifier.size());
  uint64_t timestamp = 0;
  if (!GetFixed64(&key, &timestamp)) return NoCell("the timestamp is missing");
  if (!IsKnown(static_cast<uint8_t>(key[0]))) return NoCell("the type is unknown");
  cell.timestamp = static_cast<int64_t>(timestamp);
  cell.type = static_cast<CellType>(key[0]);
  return cell;
}

}  // namespace sonde::hbase

// Cells as HBase's KeyValueCodec writes them, one after the other: a block beside a message.
//
//   4 bytes  length of the rest          2 bytes  length of the row, row
//   4 bytes  length of the key           1 byte   length of the family, family
//   4 bytes  length of the value         qualifier (the rest of the key)
//   key, value                           8 bytes  timestamp
//                                        1 byte   type
// All numbers are big-endian.  HBase calls the first three lengths and the key's parts a KeyValue.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde::hbase {

// Numbers of HBase's, never other ones.  A delete is a marker, which hides what it covers.
enum class CellType : uint8_t {
  kPut = 4,
  kDeleteCell = 8,           // the cell of exactly this time
  kDeleteFamilyAtTime = 10,  // cells of a family of exactly this time
  kDeleteColumn = 12,        // cells of a column up to this time
  kDeleteFamily = 14,        // cells of a family up to this time
};

// The greatest time that a marker may have: INT64_MAX means "now" to HBase.
constexpr int64_t kTimestampMax = INT64_MAX - 1;
constexpr size_t kRowBytesMax = INT16_MAX;
constexpr size_t kFamilyBytesMax = INT8_MAX;

// The views belong to whoever made the cell.
struct Cell {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;
  CellType type = CellType::kPut;
  std::string_view value = {};

  bool operator==(const Cell&) const = default;
};

// The row and the family must be within their bounds, all of it below 2 GiB.
void AppendCell(std::string* block, const Cell& cell);

// Takes cells from the front of a block.
class CellReader {
 public:
  // `block` must outlive the cells.
  explicit CellReader(std::string_view block) : rest_(block) {}

  bool is_at_end() const { return rest_.empty(); }
  // There must be more.  DATA_LOSS: the bytes are no cell; nothing can be read after them.
  absl::StatusOr<Cell> Next();

 private:
  std::string_view rest_;
};

}  // namespace sonde::hbase

// Cells of the index of series: any bytes are refused, or are what the encoders write of what was decoded.
//   which decoder 1 byte, then the cell; of blocks: bytes of the header 2, then a number of columns, each with its label.
#include <map>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "series/index/checked_bytes.h"
#include "series/index/entity_block.h"
#include "series/index/index_table.h"
#include "series/index/position_set.h"
#include "target.h"

namespace sonde::series {
namespace {

void CheckPositions(std::string_view bytes) {
  PositionSet positions;
  if (!AddPositions(bytes, &positions)) return Require(positions.IsEmpty(), "a refusal adds nothing");
  positions.ForEach(
      [](size_t position) { Require(position < kBlockEntitiesMax, "positions are below the limit"); });
  PositionSet again;
  Require(AddPositions(EncodePositions(positions), &again) && again == positions, "positions come back");
}

void CheckTexts(std::string_view bytes) {
  std::vector<std::string> texts;
  if (!DecodeTexts(bytes, &texts)) return;
  std::vector<std::string> again;
  Require(DecodeTexts(EncodeTexts(texts), &again) && again == texts, "texts come back");
  (void)EntityBlock::Make({}, texts);
}

void CheckColumn(std::string_view bytes) {
  LabelColumn column;
  if (!LabelColumn::Decode(bytes, &column)) return;
  for (size_t i = 0; i < column.entities_count(); ++i) (void)column.ValueOf(i);
  for (size_t place = 0; place < column.values_count(); ++place) {
    Require(column.Find(column.value(place)) == place, "values rise");
  }
  LabelColumn again;
  Require(LabelColumn::Decode(column.Encode(), &again) && again.codes() == column.codes(),
          "columns come back");
}

void CheckBlock(std::string_view header, const std::map<std::string, std::string>& columns) {
  const auto block = EntityBlock::Decode(header, columns);
  if (block == nullptr) return;
  std::vector<std::string> texts(block->count());
  for (size_t i = 0; i < texts.size(); ++i) block->AppendText(i, &texts[i]);
  // Cells may say what no texts of entities come to: a name or value that is empty has no text.
  (void)EntityBlock::Make(block->names(), texts);
}

}  // namespace
}  // namespace sonde::series

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;          // NOLINT: a main of sorts
  using namespace sonde::series;  // NOLINT
  InputReader input(data, size);
  const uint8_t which = input.Byte();
  // With the frame of a cell that is sound, or as it came.
  const bool is_framed = (which & 0x80) != 0;
  const auto cell = [is_framed](std::string_view bytes) {
    return is_framed ? CheckedBytes(bytes) : std::string(bytes);
  };
  switch (which % 4) {
    case 0:
      CheckPositions(cell(input.Rest()));
      break;
    case 1:
      CheckTexts(cell(input.Rest()));
      break;
    case 2:
      CheckColumn(cell(input.Rest()));
      break;
    default: {
      const std::string header = cell(input.Bytes(input.Byte()));
      std::map<std::string, std::string> columns;
      for (int i = input.Byte() % 4; i > 0; --i) {
        const std::string label(input.Bytes(input.Byte() % 8));
        columns[label] = cell(input.Bytes(input.Byte()));
      }
      CheckBlock(header, columns);
    }
  }
  return 0;
}

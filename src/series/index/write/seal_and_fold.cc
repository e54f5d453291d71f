#include "series/index/write/seal_and_fold.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/bytes.h"

namespace sonde::series {

absl::Status SealBlock(const KnownSeries& series, const IndexDirectory& directory, const std::string& block,
                       const std::vector<const IndexTail*>& tails, int64_t now_micros, TableAccess* tables) {
  const std::string& name = series.schema.name;
  std::vector<std::string> texts;
  if (directory.sealed.contains(block)) {
    const absl::StatusOr<std::shared_ptr<const EntityBlock>> before = ReadBlock(name, block, tables);
    if (!before.ok()) return before.status();
    for (size_t position = 0; position < (*before)->end(); ++position) {
      (*before)->AppendText(position, &texts.emplace_back());
    }
  }
  const size_t sealed = texts.size();
  std::vector<RowWrite> deletions;
  for (const IndexTail* tail : tails) {
    if (tail->first > texts.size())
      break;  // what is between never was acknowledged, and nothing is behind it
    for (size_t i = 0; i < tail->texts.size(); ++i) {
      if (tail->first + i >= texts.size()) texts.push_back(tail->texts[i]);
    }
    deletions.push_back({TailKey(name, block, tail->first), {}, {{kIndexFamily, kListColumn}}});
  }
  if (texts.size() > sealed) {
    const std::shared_ptr<const EntityBlock> made = EntityBlock::Make(series.labels, texts);
    if (made == nullptr) {
      return absl::DataLossError(
          fmt::format("series '{}': the tails of block {} make no block", Printable(name), block));
    }
    if (absl::Status status = WriteIndexRows({BlockRow(name, block, *made, now_micros)}, tables);
        !status.ok())
      return status;
    RowWrite listed;
    listed.row_key = DirectoryKey(name);
    const std::string column = kSealedColumnPrefix + block;
    listed.delete_columns = {{kIndexFamily, column}};
    listed.cells = {{kIndexFamily, column, now_micros, EncodeSealed(texts.size())}};
    if (absl::Status status = WriteIndexRows({listed}, tables); !status.ok()) return status;
  }
  return WriteIndexRows(deletions, tables);
}

absl::Status FoldSetRow(const std::string& row_key, const std::string& column, int64_t now_micros,
                        TableAccess* tables) {
  RowRead read;
  read.ranges = {RowRange::Single(row_key)};
  read.family = kIndexSetsFamily;
  PositionSet positions;
  RowWrite row;
  row.row_key = row_key;
  bool is_good = true;
  const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& found) {
    for (ReadCell& cell : found.cells) {
      is_good = is_good && AddPositions(cell.value, &positions);
      row.delete_columns.emplace_back(kIndexSetsFamily, std::move(cell.qualifier));
    }
    return true;
  });
  if (absl::IsNotFound(status)) return absl::OkStatus();
  if (!status.ok()) return status;
  if (!is_good) return absl::DataLossError(fmt::format("row '{}': a damaged set", Printable(row_key)));
  if (row.delete_columns.size() < 2) return absl::OkStatus();
  row.cells = {{kIndexSetsFamily, column, now_micros, EncodePositions(positions)}};
  return WriteIndexRows({row}, tables);
}

}  // namespace sonde::series

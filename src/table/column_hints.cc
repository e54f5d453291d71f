#include "table/column_hints.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace sonde {

void AddColumns(ByteRanges columns, std::vector<ReadHints::ColumnRange>* hints) {
  constexpr size_t kRangesMax = 16;  // more would cost more than they leave out
  for (ReadHints::ColumnRange& range : *hints) {
    std::optional<std::string> end;
    if (!range.end.empty()) end = std::move(range.end);
    columns.push_back({std::move(range.start), std::move(end)});
  }
  hints->clear();
  for (ByteRange& range : AtMost(kRangesMax, NormalizeByteRanges(std::move(columns))))
    hints->push_back({std::move(range.start), std::move(range.end).value_or("")});
}

}  // namespace sonde

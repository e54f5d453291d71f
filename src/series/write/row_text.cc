#include "series/write/row_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string ColumnText(const ReadCell& cell) {
  return fmt::format("{}:{}", cell.family, Printable(cell.qualifier));
}

void AppendRow(const ReadRow& row, const std::vector<std::string>& header, int64_t origin_micros,
               Lines* lines) {
  const size_t first = lines->size();
  std::vector<size_t> next(header.size(), first);  // the line of each column's next cell
  for (const ReadCell& cell : row.cells) {
    const size_t column = std::find(header.begin(), header.end(), ColumnText(cell)) - header.begin();
    const size_t line = next[column]++;
    if (line == lines->size()) lines->emplace_back(header.size());
    const std::string value = cell.value.empty() ? "" : Printable(cell.value) + " ";
    (*lines)[line][column] = fmt::format("{}({})", value, TimeText(cell.timestamp_micros + origin_micros));
  }
  if (lines->size() > first) (*lines)[first][0] = Printable(row.row_key);
}

}  // namespace

std::string DrawRows(const std::vector<ReadRow>& rows, int64_t origin_micros) {
  std::vector<std::string> header = {"row key"};
  for (const ReadRow& row : rows) {
    for (const ReadCell& cell : row.cells) {
      std::string column = ColumnText(cell);
      if (std::find(header.begin(), header.end(), column) == header.end())
        header.push_back(std::move(column));
    }
  }
  Lines lines = {header};
  for (const ReadRow& row : rows) AppendRow(row, header, origin_micros, &lines);
  std::vector<size_t> widths(header.size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string drawn = " ";
    for (size_t i = 0; i < line.size(); ++i) drawn += fmt::format(" {:<{}} ", line[i], widths[i]);
    drawn.erase(drawn.find_last_not_of(' ') + 1);
    text += drawn + "\n";
  }
  return text;
}

}  // namespace sonde::series

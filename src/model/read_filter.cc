#include "model/read_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/filters.h"
#include "model/quote_regex.h"

namespace sonde {
namespace {

// Ascending, each once: an interleave would give the cells of a column that it names twice twice.
std::vector<RowRead::Column> ColumnsOf(const RowRead& read) {
  std::vector<RowRead::Column> columns = read.columns;
  const auto name = [](const RowRead::Column& column) { return std::tie(column.family, column.qualifier); };
  std::ranges::sort(columns, {}, name);
  const auto repeated = std::ranges::unique(columns, {}, name);
  columns.erase(repeated.begin(), repeated.end());
  if (read.family.has_value()) {
    std::erase_if(columns, [&](const RowRead::Column& column) { return column.family != *read.family; });
  }
  return columns;
}

FilterSpec FilterOfColumns(const std::vector<RowRead::Column>& columns) {
  if (columns.empty()) return filters::Block();
  if (columns.size() == 1) return filters::Column(columns[0].family, columns[0].qualifier);
  if (columns.front().family == columns.back().family) {
    // A set of names costs much less than a copy of the cells for each of them.
    std::vector<std::string> names;
    for (const RowRead::Column& column : columns) names.push_back(QuoteRegex(column.qualifier));
    return filters::Chain({filters::Family(QuoteRegex(columns[0].family)),
                           filters::Qualifier(fmt::format("{}", fmt::join(names, "|")))});
  }
  std::vector<FilterSpec> each;
  for (const RowRead::Column& column : columns)
    each.push_back(filters::Column(column.family, column.qualifier));
  return filters::Interleave(std::move(each));
}

}  // namespace

FilterSpec FilterOf(const RowRead& read) {
  std::vector<FilterSpec> parts;
  if (read.row_key_regex.has_value()) parts.push_back(filters::RowKey(*read.row_key_regex));
  if (!read.columns.empty()) {
    parts.push_back(FilterOfColumns(ColumnsOf(read)));
  } else if (read.family.has_value()) {
    parts.push_back(filters::Family(QuoteRegex(*read.family)));
  }
  if (read.start_micros != 0 || read.end_micros != 0) {
    parts.push_back(filters::Times(read.start_micros, read.end_micros));
  }
  if (read.cells_per_column_max > 0) parts.push_back(filters::ColumnLimit(read.cells_per_column_max));
  if (parts.empty()) return filters::All();
  if (parts.size() == 1) return std::move(parts.front());
  return filters::Chain(std::move(parts));
}

}  // namespace sonde

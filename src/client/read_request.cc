#include "client/read_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/quote_regex.h"
#include "model/row_range.h"

namespace sonde {
namespace {

using google::bigtable::v2::ReadRowsRequest;
using google::bigtable::v2::RowFilter;
using google::bigtable::v2::RowSet;

std::vector<RowRange> RangesLeft(const RowRead& read, const std::optional<std::string>& last_row_key) {
  std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  if (!last_row_key.has_value()) return ranges;
  if (!read.reversed) return ClipRanges(ranges, RowRange{Successor(*last_row_key), ""});
  // An empty end would be infinity; nothing is before the empty key.
  if (last_row_key->empty()) return {};
  return ClipRanges(ranges, RowRange{"", *last_row_key});
}

void AddRange(const RowRange& range, RowSet* rows) {
  if (range.IsSingleRow() && !range.start.empty()) {
    rows->add_row_keys(range.start);
    return;
  }
  auto* proto = rows->add_row_ranges();
  if (!range.start.empty()) proto->set_start_key_closed(range.start);
  if (!range.end.empty()) proto->set_end_key_open(range.end);
}

RowFilter ColumnFilter(const RowRead::Column& column) {
  RowFilter filter;
  auto* range = filter.mutable_column_range_filter();
  range->set_family_name(column.family);
  range->set_start_qualifier_closed(column.qualifier);
  range->set_end_qualifier_closed(column.qualifier);
  return filter;
}

// Each column once, so that the interleave does not give a cell twice.
RowFilter ColumnsFilter(const RowRead& read) {
  std::vector<RowRead::Column> columns = read.columns;
  const auto order = [](const RowRead::Column& column) { return std::tie(column.family, column.qualifier); };
  std::sort(columns.begin(), columns.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  columns.erase(std::unique(columns.begin(), columns.end(),
                            [&](const auto& a, const auto& b) { return order(a) == order(b); }),
                columns.end());
  if (read.family.has_value()) {
    std::erase_if(columns, [&](const RowRead::Column& column) { return column.family != *read.family; });
  }
  RowFilter filter;
  if (columns.empty()) {
    filter.set_block_all_filter(true);
  } else if (columns.size() == 1) {
    filter = ColumnFilter(columns.front());
  } else if (columns.front().family == columns.back().family) {
    // One family: a set of names costs much less than a copy of the cells for each.
    std::vector<std::string> names;
    for (const RowRead::Column& column : columns) names.push_back(QuoteRegex(column.qualifier));
    filter.mutable_chain()->add_filters()->set_family_name_regex_filter(QuoteRegex(columns.front().family));
    filter.mutable_chain()->add_filters()->set_column_qualifier_regex_filter(
        fmt::format("{}", fmt::join(names, "|")));
  } else {
    for (const RowRead::Column& column : columns) {
      *filter.mutable_interleave()->add_filters() = ColumnFilter(column);
    }
  }
  return filter;
}

std::optional<RowFilter> MakeFilter(const RowRead& read) {
  std::vector<RowFilter> parts;
  if (read.row_key_regex.has_value()) parts.emplace_back().set_row_key_regex_filter(*read.row_key_regex);
  if (!read.columns.empty()) {
    parts.push_back(ColumnsFilter(read));
  } else if (read.family.has_value()) {
    parts.emplace_back().set_family_name_regex_filter(QuoteRegex(*read.family));
  }
  if (read.start_micros != 0 || read.end_micros != 0) {
    auto* range = parts.emplace_back().mutable_timestamp_range_filter();
    range->set_start_timestamp_micros(read.start_micros);
    range->set_end_timestamp_micros(read.end_micros);
  }
  if (read.cells_per_column_max > 0) {
    parts.emplace_back().set_cells_per_column_limit_filter(read.cells_per_column_max);
  }
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return std::move(parts.front());
  RowFilter chain;
  for (RowFilter& part : parts) *chain.mutable_chain()->add_filters() = std::move(part);
  return chain;
}

}  // namespace

std::vector<RowRead> PartsOf(const RowRead& read) {
  // What is left of a request for names: its filter and the rest, and what a range has beside its keys.
  constexpr size_t kNamesBytesMax = kReadRowsRequestBytesMax - kFilterBytesMax - 4 * 1024;
  constexpr size_t kRangeBytes = 16;
  std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  if (read.reversed) std::reverse(ranges.begin(), ranges.end());
  RowRead rest = read;
  rest.ranges.clear();
  std::vector<RowRead> parts = {rest};
  size_t bytes = 0;
  for (RowRange& range : ranges) {
    const size_t range_bytes = range.start.size() + range.end.size() + kRangeBytes;
    if (bytes > 0 && bytes + range_bytes > kNamesBytesMax) {
      parts.push_back(rest);
      bytes = 0;
    }
    bytes += range_bytes;
    parts.back().ranges.push_back(std::move(range));
  }
  return parts;
}

absl::StatusOr<std::optional<ReadRowsRequest>> MakeReadRowsRequest(
    std::string table_name, const RowRead& read, const std::optional<std::string>& last_row_key,
    int64_t rows_done) {
  std::optional<ReadRowsRequest> request;
  if (read.rows_max > 0 && rows_done >= read.rows_max) return request;
  const std::vector<RowRange> ranges = RangesLeft(read, last_row_key);
  if (ranges.empty()) return request;
  request.emplace();
  request->set_table_name(std::move(table_name));
  request->set_reversed(read.reversed);
  if (read.rows_max > 0) request->set_rows_limit(read.rows_max - rows_done);
  for (const RowRange& range : ranges) AddRange(range, request->mutable_rows());
  if (std::optional<RowFilter> filter = MakeFilter(read); filter.has_value()) {
    const size_t bytes = filter->ByteSizeLong();
    if (bytes > kFilterBytesMax) {
      return absl::InvalidArgumentError(fmt::format(
          "the filter of {} columns needs {} bytes, the API allows {}: ask for fewer columns, or for "
          "their whole family",
          read.columns.size(), bytes, kFilterBytesMax));
    }
    *request->mutable_filter() = *std::move(filter);
  }
  return request;
}

}  // namespace sonde

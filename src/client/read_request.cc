#include "client/read_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "model/filter_spec.h"
#include "model/limits.h"
#include "model/read_filter.h"
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

// A FilterSpec as the message that says it.
class FilterMessage {
 public:
  static RowFilter Of(const FilterSpec& spec) {
    FilterMessage made;
    std::visit(made, spec.filter);
    return std::move(made.message_);
  }

  void operator()(const FilterSpec::PassAll&) { message_.set_pass_all_filter(true); }
  void operator()(const FilterSpec::BlockAll&) { message_.set_block_all_filter(true); }
  void operator()(const FilterSpec::Sink&) { message_.set_sink(true); }
  void operator()(const FilterSpec::StripValue&) { message_.set_strip_value_transformer(true); }
  void operator()(const FilterSpec::Chain& of) { AddAll(of.filters, message_.mutable_chain()); }
  void operator()(const FilterSpec::Interleave& of) { AddAll(of.filters, message_.mutable_interleave()); }
  void operator()(const FilterSpec::Condition& of) {
    RowFilter::Condition* const condition = message_.mutable_condition();
    *condition->mutable_predicate_filter() = Of(*of.predicate);
    if (of.true_filter != nullptr) *condition->mutable_true_filter() = Of(*of.true_filter);
    if (of.false_filter != nullptr) *condition->mutable_false_filter() = Of(*of.false_filter);
  }
  void operator()(const FilterSpec::RowKeyRegex& of) { message_.set_row_key_regex_filter(of.pattern); }
  void operator()(const FilterSpec::FamilyRegex& of) { message_.set_family_name_regex_filter(of.pattern); }
  void operator()(const FilterSpec::QualifierRegex& of) {
    message_.set_column_qualifier_regex_filter(of.pattern);
  }
  void operator()(const FilterSpec::ValueRegex& of) { message_.set_value_regex_filter(of.pattern); }
  void operator()(const FilterSpec::RowSample& of) { message_.set_row_sample_filter(of.probability); }
  void operator()(const FilterSpec::ColumnRange& of) {
    auto* const range = message_.mutable_column_range_filter();
    range->set_family_name(of.family);
    if (of.start.kind == Bound::Kind::kClosed) range->set_start_qualifier_closed(of.start.value);
    if (of.start.kind == Bound::Kind::kOpen) range->set_start_qualifier_open(of.start.value);
    if (of.end.kind == Bound::Kind::kClosed) range->set_end_qualifier_closed(of.end.value);
    if (of.end.kind == Bound::Kind::kOpen) range->set_end_qualifier_open(of.end.value);
  }
  void operator()(const FilterSpec::TimestampRange& of) {
    auto* const range = message_.mutable_timestamp_range_filter();
    range->set_start_timestamp_micros(of.range.start_micros);
    range->set_end_timestamp_micros(of.range.end_micros);
  }
  void operator()(const FilterSpec::ValueRange& of) {
    auto* const range = message_.mutable_value_range_filter();
    if (of.start.kind == Bound::Kind::kClosed) range->set_start_value_closed(of.start.value);
    if (of.start.kind == Bound::Kind::kOpen) range->set_start_value_open(of.start.value);
    if (of.end.kind == Bound::Kind::kClosed) range->set_end_value_closed(of.end.value);
    if (of.end.kind == Bound::Kind::kOpen) range->set_end_value_open(of.end.value);
  }
  void operator()(const FilterSpec::ValueBitmask& of) {
    message_.mutable_value_bitmask_filter()->set_mask(of.mask);
  }
  void operator()(const FilterSpec::CellsPerRowOffset& of) {
    message_.set_cells_per_row_offset_filter(of.count);
  }
  void operator()(const FilterSpec::CellsPerRowLimit& of) {
    message_.set_cells_per_row_limit_filter(of.count);
  }
  void operator()(const FilterSpec::CellsPerColumnLimit& of) {
    message_.set_cells_per_column_limit_filter(of.count);
  }
  void operator()(const FilterSpec::ApplyLabel& of) { message_.set_apply_label_transformer(of.label); }

 private:
  template <typename Message>
  static void AddAll(const std::vector<FilterSpec>& filters, Message* to) {
    for (const FilterSpec& filter : filters) *to->add_filters() = Of(filter);
  }

  RowFilter message_;
};

}  // namespace

std::vector<RowRead> PartsOf(const RowRead& read) {
  // Room for names in a request: without its filter and its other fields, and without a range's bytes beside
  // its keys.
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
  // A request without a filter reads all.
  if (const FilterSpec filter = FilterOf(read); !std::holds_alternative<FilterSpec::PassAll>(filter.filter)) {
    RowFilter message = FilterMessage::Of(filter);
    const size_t bytes = message.ByteSizeLong();
    if (bytes > kFilterBytesMax) {
      return absl::InvalidArgumentError(fmt::format(
          "the filter of {} columns needs {} bytes, the API allows {}: ask for fewer columns, or for "
          "their whole family",
          read.columns.size(), bytes, kFilterBytesMax));
    }
    *request->mutable_filter() = std::move(message);
  }
  return request;
}

}  // namespace sonde

#include "wire/data/filter_request.h"

#include <fmt/format.h>

#include "model/limits.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

absl::StatusOr<FilterSpec> Parse(const pb::RowFilter& filter, int depth);

absl::Status CheckTrue(bool value, std::string_view field) {
  if (value) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : must be true", field));
}

absl::StatusOr<std::vector<FilterSpec>> ParseAll(
    const google::protobuf::RepeatedPtrField<pb::RowFilter>& filters, int depth) {
  std::vector<FilterSpec> result;
  result.reserve(filters.size());
  for (const pb::RowFilter& filter : filters) {
    absl::StatusOr<FilterSpec> parsed = Parse(filter, depth);
    if (!parsed.ok()) return parsed.status();
    result.push_back(*std::move(parsed));
  }
  return result;
}

absl::StatusOr<FilterSpec> ParseCondition(const pb::RowFilter::Condition& condition, int depth) {
  if (!condition.has_predicate_filter()) {
    return absl::InvalidArgumentError("Error in field 'condition' : predicate_filter must be set");
  }
  FilterSpec::Condition result;
  const auto parse = [depth](const pb::RowFilter& filter, std::shared_ptr<const FilterSpec>* out) {
    absl::StatusOr<FilterSpec> parsed = Parse(filter, depth);
    if (parsed.ok()) *out = std::make_shared<const FilterSpec>(*std::move(parsed));
    return parsed.status();
  };
  if (absl::Status status = parse(condition.predicate_filter(), &result.predicate); !status.ok())
    return status;
  if (condition.has_true_filter()) {
    if (absl::Status status = parse(condition.true_filter(), &result.true_filter); !status.ok())
      return status;
  }
  if (condition.has_false_filter()) {
    if (absl::Status status = parse(condition.false_filter(), &result.false_filter); !status.ok())
      return status;
  }
  return FilterSpec{std::move(result)};
}

FilterSpec ParseColumnRange(const pb::ColumnRange& range) {
  FilterSpec::ColumnRange result{range.family_name(), {}, {}};
  if (range.start_qualifier_case() == pb::ColumnRange::kStartQualifierClosed) {
    result.start = {Bound::Kind::kClosed, range.start_qualifier_closed()};
  } else if (range.start_qualifier_case() == pb::ColumnRange::kStartQualifierOpen) {
    result.start = {Bound::Kind::kOpen, range.start_qualifier_open()};
  }
  if (range.end_qualifier_case() == pb::ColumnRange::kEndQualifierClosed) {
    result.end = {Bound::Kind::kClosed, range.end_qualifier_closed()};
  } else if (range.end_qualifier_case() == pb::ColumnRange::kEndQualifierOpen) {
    result.end = {Bound::Kind::kOpen, range.end_qualifier_open()};
  }
  return {std::move(result)};
}

FilterSpec ParseValueRange(const pb::ValueRange& range) {
  FilterSpec::ValueRange result;
  if (range.start_value_case() == pb::ValueRange::kStartValueClosed) {
    result.start = {Bound::Kind::kClosed, range.start_value_closed()};
  } else if (range.start_value_case() == pb::ValueRange::kStartValueOpen) {
    result.start = {Bound::Kind::kOpen, range.start_value_open()};
  }
  if (range.end_value_case() == pb::ValueRange::kEndValueClosed) {
    result.end = {Bound::Kind::kClosed, range.end_value_closed()};
  } else if (range.end_value_case() == pb::ValueRange::kEndValueOpen) {
    result.end = {Bound::Kind::kOpen, range.end_value_open()};
  }
  return {std::move(result)};
}

absl::StatusOr<FilterSpec> Parse(const pb::RowFilter& filter, int depth) {
  if (depth > kFilterDepthMax) {
    return absl::InvalidArgumentError(
        fmt::format("Row filter is nested deeper than {} levels", kFilterDepthMax));
  }
  switch (filter.filter_case()) {
    case pb::RowFilter::kChain: {
      auto filters = ParseAll(filter.chain().filters(), depth + 1);
      if (!filters.ok()) return filters.status();
      return FilterSpec{FilterSpec::Chain{*std::move(filters)}};
    }
    case pb::RowFilter::kInterleave: {
      auto filters = ParseAll(filter.interleave().filters(), depth + 1);
      if (!filters.ok()) return filters.status();
      return FilterSpec{FilterSpec::Interleave{*std::move(filters)}};
    }
    case pb::RowFilter::kCondition:
      return ParseCondition(filter.condition(), depth + 1);
    case pb::RowFilter::kSink:
      if (absl::Status status = CheckTrue(filter.sink(), "sink"); !status.ok()) return status;
      return FilterSpec{FilterSpec::Sink{}};
    case pb::RowFilter::kPassAllFilter:
      if (absl::Status status = CheckTrue(filter.pass_all_filter(), "pass_all_filter"); !status.ok())
        return status;
      return FilterSpec{FilterSpec::PassAll{}};
    case pb::RowFilter::kBlockAllFilter:
      if (absl::Status status = CheckTrue(filter.block_all_filter(), "block_all_filter"); !status.ok())
        return status;
      return FilterSpec{FilterSpec::BlockAll{}};
    case pb::RowFilter::kStripValueTransformer:
      if (absl::Status status = CheckTrue(filter.strip_value_transformer(), "strip_value_transformer");
          !status.ok()) {
        return status;
      }
      return FilterSpec{FilterSpec::StripValue{}};
    case pb::RowFilter::kRowKeyRegexFilter:
      return FilterSpec{FilterSpec::RowKeyRegex{filter.row_key_regex_filter()}};
    case pb::RowFilter::kRowSampleFilter:
      return FilterSpec{FilterSpec::RowSample{filter.row_sample_filter()}};
    case pb::RowFilter::kFamilyNameRegexFilter:
      return FilterSpec{FilterSpec::FamilyRegex{filter.family_name_regex_filter()}};
    case pb::RowFilter::kColumnQualifierRegexFilter:
      return FilterSpec{FilterSpec::QualifierRegex{filter.column_qualifier_regex_filter()}};
    case pb::RowFilter::kColumnRangeFilter:
      return ParseColumnRange(filter.column_range_filter());
    case pb::RowFilter::kTimestampRangeFilter:
      return FilterSpec{FilterSpec::TimestampRange{{filter.timestamp_range_filter().start_timestamp_micros(),
                                                    filter.timestamp_range_filter().end_timestamp_micros()}}};
    case pb::RowFilter::kValueRegexFilter:
      return FilterSpec{FilterSpec::ValueRegex{filter.value_regex_filter()}};
    case pb::RowFilter::kValueRangeFilter:
      return ParseValueRange(filter.value_range_filter());
    case pb::RowFilter::kValueBitmaskFilter:
      return FilterSpec{FilterSpec::ValueBitmask{filter.value_bitmask_filter().mask()}};
    case pb::RowFilter::kCellsPerRowOffsetFilter:
      return FilterSpec{FilterSpec::CellsPerRowOffset{filter.cells_per_row_offset_filter()}};
    case pb::RowFilter::kCellsPerRowLimitFilter:
      return FilterSpec{FilterSpec::CellsPerRowLimit{filter.cells_per_row_limit_filter()}};
    case pb::RowFilter::kCellsPerColumnLimitFilter:
      return FilterSpec{FilterSpec::CellsPerColumnLimit{filter.cells_per_column_limit_filter()}};
    case pb::RowFilter::kApplyLabelTransformer:
      return FilterSpec{FilterSpec::ApplyLabel{filter.apply_label_transformer()}};
    case pb::RowFilter::FILTER_NOT_SET:
      break;
  }
  return FilterSpec{FilterSpec::PassAll{}};
}

}  // namespace

absl::StatusOr<FilterSpec> ParseFilter(const pb::RowFilter& filter) {
  if (filter.ByteSizeLong() > kFilterBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Row filter exceeds maximum size of {} bytes", kFilterBytesMax));
  }
  return Parse(filter, 0);
}

absl::StatusOr<std::shared_ptr<const CompiledFilter>> CompileFilter(const pb::RowFilter& filter) {
  absl::StatusOr<FilterSpec> spec = ParseFilter(filter);
  if (!spec.ok()) return spec.status();
  return CompiledFilter::Create(*spec);
}

}  // namespace sonde

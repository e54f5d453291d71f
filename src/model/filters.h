// Builders of filters, for C++ code.  Each function makes the FilterSpec of its name's kind.  Source: the
// comments of data.proto give the meaning of each kind.
//
//   using namespace sonde::filters;
//   const FilterSpec newest_of_two = Chain({Family("cf"), Qualifier("a|b"), ColumnLimit(1)});
//
// Patterns are RE2, Latin-1, and match whole strings; QuoteRegex (model/quote_regex.h) makes a pattern of a
// name. Nothing is checked here; CompileFilter (filter/compiled_filter.h) refuses bad filters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/filter_spec.h"

namespace sonde::filters {

inline FilterSpec All() { return {FilterSpec::PassAll{}}; }
inline FilterSpec Block() { return {FilterSpec::BlockAll{}}; }
inline FilterSpec Sink() { return {FilterSpec::Sink{}}; }
inline FilterSpec Strip() { return {FilterSpec::StripValue{}}; }
inline FilterSpec Chain(std::vector<FilterSpec> filters) { return {FilterSpec::Chain{std::move(filters)}}; }
inline FilterSpec Interleave(std::vector<FilterSpec> filters) {
  return {FilterSpec::Interleave{std::move(filters)}};
}
// A branch that is missing gives no cells.
inline FilterSpec If(FilterSpec predicate, std::optional<FilterSpec> then,
                     std::optional<FilterSpec> otherwise) {
  FilterSpec::Condition condition{std::make_shared<const FilterSpec>(std::move(predicate)), nullptr, nullptr};
  if (then.has_value()) condition.true_filter = std::make_shared<const FilterSpec>(*std::move(then));
  if (otherwise.has_value())
    condition.false_filter = std::make_shared<const FilterSpec>(*std::move(otherwise));
  return {std::move(condition)};
}
inline FilterSpec RowKey(std::string pattern) { return {FilterSpec::RowKeyRegex{std::move(pattern)}}; }
inline FilterSpec Family(std::string pattern) { return {FilterSpec::FamilyRegex{std::move(pattern)}}; }
inline FilterSpec Qualifier(std::string pattern) { return {FilterSpec::QualifierRegex{std::move(pattern)}}; }
inline FilterSpec Value(std::string pattern) { return {FilterSpec::ValueRegex{std::move(pattern)}}; }
inline FilterSpec Sample(double probability) { return {FilterSpec::RowSample{probability}}; }
// Qualifiers of one family, between the bounds.
inline FilterSpec Columns(std::string family, Bound start, Bound end) {
  return {FilterSpec::ColumnRange{std::move(family), std::move(start), std::move(end)}};
}
// Cells in [start, end); end 0 is infinity.
inline FilterSpec Times(int64_t start_micros, int64_t end_micros) {
  return {FilterSpec::TimestampRange{{start_micros, end_micros}}};
}
inline FilterSpec Values(Bound start, Bound end) {
  return {FilterSpec::ValueRange{std::move(start), std::move(end)}};
}
inline FilterSpec Bits(std::string mask) { return {FilterSpec::ValueBitmask{std::move(mask)}}; }
inline FilterSpec RowOffset(int32_t count) { return {FilterSpec::CellsPerRowOffset{count}}; }
inline FilterSpec RowLimit(int32_t count) { return {FilterSpec::CellsPerRowLimit{count}}; }
inline FilterSpec ColumnLimit(int32_t count) { return {FilterSpec::CellsPerColumnLimit{count}}; }
inline FilterSpec Label(std::string label) { return {FilterSpec::ApplyLabel{std::move(label)}}; }

inline Bound None() { return {}; }
inline Bound Closed(std::string value) { return {Bound::Kind::kClosed, std::move(value)}; }
inline Bound Open(std::string value) { return {Bound::Kind::kOpen, std::move(value)}; }

// One column.
inline FilterSpec Column(std::string family, const std::string& qualifier) {
  return Columns(std::move(family), Closed(qualifier), Closed(qualifier));
}

}  // namespace sonde::filters

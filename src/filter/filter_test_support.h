// Filters and rows in few words, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "filter/compiled_filter.h"
#include "filter/filter_evaluator.h"

namespace sonde::filter_test {

inline FilterSpec All() { return {FilterSpec::PassAll{}}; }
inline FilterSpec Block() { return {FilterSpec::BlockAll{}}; }
inline FilterSpec Sink() { return {FilterSpec::Sink{}}; }
inline FilterSpec Strip() { return {FilterSpec::StripValue{}}; }
inline FilterSpec Chain(std::vector<FilterSpec> filters) { return {FilterSpec::Chain{std::move(filters)}}; }
inline FilterSpec Interleave(std::vector<FilterSpec> filters) {
  return {FilterSpec::Interleave{std::move(filters)}};
}
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
inline FilterSpec Columns(std::string family, Bound start, Bound end) {
  return {FilterSpec::ColumnRange{std::move(family), std::move(start), std::move(end)}};
}
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

// A cell that owns its bytes: family,qualifier,timestamp,value and perhaps a label.
struct TestCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
  std::string label;

  auto operator<=>(const TestCell&) const = default;
  friend void PrintTo(const TestCell& cell, std::ostream* out) {
    *out << cell.family << ',' << cell.qualifier << ',' << cell.timestamp_micros << ',' << cell.value;
    if (!cell.label.empty()) *out << ",label:" << cell.label;
  }
};
using TestRow = std::vector<TestCell>;

inline std::shared_ptr<const CompiledFilter> Compile(const FilterSpec& spec) {
  absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(spec);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return *std::move(filter);
}

// The families of all test rows.
inline const std::vector<std::string>& TestFamilies() {
  static const std::vector<std::string> families = {"A", "B", "C", "far", "foo"};
  return families;
}
inline const TableSchema& TestSchema() {
  static const TableSchema schema = [] {
    TableSchema made;
    FamilyId id = 100;  // ids need not follow the names
    for (const std::string& family : TestFamilies()) made.families.push_back({.name = family, .id = --id});
    return made;
  }();
  return schema;
}

// A thousand families whose names differ at their ends, and a hundred regexes for them that need automata.
inline const TableSchema& WideSchema() {
  static const TableSchema schema = [] {
    TableSchema made;
    for (FamilyId id = 1'000; id < 2'000; ++id) {
      made.families.push_back({.name = "family-of-a-table-of-a-thousand-" + std::to_string(id), .id = id});
    }
    return made;
  }();
  return schema;
}
inline FilterSpec HundredFamilyRegexes() {
  std::vector<FilterSpec> filters;
  for (int i = 0; i < 100; ++i) filters.push_back(Family("(.*[ae].{6}[a-z-]|.*)" + std::to_string(i)));
  return Interleave(std::move(filters));
}

inline std::vector<FilterCell> ToFilterCells(const TestRow& row) {
  std::vector<FilterCell> cells;
  for (const TestCell& cell : row) {
    FilterCell out;
    while (TestFamilies()[out.family] != cell.family) ++out.family;
    out.cell = {cell.qualifier, cell.timestamp_micros, cell.value};
    cells.push_back(out);
  }
  return cells;
}

inline TestRow ToTestRow(const CompiledFilter& filter, const std::vector<FilterCell>& cells) {
  TestRow row;
  for (const FilterCell& cell : cells) {
    row.push_back({TestFamilies()[cell.family], std::string(cell.cell.qualifier), cell.cell.timestamp_micros,
                   std::string(cell.cell.value), std::string(filter.Label(cell.label))});
  }
  return row;
}

inline TestRow Filtered(const CompiledFilter& filter, std::string_view row_key, const TestRow& row,
                        uint64_t seed = 1) {
  FilterBudget budget;
  SeededRandom random(seed);
  FilterEvaluator evaluator(filter, TestSchema(), &budget, &random);
  std::vector<FilterCell> cells = ToFilterCells(row);
  const absl::Status status = evaluator.Run(row_key, &cells);
  EXPECT_TRUE(status.ok()) << status;
  return ToTestRow(filter, cells);
}

inline TestRow Filtered(const FilterSpec& spec, const TestRow& row, std::string_view row_key = "row") {
  return Filtered(*Compile(spec), row_key, row);
}

}  // namespace sonde::filter_test

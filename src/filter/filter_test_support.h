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
#include "model/filters.h"

namespace sonde::filter_test {

using namespace filters;  // NOLINT(google-build-using-namespace): the words of every test here

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

// Calls aggregates in tests, by name, and checks by the way that the result does not depend on how the rows come: as a
// run, one by one, in parts that are merged, through saved states, in columns with and without NULL, among other groups.
//
//   EXPECT_EQ(Aggregated("SUM", {Ints({1, 2, kNull})}), "INT64: 3");
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/function/aggregator.h"
#include "sql/function/function.h"
#include "sql/value/value.h"

namespace sonde::sql {

constexpr std::nullopt_t kNull = std::nullopt;

// An argument of the function: a value for each row.
struct TestColumn {
  Type type;
  std::vector<Value> values;
  bool is_constant = false;  // it is the same for all rows, of which values has one
};
TestColumn Ints(const std::vector<std::optional<int64_t>>& values);
TestColumn Bools(const std::vector<std::optional<bool>>& values);
TestColumn Doubles(const std::vector<std::optional<double>>& values);
// Timestamps, by seconds since 1970.
TestColumn Seconds(const std::vector<std::optional<int64_t>>& seconds);
TestColumn Strings(const std::vector<std::optional<std::string>>& values);
TestColumn Always(const Value& value);

// A function's overload for some arguments, and aggregators of it.
class TestAggregate {
 public:
  // The function has an overload for the types of these columns.
  TestAggregate(std::string_view name, const std::vector<TestColumn>& columns);

  const Type& result_type() const { return site_.result_type; }
  std::unique_ptr<Aggregator> Make(size_t groups) const;
  // Adds rows [first, first + count) to a group.
  absl::Status AddRows(size_t first, size_t count, uint32_t group, Aggregator* aggregator) const;
  // "INT64: 3", or the error.
  std::string Result(uint32_t group, Aggregator* aggregator) const;
  size_t rows() const { return rows_; }
  // Rows [first, first + count) as the function takes them.
  std::vector<ColumnView> View(size_t first, size_t count, Arena* arena, bool with_nulls) const;

 private:
  std::vector<TestColumn> columns_;
  size_t rows_ = 0;
  StatementFacts facts_;
  AggregateSite site_;
  AggregatorFactory factory_ = nullptr;
};

std::string Aggregated(std::string_view name, const std::vector<TestColumn>& columns);

}  // namespace sonde::sql

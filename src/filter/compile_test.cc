#include <gtest/gtest.h>

#include <cmath>

#include "filter/filter_test_support.h"
#include "model/limits.h"

namespace sonde {
namespace {

using namespace filter_test;  // NOLINT: the words of the tests

void ExpectInvalid(const FilterSpec& spec, const std::string& message) {
  EXPECT_EQ(CompileFilter(spec).status(), absl::InvalidArgumentError(message));
}

TEST(CompileFilter, ChainsAndInterleavesHaveTwoFiltersOrMore) {
  ExpectInvalid(Chain({}), "filter.chain: must have at least 2 filters, has 0");
  ExpectInvalid(Chain({All()}), "filter.chain: must have at least 2 filters, has 1");
  ExpectInvalid(Interleave({All()}), "filter.interleave: must have at least 2 filters, has 1");
  ExpectInvalid(If(All(), Chain({All(), Interleave({})}), std::nullopt),
                "filter.condition.true_filter.chain[1].interleave: must have at least 2 filters, has 0");
}

TEST(CompileFilter, BoundsTheNesting) {
  FilterSpec spec = All();
  for (int i = 0; i < kFilterDepthMax; ++i)
    spec = i % 2 == 0 ? Chain({All(), spec}) : If(All(), spec, std::nullopt);
  EXPECT_TRUE(CompileFilter(spec).ok());
  const absl::Status status = CompileFilter(Interleave({All(), spec})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::string(status.message()).ends_with(": filters nest at most 20 deep")) << status;
}

TEST(CompileFilter, ConditionsHaveAPredicate) {
  ExpectInvalid({FilterSpec::Condition{}}, "filter.condition: has no predicate_filter");
}

TEST(CompileFilter, SinksAreNotInConditions) {
  ExpectInvalid(If(Sink(), All(), All()),
                "filter.condition.predicate_filter.sink: a sink may not be used in a condition");
  ExpectInvalid(If(All(), Chain({All(), Sink()}), All()),
                "filter.condition.true_filter.chain[1].sink: a sink may not be used in a condition");
  ExpectInvalid(
      Chain({All(), If(All(), All(), Interleave({Sink(), All()}))}),
      "filter.chain[1].condition.false_filter.interleave[0].sink: a sink may not be used in a condition");
  EXPECT_TRUE(CompileFilter(Interleave({Sink(), If(All(), All(), All())})).ok());
  EXPECT_TRUE(CompileFilter(Interleave({If(All(), All(), All()), Sink()})).ok());
}

TEST(CompileFilter, RowSamplesAreBetweenZeroAndOne) {
  ExpectInvalid(Sample(0), "filter.row_sample: the probability must be greater than 0 and less than 1, is 0");
  ExpectInvalid(Sample(1), "filter.row_sample: the probability must be greater than 0 and less than 1, is 1");
  ExpectInvalid(Sample(-0.5),
                "filter.row_sample: the probability must be greater than 0 and less than 1, is -0.5");
  ExpectInvalid(Sample(std::nan("")),
                "filter.row_sample: the probability must be greater than 0 and less than 1, is nan");
  EXPECT_TRUE(CompileFilter(Sample(1e-300)).ok());
}

TEST(CompileFilter, CountsArePositive) {
  ExpectInvalid(RowOffset(0), "filter.cells_per_row_offset: must be at least 1, is 0");
  ExpectInvalid(RowLimit(-1), "filter.cells_per_row_limit: must be at least 1, is -1");
  ExpectInvalid(ColumnLimit(0), "filter.cells_per_column_limit: must be at least 1, is 0");
}

TEST(CompileFilter, RegexesAreRe2) {
  ExpectInvalid(
      RowKey("(\xff"),
      "filter.row_key_regex: '(\\xff' is not a regular expression of RE2 syntax: missing ): (\\xff");
  ExpectInvalid(
      Qualifier("a(?=b)"),
      "filter.column_qualifier_regex: 'a(?=b)' is not a regular expression of RE2 syntax: invalid perl "
      "operator: (?=");
  ExpectInvalid(
      Value("*"),
      "filter.value_regex: '*' is not a regular expression of RE2 syntax: no argument for repetition "
      "operator: *");
  ExpectInvalid(
      Family("[z-a]"),
      "filter.family_name_regex: '[z-a]' is not a regular expression of RE2 syntax: invalid character class "
      "range: z-a");
}

TEST(CompileFilter, FamilyRegexesHaveNoColon) {
  ExpectInvalid(Family("a:b"), "filter.family_name_regex: must not contain ':', is 'a:b'");
  ExpectInvalid(Family("(?:a)"), "filter.family_name_regex: must not contain ':', is '(?:a)'");
  EXPECT_TRUE(CompileFilter(Qualifier("a:b")).ok());
}

TEST(CompileFilter, LabelsHaveOneToFifteenOfAFewCharacters) {
  EXPECT_TRUE(CompileFilter(Label("abc-09")).ok());
  EXPECT_TRUE(CompileFilter(Label(std::string(15, 'x'))).ok());
  for (const std::string& bad : {std::string(), std::string(16, 'x'), std::string("A"), std::string("a_b")}) {
    ExpectInvalid(Label(bad), "filter.apply_label: a label is 1 to 15 of [a-z0-9-], is '" + bad + "'");
  }
}

TEST(CompileFilter, AChainHasOneFilterWithLabels) {
  ExpectInvalid(Chain({Label("a"), All(), Label("b")}),
                "filter.chain: at most one filter of a chain may apply labels, 2 do");
  ExpectInvalid(Chain({Label("a"), Interleave({All(), Chain({All(), Label("b")})})}),
                "filter.chain: at most one filter of a chain may apply labels, 2 do");
  EXPECT_TRUE(CompileFilter(Interleave({Label("a"), Label("b")})).ok());
  EXPECT_TRUE(CompileFilter(Chain({Interleave({Label("a"), Label("b")}), All()})).ok());
}

TEST(CompileFilter, RangesAreNotEmptyByConstruction) {
  ExpectInvalid(Columns("f", Closed("b"), Closed("a")), "filter.column_range: the range ['b', 'a'] is empty");
  ExpectInvalid(Columns("f", Open("a"), Closed("a")), "filter.column_range: the range ('a', 'a'] is empty");
  ExpectInvalid(Columns("f", Closed("a"), Open("a")), "filter.column_range: the range ['a', 'a') is empty");
  ExpectInvalid(Columns("f", None(), Open("")), "filter.column_range: the range (-infinity, '') is empty");
  EXPECT_TRUE(CompileFilter(Columns("f", Closed("a"), Closed("a"))).ok());
  ExpectInvalid(Values(Open("\xff"), Open("\xff")),
                "filter.value_range: the range ('\\xff', '\\xff') is empty");
  ExpectInvalid(Values(Closed("b"), Open("a")), "filter.value_range: the range ['b', 'a') is empty");
  EXPECT_TRUE(CompileFilter(Values(Open(""), None())).ok());
  // Nothing lies between "a" and the string right after it, but no bound says so.
  const std::string after_a("a\0", 2);
  EXPECT_TRUE(CompileFilter(Columns("f", Open("a"), Open(after_a))).ok());
  EXPECT_TRUE(CompileFilter(Values(Open("a"), Open(after_a))).ok());
  EXPECT_TRUE(CompileFilter(Values(Open(""), Open(std::string(1, '\0')))).ok());
}

TEST(CompileFilter, WhatNamesNothingIsRefusedInProductionsWords) {
  const std::string row_key = "Error in field 'row_key_regex_filter' : argument must not be empty";
  const std::string family = "Error in field 'family_name_regex_filter' : argument must not be empty";
  const std::string columns =
      "Error in field 'column_range_filter' : Invalid id for collection columnFamilies";
  ExpectInvalid(RowKey(""), row_key);
  ExpectInvalid(Chain({All(), If(All(), RowKey(""), std::nullopt)}), row_key);
  ExpectInvalid(Family(""), family);
  ExpectInvalid(Interleave({Family("a"), Family("")}), family);
  ExpectInvalid(Columns("", None(), None()), columns);
  ExpectInvalid(Columns("no name", None(), None()), columns);
  ExpectInvalid(Bits(""), "Error in field 'value_bitmask_filter' : argument must not be empty");
  EXPECT_TRUE(CompileFilter(Qualifier("")).ok());  // a qualifier and a value may be empty
  EXPECT_TRUE(CompileFilter(Value("")).ok());
}

TEST(CompileFilter, TimestampRangesAreNeitherNegativeNorReversed) {
  ExpectInvalid(Times(-1, 0), "filter.timestamp_range: [-1, 0) is negative or reversed");
  ExpectInvalid(Times(0, -5), "filter.timestamp_range: [0, -5) is negative or reversed");
  ExpectInvalid(Times(7, 3), "filter.timestamp_range: [7, 3) is negative or reversed");
  EXPECT_TRUE(CompileFilter(Times(7, 7)).ok());
  EXPECT_TRUE(CompileFilter(Times(7, 0)).ok());
}

void ExpectTooLarge(const FilterSpec& spec, const char* start) {
  const absl::Status status = CompileFilter(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::string(status.message()).starts_with(start)) << status;
}

TEST(CompileFilter, RegexesShareTheMemory) {
  std::vector<FilterSpec> filters;
  for (int i = 0; i < 400; ++i) filters.push_back(Value("(?i)x" + std::to_string(i)));
  EXPECT_TRUE(CompileFilter(Interleave(filters)).ok());
  for (int i = 0; i < 400; ++i) filters.push_back(Qualifier("(?i)x" + std::to_string(i)));
  EXPECT_TRUE(CompileFilter(Interleave(filters)).ok());  // the same ones
  for (int i = 400; i < 800; ++i) filters.push_back(Value("(?i)x" + std::to_string(i)));
  ExpectTooLarge(Interleave(filters), "filter.interleave[");
  for (int i = 0; i < 2'000; ++i) filters.push_back(Value("y" + std::to_string(i)));
  filters.erase(filters.begin(), filters.begin() + 1'200);
  EXPECT_TRUE(CompileFilter(Interleave(filters)).ok());  // literals take none
}

TEST(CompileFilter, FiltersAreCounted) {
  EXPECT_TRUE(CompileFilter(Chain(std::vector<FilterSpec>(4'095, All()))).ok());
  ExpectTooLarge(Chain(std::vector<FilterSpec>(4'096, All())),
                 "filter: has 4097 filters in it, at most 4096 are allowed");
}

TEST(CompileFilter, ProgramsAreBounded) {
  EXPECT_TRUE(CompileFilter(Value("[0-9]{900}x")).ok());
  EXPECT_TRUE(CompileFilter(Value("([0-9]{900}x){1}[0-9]{900}[0-9]{900}[0-9]{900}")).ok());
  std::string large;
  for (int i = 0; i < 12; ++i) large += "[0-9]{900}x";
  ExpectTooLarge(Value(large), "filter.value_regex: '[0-9]{900}x[0-9]{900}x");
  std::string pattern;
  while (pattern.size() < 20'000) pattern += "a{0,1000}";
  ExpectTooLarge(Value(pattern), "filter: its regular expressions are too large: ");
}

TEST(CompileFilter, WhatIsNamedIsAFamilyOfTheTable) {
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/t";
  schema.families = {{.name = "A", .id = 1}, {.name = "B-1", .id = 2}};
  const FilterSpec columns = Columns("B", None(), None());
  for (const FilterSpec& found :
       {Columns("A", None(), None()), Family("A"), Family("B-1"), Family("B\\-1"), Family("\\x41"),
        // What is no literal names no family.
        Family("B.*"), Family("B|C"), Family(".*"), Family("[B]"), Family("(?i)b"), Qualifier("B"),
        Chain({Family("A"), Family("B-1")})}) {
    EXPECT_EQ(Compile(found)->CheckFamilies(schema), absl::OkStatus());
  }
  for (const FilterSpec& missing :
       {columns, Family("B"), Family("B\\-2"), Family("\\x42"), Chain({Family("A"), Family("B")}),
        Chain({Block(), Family("B")}), Interleave({All(), Chain({All(), Family("B")})}),
        Interleave({Family("A"), columns}), If(columns, All(), All()), If(All(), All(), Family("B"))}) {
    EXPECT_EQ(Compile(missing)->CheckFamilies(schema),
              absl::NotFoundError("Error while reading table 'projects/p/instances/i/tables/t' : "
                                  "Requested column family not found"));
  }
}

}  // namespace
}  // namespace sonde

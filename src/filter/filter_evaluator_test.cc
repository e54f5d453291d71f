#include "filter/filter_evaluator.h"

#include "filter/filter_test_support.h"

namespace sonde {
namespace {

using namespace filter_test;  // NOLINT: the words of the tests

const TestRow kRow = {{"A", "a", 30, "x"}, {"A", "a", 20, "y"}, {"A", "a", 10, "z"},
                      {"A", "b", 20, "x"}, {"B", "a", 20, "y"}, {"B", "c", 40, ""}};

TestRow Pick(std::vector<size_t> indexes) {
  TestRow row;
  for (const size_t index : indexes) row.push_back(kRow[index]);
  return row;
}

// The example in the comments of RowFilter.sink.
TEST(FilterEvaluator, SinksAsInTheWorkedExample) {
  const TestRow row = {{"A", "A", 1, "w"}, {"A", "B", 2, "x"}, {"B", "B", 4, "z"}};
  const FilterSpec spec =
      Chain({Family("A"), Interleave({All(), Chain({Label("foo"), Sink()})}), Qualifier("B")});
  EXPECT_EQ(Filtered(spec, row),
            (TestRow{{"A", "A", 1, "w", "foo"}, {"A", "B", 2, "x", "foo"}, {"A", "B", 2, "x"}}));
}

// The example in the comments of RowFilter.Interleave, its three outputs made by filters on values.
TEST(FilterEvaluator, InterleavesAsInTheWorkedExample) {
  const TestRow row = {
      {"far", "bar", 7, "a"}, {"far", "blah", 5, "x"}, {"foo", "bar", 10, "x"}, {"foo", "blah", 11, "z"}};
  const FilterSpec f0 = Chain({Family("foo"), All()});
  const FilterSpec f1 =
      Interleave({Chain({Family("foo"), Qualifier("bar")}), Chain({Family("far"), Qualifier("blah")})});
  const FilterSpec f2 = Family("far");
  EXPECT_EQ(Filtered(Interleave({f0, f1, f2}), row), (TestRow{{"far", "bar", 7, "a"},
                                                              {"far", "blah", 5, "x"},
                                                              {"far", "blah", 5, "x"},
                                                              {"foo", "bar", 10, "x"},
                                                              {"foo", "bar", 10, "x"},
                                                              {"foo", "blah", 11, "z"}}));
}

TEST(FilterEvaluator, ASinkAtTheTopIsTheOutput) {
  EXPECT_EQ(Filtered(Sink(), kRow), kRow);
  EXPECT_EQ(Filtered(Chain({Sink(), Block()}), kRow), kRow);
  EXPECT_EQ(Filtered(Chain({Block(), Sink()}), kRow), TestRow{});
}

TEST(FilterEvaluator, PassesAndBlocks) {
  EXPECT_EQ(Filtered(All(), kRow), kRow);
  EXPECT_EQ(Filtered(Block(), kRow), TestRow{});
  EXPECT_EQ(Filtered(FilterSpec{}, kRow), kRow);
  EXPECT_EQ(Filtered(All(), {}), TestRow{});
}

TEST(FilterEvaluator, RowKeyRegexTakesTheWholeRowOrNothing) {
  EXPECT_EQ(Filtered(RowKey("a|b"), kRow, "b"), kRow);
  EXPECT_EQ(Filtered(RowKey("a|b"), kRow, "ab"), TestRow{});
  EXPECT_EQ(Filtered(RowKey("a\\C*"), kRow, "a\n\xff"), kRow);
  EXPECT_EQ(Filtered(RowKey("a.*"), kRow, "a\n\xff"), TestRow{});
}

TEST(FilterEvaluator, RowSampleTakesTheWholeRowOrNothing) {
  const auto filter = Compile(Sample(0.25));
  FilterBudget budget;
  SeededRandom random(7);
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  int passed = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::vector<FilterCell> cells = ToFilterCells(kRow);
    ASSERT_TRUE(evaluator.Run("row", &cells).ok());
    ASSERT_TRUE(cells.empty() || cells.size() == kRow.size());
    passed += !cells.empty();
  }
  EXPECT_NEAR(passed, 2'500, 200);
}

TEST(FilterEvaluator, FamiliesAndQualifiersByRegex) {
  EXPECT_EQ(Filtered(Family("B"), kRow), Pick({4, 5}));
  EXPECT_EQ(Filtered(Family("[AB]"), kRow), kRow);
  EXPECT_EQ(Filtered(Family("[^AB]*"), kRow), TestRow{});
  EXPECT_EQ(Filtered(Qualifier("a"), kRow), Pick({0, 1, 2, 4}));
  EXPECT_EQ(Filtered(Qualifier("b|c"), kRow), Pick({3, 5}));
  EXPECT_EQ(Filtered(Qualifier("[bc]+"), kRow), Pick({3, 5}));
  EXPECT_EQ(
      Filtered(Qualifier("\\C\xe2\x98\x83"), {{"A", "\n\xe2\x98\x83", 1, ""}, {"A", "\xe2\x98\x83", 1, ""}}),
      (TestRow{{"A", "\n\xe2\x98\x83", 1, ""}}));
}

TEST(FilterEvaluator, ColumnRangesOfOneFamily) {
  EXPECT_EQ(Filtered(Columns("A", None(), None()), kRow), Pick({0, 1, 2, 3}));
  EXPECT_EQ(Filtered(Columns("A", Open("a"), None()), kRow), Pick({3}));
  EXPECT_EQ(Filtered(Columns("A", Closed("a"), Open("b")), kRow), Pick({0, 1, 2}));
  EXPECT_EQ(Filtered(Columns("B", Closed("a"), Closed("c")), kRow), Pick({4, 5}));
  EXPECT_EQ(Filtered(Columns("B", None(), Closed("a")), kRow), Pick({4}));
  EXPECT_EQ(Filtered(Columns("A", Open("a"), Open(std::string("a\0", 2))), kRow), TestRow{});
  EXPECT_EQ(Filtered(Columns("nowhere", None(), None()), kRow), TestRow{});
  EXPECT_EQ(Filtered(Columns("A", Closed("\x80"), None()), {{"A", "\x7f", 1, ""}, {"A", "\xff", 1, ""}}),
            (TestRow{{"A", "\xff", 1, ""}}));
}

TEST(FilterEvaluator, TimestampsFromStartToBeforeEnd) {
  EXPECT_EQ(Filtered(Times(20, 30), kRow), Pick({1, 3, 4}));
  EXPECT_EQ(Filtered(Times(30, 0), kRow), Pick({0, 5}));
  EXPECT_EQ(Filtered(Times(0, 20), kRow), Pick({2}));
  EXPECT_EQ(Filtered(Times(20, 20), kRow), TestRow{});
  EXPECT_EQ(Filtered(Times(0, 0), kRow), kRow);
}

TEST(FilterEvaluator, ValuesByRegexRangeAndBits) {
  EXPECT_EQ(Filtered(Value("x|z"), kRow), Pick({0, 2, 3}));
  EXPECT_EQ(Filtered(Value(""), kRow), Pick({5}));
  EXPECT_EQ(Filtered(Value("[y]"), kRow), Pick({1, 4}));
  EXPECT_EQ(Filtered(Values(Open("x"), None()), kRow), Pick({1, 2, 4}));
  EXPECT_EQ(Filtered(Values(Closed("x"), Closed("y")), kRow), Pick({0, 1, 3, 4}));
  EXPECT_EQ(Filtered(Values(None(), Open("x")), kRow), Pick({5}));
  EXPECT_EQ(Filtered(Values(Open("x"), Open(std::string("x\0", 2))), kRow), TestRow{});
  EXPECT_EQ(Filtered(Values(Closed("\x80"), None()), {{"A", "a", 1, "\x7f"}, {"A", "b", 1, "\xff"}}),
            (TestRow{{"A", "b", 1, "\xff"}}));
  EXPECT_EQ(Filtered(Bits("\x79"), kRow), Pick({1, 4}));
  EXPECT_EQ(Filtered(Bits(std::string("\x80\0", 2)),
                     {{"A", "a", 1, "\x81\xff"}, {"A", "b", 1, "\x7f\xff"}, {"A", "c", 1, "\xff"}}),
            (TestRow{{"A", "a", 1, "\x81\xff"}}));
}

TEST(FilterEvaluator, LimitsCountInTheOrderOfTheRow) {
  EXPECT_EQ(Filtered(RowLimit(2), kRow), Pick({0, 1}));
  EXPECT_EQ(Filtered(RowLimit(100), kRow), kRow);
  EXPECT_EQ(Filtered(RowOffset(4), kRow), Pick({4, 5}));
  EXPECT_EQ(Filtered(RowOffset(6), kRow), TestRow{});
  EXPECT_EQ(Filtered(RowOffset(100), kRow), TestRow{});
  EXPECT_EQ(Filtered(ColumnLimit(1), kRow), Pick({0, 3, 4, 5}));
  EXPECT_EQ(Filtered(ColumnLimit(2), kRow), Pick({0, 1, 3, 4, 5}));
  EXPECT_EQ(Filtered(Chain({Value("[^x]"), ColumnLimit(1)}), kRow), Pick({1, 4}));
  EXPECT_EQ(Filtered(Chain({RowOffset(1), RowLimit(3)}), kRow), Pick({1, 2, 3}));
  EXPECT_EQ(Filtered(ColumnLimit(1), {{"A", "q", 1, ""}, {"B", "q", 1, ""}}),
            (TestRow{{"A", "q", 1, ""}, {"B", "q", 1, ""}}));
}

TEST(FilterEvaluator, LimitsCountEachCopy) {
  const FilterSpec twice = Interleave({All(), All()});
  EXPECT_EQ(Filtered(Chain({twice, ColumnLimit(1)}), kRow), Pick({0, 3, 4, 5}));
  EXPECT_EQ(Filtered(Chain({twice, ColumnLimit(3)}), kRow), Pick({0, 0, 1, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(Filtered(Chain({twice, RowLimit(3)}), kRow), Pick({0, 0, 1}));
  EXPECT_EQ(Filtered(Chain({twice, RowOffset(9)}), kRow), Pick({4, 5, 5}));
}

TEST(FilterEvaluator, StripsValuesAndKeepsTheRest) {
  EXPECT_EQ(Filtered(Chain({RowLimit(1), Strip()}), kRow), (TestRow{{"A", "a", 30, ""}}));
  EXPECT_EQ(Filtered(Chain({Strip(), Value("x")}), kRow), TestRow{});
}

TEST(FilterEvaluator, LabelsCopies) {
  EXPECT_EQ(Filtered(Chain({RowLimit(1), Interleave({Label("l-1"), All(), Label("2")})}), kRow),
            (TestRow{{"A", "a", 30, "x", "l-1"}, {"A", "a", 30, "x"}, {"A", "a", 30, "x", "2"}}));
}

TEST(FilterEvaluator, ConditionsTakeABranchOrGiveNothing) {
  EXPECT_EQ(Filtered(If(Value("z"), RowLimit(1), RowLimit(2)), kRow), Pick({0}));
  EXPECT_EQ(Filtered(If(Value("q"), RowLimit(1), RowLimit(2)), kRow), Pick({0, 1}));
  EXPECT_EQ(Filtered(If(Value("q"), RowLimit(1), std::nullopt), kRow), TestRow{});
  EXPECT_EQ(Filtered(If(Value("z"), std::nullopt, All()), kRow), TestRow{});
  EXPECT_EQ(Filtered(If(Chain({Strip(), Label("x")}), All(), Block()), kRow), kRow);
}

TEST(FilterEvaluator, KeepsNothingFromRowToRow) {
  const auto filter = Compile(Chain({Interleave({Qualifier("a+"), Sink()}), ColumnLimit(1)}));
  FilterBudget budget;
  SeededRandom random(1);
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  for (int i = 0; i < 3; ++i) {
    TestRow row = {{"A", "a", i, "v"}};
    std::vector<FilterCell> cells = ToFilterCells(row);
    ASSERT_TRUE(evaluator.Run("row", &cells).ok());
    EXPECT_EQ(ToTestRow(*filter, cells), (TestRow{row[0], row[0]}));
  }
}

TEST(FilterEvaluator, RefusesToMultiplyARowWithoutBound) {
  const FilterSpec twice = Interleave({All(), All()});
  FilterBudget budget({.copied_cells_max = 1'000});
  SeededRandom random(1);
  const auto filter = Compile(Chain({twice, twice, twice, twice, twice, twice, twice, twice, twice, twice}));
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  std::vector<FilterCell> cells = ToFilterCells(kRow);
  EXPECT_EQ(
      evaluator.Run("row", &cells),
      absl::ResourceExhaustedError(
          "the filter makes 1530 or more copies of cells of a row of 6 cells, at most 1006 are allowed"));
}

TEST(FilterEvaluator, RefusesToMultiplyBytesWithoutBound) {
  std::vector<FilterSpec> copies(10, All());
  FilterBudget budget({.output_bytes_max = 1'000, .output_bytes_per_byte_max = 4});
  SeededRandom random(1);
  const auto filter = Compile(Interleave(copies));
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  const TestRow small = {{"A", "a", 1, std::string(96, 'v')}};
  const TestRow large = {{"A", "a", 1, std::string(496, 'v')}};
  std::vector<FilterCell> cells = ToFilterCells(small);
  EXPECT_TRUE(evaluator.Run("row", &cells).ok());  // 970 bytes
  cells = ToFilterCells(large);
  EXPECT_EQ(evaluator.Run("row", &cells),
            absl::ResourceExhaustedError(
                "the filter makes 4970 bytes of a row of 500 bytes, at most 2000 are allowed"));
}

// Thousands of filters, none of which is expensive.
TEST(FilterEvaluator, RefusesToWorkOnARowWithoutBound) {
  FilterBudget budget({.row_cpu_ms = 20});
  SeededRandom random(1);
  const auto filter = Compile(Chain(std::vector<FilterSpec>(4'000, Times(1, 0))));
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  const TestRow one = {{"A", "a", 1, "v"}};
  std::vector<FilterCell> cells(30'000, ToFilterCells(one)[0]);
  const int64_t start_nanos = ThreadCpuNanos();
  const absl::Status status = evaluator.Run("row", &cells);
  EXPECT_LT(ThreadCpuNanos() - start_nanos, 100'000'000);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::string(status.message()).ends_with("and was not done; it may take 22 ms")) << status;
}

TEST(FilterEvaluator, AsksRegexesOfFamiliesOnlyOfThoseThatHaveCells) {
  int checks = 0;
  FilterBudget budget({}, [&] {
    ++checks;
    return absl::OkStatus();
  });
  SeededRandom random(1);
  const auto filter = Compile(HundredFamilyRegexes());
  FilterEvaluator evaluator(*filter, WideSchema(), &budget, &random);
  for (int row = 0; row < 10; ++row) {
    std::vector<FilterCell> cells = {{.family = 777, .cell = {"q", 1, "v"}}};
    ASSERT_TRUE(evaluator.Run("row", &cells).ok());
    EXPECT_EQ(cells.size(), 2) << "regexes that end with 7 and 77";
  }
  EXPECT_EQ(checks, 0) << "of all families, they would have been 30";
}

TEST(FilterEvaluator, StopsInARowOfManyFamilies) {
  // A clock that goes on by a millisecond whenever it is looked at.
  int64_t now_nanos = 0;
  FilterBudget budget({.row_cpu_ms = 20, .row_cpu_ms_per_mib = 0}, {},
                      [&] { return now_nanos += 1'000'000; });
  SeededRandom random(1);
  const auto filter = Compile(HundredFamilyRegexes());
  FilterEvaluator evaluator(*filter, WideSchema(), &budget, &random);
  std::vector<FilterCell> cells;
  for (uint32_t family = 0; family < WideSchema().families.size(); ++family) {
    cells.push_back({.family = family, .cell = {"q", 1, "v"}});
  }
  EXPECT_EQ(evaluator.Run("row", &cells).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LE(now_nanos, 25'000'000);
}

TEST(FilterEvaluator, StopsWhenInterrupted) {
  int asked = 0;
  FilterBudget budget(
      {}, [&] { return ++asked < 2 ? absl::OkStatus() : absl::DeadlineExceededError("too late"); });
  SeededRandom random(1);
  const auto filter = Compile(Value("[a-z]*q"));
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  const TestCell cell{"A", "a", 1, std::string(10'000, 'v')};
  const TestRow one = {cell};
  const std::vector<FilterCell> row(1'000, ToFilterCells(one)[0]);
  absl::Status status;
  int rows = 0;
  for (; status.ok() && rows < 1'000; ++rows) {
    std::vector<FilterCell> cells = row;
    status = evaluator.Run("row", &cells);
  }
  EXPECT_EQ(status, absl::DeadlineExceededError("too late"));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace sonde

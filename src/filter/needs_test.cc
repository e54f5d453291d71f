#include <gtest/gtest.h>

#include "filter/filter_test_support.h"

namespace sonde {
namespace {

using namespace filter_test;  // NOLINT: the words of the tests

TableSchema Schema() {
  TableSchema schema;
  schema.families = {{.name = "A", .id = 3}, {.name = "B", .id = 1}};
  return schema;
}

// As text: "families=[3] columns=[a,b) time=[1,2) newest=1 keys", or "nothing".
std::string Needs(const FilterSpec& spec) {
  FilterBudget budget;
  const FilterNeeds needs = Compile(spec)->Needs(Schema(), &budget);
  if (needs.nothing) return "nothing";
  std::string text;
  if (needs.hints.families.has_value()) {
    text += " families=[";
    for (const FamilyId id : *needs.hints.families) text += std::to_string(id) + ' ';
    text.back() = ']';
  }
  if (needs.hints.columns.has_value()) {
    text += " columns=";
    for (const auto& range : *needs.hints.columns) text += '[' + range.start + ',' + range.end + ')';
  }
  if (!needs.hints.time_range.IsAll()) {
    text += " time=[" + std::to_string(needs.hints.time_range.start_micros) + ',' +
            std::to_string(needs.hints.time_range.end_micros) + ')';
  }
  if (needs.hints.newest_per_column.has_value()) {
    text += " newest=" + std::to_string(*needs.hints.newest_per_column);
  }
  if (needs.hints.keys_only) text += " keys";
  return text.empty() ? "all" : text.substr(1);
}

TEST(FilterNeeds, OfSimpleFilters) {
  EXPECT_EQ(Needs(All()), "all");
  EXPECT_EQ(Needs(Sink()), "all");
  EXPECT_EQ(Needs(Block()), "nothing");
  EXPECT_EQ(Needs(Family("A")), "families=[3]");
  EXPECT_EQ(Needs(Family("A|B")), "families=[1 3]");
  EXPECT_EQ(Needs(Family("no.*")), "nothing");
  EXPECT_EQ(Needs(Qualifier("a.*")), "columns=[a,b)");
  EXPECT_EQ(Needs(Qualifier(".*")), "all");
  EXPECT_EQ(Needs(Columns("A", Closed("a"), Open("c"))), "families=[3] columns=[a,c)");
  EXPECT_EQ(Needs(Columns("A", None(), None())), "families=[3]");
  EXPECT_EQ(Needs(Times(3, 9)), "time=[3,9)");
  EXPECT_EQ(Needs(Times(3, 3)), "nothing");
  EXPECT_EQ(Needs(ColumnLimit(2)), "newest=2");
  EXPECT_EQ(Needs(RowLimit(2)), "newest=2");
  EXPECT_EQ(Needs(RowOffset(2)), "all");
  EXPECT_EQ(Needs(Strip()), "keys");
}

TEST(FilterNeeds, OfChains) {
  EXPECT_EQ(Needs(Chain({Family("A"), Qualifier("a.*"), Times(3, 0), ColumnLimit(1), Strip()})),
            "families=[3] columns=[a,b) time=[3,0) newest=1 keys");
  EXPECT_EQ(Needs(Chain({ColumnLimit(1), Family("A"), Times(3, 9)})), "families=[3] time=[3,0) newest=1");
  EXPECT_EQ(Needs(Chain({ColumnLimit(5), ColumnLimit(2)})), "newest=2");
  EXPECT_EQ(Needs(Chain({Family("A"), Family("B")})), "nothing");
  EXPECT_EQ(Needs(Chain({All(), Block()})), "nothing");
}

TEST(FilterNeeds, LimitsAreNotMovedBeforeWhatDropsCellsOfAColumn) {
  EXPECT_EQ(Needs(Chain({Value("x"), ColumnLimit(1)})), "all");
  EXPECT_EQ(Needs(Chain({Times(0, 9), ColumnLimit(1)})), "time=[0,9)");
  EXPECT_EQ(Needs(Chain({RowOffset(1), ColumnLimit(1)})), "all");
}

TEST(FilterNeeds, NothingIsMovedBeforeLimitsOfARow) {
  EXPECT_EQ(Needs(Chain({RowLimit(3), Family("A"), Times(3, 9)})), "newest=3");
  EXPECT_EQ(Needs(Chain({If(Value("x"), All(), All()), Family("A")})), "all");
}

TEST(FilterNeeds, NothingIsMovedBeforeSinks) {
  EXPECT_EQ(Needs(Chain({Interleave({All(), Sink()}), Family("A"), Strip()})), "all");
  EXPECT_EQ(Needs(Chain({Family("A"), Interleave({All(), Sink()}), Block()})), "families=[3]");
  EXPECT_EQ(Needs(Chain({Strip(), Sink()})), "keys");
}

TEST(FilterNeeds, OfInterleavesAndConditionsAreThoseOfTheBranches) {
  EXPECT_EQ(Needs(Interleave({Chain({Family("A"), Times(3, 5)}), Chain({Family("B"), Times(7, 9)})})),
            "families=[1 3] time=[3,9)");
  EXPECT_EQ(Needs(Interleave({Qualifier("a"), Block(), Qualifier("c.*")})),
            std::string("columns=[a,a\0)[c,d)", 19));
  EXPECT_EQ(Needs(Interleave({Chain({Strip(), ColumnLimit(2)}), Chain({ColumnLimit(1), Strip()})})),
            "newest=2 keys");
  EXPECT_EQ(Needs(Interleave({Block(), Block()})), "nothing");
  EXPECT_EQ(Needs(If(Qualifier("a"), Qualifier("b"), std::nullopt)),
            std::string("columns=[a,a\0)[b,b\0)", 20));
  EXPECT_EQ(Needs(If(Qualifier("a"), Chain({Strip(), All()}), std::nullopt)), "keys");
  EXPECT_EQ(Needs(If(Value("a"), Chain({Strip(), All()}), std::nullopt)), "all");
  EXPECT_EQ(Needs(If(All(), std::nullopt, Block())), "nothing");
}

// A hundred thousand matches.
TEST(FilterNeeds, FindingThemEndsWithItsTimeAndCountsForTheRequest) {
  // A clock that goes on by a millisecond whenever it is looked at.
  int64_t now_nanos = 0;
  FilterBudget budget({.planning_cpu_ms = 10}, {}, [&] { return now_nanos += 1'000'000; });
  const auto filter = Compile(HundredFamilyRegexes());
  const FilterNeeds needs = filter->Needs(WideSchema(), &budget);
  EXPECT_FALSE(needs.nothing);
  ASSERT_TRUE(needs.hints.families.has_value());
  EXPECT_GT(needs.hints.families->size(), 900) << "what was not asked may match";
  EXPECT_LE(now_nanos, 12'000'000);
  EXPECT_GE(budget.request_cpu_nanos(), 9'000'000);
  EXPECT_TRUE(budget.status().ok());
}

TEST(FilterNeeds, FindingThemIsInterrupted) {
  FilterBudget budget({}, [] { return absl::CancelledError("gone"); });
  const FilterNeeds needs = Compile(HundredFamilyRegexes())->Needs(WideSchema(), &budget);
  EXPECT_GT(needs.hints.families->size(), 900);
  EXPECT_TRUE(budget.status().ok()) << "whoever reads asks, too";
}

TEST(FilterNeeds, OfAThousandFamiliesAreExact) {
  FilterBudget budget;
  const auto needs = [&](const FilterSpec& spec) {
    return *Compile(spec)->Needs(WideSchema(), &budget).hints.families;
  };
  EXPECT_EQ(needs(Family(".*[0-9]+7[2-3]7")), (std::vector<FamilyId>{1727, 1737}));
  const std::string name = WideSchema().families[999].name;
  EXPECT_EQ(needs(Interleave({Columns(name, None(), None()), Family(".*-1000")})),
            (std::vector<FamilyId>{1000, 1999}));
  EXPECT_EQ(needs(Chain({Family(".*[0-9]+99"), Family(".*-19.*")})), (std::vector<FamilyId>{1999}));
}

TEST(RowKeys, MayPassByTheKeyAlone) {
  const auto may_pass = [](const FilterSpec& spec, std::string_view key) {
    FilterBudget budget;
    return Compile(spec)->RowKeyMayPass(key, &budget);
  };
  EXPECT_TRUE(may_pass(All(), "k"));
  EXPECT_FALSE(may_pass(Block(), "k"));
  const FilterSpec a = RowKey("a.*");
  EXPECT_FALSE(may_pass(Chain({RowLimit(1), a}), "k"));
  EXPECT_TRUE(may_pass(Chain({RowLimit(1), a}), "ak"));
  EXPECT_FALSE(may_pass(Interleave({a, RowKey("b")}), "k"));
  EXPECT_TRUE(may_pass(Interleave({a, RowKey("k")}), "k"));
  EXPECT_TRUE(may_pass(Chain({Interleave({All(), Sink()}), a}), "k"));
  EXPECT_FALSE(may_pass(Chain({a, Sink()}), "k"));
  EXPECT_FALSE(may_pass(If(All(), a, std::nullopt), "k"));
  EXPECT_TRUE(may_pass(If(a, All(), All()), "k"));
  EXPECT_FALSE(may_pass(If(All(), std::nullopt, std::nullopt), "k"));
}

TEST(RowKeys, MatchingIsChargedToTheBudget) {
  const auto filter = Compile(RowKey("[a-z]+x"));
  // A clock that goes on by a millisecond whenever it is looked at.
  int64_t now_nanos = 0;
  FilterBudget budget({.request_cpu_ms_max = 2}, {}, [&] { return now_nanos += 1'000'000; });
  int refused = 0;
  for (int i = 0; i < 1'000 && refused == 0; ++i) refused += filter->RowKeyMayPass("row", &budget);
  ASSERT_EQ(refused, 1);
  SeededRandom random(1);
  FilterEvaluator evaluator(*filter, TestSchema(), &budget, &random);
  const TestRow row = {{"A", "a", 1, ""}};
  std::vector<FilterCell> cells = ToFilterCells(row);
  EXPECT_EQ(evaluator.Run("row", &cells),
            absl::ResourceExhaustedError("the filter took 3 ms of CPU time, a request's may take 2 ms"));
}

TEST(RowKeys, ThousandsOfRangesBecomeOne) {
  std::string pattern;
  for (int i = 1'000; i < 2'000; ++i) pattern += "|" + std::to_string(i);
  EXPECT_EQ(Compile(RowKey(pattern.substr(1)))->PossibleRows(),
            (std::vector<RowRange>{{"1000", std::string("1999\0", 5)}}));
  std::vector<FilterSpec> filters;
  for (int i = 1'000; i < 2'000; ++i) filters.push_back(RowKey(std::to_string(i)));
  EXPECT_EQ(Compile(Interleave(filters))->PossibleRows(),
            (std::vector<RowRange>{{"1000", std::string("1999\0", 5)}}));
  filters.resize(100);
  EXPECT_EQ(Compile(Interleave(filters))->PossibleRows().size(), 100);
}

TEST(RowKeys, PossibleRowsAreRanges) {
  EXPECT_EQ(Compile(All())->PossibleRows(), (std::vector<RowRange>{RowRange::All()}));
  EXPECT_EQ(Compile(Block())->PossibleRows(), (std::vector<RowRange>{}));
  EXPECT_EQ(Compile(Chain({RowKey("ab.*"), RowLimit(1)}))->PossibleRows(),
            (std::vector<RowRange>{RowRange::Prefix("ab")}));
  EXPECT_EQ(Compile(Interleave({RowKey("x|a"), Chain({RowKey("b.*"), RowKey("bc.*")})}))->PossibleRows(),
            (std::vector<RowRange>{RowRange::Single("a"), RowRange::Prefix("bc"), RowRange::Single("x")}));
}

}  // namespace
}  // namespace sonde

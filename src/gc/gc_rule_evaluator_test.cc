#include "gc/gc_rule_evaluator.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/random.h"
#include "gc/gc_rule.h"

namespace sonde {
namespace {

constexpr int64_t kNow = 1'000'000'000;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

GcRule Versions(int32_t count) { return {GcRule::MaxVersions{count}}; }
GcRule Age(int64_t micros) { return {GcRule::MaxAge{micros}}; }
GcRule All(std::vector<GcRule> rules) { return {GcRule::Intersection{std::move(rules)}}; }
GcRule Any(std::vector<GcRule> rules) { return {GcRule::Union{std::move(rules)}}; }

// Straight from the words of the rule.
bool Forgets(const GcRule& rule, int64_t now, int64_t rank, int64_t timestamp) {
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) return rank >= versions->count;
  if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    return static_cast<__int128>(timestamp) < static_cast<__int128>(now) - age->micros;
  }
  if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) {
    for (const GcRule& each : all->rules) {
      if (!Forgets(each, now, rank, timestamp)) return false;
    }
    return !all->rules.empty();
  }
  if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) {
    for (const GcRule& each : any->rules) {
      if (Forgets(each, now, rank, timestamp)) return true;
    }
  }
  return false;
}

GcRule RandomRule(SeededRandom& random, int depth) {
  const uint64_t kind = random.Uniform(depth == 0 ? 3 : 6);
  if (kind == 0) return Versions(static_cast<int32_t>(1 + random.Uniform(4)));
  if (kind == 1) return Age(static_cast<int64_t>(1'000 + random.Uniform(5) * 1'000));
  if (kind == 2) return random.Uniform(4) == 0 ? GcRule{} : Age(random.Uniform(8) == 0 ? kMax : 3'000);
  std::vector<GcRule> rules;
  for (uint64_t count = random.Uniform(4); count > 0; --count) rules.push_back(RandomRule(random, depth - 1));
  return kind == 3 ? All(std::move(rules)) : Any(std::move(rules));
}

TEST(GcRuleEvaluator, KeepsEverythingByDefault) {
  EXPECT_TRUE(GcRuleEvaluator().KeepsEverything());
  for (const GcRule& rule : {GcRule{}, All({}), Any({}), All({Versions(1), {}}), Any({{}, All({})})}) {
    EXPECT_TRUE(GcRuleEvaluator(rule, kNow).KeepsEverything());
    EXPECT_TRUE(GcRuleEvaluator(rule, kNow).Keeps(1'000, kMin));
  }
}

TEST(GcRuleEvaluator, MaxVersionsForgetsRanksFromItsCount) {
  const GcRuleEvaluator evaluator(Versions(2), kNow);
  EXPECT_TRUE(evaluator.Keeps(1, 0));
  EXPECT_FALSE(evaluator.Keeps(2, kMax));
  EXPECT_EQ(evaluator.VersionsMax(), 2);
  EXPECT_EQ(evaluator.OldestKeptMicros(), std::nullopt);
}

TEST(GcRuleEvaluator, MaxAgeKeepsACellThatIsExactlyThatOld) {
  const GcRuleEvaluator evaluator(Age(5'000), kNow);
  EXPECT_TRUE(evaluator.Keeps(9, kNow - 5'000));
  EXPECT_FALSE(evaluator.Keeps(0, kNow - 5'001));
  EXPECT_EQ(evaluator.OldestKeptMicros(), kNow - 5'000);
  EXPECT_EQ(evaluator.VersionsMax(), std::nullopt);
  EXPECT_FALSE(evaluator.DependsOnRank());
}

TEST(GcRuleEvaluator, AnAgeBeforeAllTimeForgetsNothing) {
  EXPECT_TRUE(GcRuleEvaluator(Age(kMax), -2).KeepsEverything());
  EXPECT_TRUE(GcRuleEvaluator(Age(kMax), -1).KeepsEverything());
  EXPECT_FALSE(GcRuleEvaluator(Age(kMax), 0).KeepsEverything());
  EXPECT_FALSE(GcRuleEvaluator(Age(kMax), 0).Keeps(0, kMin));
  EXPECT_TRUE(GcRuleEvaluator(Age(kMax), 0).Keeps(0, kMin + 1));
}

TEST(GcRuleEvaluator, IsWhatTheRuleSays) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    SeededRandom random(seed);
    const GcRule rule = RandomRule(random, 4);
    const int64_t now = random.Uniform(10) == 0 ? kMin + 4'000 : 6'000;
    const GcRuleEvaluator evaluator(rule, now);
    for (int64_t rank = 0; rank < 6; ++rank) {
      for (const int64_t timestamp :
           {kMin, now - 4'000, now - 3'001, now - 3'000, now - 2'999, now - 1, now, kMax}) {
        ASSERT_EQ(evaluator.Keeps(rank, timestamp), !Forgets(rule, now, rank, timestamp))
            << "seed " << seed << " rank " << rank << " timestamp " << timestamp;
      }
    }
  }
}

using Cells = std::vector<CellView>;

Cells RandomCells(SeededRandom& random) {
  Cells cells;
  for (const char* qualifier : {"", "a", "ab", "b", "c"}) {
    int64_t timestamp = 8'000;
    for (uint64_t count = random.Uniform(random.Uniform(6) == 0 ? 40 : 5); count > 0; --count) {
      timestamp -= static_cast<int64_t>(1 + random.Uniform(1'500));
      cells.push_back({qualifier, timestamp, ""});
    }
  }
  return cells;
}

Cells Naive(const GcRule& rule, int64_t now, const Cells& cells) {
  Cells kept;
  int64_t rank = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    rank = i > 0 && cells[i].qualifier == cells[i - 1].qualifier ? rank + 1 : 0;
    if (!Forgets(rule, now, rank, cells[i].timestamp_micros)) kept.push_back(cells[i]);
  }
  return kept;
}

TEST(GcRuleEvaluator, FiltersAFamilyInPlace) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    SeededRandom random(seed);
    const GcRule rule = RandomRule(random, 3);
    const Cells cells = RandomCells(random);
    Cells kept = cells;
    GcRuleEvaluator(rule, 6'000).Filter(&kept);
    ASSERT_EQ(kept, Naive(rule, 6'000, cells)) << "seed " << seed;
  }
}

// What an engine may make of hints.
Cells Reduce(const ReadHints& hints, const Cells& cells) {
  Cells reduced;
  int64_t rank = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i == 0 || cells[i].qualifier != cells[i - 1].qualifier) rank = 0;
    if (!hints.time_range.Contains(cells[i].timestamp_micros)) continue;
    if (rank++ < hints.newest_per_column.value_or(kMax)) reduced.push_back(cells[i]);
  }
  return reduced;
}

TEST(RefineReadHints, LeavesOutOnlyWhatIsForgotten) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    SeededRandom random(seed);
    const std::vector<GcRule> rules = {RandomRule(random, 3), RandomRule(random, 3)};
    std::vector<GcRuleEvaluator> evaluators;
    for (const GcRule& rule : rules) evaluators.emplace_back(rule, 6'000);
    // The reader wants only a time range.
    ReadHints hints;
    if (random.Uniform(2) == 0) hints.time_range = {2'000, random.Uniform(2) == 0 ? 5'000 : 0};
    const TimeRange wanted = hints.time_range;
    RefineReadHints(evaluators, &hints);
    for (size_t i = 0; i < rules.size(); ++i) {
      const Cells cells = RandomCells(random);
      Cells expected = Naive(rules[i], 6'000, cells);
      Cells got = Reduce(hints, cells);
      evaluators[i].Filter(&got);
      for (Cells* each : {&expected, &got}) {
        std::erase_if(*each, [&](const CellView& cell) { return !wanted.Contains(cell.timestamp_micros); });
      }
      ASSERT_EQ(got, expected) << "seed " << seed;
    }
  }
}

TEST(RefineReadHints, TakesTheLoosestOfTheFamilies) {
  ReadHints hints;
  RefineReadHints({GcRuleEvaluator(Versions(2), kNow), GcRuleEvaluator(Any({Versions(5), Age(1'000)}), kNow)},
                  &hints);
  EXPECT_EQ(hints.newest_per_column, 5);
  EXPECT_TRUE(hints.time_range.IsAll());
  hints = {};
  hints.time_range = {3, 9};
  RefineReadHints({GcRuleEvaluator(Age(1'000), kNow), GcRuleEvaluator(Age(2'000), kNow)}, &hints);
  EXPECT_EQ(hints.time_range, (TimeRange{kNow - 2'000, 9}));
  RefineReadHints({GcRuleEvaluator(Age(1'000), kNow), GcRuleEvaluator(Versions(2), kNow)}, &hints);
  EXPECT_EQ(hints.time_range, (TimeRange{kNow - 2'000, 0}));
  EXPECT_EQ(hints.newest_per_column, std::nullopt);
}

}  // namespace
}  // namespace sonde

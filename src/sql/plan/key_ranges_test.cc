#include "sql/plan/key_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "rows/batch.h"
#include "sql/bind/plan_test_support.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

// SELECT _key FROM t WHERE condition, with parameters @k and @ks.
struct Query {
  BoundQuery bound;
  EvaluationContext context;

  const Plan& Filter() const { return *bound.plan; }
  const Plan::Scan& Scan() const {
    const Plan* at = bound.plan.get();
    while (at->kind != Plan::Kind::kScan) at = at->inputs[0].get();
    return *at->scan;
  }
};

Query QueryOf(std::string_view condition, std::string_view k = "b", std::vector<Value> ks = {}) {
  Query query;
  absl::StatusOr<BoundQuery> bound =
      ParseAndBind("SELECT _key FROM t WHERE " + std::string(condition), FakeOptions());
  EXPECT_TRUE(bound.ok()) << condition << ": " << bound.status();
  query.bound = *std::move(bound);
  query.context.parameters = {Value::Bytes(k), Value::Null(TypeKind::kString), Value::Int(0),
                              Value::Array(TypeKind::kBytes, ks), Value::Null(TypeKind::kTimestamp)};
  return query;
}

std::string RangesText(std::string_view condition, std::string_view k = "b", std::vector<Value> ks = {}) {
  const Query query = QueryOf(condition, k, std::move(ks));
  const absl::StatusOr<std::vector<RowRange>> ranges = KeyRanges(query.Scan(), query.context);
  if (!ranges.ok()) return ranges.status().ToString();
  EXPECT_TRUE(AreNormal(*ranges));
  std::string text;
  for (const RowRange& range : *ranges) {
    text += text.empty() ? "" : " ";
    if (range.IsSingleRow()) {
      text += StringLiteral(range.start);
    } else {
      text +=
          "[" + StringLiteral(range.start) + ", " + (range.end.empty() ? "" : StringLiteral(range.end)) + ")";
    }
  }
  return text;
}

TEST(KeyRanges, AreMinimalForTheFormsOfPredicates) {
  const struct {
    std::string_view condition;
    std::string_view ranges;
  } cases[] = {
      {"_key = 'a'", R"("a")"},
      {"'a' = _key", R"("a")"},
      {"_key = @k", R"("b")"},
      {"_key != 'a'", R"(["", "a") ["a\x00", ))"},
      {"_key IN ('c', 'a')", R"("a" "c")"},
      {"_key IN ('c', NULL)", R"("c")"},
      {"_key NOT IN ('c', NULL)", ""},
      {"_key IN UNNEST(@ks)", ""},
      {"_key < 'b'", R"(["", "b"))"},
      {"_key <= 'b'", R"(["", "b\x00"))"},
      {"_key > 'b'", R"(["b\x00", ))"},
      {"'b' < _key", R"(["b\x00", ))"},
      {"_key >= 'b'", R"(["b", ))"},
      {"_key < ''", ""},
      {"_key >= ''", R"(["", ))"},
      {"_key BETWEEN 'a' AND 'b'", R"(["a", "b\x00"))"},
      {"_key BETWEEN 'b' AND 'a'", ""},
      {"_key NOT BETWEEN 'a' AND 'b'", R"(["", "a") ["b\x00", ))"},
      {"STARTS_WITH(_key, 'a#')", R"(["a#", "a$"))"},
      {"_key LIKE 'a%'", R"(["a", "b"))"},
      {"_key LIKE 'a%z'", R"(["a", "b"))"},
      {"_key LIKE 'a_'", R"(["a", "b"))"},
      {"_key LIKE 'ab'", R"("ab")"},
      {"_key LIKE '%'", R"(["", ))"},
      {R"(_key LIKE 'a\\%b')", R"("a%b")"},
      {"_key NOT LIKE 'a%'", R"(["", "a") ["b", ))"},
      {"_key NOT LIKE 'a%z'", R"(["", ))"},
      {"_key > 'a' AND _key < 'c'", R"(["a\x00", "c"))"},
      {"_key = 'a' OR _key > 'x'", R"("a" ["x\x00", ))"},
      {"_key = 'a' OR LENGTH(_key) = 3", R"(["", ))"},
      {"NOT (_key = 'a' OR _key > 'x')", R"(["", "a") ["a\x00", "x\x00"))"},
      {"NOT (_key > 'a' AND _key < 'c')", R"(["", "a\x00") ["c", ))"},
      {"_key IS NULL", ""},
      {"_key IS NOT NULL", R"(["", ))"},
      {"_key = CAST(NULL AS BYTES)", ""},
      {"_key > 'a' AND cf['x'] = 'y'", R"(["a\x00", ))"},
      {"_key > 'a' OR cf['x'] = 'y'", R"(["", ))"},
      {"SPLIT(_key, '#')[OFFSET(0)] = 'x'", R"("x" ["x#", "x$"))"},
      {"SPLIT(_key, '#')[SAFE_OFFSET(0)] IN ('x', 'a')", R"("a" ["a#", "a$") "x" ["x#", "x$"))"},
      {"SPLIT(_key, '#')[OFFSET(0)] = 'x#'", ""},
      {"SPLIT(_key, '#')[OFFSET(1)] = 'x'", R"(["", ))"},
      {"SPLIT(CAST(_key AS STRING), '#')[OFFSET(0)] = 'x'", R"("x" ["x#", "x$"))"},
      {"CAST(_key AS STRING) = 'é'", R"("é")"},
      {"CAST(_key AS STRING) >= 'b'", R"(["b", ))"},
      {"_key = CONCAT(@k, 'c')", R"("bc")"},
      {"_key = CAST('x' AS BYTES)", R"("x")"},
  };
  for (const auto& one : cases) EXPECT_EQ(RangesText(one.condition), one.ranges) << one.condition;
}

TEST(KeyRanges, TakeParametersWhenTheyAreKnown) {
  const std::vector<Value> ks = {Value::Bytes("z"), Value::Null(TypeKind::kBytes), Value::Bytes("a")};
  EXPECT_EQ(RangesText("_key IN UNNEST(@ks)", "b", ks), R"("a" "z")");
  EXPECT_EQ(RangesText("_key NOT IN UNNEST(@ks)", "b", ks), "");
}

TEST(KeyRanges, AreOneWhereTheyWouldBeTooMany) {
  std::vector<Value> ks;
  for (size_t i = 0; i <= kKeyRangesMax; ++i) ks.push_back(Value::Bytes("k" + std::to_string(1'000'000 + i)));
  EXPECT_EQ(RangesText("_key IN UNNEST(@ks)", "b", ks), R"(["k1000000", "k1100000\x00"))");
}

// --- Random conditions over all short keys.

using Random = std::mt19937_64;

size_t Below(Random& random, size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random); }

std::string RandomBytes(Random& random, std::string_view letters, size_t length_max) {
  std::string bytes;
  for (size_t length = Below(random, length_max + 1); length > 0; --length)
    bytes += letters[Below(random, letters.size())];
  return bytes;
}

std::string RandomLiteral(Random& random, std::string_view letters) {
  if (Below(random, 12) == 0) return "CAST(NULL AS BYTES)";
  if (Below(random, 8) == 0) return "@k";
  return BytesLiteral(RandomBytes(random, letters, 3));
}

std::string RandomCondition(Random& random, std::string_view letters, int depth) {
  const auto literal = [&] { return RandomLiteral(random, letters); };
  static constexpr std::string_view kComparisons[] = {"=", "!=", "<", "<=", ">", ">="};
  if (depth > 0 && Below(random, 2) == 0) {
    const std::string a = RandomCondition(random, letters, depth - 1);
    const std::string b = RandomCondition(random, letters, depth - 1);
    const size_t how = Below(random, 3);
    return how == 0 ? "NOT (" + a + ")" : "((" + a + ")" + (how == 1 ? " AND " : " OR ") + "(" + b + "))";
  }
  const std::string_view negation = Below(random, 3) == 0 ? "NOT " : "";
  switch (Below(random, 9)) {
    case 0:
      return literal() + " " + std::string(kComparisons[Below(random, 6)]) + " _key";
    case 1:
      return "_key " + std::string(negation) + "IN (" + literal() + ", " + literal() + ")";
    case 2:
      return "_key " + std::string(negation) + "IN UNNEST(@ks)";
    case 3:
      return "_key " + std::string(negation) + "BETWEEN " + literal() + " AND " + literal();
    case 4:
      return "STARTS_WITH(_key, " + literal() + ")";
    case 5:
      return "_key " + std::string(negation) + "LIKE " +
             BytesLiteral(RandomBytes(random, letters, 2) + RandomBytes(random, "%_a", 2));
    case 6:
      return "SPLIT(_key, b'#')[OFFSET(0)] = " + literal();
    case 7:
      return Below(random, 2) == 0 ? "LENGTH(_key) = 2" : "_key IS NOT NULL";
    default:
      return "_key " + std::string(kComparisons[Below(random, 6)]) + " " + literal();
  }
}

std::vector<std::string> AllKeys(std::string_view letters, size_t length_max) {
  std::vector<std::string> keys = {""};
  for (size_t first = 0, length = 0; length < length_max; ++length) {
    const size_t end = keys.size();
    for (; first < end; ++first) {
      for (const char letter : letters) keys.push_back(keys[first] + letter);
    }
  }
  keys.erase(keys.begin());
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(KeyRanges, HoldAllRowsThatAConditionLetsThrough) {
  constexpr std::string_view kLetters("ab#\0\xff", 5);
  const std::vector<std::string> keys = AllKeys(kLetters, 3);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  rows::Batch batch;
  batch.rows = keys.size();
  batch.columns.push_back(ColumnView::OfBytes(views));
  Random random(7);
  size_t read = 0;
  for (int trial = 0; trial < 1'000; ++trial) {
    const std::string condition = RandomCondition(random, kLetters, 3);
    std::vector<Value> ks;
    for (size_t count = Below(random, 4); count > 0; --count) {
      ks.push_back(Below(random, 6) == 0 ? Value::Null(TypeKind::kBytes)
                                         : Value::Bytes(RandomBytes(random, kLetters, 3)));
    }
    const Query query = QueryOf(condition, RandomBytes(random, kLetters, 2), std::move(ks));
    if (query.Filter().kind != Plan::Kind::kFilter) continue;
    const absl::StatusOr<std::vector<RowRange>> ranges = KeyRanges(query.Scan(), query.context);
    ASSERT_TRUE(ranges.ok());
    ASSERT_TRUE(AreNormal(*ranges)) << condition;
    Arena arena;
    Evaluator evaluator(*query.Filter().expressions[0], &query.context);
    const absl::StatusOr<ColumnView> passes = evaluator.Evaluate(batch, &arena);
    ASSERT_TRUE(passes.ok()) << condition << ": " << passes.status();
    std::vector<size_t> passing;
    RowsThatAreTrue(*passes, &passing);
    for (const size_t row : passing) {
      const bool is_held = std::any_of(ranges->begin(), ranges->end(),
                                       [&](const RowRange& range) { return range.Contains(keys[row]); });
      ASSERT_TRUE(is_held) << condition << " at " << BytesLiteral(keys[row]);
    }
    for (const std::string& key : keys) {
      read += std::any_of(ranges->begin(), ranges->end(),
                          [&](const RowRange& range) { return range.Contains(key); });
    }
  }
  // Ranges bound something: most conditions are on the key.
  EXPECT_LT(read, keys.size() * 1'000 * 3 / 4);
}

}  // namespace
}  // namespace sonde::sql

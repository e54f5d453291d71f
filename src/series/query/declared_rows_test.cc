// Questions to indexed series, of every layout and key: the same answers as a naive evaluator's, from the rows of fewer entities.
#include "series/query/declared_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_repair.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr std::string_view kHead =
    "series: s\nindex: yes\ntags: { a: string, c: string, b: { type: int, width: 4 } }\nfields: { x: double, "
    "n: int }\n"
    "time: { resolution: 1m }\n";
constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr size_t kEntities = 900;
constexpr int kDays = 4;

constexpr const char* kShapes[] = {
    "bucket: day\nkey: [a, b, c, bucket]",
    "bucket: week\nkey: [{ salt: 4 }, a, b, c, bucket]",
    "key: [a, c, b]",
    "bucket: hour\nkey: [bucket, { salt: 3, of: b }, c, a, b]",
    "layout: columns\nbucket: week\nkey: [a, b, c, field, bucket]",
    "layout: columns\nbucket: day\nkey: [{ salt: 3, of: time }, a, field, b, bucket, c]",
    "layout: offsets\nbucket: day\nslot: 1m\nkey: [b, a, c, bucket]",
    "layout: offsets\nbucket: hour\nslot: 1m\nkey: [b, field, a, c, { bucket: hour, format: epoch_s, "
    "reverse: true }]",
    "layout: offsets\nbucket: month\nslot: 1m\nkey: [a, b, c, bucket]\ncorrections: keep",
    "layout: row\nkey: [a, b, c, time]",
    "layout: row\nkey: [c, a, b, { time: epoch_ms, reverse: true }]",
    "layout: row\nkey: [{ salt: 65, of: time }, { const: M }, a, b, { time: yyyy-mm-dd }, c, time]",
    "layout: row\nkey: [a, { time: yyyymmddhh }, salt, b, c, time]",
    "layout: blob\nkey: [a, b, c, { time: yyyymmddhhmm }]",
    "layout: blob\nblob: { format: protobuf }\nbucket: week\nkey: [{ salt: 100, of: [b] }, a, b, c, bucket]",
    "bucket: day\nkey: [a, b, c, bucket]\nderive:\n  - order: { table: o, bucket: day, key: [c, { salt: 4, "
    "of: time }, a, b, bucket] }\n"
    "  - period: { table: \"p_{yyyymmdd}\", every: day }\n  - latest: l",
    "bucket: day\nkey: [a, b, c, bucket]\nversions:\n"
    "  - { until: 2021-03-05, table: s1, layout: row, key: [b, { salt: 4, of: time }, a, c, time] }\n"
    "  - { until: 2021-03-06-1207, table: s2, bucket: hour, key: [{ salt: 65 }, c, b, a, bucket] }"};

struct Point {
  std::vector<std::string> tags;  // a, c, b
  int64_t time_micros = 0;
  int x = 0;
};

struct Condition {
  size_t tag = 0;
  std::vector<std::string> values;  // one of these, or
  std::string pattern;              // this, or not this
  bool is_negated = false;
};

class DeclaredRowsTest : public testing::TestWithParam<const char*> {
 protected:
  DeclaredRowsTest() : schema_(ParseSchema(fmt::format("{}{}\n", kHead, GetParam()), "x.yaml").value()) {
    EXPECT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
  }

  std::vector<std::string> TagsOf(size_t entity) const {
    return {fmt::format("a{}", entity % 90), fmt::format("c,={}", entity % 7), fmt::format("{}", entity / 3)};
  }

  // By two writers of their own and one that is shared, in turns; some entities are of one day only.
  void Write() {
    ManualClock clock(kDay + 30 * kMicrosPerDay);
    IndexWriter shared(&tables_, &clock);
    std::vector<std::unique_ptr<PointWriter>> writers;
    for (int i = 0; i < 3; ++i) {
      writers.push_back(std::make_unique<PointWriter>(
          schema_, &tables_, PointWriter::Limits(), &clock, PointWriter::Target::kAll,
          PointWriter::Keepers{.index = i == 2 ? &shared : nullptr}));
    }
    for (size_t entity = 0; entity < kEntities; ++entity) {
      for (int i = 0; i < 2; ++i) {
        const int64_t day = entity % 3 == 0 ? static_cast<int64_t>(entity % kDays)
                                            : static_cast<int64_t>(random_.Uniform(kDays));
        Point point{
            TagsOf(entity),
            kDay + day * kMicrosPerDay + static_cast<int64_t>(random_.Uniform(1440)) * kMicrosPerMinute,
            static_cast<int>(random_.Uniform(1000))};
        PointWriter& writer = *writers[random_.Uniform(writers.size())];
        const std::vector<std::string_view> tags(point.tags.begin(), point.tags.end());
        const std::string x = std::to_string(point.x);
        ASSERT_TRUE(writer.Add({tags, point.time_micros, {x, x}}).ok());
        const bool is_flushed = random_.Uniform(60) == 0;
        ASSERT_TRUE(!is_flushed || writer.Flush().ok());
        points_[{point.tags, point.time_micros}] = point.x;
      }
    }
    for (const auto& writer : writers) ASSERT_TRUE(writer->Flush().ok());
  }

  Condition RandomCondition() {
    Condition condition;
    condition.tag = random_.Uniform(3);
    const std::string value = TagsOf(random_.Uniform(kEntities))[condition.tag];
    const std::string other = TagsOf(random_.Uniform(kEntities))[condition.tag];
    const std::string quoted = re2::RE2::QuoteMeta(value);
    switch (random_.Uniform(7)) {
      case 0:
        condition.values = {value, other};
        break;
      case 1:
        condition.pattern = quoted + "|" + re2::RE2::QuoteMeta(other);
        break;
      case 2:
        condition.pattern = quoted + ".*";
        break;
      case 3:
        condition.pattern = ".*" + value.substr(value.size() - 1);
        condition.is_negated = true;
        break;
      case 4:
        condition.pattern = quoted;
        condition.is_negated = true;
        break;
      case 5:
        condition.pattern = ".*[" + value.substr(value.size() - 1) + "]";
        break;
      default:
        condition.values = {value};
    }
    return condition;
  }

  static bool Matches(const Condition& condition, const std::vector<std::string>& tags) {
    const std::string& tag = tags[condition.tag];
    if (!condition.values.empty()) return std::ranges::find(condition.values, tag) != condition.values.end();
    return re2::RE2::FullMatch(tag, condition.pattern) != condition.is_negated;
  }

  Query RandomQuery(std::vector<Condition>* conditions) {
    Query query;
    query.selection.tags.resize(3);
    const size_t count = 1 + random_.Uniform(2);
    for (size_t i = 0; i < count; ++i) {
      const Condition condition = RandomCondition();
      TagFilter& filter = query.selection.tags[condition.tag];
      if (!condition.values.empty()) {
        if (!filter.IsAny()) continue;
        filter.values = condition.values;
        // The same number in other words.
        if (condition.tag == 2 && random_.Uniform(2) == 0) filter.values[0].insert(0, "0");
        if (filter.values[0].size() > 4) filter.values = condition.values;
      } else {
        query.conditions.push_back({condition.tag, condition.pattern, condition.is_negated});
      }
      conditions->push_back(condition);
    }
    const auto random_time = [&] {
      return kDay + static_cast<int64_t>(random_.Uniform(1440 * kDays)) * kMicrosPerMinute;
    };
    if (random_.Uniform(2) == 0) query.selection.from_micros = random_time();
    if (random_.Uniform(2) == 0) query.selection.to_micros = random_time();
    if (random_.Uniform(4) == 0) {
      query.selection.from_micros = kDay + static_cast<int64_t>(random_.Uniform(kDays)) * kMicrosPerDay;
      query.selection.to_micros = query.selection.from_micros + kMicrosPerHour;
    }
    query.fields = {0};
    query.index = &index_;
    return query;
  }

  std::vector<std::string> Ask(const Query& query, QueryStats* stats = nullptr) {
    std::vector<std::string> rows;
    const auto result = RunQuery(schema_, query, &tables_, [&](const ResultRow& row) {
      std::string text = fmt::format("{} {}", fmt::join(row.tags, " "), TimeText(row.time_micros));
      for (const ResultValue& value : row.values) text += fmt::format(" {}", NumberOf(value).value_or(-1));
      rows.push_back(std::move(text));
      return true;
    });
    EXPECT_TRUE(result.ok()) << result.status();
    if (stats != nullptr && result.ok()) *stats = *result;
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  std::vector<std::string> Naive(const Query& query, const std::vector<Condition>& conditions) const {
    std::vector<std::string> rows;
    for (const auto& [of, x] : points_) {
      const auto& [tags, time_micros] = of;
      if (time_micros < query.selection.from_micros || time_micros >= query.selection.to_micros) continue;
      if (!std::ranges::all_of(conditions,
                               [&](const Condition& condition) { return Matches(condition, tags); }))
        continue;
      rows.push_back(fmt::format("{} {} {}", fmt::join(tags, " "), TimeText(time_micros), x));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  KnownSeries Known() const { return {schema_, schema_.text, {}}; }

  SeededRandom random_{29};
  const SeriesSchema schema_;
  MemoryTables tables_;
  EntityIndex index_;
  std::map<std::pair<std::vector<std::string>, int64_t>, int> points_;
};

TEST_P(DeclaredRowsTest, AnswersAsANaiveEvaluatorDoes) {
  Write();
  const auto report = CheckIndex(Known(), &tables_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_whole && report->is_sound()) << fmt::format("{}", fmt::join(report->problems, "\n"));
  EXPECT_EQ(report->entities, static_cast<int64_t>(kEntities));
  EXPECT_EQ(report->idle_entities, 0);
  int by_index = 0;
  constexpr int kQuestions = 60;
  for (int i = 0; i < kQuestions; ++i) {
    std::vector<Condition> conditions;
    Query query = RandomQuery(&conditions);
    QueryStats stats;
    ASSERT_EQ(Ask(query, &stats), Naive(query, conditions)) << i;
    by_index += stats.indexed_entities.has_value() ? 1 : 0;
    // Whatever is made of points is made of the same ones.
    Query plain = query;
    plain.index = nullptr;
    for (Query* const asked : {&query, &plain}) {
      if (i % 3 == 0) {
        asked->latest = 2;
      } else {
        asked->aggregates = {Aggregate::kSum, Aggregate::kCount};
        asked->every = TimeBuckets(ParseBucketWidth("day").value());
        asked->group_by = std::vector<size_t>{static_cast<size_t>(i) % 3};
      }
    }
    ASSERT_EQ(Ask(query), Ask(plain)) << i;
  }
  EXPECT_GT(by_index, kQuestions / 4);
}

TEST_P(DeclaredRowsTest, ReadsTheRowsOfFewEntities) {
  Write();
  Query query;
  query.selection.tags.resize(3);
  query.selection.tags[2].values = {"17"};
  query.conditions = {{1, "c.*[0-6]", false}};
  query.selection.from_micros = kDay;
  query.selection.to_micros = kDay + kDays * kMicrosPerDay;
  query.fields = {0};
  query.index = &index_;
  QueryStats stats;
  const std::vector<std::string> rows = Ask(query, &stats);
  EXPECT_EQ(rows.size(), 6) << fmt::format("{}", fmt::join(rows, "\n"));
  EXPECT_LE(stats.rows_read, 40);
}

TEST_P(DeclaredRowsTest, ScansUntilTheIndexIsWhole) {
  MemoryTables tables;
  // Declared without it first, with points.
  const std::string with(schema_.text);
  std::string without = with;
  without.replace(without.find("index: yes"), 10, "index: no");
  const SeriesSchema plain = ParseSchema(without, "x.yaml").value();
  ASSERT_TRUE(EnsureSeriesTables(plain, &tables).ok());
  const auto write = [&](const SeriesSchema& schema, const std::string& a) {
    ManualClock clock(kDay + 30 * kMicrosPerDay);
    PointWriter writer(schema, &tables, {}, &clock);
    ASSERT_TRUE(writer.Add({{a, "c", "7"}, kDay + kMicrosPerHour, {"1", "1"}}).ok());
    // Another one, so that those that are asked for are not all.
    if (schema.is_indexed) {
      ASSERT_TRUE(writer.Add({{a, "other", "7"}, kDay + kMicrosPerHour, {"1", "1"}}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  };
  write(plain, "first");
  ASSERT_TRUE(EnsureSeriesTables(schema_, &tables).ok());
  write(schema_, "second");
  const auto ask = [&](bool* by_index) {
    Query query;
    query.selection.tags.resize(3);
    query.selection.tags[1].values = {"c"};
    query.conditions = {{2, "[0-9]", false}};
    query.selection.from_micros = kDay;
    query.selection.to_micros = kDay + kMicrosPerDay;
    query.fields = {0};
    query.index = &index_;
    size_t rows = 0;
    const auto stats = RunQuery(schema_, query, &tables, [&](const ResultRow&) { return ++rows > 0; });
    EXPECT_TRUE(stats.ok()) << stats.status();
    *by_index = stats.ok() && stats->indexed_entities.has_value();
    return rows;
  };
  bool by_index = true;
  EXPECT_EQ(ask(&by_index), 2);
  EXPECT_FALSE(by_index);
  const auto gap = FindIndexGap(schema_, &tables);
  ASSERT_TRUE(gap.ok() && gap->has_value());
  EXPECT_EQ((*gap)->remedy, "complete it: sonde series rebuild stored:s@index");
  const SystemClock clock;
  const auto rebuilt = RebuildIndex(Known(), &tables, clock, /*is_alone=*/false);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_EQ(rebuilt->missing_entities, 1);
  EXPECT_EQ(ask(&by_index), 2);
  // It is not asked where a copy or the key itself narrows as much.
  const bool is_led = schema_.key[0].kind == KeyPart::Kind::kTag && schema_.key[0].tag == 1;
  EXPECT_TRUE(by_index || is_led || !schema_.orders.empty());
  EXPECT_FALSE(FindIndexGap(schema_, &tables)->has_value());
  // Whoever writes by a declaration without it, leaves points out: it is not whole any more.
  ASSERT_TRUE(EnsureSeriesTables(plain, &tables).ok());
  write(plain, "third");
  ASSERT_TRUE(EnsureSeriesTables(schema_, &tables).ok());
  EXPECT_EQ(ask(&by_index), 3);
  EXPECT_FALSE(by_index);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeclaredRowsTest, testing::ValuesIn(kShapes));

}  // namespace
}  // namespace sonde::series

// The writer of the index, its upkeep, and its readers together, against a naive model.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_writer.h"
#include "series/schema/calendar.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

constexpr int32_t kFirstDay = 19'000;

struct Registered {
  std::string series;
  std::map<std::string, std::string> labels;
  int32_t day = 0;
  size_t field = 0;

  auto operator<=>(const Registered&) const = default;
};

KnownSeriesRef MakeSeries(const std::string& name, size_t fields = 3) {
  KnownSeries series = NewOpenSeries(name);
  series.labels = {"host", "zone", "pod"};
  for (size_t i = 0; i < fields; ++i) AddOpenField("f" + std::to_string(i), FieldType::kDouble, &series);
  return std::make_shared<const KnownSeries>(series);
}

std::string TextOf(const KnownSeries& series, const std::map<std::string, std::string>& labels) {
  std::string text;
  EXPECT_TRUE(AppendLabelsText(series, {labels.begin(), labels.end()}, &text));
  return text;
}

Matcher MakeMatcher(MatchKind kind, const std::string& name, const std::string& value) {
  return *Matcher::Create(kind, name, value);
}

class IndexTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"cpu", "mem,x"}) series_[name] = MakeSeries(name);
  }

  static EntityUse UseOf(const Registered& point, const KnownSeriesRef& series, std::string* text) {
    *text = TextOf(*series, point.labels);
    return {&series, *text, {}, {point.day}, {uint64_t{1} << point.field}};
  }

  absl::Status Register(IndexWriter* writer, const std::vector<Registered>& points) {
    std::vector<std::string> texts(points.size());
    std::vector<EntityUse> uses;
    for (size_t i = 0; i < points.size(); ++i) {
      uses.push_back(UseOf(points[i], series_.at(points[i].series), &texts[i]));
      uses.back().hash = writer->HashOf(texts[i]);
    }
    return writer->Register(uses);
  }

  // The texts that the index gives; nothing: it does not have all.
  std::optional<std::vector<std::string>> Select(EntityIndex* index, const std::string& name,
                                                 std::vector<Matcher> matchers, int32_t first_day = -1,
                                                 int32_t days = 1, std::vector<std::string> fields = {}) {
    EntityQuestion question;
    question.matchers = std::move(matchers);
    question.from_micros = first_day < 0 ? 0 : first_day * kMicrosPerDay;
    question.to_micros = first_day < 0 ? kTimeEndMicros : (first_day + days) * kMicrosPerDay;
    question.fields = std::move(fields);
    const auto answer = index->Select(*series_.at(name), question, &tables_);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok() || !*answer) return std::nullopt;
    return TextsOf(**answer);
  }

  static bool Has(const std::vector<std::string>& texts, const std::string& text) {
    return std::binary_search(texts.begin(), texts.end(), text);
  }

  // Each of these points is found by one of its labels after the other, alone, negated, and by a pattern, on its day and by
  // its field.
  void ExpectFound(EntityIndex* index, const std::set<Registered>& points) {
    constexpr const char* kLabels[] = {"host", "zone", "pod"};
    for (const Registered& point : points) {
      const std::string text = TextOf(*series_.at(point.series), point.labels);
      const std::vector<std::string> fields = {"f" + std::to_string(point.field)};
      const std::string name = kLabels[next_label_++ % std::size(kLabels)];
      const auto label = point.labels.find(name);
      const std::string value = label == point.labels.end() ? "" : label->second;
      for (const Matcher& matcher :
           {MakeMatcher(MatchKind::kEqual, name, value), MakeMatcher(MatchKind::kNotEqual, name, value + "!"),
            MakeMatcher(MatchKind::kMatches, name, value + "()"),
            MakeMatcher(MatchKind::kMatchesNot, name, "!.*")}) {
        const auto texts = Select(index, point.series, {matcher}, point.day, 1, fields);
        ASSERT_TRUE(texts && Has(*texts, text)) << text << " by " << matcher.Text();
      }
    }
  }

  Registered RandomPoint(RandomSource* random, size_t entities) {
    Registered point;
    point.series = random->Uniform(3) == 0 ? "mem,x" : "cpu";
    const size_t entity = random->Uniform(entities);
    point.labels["host"] = "h" + std::to_string(entity);
    if (entity % 3 != 0) point.labels["zone"] = "z" + std::to_string(entity % 7);
    if (entity % 5 == 0) point.labels["pod"] = "p,=" + std::to_string(entity);
    point.day = kFirstDay + static_cast<int32_t>(random->Uniform(3));
    point.field = random->Uniform(3);
    return point;
  }

  std::map<std::string, KnownSeriesRef> series_;
  MemoryTables tables_;
  ManualClock clock_{kFirstDay * kMicrosPerDay};
  size_t next_label_ = 0;
};

TEST_F(IndexTest, AnswersAsTheModelDoes) {
  SeededRandom random(1);
  IndexWriter writer(&tables_, &clock_);
  EntityIndex index;
  std::set<Registered> all;
  for (int round = 0; round < 60; ++round) {
    std::vector<Registered> points(1 + random.Uniform(30));
    for (Registered& point : points) point = RandomPoint(&random, 400);
    ASSERT_TRUE(Register(&writer, points).ok());
    all.insert(points.begin(), points.end());
    if (random.Uniform(10) == 0) {
      ASSERT_TRUE(writer.KeepUp().ok());
    }
    const std::string name = random.Uniform(2) == 0 ? "cpu" : "mem,x";
    const Matcher matcher = MakeMatcher(random.Uniform(2) == 0 ? MatchKind::kMatches : MatchKind::kMatchesNot,
                                        "zone", "z[0-" + std::to_string(random.Uniform(7)) + "]");
    const int32_t day = kFirstDay + static_cast<int32_t>(random.Uniform(3));
    const auto days = static_cast<int32_t>(1 + random.Uniform(2));
    const size_t field = random.Uniform(3);
    std::set<std::string> on_days;
    std::set<std::string> with_field;
    for (const Registered& point : all) {
      const auto zone = point.labels.find("zone");
      if (point.series != name || !matcher.Matches(zone == point.labels.end() ? "" : zone->second)) continue;
      const std::string text = TextOf(*series_.at(name), point.labels);
      if (point.day >= day && point.day < day + days) on_days.insert(text);
      if (point.field == field) with_field.insert(text);
    }
    std::vector<std::string> expected;
    std::set_intersection(on_days.begin(), on_days.end(), with_field.begin(), with_field.end(),
                          std::back_inserter(expected));
    const auto texts = Select(&index, name, {matcher}, day, days, {"f" + std::to_string(field)});
    if (!texts) {
      EXPECT_TRUE(expected.empty());  // nothing of it was registered yet
      continue;
    }
    EXPECT_EQ(*texts, expected);
  }
  ExpectFound(&index, all);
}

TEST_F(IndexTest, WhatIsKnownCostsNoRequest) {
  IndexWriter writer(&tables_, &clock_);
  const std::vector<Registered> points = {{"cpu", {{"host", "a"}}, kFirstDay, 0}, {"cpu", {}, kFirstDay, 1}};
  ASSERT_TRUE(Register(&writer, points).ok());
  const int writes = tables_.mutate_requests;
  const int reads = tables_.read_requests;
  ASSERT_TRUE(Register(&writer, points).ok());
  EXPECT_EQ(tables_.mutate_requests, writes);
  EXPECT_EQ(tables_.read_requests, reads);
  ASSERT_TRUE(Register(&writer, {{"cpu", {}, kFirstDay + 1, 1}}).ok());
  EXPECT_EQ(tables_.mutate_requests, writes + 1);
}

TEST_F(IndexTest, EachDeathLeavesAcknowledgedPointsFound) {
  for (int writes_left = 0; writes_left < 90; writes_left += 5) {
    tables_.tables.clear();
    SeededRandom random(5);
    std::set<Registered> acknowledged;
    DyingTables dying(&tables_, writes_left);
    IndexWriter writer(&dying, &clock_);
    for (int round = 0; round < 90; ++round) {
      std::vector<Registered> points(1 + random.Uniform(3));
      for (Registered& point : points) point = RandomPoint(&random, 300);
      if (Register(&writer, points).ok()) acknowledged.insert(points.begin(), points.end());
      if (round % 30 == 29) (void)writer.KeepUp();
    }
    EntityIndex index;
    ExpectFound(&index, acknowledged);
    // The next one goes on.
    IndexWriter next(&tables_, &clock_);
    std::vector<Registered> points(50);
    for (Registered& point : points) point = RandomPoint(&random, 300);
    ASSERT_TRUE(Register(&next, points).ok());
    ASSERT_TRUE(next.KeepUp().ok());
    acknowledged.insert(points.begin(), points.end());
    ExpectFound(&index, acknowledged);
  }
}

TEST_F(IndexTest, DeathsWhileTailsAreSealedAndSetsFoldedLoseNothing) {
  for (int writes_left = 100; writes_left < 125; ++writes_left) {
    tables_.tables.clear();
    std::set<Registered> acknowledged;
    DyingTables dying(&tables_, writes_left);
    IndexWriter writer(&dying, &clock_);
    for (int i = 0; i < 100; ++i) {  // one tail each, and one cell each of a set
      const Registered point = {"cpu", {{"host", "h" + std::to_string(i)}}, kFirstDay, 0};
      ASSERT_TRUE(Register(&writer, {point}).ok());
      acknowledged.insert(point);
    }
    const absl::Status kept = writer.KeepUp();
    if (writes_left == 124) {
      EXPECT_TRUE(kept.ok()) << kept;
      const auto directory = ReadDirectory("cpu", &tables_);
      ASSERT_TRUE(directory.ok());
      EXPECT_EQ(directory->sealed.size(), 1U);
      EXPECT_LT(directory->tails.size(), 100U);
    }
    EntityIndex index;
    ExpectFound(&index, acknowledged);
    IndexWriter next(&tables_, &clock_);
    const Registered more = {"cpu", {{"host", "more"}}, kFirstDay, 0};
    ASSERT_TRUE(Register(&next, {more}).ok());
    acknowledged.insert(more);
    ExpectFound(&index, acknowledged);
  }
}

TEST_F(IndexTest, AFailedWriteIsNoRegistration) {
  IndexWriter writer(&tables_, &clock_);
  const Registered of_other = {"mem,x", {}, kFirstDay, 0};
  ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "a"}}, kFirstDay, 0}, of_other}).ok());
  const auto directory = ReadDirectory("cpu", &tables_);
  ASSERT_TRUE(directory.ok());
  ASSERT_EQ(directory->tails.size(), 1U);
  const std::string next = TailKey("cpu", directory->tails[0].block, 1);
  tables_.refused_rows = {next};
  const Registered point = {"cpu", {{"host", "b"}}, kFirstDay, 0};
  EXPECT_TRUE(absl::IsUnavailable(Register(&writer, {point})));
  tables_.refused_rows.clear();
  const int reads = tables_.read_requests;
  ASSERT_TRUE(Register(&writer, {of_other}).ok());  // it is still known
  EXPECT_EQ(tables_.read_requests, reads);
  ASSERT_TRUE(Register(&writer, {point}).ok());
  EXPECT_FALSE(
      tables_.tables[kIndexTable].rows.contains(next));  // nobody knows what becomes of the first write
  EntityIndex index;
  ExpectFound(&index, {point, {"cpu", {{"host", "a"}}, kFirstDay, 0}});
}

TEST_F(IndexTest, ABlockWithAGapIsFoundAndNotGoneOnWith) {
  const Registered first = {"cpu", {{"host", "a"}}, kFirstDay, 0};
  {
    IndexWriter writer(&tables_, &clock_);
    ASSERT_TRUE(Register(&writer, {first}).ok());
  }
  const std::string block = ReadDirectory("cpu", &tables_)->tails.at(0).block;
  // Of a request of several tails, of which the first was lost.
  const RowWrite tail = {
      TailKey("cpu", block, 5), {{kIndexFamily, kListColumn, 0, EncodeTexts({"host=lost"})}}, {}};
  ASSERT_TRUE(tables_.MutateRows(kIndexTable, {tail}).ok());
  IndexWriter next(&tables_, &clock_);
  const Registered lost = {"cpu", {{"host", "lost"}}, kFirstDay, 1};
  const Registered last = {"cpu", {{"host", "b"}}, kFirstDay, 0};
  ASSERT_TRUE(Register(&next, {lost, last}).ok());
  EXPECT_FALSE(tables_.tables[kIndexTable].rows.contains(TailKey("cpu", block, 6)));
  EntityIndex index;
  ExpectFound(&index, {first, lost, last});
}

TEST_F(IndexTest, ASeriesThatHadPointsBeforeIsNotWhole) {
  ASSERT_TRUE(tables_.EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}).ok());
  ASSERT_TRUE(
      tables_.MutateRows(kOpenSeriesTable, {{"cpu#host=z#2022010100", {{"m", "f0", 0, "1"}}, {}}}).ok());
  IndexWriter writer(&tables_, &clock_);
  ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "a"}}, kFirstDay, 0}, {"mem,x", {}, kFirstDay, 0}}).ok());
  EntityIndex index;
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  EXPECT_EQ(Select(&index, "mem,x", {}), std::vector<std::string>{kNoLabelsText});
}

TEST_F(IndexTest, ATableThatWasDroppedIsNotWhole) {
  IndexWriter writer(&tables_, &clock_);
  const Registered first = {"cpu", {{"host", "a"}}, kFirstDay, 0};
  ASSERT_TRUE(Register(&writer, {first}).ok());
  ASSERT_TRUE(tables_.EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}).ok());
  ASSERT_TRUE(
      tables_.MutateRows(kOpenSeriesTable, {{"cpu#host=a#2022010100", {{"m", "f0", 0, "1"}}, {}}}).ok());
  ASSERT_TRUE(tables_.DropTable(kIndexTable).ok());
  ASSERT_TRUE(Register(&writer, {first}).ok());
  EntityIndex index;
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "b"}}, kFirstDay, 0}, {"mem,x", {}, kFirstDay, 0}}).ok());
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  EXPECT_NE(Select(&index, "mem,x", {}), std::nullopt);
}

TEST_F(IndexTest, ASeriesOfTooManyEntitiesIsGivenUp) {
  IndexWriter writer(&tables_, &clock_, {.known_bytes_max = 3'600});
  EntityIndex index;
  for (size_t i = 0; i < writer.entities_max(); ++i) {
    ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", std::to_string(i)}}, kFirstDay, 0}}).ok());
  }
  EXPECT_NE(Select(&index, "cpu", {}), std::nullopt);
  const Registered more = {"cpu", {{"host", "more"}}, kFirstDay, 0};
  ASSERT_TRUE(Register(&writer, {more}).ok());
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  const int writes = tables_.mutate_requests;
  ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "again"}}, kFirstDay, 0}}).ok());
  EXPECT_EQ(tables_.mutate_requests, writes);
  // Others go on, and one with more room begins again, whatever a rebuild has noted meanwhile.
  ASSERT_TRUE(Register(&writer, {{"mem,x", {}, kFirstDay, 0}}).ok());
  EXPECT_NE(Select(&index, "mem,x", {}), std::nullopt);
  const RowWrite whole = {DirectoryKey("cpu"), {{kIndexFamily, kWholeColumn, 0, "1"}}, {}};
  ASSERT_TRUE(tables_.MutateRows(kIndexTable, {whole}).ok());
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  IndexWriter larger(&tables_, &clock_);
  ASSERT_TRUE(Register(&larger, {more}).ok());
  EXPECT_EQ(Select(&index, "cpu", {}), std::nullopt);
  EXPECT_FALSE(ReadDirectory("cpu", &tables_)->is_given_up);
}

TEST_F(IndexTest, ForgetsWhatItHasNoRoomForAndKnowsItAgain) {
  SeededRandom random(7);
  for (int i = 0; i < 30; ++i) {
    const std::string name = "s" + std::to_string(i);
    series_[name] = MakeSeries(name);
  }
  IndexWriter writer(&tables_, &clock_, {.known_bytes_max = 60'000});
  std::set<Registered> all;
  for (int round = 0; round < 300; ++round) {
    Registered point = RandomPoint(&random, 50);
    point.series = "s" + std::to_string(random.Uniform(30));
    ASSERT_TRUE(Register(&writer, {point}).ok());
    all.insert(point);
    if (round % 50 == 0) {
      ASSERT_TRUE(writer.KeepUp().ok());
    }
  }
  EntityIndex index(/*cache_bytes_max=*/10'000);
  ExpectFound(&index, all);
}

TEST_F(IndexTest, ManyThreadsRegisterAtOnce) {
  IndexWriter writer(&tables_, &clock_);
  std::vector<std::set<Registered>> registered(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < registered.size(); ++t) {
    threads.emplace_back([&, t] {
      SeededRandom random(t);
      for (int round = 0; round < 100; ++round) {
        const Registered point = RandomPoint(&random, 200);
        if (Register(&writer, {point}).ok()) registered[t].insert(point);
        if (round % 20 == 19) (void)writer.KeepUp();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EntityIndex index;
  for (const std::set<Registered>& points : registered) {
    EXPECT_FALSE(points.empty());
    ExpectFound(&index, points);
  }
}

TEST_F(IndexTest, TwoServersWriteOneIndex) {
  IndexWriter a(&tables_, &clock_, {.is_shared = true});
  IndexWriter b(&tables_, &clock_, {.is_shared = true});
  SeededRandom random(3);
  std::set<Registered> all;
  EntityIndex index;
  for (int round = 0; round < 200; ++round) {
    IndexWriter& writer = random.Uniform(2) == 0 ? a : b;
    const Registered point = RandomPoint(&random, 150);
    ASSERT_TRUE(Register(&writer, {point}).ok());
    all.insert(point);
    if (round % 40 == 0) {
      ASSERT_TRUE(a.KeepUp().ok());
      ASSERT_TRUE(b.KeepUp().ok());
    }
  }
  ExpectFound(&index, all);
}

TEST_F(IndexTest, DamagedCellsAreNoAnswer) {
  IndexWriter writer(&tables_, &clock_);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "h" + std::to_string(i)}}, kFirstDay, 0}}).ok());
  }
  ASSERT_TRUE(writer.KeepUp().ok());
  const auto sound = tables_.tables[kIndexTable].rows;
  for (const auto& [key, columns] : sound) {
    if (key.starts_with("cpu#f#")) continue;  // not asked for
    for (const auto& [name, cells] : columns) {
      if (name.second == kWholeColumn) continue;
      tables_.tables[kIndexTable].rows = sound;
      tables_.tables[kIndexTable].rows[key][name].begin()->second[1] ^= 1;
      EntityIndex index;
      EXPECT_EQ(Select(&index, "cpu", {}, kFirstDay), std::nullopt) << key;
    }
  }
}

TEST_F(IndexTest, CountsEntitiesAndValues) {
  IndexWriter writer(&tables_, &clock_);
  for (int i = 0; i < 70; ++i) {
    ASSERT_TRUE(
        Register(&writer,
                 {{"cpu", {{"host", "h" + std::to_string(i)}, {"zone", i < 50 ? "a" : "bb"}}, kFirstDay, 0}})
            .ok());
  }
  ASSERT_TRUE(Register(&writer, {{"cpu", {{"host", "h0"}}, kFirstDay, 0}}).ok());
  ASSERT_TRUE(writer.KeepUp().ok());
  EntityIndex index;
  const auto counted = index.Count(*series_["cpu"], 1, &tables_);
  ASSERT_TRUE(counted.ok() && *counted);
  EXPECT_EQ((*counted)->entities, 71U);
  ASSERT_EQ((*counted)->labels.size(), 2U);
  const Cardinality::Label& zone = (*counted)->labels[1];
  EXPECT_EQ(zone.name, "zone");
  EXPECT_EQ(zone.values, 2U);
  EXPECT_EQ(zone.entities, 70U);
  EXPECT_EQ(zone.value_bytes, 3U);
  EXPECT_EQ(zone.top_values, (std::vector<std::pair<std::string, size_t>>{{"a", 50}}));
  EXPECT_EQ((*counted)->labels[0].values, 70U);
  EXPECT_EQ((*counted)->labels[0].top_values, (std::vector<std::pair<std::string, size_t>>{{"h0", 2}}));
}

}  // namespace
}  // namespace sonde::series

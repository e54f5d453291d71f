#include "series/metric/metric_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "series/known/declarations.h"
#include "series/known/series_tables.h"
#include "series/metric/metric_scan.h"
#include "series/metric/series_samples.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::Matcher;
using promql::MatchKind;
using testing::ElementsAre;

constexpr char kMeters[] =
    "series: meters\ntable: meters\ntags: { place: string, room: int }\nfields: { kwh: double, note: string "
    "}\n"
    "key: [place, room, bucket]\nbucket: hour\nretention: { max_versions: all }\n";
constexpr char kPower[] =
    "series: meters_kwh\ntable: power\ntags: { place: string, room: int }\nfields: { value: double }\n"
    "key: [room, bucket, place]\nbucket: day\nretention: { max_versions: all }\n";

class FixedClock final : public Clock {
 public:
  int64_t NowMicros() const override { return 1'700'000'000'000'000; }
};

Matcher Condition(MatchKind kind, const std::string& name, const std::string& value) {
  return Matcher::Create(kind, name, value).value();
}

KnownSeriesRef Declared(const std::string& yaml) {
  return std::make_shared<const KnownSeries>(KnownSeries{ParseSchema(yaml, "test").value(), yaml, {}});
}

class Store {
 public:
  Store() {
    for (const char* yaml : {kMeters, kPower}) {
      known_.push_back(Declared(yaml));
      EXPECT_TRUE(EnsureSeriesTables(known_.back()->schema, &tables_).ok());
    }
  }

  void Write(size_t series, const std::string& place, int room, int64_t micros, double value) {
    PointWriter writer(known_[series]->schema, &tables_);
    const std::string room_text = std::to_string(room);
    const std::string value_text = fmt::format("{}", value);
    const std::vector<std::string_view> tags = {place, room_text};
    std::vector<std::string_view> fields = {value_text};
    if (series == 0) fields.emplace_back();
    ASSERT_TRUE(writer.Add({tags, micros, fields}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  }

  MetricRead Read(std::vector<Matcher> matchers, int64_t start_millis, int64_t end_millis) const {
    MetricRead read;
    read.matchers = std::move(matchers);
    read.start_millis = start_millis;
    read.end_millis = end_millis;
    read.now_micros = FixedClock().NowMicros();
    read.samples_max = 1'000;
    read.series_max = 100;
    read.sample_bytes = 32;
    return read;
  }

  MemoryTables tables_;
  std::vector<KnownSeriesRef> known_;
};

std::vector<std::string> Texts(const std::vector<promql::SampleSeries>& all) {
  std::vector<std::string> texts;
  for (const promql::SampleSeries& series : all) {
    std::string text = promql::LabelsText(series.labels);
    for (size_t i = 0; i < series.times.size(); ++i)
      text += fmt::format(" {}@{}", series.values[i], series.times[i]);
    texts.push_back(text);
  }
  return texts;
}

TEST(MetricReader, FieldsAreMetricsAndTagsAreLabels) {
  Store store;
  store.Write(0, "hall", 7, 2'000'000, 1.5);
  store.Write(0, "hall", 8, 3'000'999, 2.5);
  const auto read = [&](std::vector<Matcher> matchers) {
    return Texts(
        ReadMetrics(store.known_, store.Read(std::move(matchers), 0, 10'000), &store.tables_)->series);
  };
  const std::string seven = R"({__name__="meters_kwh", place="hall", room="7"} 1.5@2000)";
  const std::string eight = R"({__name__="meters_kwh", place="hall", room="8"} 2.5@3000)";
  EXPECT_THAT(read({Condition(MatchKind::kEqual, "__name__", "meters_kwh")}), ElementsAre(seven, eight));
  EXPECT_THAT(read({Condition(MatchKind::kEqual, "room", "8")}), ElementsAre(eight));
  EXPECT_THAT(read({Condition(MatchKind::kEqual, "room", "no number")}), ElementsAre());
  EXPECT_THAT(read({Condition(MatchKind::kMatches, "room", "[0-7]")}), ElementsAre(seven));
  EXPECT_THAT(read({Condition(MatchKind::kMatchesNot, "room", "(?<x>7)")}), ElementsAre(eight));
  EXPECT_THAT(read({Condition(MatchKind::kMatches, "absent", "|x")}), ElementsAre(seven, eight));
  EXPECT_THAT(read({Condition(MatchKind::kNotEqual, "absent", "")}), ElementsAre());
  EXPECT_THAT(read({Condition(MatchKind::kEqual, "__name__", "meters_note")}), ElementsAre());
}

// The series whose name has the most of the metric's wins; times rise, whatever the order of the rows.
TEST(MetricReader, TwoSeriesOfOneMetricAreOne) {
  Store store;
  store.Write(0, "hall", 7, 5'000'000, 1);
  store.Write(1, "hall", 7, 4'000'000, 2);
  store.Write(1, "hall", 7, 5'000'000, 3);
  store.Write(0, "hall", 7, 3'000'000, 4);
  const auto found = ReadMetrics(
      store.known_, store.Read({Condition(MatchKind::kEqual, "place", "hall")}, 0, 10'000), &store.tables_);
  EXPECT_THAT(Texts(found->series),
              ElementsAre(R"({__name__="meters_kwh", place="hall", room="7"} 4@3000 2@4000 3@5000)"));
}

TEST(MetricReader, StopsAtItsLimitsAndGivesMemoryBack) {
  Store store;
  for (int i = 0; i < 20; ++i) store.Write(0, "hall", i, 1'000'000, i);
  MetricRead read = store.Read({Condition(MatchKind::kEqual, "place", "hall")}, 0, 10'000);
  read.series_max = 19;
  EXPECT_EQ(ReadMetrics(store.known_, read, &store.tables_).status(),
            absl::ResourceExhaustedError("the query selects more than 19 series; ask for a shorter time or "
                                         "add conditions on labels"));
  EXPECT_TRUE(absl::IsResourceExhausted(ListMetrics(store.known_, read, &store.tables_).status()));
  read.series_max = 20;
  read.samples_max = 19;
  EXPECT_EQ(ReadMetrics(store.known_, read, &store.tables_).status(),
            absl::ResourceExhaustedError(
                "the query asks for more than 19 samples; ask for a shorter time or fewer series"));
  read.samples_max = 20;
  read.sample_bytes = int64_t{1} << 20;
  int64_t held = 0;
  read.hold = [&held](int64_t more) {
    held += more;
    return absl::OkStatus();
  };
  {
    SeriesSamples samples(store.known_, read, &store.tables_);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(samples.Select(read.matchers, 0, 10'000)->size(), 20);
      EXPECT_GE(held, 19 << 20);
      EXPECT_LE(held, 21 << 20);
    }
  }
  EXPECT_EQ(held, 0);
}

TEST(MetricReader, ListsThoseThatHaveSamplesInTheTime) {
  Store store;
  store.Write(0, "hall", 7, 2'000'000, 1);
  store.Write(0, "hall", 8, 9'000'000, 1);
  const auto list = [&](int64_t start, int64_t end) {
    std::vector<std::string> rooms;
    const auto all =
        ListMetrics(store.known_, store.Read({Condition(MatchKind::kEqual, "place", "hall")}, start, end),
                    &store.tables_);
    EXPECT_TRUE(all.ok()) << all.status();
    for (const Labels& labels : *all) rooms.emplace_back(promql::LabelOf(labels, "room"));
    return rooms;
  };
  EXPECT_THAT(list(0, 10'000), ElementsAre("7", "8"));
  EXPECT_THAT(list(2'000, 8'999), ElementsAre("7"));
  EXPECT_THAT(list(2'001, 9'000), ElementsAre("8"));
  EXPECT_THAT(MetricNames(store.known_, {}), ElementsAre("meters_kwh"));
  EXPECT_THAT(MetricNames(store.known_, {Condition(MatchKind::kMatches, "__name__", "power.*")}),
              ElementsAre());
}

// Random points and matchers against a naive filter.
TEST(MetricReader, AgreesWithANaiveFilter) {
  Store store;
  SeededRandom random(7);
  std::map<Labels, std::map<int64_t, double>> model;
  const std::vector<std::string> places = {"a", "ab", "b", "c d"};
  for (int i = 0; i < 300; ++i) {
    const std::string place = places[random.Uniform(places.size())];
    const int room = static_cast<int>(random.Uniform(3));
    const int64_t millis = static_cast<int64_t>(random.Uniform(8'000'000));
    store.Write(0, place, room, millis * 1'000, i);
    model[{{"__name__", "meters_kwh"}, {"place", place}, {"room", std::to_string(room)}}][millis] = i;
  }
  const std::vector<std::string> patterns = {"a", "a|b", "a.*", ".*", "", ".+", "c d|", "[ab]+"};
  for (int i = 0; i < 200; ++i) {
    std::vector<Matcher> matchers;
    for (int many = static_cast<int>(random.Uniform(3)); many >= 0; --many) {
      const auto kind = static_cast<MatchKind>(random.Uniform(4));
      const std::string name = random.Uniform(4) == 0 ? "none" : random.Uniform(3) == 0 ? "room" : "place";
      const std::string value =
          name == "room" ? std::to_string(random.Uniform(4)) : patterns[random.Uniform(patterns.size())];
      matchers.push_back(Condition(kind, name, value));
    }
    const int64_t start = static_cast<int64_t>(random.Uniform(8'000'000));
    const int64_t end = start + static_cast<int64_t>(random.Uniform(4'000'000));
    std::vector<std::string> expected;
    for (const auto& [labels, samples] : model) {
      const bool matches = std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
        return matcher.Matches(promql::LabelOf(labels, matcher.name()));
      });
      std::string text = promql::LabelsText(labels);
      const size_t bare = text.size();
      for (const auto& [millis, value] : samples) {
        if (millis >= start && millis <= end) text += fmt::format(" {}@{}", value, millis);
      }
      if (matches && text.size() > bare) expected.push_back(text);
    }
    const auto found = ReadMetrics(store.known_, store.Read(matchers, start, end), &store.tables_);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(Texts(found->series), expected);
    EXPECT_EQ(ListMetrics(store.known_, store.Read(matchers, start, end), &store.tables_)->size(),
              expected.size());
  }
}

}  // namespace
}  // namespace sonde::series

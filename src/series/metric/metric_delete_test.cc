#include "series/metric/metric_delete.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/random.h"
#include "series/key/key_codec.h"
#include "series/metric/metric_reader.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::Matcher;
using promql::MatchKind;

// Points of open series, as the store has them, and as they are remembered.
class MetricDeleteTest : public testing::Test {
 protected:
  using Model = std::map<Labels, std::map<int64_t, double>>;

  MetricDeleteTest() {
    KnownSeries cpu = NewOpenSeries("cpu");
    cpu.labels = {"host", "job"};
    AddOpenField("value", FieldType::kDouble, &cpu);
    AddOpenField("user", FieldType::kDouble, &cpu);
    AddOpenField(kStaleField, FieldType::kInt, &cpu);
    KnownSeries up = NewOpenSeries("up");
    up.labels = {"job"};
    AddOpenField("value", FieldType::kDouble, &up);
    known_ = {std::make_shared<const KnownSeries>(cpu), std::make_shared<const KnownSeries>(up)};
    EXPECT_TRUE(tables_.EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}).ok());
  }

  void Write(const KnownSeries& series, const std::vector<std::string>& values, const std::string& field,
             int64_t millis, double number) {
    std::vector<std::pair<std::string_view, std::string_view>> labels;
    for (size_t i = 0; i < values.size(); ++i) labels.emplace_back(series.labels[i], values[i]);
    std::string text;
    ASSERT_TRUE(AppendLabelsText(series, labels, &text));
    std::string key;
    const std::string_view tag = text;
    ASSERT_TRUE(KeyCodec(series.schema).Encode(absl::MakeConstSpan(&tag, 1), millis * 1'000, &key).ok());
    RowWrite row;
    row.row_key = key;
    const Field& of = series.schema.fields[*series.schema.FindField(field)];
    row.cells = {{of.family, of.qualifier, millis * 1'000, fmt::format("{}", number)}};
    ASSERT_TRUE(tables_.MutateRows(kOpenSeriesTable, {row}).ok());
    if (field == kStaleField) return;
    Labels all = {{kNameLabel, field == "value" ? series.schema.name : series.schema.name + "_" + field}};
    for (size_t i = 0; i < values.size(); ++i) promql::SetLabel(series.labels[i], values[i], &all);
    model_[all][millis] = number;
  }

  Model Stored() {
    MetricRead read;
    read.start_millis = 0;
    read.end_millis = INT64_MAX / 2'000;
    read.samples_max = read.series_max = 1'000'000;
    const absl::StatusOr<MetricSamples> samples = ReadMetrics(known_, read, &tables_);
    EXPECT_TRUE(samples.ok()) << samples.status();
    Model all;
    for (const promql::SampleSeries& series : samples->series) {
      for (size_t i = 0; i < series.times.size(); ++i) {
        if (!promql::IsStale(series.values[i])) all[series.labels][series.times[i]] = series.values[i];
      }
    }
    return all;
  }

  // What is left by the naive way.
  void DeleteInModel(const MetricDelete& what) {
    for (auto series = model_.begin(); series != model_.end();) {
      const auto matches = [&](const std::vector<Matcher>& matchers) {
        return std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
          return matcher.Matches(promql::LabelOf(series->first, matcher.name()));
        });
      };
      if (std::any_of(what.sets.begin(), what.sets.end(), matches)) {
        std::erase_if(series->second, [&](const auto& sample) {
          return sample.first >= what.start_millis && sample.first <= what.end_millis;
        });
      }
      series = series->second.empty() ? model_.erase(series) : std::next(series);
    }
  }

  MemoryTables tables_;
  std::vector<KnownSeriesRef> known_;
  Model model_;
};

Matcher Make(MatchKind kind, const std::string& name, const std::string& value) {
  return Matcher::Create(kind, name, value).value();
}

TEST_F(MetricDeleteTest, DeletesWhatANaiveFilterDoes) {
  SeededRandom random(5);
  constexpr int64_t kStart = 1'700'000'000'000;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 150; ++i) {
      const int64_t millis = kStart + static_cast<int64_t>(random.Uniform(12)) * 1'800'000;
      const std::string host = random.Uniform(4) == 0 ? "" : fmt::format("h{}", random.Uniform(5));
      const std::string job = random.Uniform(3) == 0 ? "" : fmt::format("j{}", random.Uniform(3));
      if (random.Uniform(4) == 0) {
        Write(*known_[1], {job}, "value", millis, 2);
      } else {
        Write(*known_[0], {host, job}, random.Uniform(2) == 0 ? "value" : "user", millis, 1);
      }
    }
    ASSERT_EQ(Stored(), model_);
    MetricDelete what;
    for (size_t sets = 1 + random.Uniform(2); sets > 0; --sets) {
      std::vector<Matcher> matchers;
      if (random.Uniform(2) == 0) {
        matchers.push_back(Make(MatchKind::kMatches, kNameLabel, random.Uniform(2) == 0 ? "cpu" : ".*u.*"));
      }
      const auto kind = static_cast<MatchKind>(random.Uniform(4));
      matchers.push_back(
          Make(kind, random.Uniform(2) == 0 ? "host" : "job", random.Uniform(2) == 0 ? "j1|h2" : "j1"));
      what.sets.push_back(std::move(matchers));
    }
    what.start_millis = kStart + static_cast<int64_t>(random.Uniform(12)) * 1'800'000;
    what.end_millis = what.start_millis + static_cast<int64_t>(random.Uniform(6)) * 1'800'000;
    std::set<std::string> told;
    what.deleted = [&told](const KnownSeries& series, const std::vector<std::string>& labels) {
      told.insert(fmt::format("{} {}", series.schema.name, fmt::join(labels, ",")));
      return absl::OkStatus();
    };
    std::set<std::string> gone;
    const Model before = model_;
    DeleteInModel(what);
    for (const auto& [labels, samples] : before) {
      const auto left = model_.find(labels);
      if (left != model_.end() && left->second.size() == samples.size()) continue;
      const bool is_up = promql::LabelOf(labels, kNameLabel) == "up";
      gone.insert(
          is_up ? fmt::format("up {}", promql::LabelOf(labels, "job"))
                : fmt::format("cpu {},{}", promql::LabelOf(labels, "host"), promql::LabelOf(labels, "job")));
    }
    const absl::StatusOr<DeletedCounts> deleted = DeleteMetrics(known_, what, &tables_);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
    ASSERT_EQ(Stored(), model_);
    EXPECT_EQ(told, gone);
  }
}

// Marks of a metric go with its samples.
TEST_F(MetricDeleteTest, DeletesMarks) {
  Write(*known_[0], {"a", "b"}, "value", 1'700'000'000'000, 1);
  Write(*known_[0], {"a", "b"}, kStaleField, 1'700'000'060'000, 1);
  MetricDelete what;
  what.sets = {{Make(MatchKind::kEqual, kNameLabel, "cpu")}};
  what.end_millis = 1'800'000'000'000;
  ASSERT_TRUE(DeleteMetrics(known_, what, &tables_).ok());
  EXPECT_TRUE(tables_.tables[kOpenSeriesTable].rows.empty());
}

// More rows than go into one write; an error leaves the rest, and the call can be made again.
TEST_F(MetricDeleteTest, GoesOnInPieces) {
  for (int i = 0; i < 2'500; ++i)
    Write(*known_[1], {fmt::format("j{:04}", i)}, "value", 1'700'000'000'000, 1);
  MetricDelete what;
  what.sets = {{Make(MatchKind::kMatches, "job", "j.*")}};
  what.end_millis = 1'800'000'000'000;
  int told = 0;
  what.deleted = [&told](const KnownSeries&, const std::vector<std::string>&) {
    return ++told == 1'500 ? absl::UnavailableError("later") : absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsUnavailable(DeleteMetrics(known_, what, &tables_).status()));
  const absl::StatusOr<DeletedCounts> rest = DeleteMetrics(known_, what, &tables_);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->rows, 500);
  EXPECT_EQ(rest->entities, 500);
  EXPECT_TRUE(tables_.tables[kOpenSeriesTable].rows.empty());
}

TEST_F(MetricDeleteTest, DeletesNothingWhereASelectorIsRefused) {
  KnownSeries derived = *known_[1];
  derived.yaml = "series: up";  // a table without a declaration of its own
  Write(*known_[0], {"a", "b"}, "value", 1'700'000'000'000, 1);
  MetricDelete what;
  what.sets = {{Make(MatchKind::kMatches, kNameLabel, "cpu|up")}};
  what.end_millis = 1'800'000'000'000;
  const absl::Status status =
      DeleteMetrics({known_[0], std::make_shared<const KnownSeries>(derived)}, what, &tables_).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(status.message(), testing::HasSubstr("the selector means 'up', of a derived table"));
  EXPECT_EQ(Stored(), model_);
}

}  // namespace
}  // namespace sonde::series

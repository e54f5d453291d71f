// Questions in PromQL whose leaves share a read of a series have the answers of leaves that are read one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "promql/evaluate/engine.h"
#include "promql/samples/labels.h"
#include "promql/syntax/parser.h"
#include "series/input/ingest_batch.h"
#include "series/metric/series_samples.h"
#include "series/query/query_numbers_test_support.h"
#include "work/idle_workers.h"

namespace sonde::series {
namespace {

using promql::Matcher;

constexpr int kEntities = 40;
constexpr int kHours = 5;

// Another source, one selector at a time.
class OneByOne final : public promql::SampleSource {
 public:
  explicit OneByOne(promql::SampleSource* source) : source_(source) {}
  absl::StatusOr<std::vector<promql::SampleSeries>> Select(const std::vector<Matcher>& matchers,
                                                           int64_t start_millis,
                                                           int64_t end_millis) override {
    return source_->Select(matchers, start_millis, end_millis);
  }
  absl::Status ForEach(const std::vector<Matcher>& matchers, int64_t start_millis, int64_t end_millis,
                       const promql::SeriesVisit& visit) override {
    return source_->ForEach(matchers, start_millis, end_millis, visit);
  }

 private:
  promql::SampleSource* const source_;
};

// Counts series and samples by metric.
class CountingSink final : public promql::SeriesSink {
 public:
  struct Counts {
    int64_t series = 0;
    int64_t samples = 0;
  };
  explicit CountingSink(std::map<std::string, Counts>* counts) : counts_(counts) {}
  absl::Status Take(promql::SampleSeries* series) override {
    Counts& counts = (*counts_)[std::string(promql::LabelOf(series->labels, kNameLabel))];
    ++counts.series;
    counts.samples += static_cast<int64_t>(series->times.size());
    return absl::OkStatus();
  }

 private:
  std::map<std::string, Counts>* const counts_;
};

class SharedMetricsTest : public QueryNumbersTest {
 protected:
  void SetUp() override {
    QueryNumbersTest::SetUp();
    declarations_ = std::make_unique<Declarations>(local_.get(), &clock_);
  }
  void TearDown() override {
    declarations_.reset();
    QueryNumbersTest::TearDown();
  }

  // Points of series `cpu`, which often have all fields, and of `mem`.  Times come late and again; some values are marks.
  void Write(int points) {
    std::set<std::string> identities;  // until the flush
    IngestBatch batch(declarations_.get(), local_.get(), {});
    for (int i = 0; i < points; ++i) {
      const auto entity = std::min(random_.Uniform(kEntities), random_.Uniform(kEntities));
      const std::string host = fmt::format("host{}", entity);
      const std::string zone = entity % 3 == 0 ? "" : fmt::format("z,{}", entity % 3);
      const std::string number = fmt::format("{}", random_.Uniform(1'000));
      const std::string mark = fmt::format("{}", 1 + random_.Uniform(4));
      const std::vector<std::pair<std::string_view, std::string_view>> labels = {{"host", host},
                                                                                 {"zone", zone}};
      std::vector<LineField> fields;
      if (random_.Uniform(8) == 0) {
        fields = {{kStaleField, LineValueType::kInt, mark}};
      } else {
        fields = {{"value", LineValueType::kFloat, number},
                  {"user", LineValueType::kFloat, number},
                  {"seen_total", LineValueType::kInt, number}};
        while (random_.Uniform(3) == 0 && fields.size() > 1) {
          fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(random_.Uniform(fields.size())));
        }
      }
      const std::string series = random_.Uniform(4) == 0 ? "mem" : "cpu";
      const std::string& identity = *identities.insert(series + "," + host).first;
      ASSERT_TRUE(batch
                      .Add({series, identity, &labels, &fields,
                            kStart + static_cast<int64_t>(random_.Uniform(kHours * 3'600'000)) * 1'000})
                      .ok());
    }
    ASSERT_TRUE(batch.Flush().ok());
  }

  template <typename Value>
  const Value& OneOf(const std::vector<Value>& values) {
    return values[random_.Uniform(values.size())];
  }

  std::string RandomQuery() {
    const std::string conditions =
        OneOf<std::string>({"", R"({host="host3"})", R"({host=~"host1.*"})", R"({zone!="",host=~"host.*"})"});
    const std::string range = OneOf<std::string>({"", "[10m]", "[1h]"});
    std::string query;
    for (size_t parts = 2 + random_.Uniform(3); parts > 0; --parts) {
      std::string part =
          OneOf<std::string>({"cpu", "cpu_user", "cpu_seen_total", "cpu_user", "mem_user", "cpu_none"}) +
          conditions;
      if (!range.empty()) {
        part = fmt::format("{}({}{})",
                           OneOf<std::string>({"rate", "max_over_time", "avg_over_time", "last_over_time"}),
                           part, range);
      }
      if (random_.Uniform(2) == 0) part = fmt::format("sum by (zone) ({})", part);
      query += (query.empty() ? "" : OneOf<std::string>({" or ", " + on (host, zone) ", " and "})) + part;
    }
    return query;
  }

  // Rows, notices and counts; or the error.
  static std::string TextOf(const std::string& text, const promql::EvaluateSettings& settings,
                            promql::SampleSource* source) {
    const absl::StatusOr<promql::ExpressionPtr> query = promql::ParseQuery(text, {});
    if (!query.ok()) return query.status().ToString();
    const absl::StatusOr<promql::QueryAnswer> answer = promql::EvaluateQuery(query->get(), settings, source);
    if (!answer.ok()) return answer.status().ToString();
    std::string result = fmt::format("{} {} {}\n", answer->stats.samples_read, answer->stats.samples_total,
                                     answer->stats.samples_peak);
    for (const promql::Row& row : answer->rows) {
      result += promql::LabelsText(row.labels);
      for (size_t step = 0; step < row.values.size(); ++step) {
        result += row.present[step] ? fmt::format(" {:x}", std::bit_cast<uint64_t>(row.values[step])) : " _";
      }
      result += '\n';
    }
    for (const std::string& warning : answer->annotations.Warnings(text)) result += warning + "\n";
    for (const std::string& info : answer->annotations.Infos(text)) result += info + "\n";
    return result;
  }

  SeededRandom random_{11};
  std::unique_ptr<Declarations> declarations_;
};

TEST_F(SharedMetricsTest, AnswerAsEachAlone) {
  IdleWorkers workers(3);
  std::atomic<int64_t> held = 0;
  size_t rows = 0;
  size_t refused = 0;
  for (int round = 0; round < 4; ++round) {
    Write(2'000);
    if (round % 2 == 1) Settle();
    for (int i = 0; i < 60; ++i) {
      MetricRead read;
      read.now_micros = clock_.NowMicros();
      read.samples_max = 1'000'000;
      read.series_max = 1'000;
      read.sample_bytes = 16;
      read.hold = [&held](int64_t more) {
        held += more;
        return absl::OkStatus();
      };
      read.idle_workers = random_.Uniform(2) == 0 ? nullptr : &workers;
      promql::EvaluateSettings settings;
      settings.start_millis = kStart / 1'000 + static_cast<int64_t>(random_.Uniform(kHours * 3'600'000));
      settings.end_millis = settings.start_millis + 3'600'000;
      settings.step_millis = OneOf<int64_t>({0, 60'000, 600'000});
      // One of them, as threads decide which of several is met first.
      int64_t* const limit = OneOf<int64_t*>({&read.samples_max, &read.series_max, &settings.samples_max});
      if (random_.Uniform(2) == 0)
        *limit = static_cast<int64_t>(random_.Uniform(limit == &read.series_max ? 40 : 1'500));
      settings.idle_workers = read.idle_workers;
      const std::string query = RandomQuery();
      SeriesSamples samples(declarations_->List(), read, local_.get());
      OneByOne alone(&samples);
      const std::string wanted = TextOf(query, settings, &alone);
      ASSERT_EQ(TextOf(query, settings, &samples), wanted) << query;
      rows += static_cast<size_t>(std::ranges::count(wanted, '\n'));
      refused += wanted.starts_with("RESOURCE_EXHAUSTED") ? 1 : 0;
    }
  }
  EXPECT_EQ(held, 0);
  EXPECT_GT(rows, 1'000u);
  EXPECT_GT(refused, 10u);
}

TEST_F(SharedMetricsTest, KeepToTheLimitsOfEachWhenTheyAreReadAtOnce) {
  Write(2'000);
  std::map<std::string, CountingSink::Counts> counts;
  const auto read_with = [&](int64_t samples_max, int64_t series_max) {
    MetricRead read;
    read.now_micros = clock_.NowMicros();
    read.samples_max = samples_max;
    read.series_max = series_max;
    SeriesSamples samples(declarations_->List(), read, local_.get());
    counts.clear();
    const promql::SeriesVisit visit{.make = [&] { return std::make_unique<CountingSink>(&counts); },
                                    .take = [](promql::SeriesSink*) { return absl::OkStatus(); }};
    const int64_t start_millis = kStart / 1'000;
    return samples.ForEachOf({"cpu", "cpu_seen_total", "cpu_user"}, {}, start_millis,
                             start_millis + kHours * 3'600'000, visit);
  };
  ASSERT_TRUE(read_with(1'000'000, 1'000).ok());
  ASSERT_EQ(counts.size(), 3u);
  int64_t samples = 0;
  int64_t series = 0;
  for (const auto& [metric, of_metric] : counts) {
    samples = std::max(samples, of_metric.samples);
    series = std::max(series, of_metric.series);
  }
  EXPECT_GT(samples, 300);
  EXPECT_EQ(read_with(samples, series), absl::OkStatus());
  EXPECT_TRUE(absl::IsResourceExhausted(read_with(samples - 1, series)));
  EXPECT_TRUE(absl::IsResourceExhausted(read_with(samples, series - 1)));
}

TEST_F(SharedMetricsTest, AreReadAtOnceWhereOneSeriesAloneHasThem) {
  Write(200);
  MetricRead read;
  read.now_micros = clock_.NowMicros();
  read.samples_max = read.series_max = 1'000'000;
  SeriesSamples samples(declarations_->List(), read, local_.get());
  EXPECT_EQ(samples.RowsOf("cpu"), "cpu");
  EXPECT_EQ(samples.RowsOf("cpu_user"), "cpu");
  EXPECT_EQ(samples.RowsOf("mem_user"), "mem");
  EXPECT_EQ(samples.RowsOf("cpu_none"), std::nullopt);
  // A series of this name has the metric, too.
  IngestBatch batch(declarations_.get(), local_.get(), {});
  const std::vector<std::pair<std::string_view, std::string_view>> labels = {{"host", "host1"}};
  const std::vector<LineField> fields = {{"value", LineValueType::kFloat, "1"}};
  ASSERT_TRUE(batch.Add({"cpu_user", "cpu_user,host1", &labels, &fields, kStart}).ok());
  ASSERT_TRUE(batch.Flush().ok());
  SeriesSamples both(declarations_->List(), read, local_.get());
  EXPECT_EQ(both.RowsOf("cpu_user"), std::nullopt);
  EXPECT_EQ(both.RowsOf("cpu"), "cpu");
}

}  // namespace
}  // namespace sonde::series

// Series that are visited as they are read are those that are read whole, whatever the parts.
#include "series/metric/metric_visit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/input/ingest_batch.h"
#include "series/metric/metric_reader.h"
#include "series/metric/series_samples.h"
#include "series/query/query_numbers_test_support.h"
#include "work/idle_workers.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::Matcher;
using promql::MatchKind;
using promql::SampleSeries;

constexpr int kEntities = 60;
constexpr int kHours = 5;

std::string TextOf(const SampleSeries& series) {
  std::string text;
  for (const auto& [name, value] : series.labels) text += fmt::format("{}={},", name, value);
  for (size_t i = 0; i < series.times.size(); ++i) {
    text += fmt::format(" {}:{:x}", series.times[i], std::bit_cast<uint64_t>(series.values[i]));
  }
  return text;
}

class TextSink final : public promql::SeriesSink {
 public:
  absl::Status Take(SampleSeries* series) override {
    texts.push_back(TextOf(*series));
    series->labels.clear();  // a sink may do that
    return absl::OkStatus();
  }
  std::vector<std::string> texts;
};

class MetricVisitTest : public QueryNumbersTest {
 protected:
  void SetUp() override {
    QueryNumbersTest::SetUp();
    declarations_ = std::make_unique<Declarations>(local_.get(), &clock_);
  }
  void TearDown() override {
    declarations_.reset();
    QueryNumbersTest::TearDown();
  }

  // Points of entities that have many and few of them; times come late and again, and some are marks.
  void Write(int points) {
    std::set<std::string> identities;  // until the flush
    IngestBatch batch(declarations_.get(), local_.get(), {});
    for (int i = 0; i < points; ++i) {
      const auto entity = std::min(random_.Uniform(kEntities), random_.Uniform(kEntities));
      const std::string host = fmt::format("host{}", entity);
      const std::string zone = entity % 3 == 0 ? "" : fmt::format("z,{}", entity % 3);
      const std::string value = fmt::format("{}", random_.Uniform(1'000));
      const std::string mark = fmt::format("{}", 1 + random_.Uniform(4));
      const std::vector<std::pair<std::string_view, std::string_view>> labels = {{"host", host},
                                                                                 {"zone", zone}};
      std::vector<LineField> fields;
      if (random_.Uniform(8) == 0) {
        fields = {{kStaleField, LineValueType::kInt, mark}};
      } else {
        fields = {{"value", LineValueType::kFloat, value}};
        if (random_.Uniform(3) != 0) fields.push_back({"count", LineValueType::kInt, value});
      }
      const std::string& identity = *identities.insert("s," + host).first;
      ASSERT_TRUE(batch
                      .Add({"s", identity, &labels, &fields,
                            kStart + static_cast<int64_t>(random_.Uniform(kHours * 3'600'000)) * 1'000})
                      .ok());
    }
    ASSERT_TRUE(batch.Flush().ok());
  }

  MetricRead RandomRead() {
    MetricRead read;
    read.matchers = {
        *Matcher::Create(MatchKind::kMatches, kNameLabel, random_.Uniform(3) == 0 ? "s" : "s.*")};
    if (random_.Uniform(2) == 0) {
      read.matchers.push_back(
          *Matcher::Create(MatchKind::kMatches, "host", fmt::format("host{}.*", random_.Uniform(8))));
    }
    read.start_millis = kStart / 1'000 + static_cast<int64_t>(random_.Uniform(kHours * 3'600'000));
    read.end_millis = read.start_millis + static_cast<int64_t>(random_.Uniform(kHours * 3'600'000));
    if (random_.Uniform(3) == 0) read.start_millis = kStart / 1'000;
    read.now_micros = clock_.NowMicros();
    read.samples_max = 1'000'000;
    read.series_max = 1'000;
    read.sample_bytes = 16;
    return read;
  }

  // Sorted.
  absl::StatusOr<std::vector<std::string>> Visit(const MetricRead& read) {
    SeriesSamples samples(declarations_->List(), read, local_.get());
    TextSink all;
    const promql::SeriesVisit visit{.make = [] { return std::make_unique<TextSink>(); },
                                    .take =
                                        [&](promql::SeriesSink* sink) {
                                          std::ranges::move(static_cast<TextSink*>(sink)->texts,
                                                            std::back_inserter(all.texts));
                                          ++sinks_;
                                          return absl::OkStatus();
                                        },
                                    .idle_workers = read.idle_workers};
    const absl::Status status = samples.ForEach(read.matchers, read.start_millis, read.end_millis, visit);
    if (!status.ok()) return status;
    std::ranges::sort(all.texts);
    return all.texts;
  }
  absl::StatusOr<std::vector<std::string>> ReadWhole(const MetricRead& read) {
    const absl::StatusOr<MetricSamples> samples = ReadMetrics(declarations_->List(), read, local_.get());
    if (!samples.ok()) return samples.status();
    std::vector<std::string> texts;
    for (const SampleSeries& series : samples->series) texts.push_back(TextOf(series));
    std::ranges::sort(texts);
    if (samples->held_bytes > 0 && read.hold) read.hold(-samples->held_bytes).IgnoreError();
    return texts;
  }

  SeededRandom random_{7};
  std::unique_ptr<Declarations> declarations_;
  int sinks_ = 0;
};

TEST_F(MetricVisitTest, GivesWhatIsReadWhole) {
  IdleWorkers workers(3);
  size_t series = 0;
  for (int round = 0; round < 4; ++round) {
    Write(2'000);
    if (round % 2 == 1) Settle();
    for (int i = 0; i < 30; ++i) {
      MetricRead read = RandomRead();
      const auto whole = ReadWhole(read);
      ASSERT_TRUE(whole.ok()) << whole.status();
      for (IdleWorkers* helpers : {static_cast<IdleWorkers*>(nullptr), &workers}) {
        read.idle_workers = helpers;
        ASSERT_EQ(*ReadWhole(read), *whole) << "round " << round << ", question " << i;
        const auto visited = Visit(read);
        ASSERT_TRUE(visited.ok()) << visited.status();
        ASSERT_EQ(*visited, *whole) << "round " << round << ", question " << i;
      }
      series += whole->size();
    }
  }
  EXPECT_GT(series, 3'000u);
  EXPECT_GT(sinks_, 500) << "there were no parts";
}

TEST_F(MetricVisitTest, KeepsToItsLimits) {
  Write(4'000);
  Settle();
  IdleWorkers workers(3);
  MetricRead read = RandomRead();
  read.matchers.erase(read.matchers.begin() + 1, read.matchers.end());
  read.start_millis = kStart / 1'000;
  read.end_millis = read.start_millis + kHours * 3'600'000;
  std::atomic<int64_t> held = 0;
  read.hold = [&held](int64_t more) {
    held += more;
    return absl::OkStatus();
  };
  const size_t series = Visit(read)->size();
  for (IdleWorkers* helpers : {static_cast<IdleWorkers*>(nullptr), &workers}) {
    read.idle_workers = helpers;
    // A metric whose points are all elsewhere counts as well.
    read.series_max = 1'000;
    EXPECT_EQ(Visit(read)->size(), series);
    read.series_max = 30;
    EXPECT_EQ(Visit(read).status().message(),
              "the query selects more than 30 series; ask for a shorter time or add conditions on labels");
    EXPECT_EQ(ReadWhole(read).status(), Visit(read).status());
    read.series_max = 1'000;
    read.samples_max = 2'000;
    EXPECT_EQ(Visit(read).status().message(),
              "the query asks for more than 2000 samples; ask for a shorter time or fewer series");
    EXPECT_EQ(ReadWhole(read).status(), Visit(read).status());
    read.samples_max = 1'000'000;
    EXPECT_EQ(held, 0);
  }
}

}  // namespace
}  // namespace sonde::series

#include "promql/evaluate/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "promql/syntax/parser.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Stale() {
  const uint64_t bits = kStaleBits;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

class FakeSource : public SampleSource {
 public:
  // Samples every minute from 0.
  void Add(Labels labels, std::vector<double> values) {
    SampleSeries series{std::move(labels), {}, std::move(values)};
    for (size_t i = 0; i < series.values.size(); ++i)
      series.times.push_back(static_cast<int64_t>(i) * 60'000);
    series_.push_back(std::move(series));
  }

  absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>& matchers, int64_t start_millis,
                                                   int64_t end_millis) override {
    std::vector<SampleSeries> result;
    for (const SampleSeries& series : series_) {
      const bool matches = std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
        return matcher.Matches(LabelOf(series.labels, matcher.name()));
      });
      if (!matches) continue;
      SampleSeries found{series.labels, {}, {}};
      for (size_t i = 0; i < series.times.size(); ++i) {
        if (series.times[i] < start_millis || series.times[i] > end_millis) continue;
        found.times.push_back(series.times[i]);
        found.values.push_back(series.values[i]);
      }
      result.push_back(std::move(found));
    }
    return result;
  }

 private:
  std::vector<SampleSeries> series_;
};

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    source_.Add({{"__name__", "up"}, {"i", "1"}}, {1, 2, 3, 4, 5, 6});
    source_.Add({{"__name__", "up"}, {"i", "2"}}, {10, 20, Stale(), 40, 50, 60});
    source_.Add({{"__name__", "c_total"}, {"i", "1"}}, {0, 60, 120, 0, 60, 120});
    source_.Add({{"__name__", "g"}, {"i", "1"}, {"j", "a"}}, {7});
    source_.Add({{"__name__", "g"}, {"i", "1"}, {"j", "b"}}, {8});
    source_.Add({{"__name__", "zero"}, {"i", "1"}}, {-0.0});
    source_.Add({{"__name__", "h_bucket"}, {"le", "1"}}, {10});
    source_.Add({{"__name__", "h_bucket"}, {"le", "2"}}, {20});
    source_.Add({{"__name__", "h_bucket"}, {"le", "+Inf"}}, {20});
  }

  absl::StatusOr<QueryAnswer> Run(const std::string& text, EvaluateSettings settings) {
    auto query = ParseQuery(text, {.allows_experimental = true});
    if (!query.ok()) return query.status();
    return EvaluateQuery(query->get(), settings, &source_);
  }

  // At minute `minute`: "{a="b"} 1; ...".
  std::string At(int minute, const std::string& text) {
    EvaluateSettings settings;
    settings.start_millis = minute * 60'000;
    return Text(text, settings);
  }

  // From minute 0 to 4, every two minutes.
  std::string Over(const std::string& text) {
    EvaluateSettings settings;
    settings.end_millis = 240'000;
    settings.step_millis = 120'000;
    return Text(text, settings);
  }

  std::string Text(const std::string& text, const EvaluateSettings& settings) {
    const auto answer = Run(text, settings);
    if (!answer.ok()) return std::string(TextOfError(answer.status()));
    std::string result = answer->text;
    for (const Row& row : answer->rows) {
      result += (result.empty() ? "" : "; ") + LabelsText(row.labels);
      for (size_t step = 0; step < row.values.size(); ++step) {
        result += row.present[step] ? " " + PlainNumber(row.values[step]) : " _";
      }
    }
    for (const SampleSeries& series : answer->raw) {
      result += (result.empty() ? "" : "; ") + LabelsText(series.labels);
      for (size_t i = 0; i < series.times.size(); ++i) {
        result += fmt::format(" {}@{}", PlainNumber(series.values[i]), series.times[i]);
      }
    }
    for (const std::string& warning : answer->annotations.Warnings(text)) result += " | " + warning;
    for (const std::string& info : answer->annotations.Infos(text)) result += " | " + info;
    return result;
  }

  FakeSource source_;
};

TEST_F(EngineTest, SelectsTheNewestSampleWithinTheLookback) {
  EXPECT_EQ(At(1, "up"), R"({__name__="up", i="1"} 2; {__name__="up", i="2"} 20)");
  EXPECT_EQ(At(2, "up"), R"({__name__="up", i="1"} 3)");
  EXPECT_EQ(At(9, "up{i=\"1\"}"), R"({__name__="up", i="1"} 6)");
  EXPECT_EQ(At(10, "up"), "");
}

TEST_F(EngineTest, RangesAreLeftOpenAndWithoutStaleMarkers) {
  EXPECT_EQ(At(2, "up{i=\"1\"}[2m]"), R"({__name__="up", i="1"} 2@60000 3@120000)");
  EXPECT_EQ(At(2, "up{i=\"2\"}[2m]"), R"({__name__="up", i="2"} 20@60000)");
  EXPECT_EQ(At(2, "count_over_time(up[2m])"), R"({i="1"} 2; {i="2"} 1)");
}

TEST_F(EngineTest, EvaluatesAtAllSteps) {
  EXPECT_EQ(Over("up"), R"({__name__="up", i="1"} 1 3 5; {__name__="up", i="2"} 10 _ 50)");
  EXPECT_EQ(Over("sum(up)"), "{} 11 3 55");
  EXPECT_EQ(Over("up{i=\"1\"} @ end()"), R"({__name__="up", i="1"} 5 5 5)");
  EXPECT_EQ(Over("up{i=\"1\"} offset 1m"), R"({__name__="up", i="1"} _ 2 4)");
  EXPECT_EQ(Over("max_over_time(up{i=\"1\"}[2m:1m])"), R"({i="1"} 1 3 5)");
  EXPECT_EQ(Over("time()"), "{} 0 120 240");
}

TEST_F(EngineTest, RatesAreExtrapolatedOverResets) {
  EXPECT_EQ(At(5, "increase(c_total[5m])"), R"({i="1"} 225)");
  EXPECT_EQ(At(5, "rate(c_total[5m])"), R"({i="1"} 0.75)");
  EXPECT_EQ(At(5, "resets(c_total[6m])"), R"({i="1"} 1)");
  EXPECT_EQ(
      At(1, "rate(up{i=\"1\"}[2m])"),
      R"({i="1"} 0.016666666666666666 | PromQL info: metric might not be a counter, name does not end in )"
      R"(_total/_sum/_count/_bucket: "up" (1:6))");
}

TEST_F(EngineTest, NumbersAreThoseOfPrometheus) {
  EXPECT_EQ(At(0, "sum(zero)"), "{} 0");
  EXPECT_EQ(At(0, "zero"), R"({__name__="zero", i="1"} -0)");
  EXPECT_EQ(At(0, "round(vector(-0.5))"), "{} 0");
  EXPECT_EQ(At(0, "5 % 0"), "{} NaN");
  EXPECT_EQ(At(0, "-1 ^ 2"), "{} -1");
  EXPECT_EQ(At(0, "year(vector(NaN))"), "{} 292277026596");
  EXPECT_EQ(At(0,
               "avg(vector(1e308) or label_replace(vector(1e308), \"a\", \"1\", \"\", \"\") or "
               "label_replace(vector(-1e308), \"a\", \"2\", \"\", \"\"))"),
            "{} " + PlainNumber(3.333333333333333e+307));
}

TEST_F(EngineTest, MatchesVectors) {
  EXPECT_EQ(At(0, "up + on(i) group_right up"), R"({i="1"} 2; {i="2"} 20)");
  EXPECT_EQ(At(0, "g * on(i) group_left up{i=\"1\"}"), R"({i="1", j="a"} 7; {i="1", j="b"} 8)");
  EXPECT_EQ(At(0, "up > on(i) c_total"), R"({i="1"} 1)");
  EXPECT_EQ(At(0, "5 > up"), R"({__name__="up", i="1"} 1)");
  EXPECT_EQ(At(0, "up and on(i) g"), R"({__name__="up", i="1"} 1)");
  EXPECT_EQ(At(0, "g * on(i) up"),
            "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)");
  EXPECT_EQ(At(0, "up{i=\"1\"} * on(i) g"),
            R"(found duplicate series for the match group {i="1"} on the right hand-side of the operation: )"
            R"([{__name__="g", i="1", j="b"}, {__name__="g", i="1", j="a"}];)"
            "many-to-many matching not allowed: matching labels must be unique on one side");
  EXPECT_EQ(At(0, "abs({i=\"1\",__name__=~\"up|zero\"})"),
            "vector cannot contain metrics with the same labelset");
}

TEST_F(EngineTest, RanksAndCounts) {
  EXPECT_EQ(At(0, "topk(1, up)"), R"({__name__="up", i="2"} 10)");
  EXPECT_EQ(At(0, "bottomk by (i) (1, g)"), R"({__name__="g", i="1", j="a"} 7)");
  EXPECT_EQ(At(0, "topk(NaN, up)"), "Parameter value is NaN");
  EXPECT_EQ(At(0, "count_values(\"v\", g)"), R"({v="7"} 1; {v="8"} 1)");
  EXPECT_EQ(At(0, "quantile(2, g)"),
            "{} +Inf | PromQL warning: quantile value should be between 0 and 1, got 2 (1:10)");
}

TEST_F(EngineTest, ReadsClassicHistograms) {
  EXPECT_EQ(At(0, "histogram_quantile(0.75, h_bucket)"), "{} 1.5");
  EXPECT_EQ(At(0, "histogram_fraction(0, 1, h_bucket)"), "{} 0.5");
  EXPECT_EQ(At(0, "histogram_count(h_bucket)"), "");
}

TEST_F(EngineTest, ReplacesLabels) {
  EXPECT_EQ(At(0, R"x(label_replace(zero, "n", "<$1>", "i", "(.)"))x"),
            R"({__name__="zero", i="1", n="<1>"} -0)");
  EXPECT_EQ(At(0, R"x(label_replace(zero, "n", "$1a", "i", "(.)"))x"), R"({__name__="zero", i="1"} -0)");
  EXPECT_EQ(At(0, R"x(label_join(zero, "n", "-", "i", "__name__"))x"),
            R"({__name__="zero", i="1", n="1-zero"} -0)");
  EXPECT_EQ(At(0, R"x(label_replace(zero, "n", "", "i", "("))x"),
            "invalid regular expression in label_replace(): (");
}

TEST_F(EngineTest, AbsentHasTheLabelsOfItsConditions) {
  EXPECT_EQ(At(0, R"(absent(nope{a="1",b=~"x",c="2",c="2"}))"), R"({a="1"} 1)");
  EXPECT_EQ(At(0, "absent(up)"), "");
  EXPECT_EQ(Over("absent_over_time(g[1m])"), "{} _ 1 1");
}

TEST_F(EngineTest, WarnsOfSubqueriesThatGiveNothing) {
  EXPECT_EQ(At(0, "predict_linear(quantile(8, up)[10m:1m] @ 60, 1)"),
            " | PromQL warning: quantile value should be between 0 and 1, got 8 (1:25)");
}

TEST_F(EngineTest, RatiosAndTheirComplementsAreAllSeries) {
  EXPECT_EQ(At(0, "limit_ratio(0.5, up)"), R"({__name__="up", i="2"} 10)");
  EXPECT_EQ(At(0, "limit_ratio(-0.5, up)"), R"({__name__="up", i="1"} 1)");
  EXPECT_EQ(At(0, "limit_ratio(1, up)"), R"({__name__="up", i="1"} 1; {__name__="up", i="2"} 10)");
  EXPECT_EQ(At(0, "limit_ratio(0, up)"), "");
  EXPECT_EQ(At(0, "limit_ratio(scalar(up), up)"), "Ratio value is NaN");
  EXPECT_EQ(At(0, "count(limit_ratio(1.5, up))"),
            "{} 2 | PromQL warning: ratio value should be between -1 and 1, got 1.5, capping to 1 (1:19)");
  EXPECT_EQ(At(0, "count(limit_ratio(-3, up))"),
            "{} 2 | PromQL warning: ratio value should be between -1 and 1, got -3, capping to -1 (1:19)");
  EXPECT_EQ(Over("count(limit_ratio(time() / 240, up))"),
            "{} _ _ 2");  // the series of the first half has ended at the second step
}

class InfoTest : public EngineTest {
 protected:
  InfoTest() {
    source_.Add({{"__name__", "q"}, {"instance", "m"}, {"job", "p"}}, {1, 2, 3, 4, 5});
    source_.Add({{"__name__", "target_info"}, {"instance", "m"}, {"job", "p"}, {"zone", "1"}},
                {1, 1, Stale()});
    source_.Add({{"__name__", "build_info"}, {"instance", "m"}, {"job", "p"}, {"zone", "2"}}, {1});
    source_.Add({{"__name__", "target_info"}, {"instance", "n"}, {"job", "p"}, {"zone", "1"}}, {1});
    source_.Add({{"__name__", "target_info"}, {"instance", "n"}, {"job", "p"}, {"zone", "2"}}, {1});
  }
};

TEST_F(InfoTest, AddsTheLabelsOfTheTarget) {
  EXPECT_EQ(At(0, "info(q)"), R"({__name__="q", instance="m", job="p", zone="1"} 1)");
  EXPECT_EQ(At(0, "info(rate(q[1m]) + 1)"), "");
  EXPECT_EQ(At(1, "info(q * 2)"), R"({instance="m", job="p", zone="1"} 4)");
  EXPECT_EQ(At(0, "info(up)"), R"({__name__="up", i="1"} 1; {__name__="up", i="2"} 10)");
  // The info series has ended at the second step.
  EXPECT_EQ(Over("info(q)"), R"({__name__="q", instance="m", job="p"} _ 3 5; )"
                             R"({__name__="q", instance="m", job="p", zone="1"} 1 _ _)");
}

TEST_F(InfoTest, TakesTheLabelsThatAreAskedFor) {
  EXPECT_EQ(At(0, R"(info(q, {zone="1"}))"), R"({__name__="q", instance="m", job="p", zone="1"} 1)");
  EXPECT_EQ(At(0, R"(info(q, {zone="2"}))"), "");
  EXPECT_EQ(At(0, R"(info(q, {nope=~".*"}))"), R"({__name__="q", instance="m", job="p"} 1)");
  EXPECT_EQ(At(0, R"(info(q, {__name__="build_info"}))"),
            R"({__name__="q", instance="m", job="p", zone="2"} 1)");
  EXPECT_EQ(At(0, R"(info(q, {__name__!="target_info"}))"),
            R"({__name__="q", instance="m", job="p", zone="2"} 1)");
  EXPECT_EQ(At(0, R"(info(target_info{instance="m"}))"),
            R"({__name__="target_info", instance="m", job="p", zone="1"} 1)");
}

TEST_F(InfoTest, SaysWhichLabelsAreInConflict) {
  EXPECT_EQ(At(0, R"(info(q, {__name__=~".+_info"}))"), "conflicting label: zone");
  source_.Add({{"__name__", "q"}, {"instance", "n"}, {"job", "p"}}, {1});
  EXPECT_EQ(At(0, "info(q)"),
            R"(found duplicate series for info metric: existing {__name__="target_info", instance="n", )"
            R"(job="p", zone="1"} @ 0, new {__name__="target_info", instance="n", job="p", zone="2"} @ 0)");
}

TEST_F(EngineTest, FillsStandForSeriesThatAreNotThere) {
  EXPECT_EQ(At(0, "up + on(i) fill_right(5) c_total"), R"({i="1"} 1; {i="2"} 15)");
  EXPECT_EQ(At(0, "c_total + on(i) fill_left(5) up"), R"({i="1"} 1; {i="2"} 15)");
  EXPECT_EQ(At(0, "up + on(i) fill(-1) nope"), R"({i="1"} 0; {i="2"} 9)");
  EXPECT_EQ(At(0, "nope + on(i) fill_right(1) up"), "");
  EXPECT_EQ(At(0, "g * on(i) group_left fill(2) nope"), R"({i="1", j="a"} 14; {i="1", j="b"} 16)");
}

TEST_F(EngineTest, AnchoredWindowsBeginWithTheSampleBeforeThem) {
  // Minutes 1 to 3 with the sample of minute 1, which the window alone does not have.
  EXPECT_EQ(At(3, R"(delta(up{i="1"}[2m] anchored))"), R"({i="1"} 2)");
  EXPECT_EQ(At(4, R"(changes(c_total[90s] anchored))"), R"({i="1"} 2)");
  EXPECT_EQ(At(3, R"(resets(c_total[30s] anchored))"), R"({i="1"} 1)");
  EXPECT_EQ(At(2, "rate(c_total[1m] anchored)"), R"({i="1"} 1)");
  EXPECT_EQ(At(3, R"(up{i="1"}[90s] anchored)"), R"({__name__="up", i="1"} 2@90000 3@120000 4@180000)");
  EXPECT_EQ(At(3, "avg_over_time(up[1m] anchored)"),
            "anchored modifier can only be used with: changes, delta, increase, rate, resets - not with "
            "avg_over_time");
}

TEST_F(EngineTest, SmoothedValuesLieBetweenSamples) {
  EvaluateSettings settings;
  settings.start_millis = 90'000;
  EXPECT_EQ(Text(R"(up{i="1"} smoothed)", settings), R"({__name__="up", i="1"} 2.5)");
  EXPECT_EQ(Text(R"(delta(up{i="1"}[1m] smoothed))", settings), R"({i="1"} 1)");
  // The counter was reset, and began at 0.
  settings.start_millis = 150'000;
  EXPECT_EQ(Text("increase(c_total[30s] smoothed)", settings), R"({i="1"} 0)");
  EXPECT_EQ(Text("changes(c_total[1m] smoothed)", settings),
            "smoothed modifier can only be used with: delta, increase, rate - not with changes");
}

TEST_F(EngineTest, NoSampleHasAStartTime) {
  EXPECT_EQ(At(0, "start_timestamp(up)"), "");
  EXPECT_EQ(At(0, "start_timestamp(up * 2)"), "");
}

TEST_F(EngineTest, BoundsSamplesAndEndsWhenInterrupted) {
  EvaluateSettings settings;
  settings.samples_max = 1;
  EXPECT_EQ(Text("up", settings),
            "query processing would load too many samples into memory in query execution");
  settings = {};
  settings.interrupted = [] { return absl::CancelledError("the caller has gone"); };
  EXPECT_TRUE(absl::IsCancelled(Run("up", settings).status()));
  settings = {};
  int64_t held_bytes = 0;
  settings.hold = [&](int64_t more_bytes) {
    held_bytes += more_bytes;
    return held_bytes < 50 ? absl::OkStatus() : absl::ResourceExhaustedError("too many bytes");
  };
  EXPECT_EQ(Text("up + up + up + up + up + up", settings), "too many bytes");
}

// Answers, infos and counts do not depend on how many threads there are.
TEST_F(EngineTest, IdleWorkersChangeNothing) {
  for (int i = 0; i < 500; ++i) {
    std::vector<double> values;
    for (int sample = 0; sample < 1'000; ++sample) values.push_back((sample * (i + 7)) % 91);
    source_.Add({{"__name__", i % 3 == 0 ? "many_total" : "many"}, {"i", fmt::format("{:03}", i)}}, values);
  }
  IdleWorkers workers(4);
  EvaluateSettings settings;
  settings.end_millis = 60'000'000;
  settings.step_millis = 600'000;
  for (const std::string text :
       {"rate(many[30m])", "quantile_over_time(many_total[1h], 2)", "quantile_over_time(2, many_total[1h])",
        "sum(max_over_time({__name__=~\"many.*\", i=\"007\"}[10m]))", "rate({__name__=~\"many.*\"}[30m])",
        "count(last_over_time({__name__=~\"many.*\"}[5m]))", "absent_over_time(many[5m])"}) {
    settings.idle_workers = nullptr;
    const auto alone = Run(text, settings);
    const std::string expected = Text(text, settings);
    settings.idle_workers = &workers;
    EXPECT_EQ(Text(text, settings), expected) << text;
    if (!alone.ok()) continue;
    const auto shared = Run(text, settings);
    ASSERT_TRUE(shared.ok()) << shared.status();
    EXPECT_EQ(shared->stats.samples_total, alone->stats.samples_total) << text;
    EXPECT_EQ(shared->stats.samples_peak, alone->stats.samples_peak) << text;
  }
  settings.interrupted = [] { return absl::CancelledError("the caller has gone"); };
  EXPECT_TRUE(absl::IsCancelled(Run("rate(many[30m])", settings).status()));
}

TEST_F(EngineTest, RefusesRangesOfRanges) {
  EvaluateSettings settings;
  settings.step_millis = 1;
  EXPECT_EQ(Text("up[1m]", settings),
            "invalid expression type \"range vector\" for range query, must be Scalar or instant Vector");
  EXPECT_EQ(At(0, "up[1m-1m]"), "3:8: duration must be greater than 0");
  EXPECT_EQ(PlainNumber(kInfinity), "+Inf");
}

// Gives series one by one, in one part, as a store does that does not have them in memory.
class StreamingSource : public SampleSource {
 public:
  absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>&, int64_t, int64_t) override {
    return absl::InternalError("all of them would be in memory");
  }
  absl::Status ForEach(const std::vector<Matcher>&, int64_t, int64_t, const SeriesVisit& visit) override {
    const std::unique_ptr<SeriesSink> sink = visit.make();
    for (int i = 0; i < 1'000; ++i) {
      SampleSeries series{{{"__name__", "up"}, {"i", std::to_string(i)}}, {0, 60'000}, {1, 2}};
      if (absl::Status status = sink->Take(&series); !status.ok()) return status;
      ++given;
    }
    return visit.take(sink.get());
  }
  int given = 0;
};

TEST(EvaluateQuery, CountsRowsBeforeThereAreTooManyOfThem) {
  for (const char* text : {"up", "max_over_time(up[1m])"}) {
    EvaluateSettings settings{.start_millis = 0, .end_millis = 600'000, .step_millis = 1'000};  // 601 steps
    settings.samples_max = 10 * 601;
    StreamingSource source;
    absl::StatusOr<ExpressionPtr> query = ParseQuery(text, {});
    ASSERT_TRUE(query.ok());
    EXPECT_TRUE(absl::IsResourceExhausted(EvaluateQuery(query->get(), settings, &source).status())) << text;
    EXPECT_EQ(source.given, 10) << text;
    settings.samples_max = 2 * 1'000 * 601;
    query = ParseQuery(text, {});
    const absl::StatusOr<QueryAnswer> answer = EvaluateQuery(query->get(), settings, &source);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->rows.size(), 1'000u) << text;
  }
}

}  // namespace
}  // namespace sonde::promql

// Leaves that share a read answer as each of them read alone.
#include "promql/evaluate/shared_leaves.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "promql/evaluate/engine.h"
#include "promql/samples/series_parts.h"
#include "promql/syntax/parser.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

constexpr int kSeries = 3;  // of a metric
constexpr int kSamples = 30;

// Samples every half minute of metrics `cpu_...`, which lie in the same rows, and of others.
class RowsSource : public SampleSource {
 public:
  explicit RowsSource(bool shares) : shares_(shares) {
    for (const char* metric : {"cpu_a", "cpu_b", "cpu_c_total", "disk_a"}) {
      for (int i = 0; i < kSeries; ++i) {
        SampleSeries series{{{"__name__", metric}, {"i", std::to_string(i)}}, {}, {}};
        for (int k = 0; k < kSamples; ++k) {
          series.times.push_back(k * 30'000);
          series.values.push_back((k * 7 + i * 3 + static_cast<int>(series_.size())) % 20);
        }
        series_.push_back(std::move(series));
      }
    }
  }

  absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>& matchers, int64_t start_millis,
                                                   int64_t end_millis) override {
    return Find({}, matchers, start_millis, end_millis);
  }
  absl::Status ForEach(const std::vector<Matcher>& matchers, int64_t start_millis, int64_t end_millis,
                       const SeriesVisit& visit) override {
    ++alone;
    return VisitInParts(Find({}, matchers, start_millis, end_millis), visit);
  }
  std::optional<std::string> RowsOf(std::string_view metric) override {
    return shares_ && metric.starts_with("cpu_") ? std::optional<std::string>("cpu") : std::nullopt;
  }
  absl::Status ForEachOf(const std::vector<std::string>& metrics, const std::vector<Matcher>& matchers,
                         int64_t start_millis, int64_t end_millis, const SeriesVisit& visit) override {
    ++together;
    return VisitInParts(Find(metrics, matchers, start_millis, end_millis), visit);
  }

  int alone = 0;
  int together = 0;

 private:
  std::vector<SampleSeries> Find(const std::vector<std::string>& metrics,
                                 const std::vector<Matcher>& matchers, int64_t start_millis,
                                 int64_t end_millis) const {
    std::vector<SampleSeries> result;
    for (const SampleSeries& series : series_) {
      const std::string metric(LabelOf(series.labels, kMetricLabel));
      if (!metrics.empty() && std::ranges::find(metrics, metric) == metrics.end()) continue;
      const bool matches = std::ranges::all_of(matchers, [&](const Matcher& matcher) {
        return matcher.Matches(LabelOf(series.labels, matcher.name()));
      });
      if (!matches) continue;
      SampleSeries& found = result.emplace_back(SampleSeries{series.labels, {}, {}});
      for (size_t i = 0; i < series.times.size(); ++i) {
        if (series.times[i] < start_millis || series.times[i] > end_millis) continue;
        found.times.push_back(series.times[i]);
        found.values.push_back(series.values[i]);
      }
    }
    return result;
  }

  const bool shares_;
  std::vector<SampleSeries> series_;
};

EvaluateSettings TenSteps() { return {.start_millis = 60'000, .end_millis = 600'000, .step_millis = 60'000}; }

// All of an answer: rows, notices, counts; or the error.
std::string TextOf(const std::string& text, const EvaluateSettings& settings, SampleSource* source) {
  absl::StatusOr<ExpressionPtr> query = ParseQuery(text, {.allows_experimental = true});
  if (!query.ok()) return query.status().ToString();
  const absl::StatusOr<QueryAnswer> answer = EvaluateQuery(query->get(), settings, source);
  if (!answer.ok()) return answer.status().ToString();
  std::string result = fmt::format("{} {} {}\n", answer->stats.samples_read, answer->stats.samples_total,
                                   answer->stats.samples_peak);
  for (const Row& row : answer->rows) {
    result += LabelsText(row.labels);
    for (size_t step = 0; step < row.values.size(); ++step) {
      result += row.present[step] ? " " + PlainNumber(row.values[step]) : " _";
    }
    result += '\n';
  }
  for (const std::string& warning : answer->annotations.Warnings(text)) result += warning + "\n";
  for (const std::string& info : answer->annotations.Infos(text)) result += info + "\n";
  return result;
}

struct Case {
  std::string query;
  int together = 0;  // reads
  int alone = 0;
};

TEST(SharedLeaves, AnswerAsEachAlone) {
  const std::vector<Case> cases = {
      {"cpu_a + cpu_b", 1, 0},
      {"cpu_a or disk_a or cpu_b or cpu_c_total", 1, 1},
      {"cpu_a - cpu_a", 1, 0},
      {R"(cpu_a{i="1"} + cpu_b{i="1"})", 1, 0},
      {R"(cpu_a{i="1"} + on() cpu_b{i="2"})", 0, 2},
      {R"({__name__="cpu_a"} + cpu_b)", 1, 0},
      {R"({__name__=~"cpu_a"} + cpu_b)", 0, 2},
      {"sum(max_over_time(cpu_a[2m])) + sum(min_over_time(cpu_b[2m]))", 1, 0},
      {"rate(cpu_c_total[2m]) or rate(cpu_a[2m]) or increase(cpu_b[2m])", 1, 0},
      {"rate(cpu_a[2m]) / rate(cpu_b[3m])", 0, 2},
      {"cpu_a / (cpu_b offset 1m)", 0, 2},
      {"(cpu_a offset 1m) / (cpu_b offset 1m)", 1, 0},
      {"(cpu_a @ 300) / (cpu_b @ 300)", 0, 2},
      {"quantile_over_time(2, cpu_a[2m]) or quantile_over_time(-1, cpu_b[2m])", 1, 0},
      {"quantile_over_time(scalar(avg(cpu_a)) / 20, cpu_b[2m])", 0, 2},
      {"timestamp(cpu_a) + timestamp(cpu_b)", 0, 2},
      {"topk(2, cpu_a) or bottomk(1, cpu_b)", 1, 0},
      {"absent(cpu_a) or absent_over_time(cpu_b[1m]) or absent(cpu_c)", 1, 1},
      {"absent(cpu_a) or absent(cpu_missing)", 1, 0},
      {"max_over_time((cpu_a + cpu_b)[3m:1m])", 1, 0},
      {"cpu_a + cpu_b + max_over_time((cpu_a * cpu_b)[3m:1m])", 2, 0},
      {"(cpu_a + on () cpu_b) or cpu_c_total", 1, 0},
      {"last_over_time(cpu_a[2m]) or stddev_over_time(cpu_b[2m])", 1, 0},
      {R"(label_replace(cpu_a, "m", "a", "", "") or label_replace(cpu_b, "m", "b", "", ""))", 1, 0},
  };
  for (const Case& one : cases) {
    for (const bool is_instant : {false, true}) {
      EvaluateSettings settings = TenSteps();
      if (is_instant) settings.step_millis = 0;
      RowsSource alone(false);
      RowsSource shared(true);
      EXPECT_EQ(TextOf(one.query, settings, &shared), TextOf(one.query, settings, &alone)) << one.query;
      EXPECT_EQ(alone.together, 0);
      if (is_instant && one.query.find('@') != std::string::npos)
        continue;  // nothing is evaluated at another step
      EXPECT_EQ(shared.together, one.together) << one.query;
      EXPECT_EQ(shared.alone, one.alone) << one.query;
    }
  }
}

TEST(SharedLeaves, KeepToTheLimitOfEach) {
  // Alone, each has its rows, and those of the operand before it.
  const std::string query = "sum(cpu_a) + sum(cpu_b) + sum(cpu_c_total)";
  for (int64_t samples_max = 1; samples_max < 200; ++samples_max) {
    EvaluateSettings settings = TenSteps();
    settings.samples_max = samples_max;
    RowsSource alone(false);
    RowsSource shared(true);
    EXPECT_EQ(TextOf(query, settings, &shared), TextOf(query, settings, &alone)) << samples_max;
  }
  // All three are too much at once, and two are not: the first is read alone, and then the others.
  EvaluateSettings settings = TenSteps();
  settings.samples_max = 2 * kSeries * 10 + 5;
  RowsSource shared(true);
  TextOf(query, settings, &shared);
  EXPECT_EQ(shared.together, 2);
  EXPECT_EQ(shared.alone, 1);
}

TEST(SharedLeaves, TellOfTheMemoryThatTheyHaveAndGiveItBack) {
  const std::string query = "sum(cpu_a) + sum(cpu_b)";
  EvaluateSettings settings = TenSteps();
  settings.step_millis = 20;  // 27,001 steps
  int64_t held = 0;
  int64_t held_most = 0;
  settings.hold = [&](int64_t more) {
    held += more;
    held_most = std::max(held, held_most);
    return absl::OkStatus();
  };
  RowsSource alone(false);
  const std::string wanted = TextOf(query, settings, &alone);
  const int64_t held_alone = held;
  const int64_t rows_bytes = int64_t{2} * kSeries * 27'001 * kValueBytes;
  held = held_most = 0;
  RowsSource shared(true);
  EXPECT_TRUE(TextOf(query, settings, &shared) == wanted);
  EXPECT_EQ(shared.together, 1);
  EXPECT_EQ(held, held_alone);
  EXPECT_GT(held_most, rows_bytes / 2);
  // There is no room for all: then each is read alone.
  held = 0;
  settings.hold = [&](int64_t more) {
    held += more;
    if (held <= held_alone) return absl::OkStatus();
    held -= more;
    return absl::UnavailableError("no room");
  };
  RowsSource tried(true);
  EXPECT_TRUE(TextOf(query, settings, &tried) == wanted);
  EXPECT_EQ(tried.alone, 2);
  EXPECT_EQ(held, held_alone);
}

TEST(SharedLeaves, TellTheErrorOfTheLeafThatIsEvaluatedFirst) {
  // The second leaf has an error of its own, and the operand before it another one.
  for (const char* query :
       {"cpu_a + on () cpu_b + on () double_exponential_smoothing(cpu_c_total[2m], 2, 0.5)",
        "double_exponential_smoothing(cpu_c_total[2m], 2, 0.5) + double_exponential_smoothing(cpu_a[2m], "
        "0.5, 2)",
        "max_over_time(cpu_a[2m]) + double_exponential_smoothing(cpu_b[2m], 0.5, 2)"}) {
    RowsSource alone(false);
    RowsSource shared(true);
    const std::string error = TextOf(query, TenSteps(), &alone);
    EXPECT_TRUE(error.starts_with("FAILED_PRECONDITION")) << error;
    EXPECT_EQ(TextOf(query, TenSteps(), &shared), error) << query;
  }
}

TEST(SharedLeaves, EndWithTheQuery) {
  EvaluateSettings settings = TenSteps();
  int asked = 0;
  settings.interrupted = [&asked] {
    return ++asked > 6 ? absl::CancelledError("nobody waits") : absl::OkStatus();
  };
  RowsSource shared(true);
  EXPECT_EQ(TextOf("cpu_a + cpu_b + cpu_c_total", settings, &shared), "CANCELLED: nobody waits");
}

}  // namespace
}  // namespace sonde::promql

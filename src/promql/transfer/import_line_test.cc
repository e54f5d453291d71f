#include "promql/transfer/import_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "promql/samples/samples.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

using testing::HasSubstr;

std::string Text(const ImportedSeries& series) {
  std::string text;
  for (const auto& [name, value] : series.labels) text += name + "=" + value + ";";
  for (size_t i = 0; i < series.run.times.size(); ++i) {
    text += " " + GeneralNumber(series.run.values[i]) + "@" + std::to_string(series.run.times[i]);
  }
  return text;
}

std::string Json(std::string_view line) {
  ImportedSeries series;
  const absl::Status status = ParseJsonLine(line, &series);
  return status.ok() ? Text(series) : std::string(TextOfError(status));
}

std::string OpenMetrics(std::string_view line) {
  OpenMetricsLine parsed;
  const absl::Status status = ParseOpenMetricsLine(line, 77, &parsed);
  if (!status.ok()) return std::string(TextOfError(status));
  switch (parsed.kind) {
    case OpenMetricsLine::Kind::kSample:
      return Text(parsed.series);
    case OpenMetricsLine::Kind::kEnd:
      return "end";
    case OpenMetricsLine::Kind::kComment:
      return "comment";
    default:
      return parsed.family + ": " + parsed.text;
  }
}

TEST(ImportLineTest, ReadsLinesOfJson) {
  EXPECT_EQ(Json(R"({"metric":{"__name__":"up","job":"x"},"values":[1,-2.5,1e3],"timestamps":[1,2,-3]})"),
            "__name__=up;job=x; 1@1 -2.5@2 1000@-3");
  EXPECT_EQ(Json(R"({"timestamps":[5],"values":[0],"metric":{"__name__":"\u00e4"}})"), "__name__=ä; 0@5");
  EXPECT_EQ(Json(R"({"metric":{},"values":[],"timestamps":[]})"), "");
  ImportedSeries series;
  ASSERT_TRUE(
      ParseJsonLine(
          R"({"metric":{},"values":[null,"NaN","+Inf","-Infinity","stale"],"timestamps":[1,2,3,4,5]})",
          &series)
          .ok());
  EXPECT_TRUE(std::isnan(series.run.values[0]) && !IsStale(series.run.values[0]));
  EXPECT_TRUE(std::isnan(series.run.values[1]) && !IsStale(series.run.values[1]));
  EXPECT_EQ(series.run.values[2], INFINITY);
  EXPECT_EQ(series.run.values[3], -INFINITY);
  EXPECT_TRUE(IsStale(series.run.values[4]));
}

TEST(ImportLineTest, SaysWhatIsWrongWithALineOfJson) {
  EXPECT_THAT(Json(R"({"metric":{"__name__":"up"},"values":[1,)"),
              HasSubstr("the line is no JSON, from byte "));
  EXPECT_EQ(Json("[1]"), "the line is not an object of JSON");
  EXPECT_EQ(Json("1"), "the line is not an object of JSON");
  EXPECT_EQ(Json("{}"), "there is no \"metric\"");
  EXPECT_EQ(Json(R"({"metric":{},"values":[1,2],"timestamps":[1]})"),
            "2 values and 1 timestamps; there must be as many of both");
  EXPECT_EQ(Json(R"({"metric":{"a":"1","a":"2"}})"), "label 'a' comes twice");
  EXPECT_EQ(Json(R"({"metric":{"a":1}})"), "'metric' must not hold a number");
  EXPECT_EQ(Json(R"({"metric":{"a":{}}})"), "'metric' must not hold an object");
  EXPECT_EQ(Json(R"({"metric":{},"values":["x"]})"),
            "value 'x'; allowed: numbers, \"NaN\", \"+Inf\", \"-Inf\", \"stale\"");
  EXPECT_EQ(Json(R"({"metric":{},"values":[[1]]})"), "'values' must not hold a list");
  EXPECT_EQ(Json(R"({"metric":{},"timestamps":[1.5]})"),
            "'timestamps' must not hold a number that is not whole");
  EXPECT_EQ(Json(R"({"metric":{},"timestamps":[18446744073709551615]})"),
            "'timestamps' must not hold a number");
  EXPECT_EQ(Json(R"({"metric":{},"metric":{}})"), "member 'metric' comes twice");
  EXPECT_EQ(Json(R"({"other":1})"), "unknown member 'other'; allowed: metric, values, timestamps");
}

TEST(ImportLineTest, ReadsLinesOfOpenMetrics) {
  EXPECT_EQ(OpenMetrics("up 1 5"), "__name__=up; 1@5000");
  EXPECT_EQ(OpenMetrics("up{} 1 5.25"), "__name__=up; 1@5250");
  EXPECT_EQ(OpenMetrics("a:b{job=\"x\", i = \"q\\\"\\\\\\n\",} +Inf -1"),
            "__name__=a:b;job=x;i=q\"\\\n; +Inf@-1000");
  EXPECT_EQ(OpenMetrics("{\"my.up\",\"a b\"=\"c\"} 1e3"), "__name__=my.up;a b=c; 1000@77");
  EXPECT_EQ(OpenMetrics("up{j=\"} #\"} 1 2 # {trace=\"a\"} 0.5"), "__name__=up;j=} #; 1@2000");
  EXPECT_EQ(OpenMetrics("# EOF"), "end");
  EXPECT_EQ(OpenMetrics("# TYPE up gauge"), "up: gauge");
  EXPECT_EQ(OpenMetrics("# TYPE \"my.up\" counter"), "my.up: counter");
  EXPECT_EQ(OpenMetrics("# HELP up All\\nof \\\\ them"), "up: All\nof \\ them");
  EXPECT_EQ(OpenMetrics("# HELP up"), "up: ");
  EXPECT_EQ(OpenMetrics("# UNIT up_seconds seconds"), "up_seconds: seconds");
  EXPECT_EQ(OpenMetrics("# somebody says"), "comment");
}

TEST(ImportLineTest, SaysWhatIsWrongWithALineOfOpenMetrics) {
  EXPECT_EQ(OpenMetrics("{a=\"b\"} 1"), "a sample without the name of a metric");
  EXPECT_EQ(OpenMetrics("up"), "value '' is no number");
  EXPECT_EQ(OpenMetrics("up x"), "value 'x' is no number");
  EXPECT_EQ(OpenMetrics("up 1 x"), "time 'x' is no number of seconds since 1970");
  EXPECT_EQ(OpenMetrics("up 1 NaN"), "time 'NaN' is no number of seconds since 1970");
  EXPECT_EQ(OpenMetrics("up 1 1e300"), "time '1e300' is no number of seconds since 1970");
  EXPECT_EQ(OpenMetrics("up 1 2 3"), "'3' behind the sample");
  EXPECT_EQ(OpenMetrics("up{a} 1"), "a label without a value, or braces that do not end");
  EXPECT_EQ(OpenMetrics("up{a=\"b\" 1"), "labels without a comma between them, or braces that do not end");
  EXPECT_EQ(OpenMetrics("up{a=\"b\",a=\"c\"} 1"), "label 'a' comes twice");
  EXPECT_EQ(OpenMetrics("up{\"x\"} 1"), "label '__name__' comes twice");
  EXPECT_EQ(OpenMetrics("up{a=b} 1"), "the value of label 'a' is no text in quotes");
  EXPECT_EQ(OpenMetrics("up{a=\"\\x\"} 1"), "the value of label 'a' is no text in quotes");
  EXPECT_EQ(OpenMetrics("# TYPE"), "TYPE without the name of a metric");
}

TEST(ImportLineTest, KeepsTheSignOfZero) {
  std::string line;
  AppendJsonLine({{"__name__", "up"}}, {{1}, {-0.0}}, &line);
  ImportedSeries series;
  ASSERT_TRUE(ParseJsonLine(line, &series).ok());
  EXPECT_TRUE(std::signbit(series.run.values[0]));
}

// What is written is read as it was, whatever signs it has.
TEST(ImportLineTest, ReadsWhatIsWritten) {
  SeededRandom random(3);
  const auto text = [&random](size_t least) {
    static constexpr std::string_view kSigns = "ab_:. \"\\\n{},=#\xc3\xa4";
    std::string result;
    for (size_t i = least + random.Uniform(6); i > 0; --i) {
      const size_t at = random.Uniform(kSigns.size() - 1);
      result += kSigns[at] < 0 ? std::string("ä") : std::string(1, kSigns[at]);
    }
    return result;
  };
  for (int round = 0; round < 2'000; ++round) {
    Labels labels = {{"__name__", text(1)}};
    for (size_t i = random.Uniform(3); i > 0; --i) SetLabel(text(1), text(1), &labels);
    if (LabelOf(labels, "__name__").empty()) continue;
    SampleRun run;
    for (int i = 0; i < 3; ++i) {
      run.times.push_back(static_cast<int64_t>(random.Uniform(4'000'000'000'000)) - 2'000'000'000'000);
      const double value = std::bit_cast<double>(random.Uniform(UINT64_MAX));
      run.values.push_back(std::isfinite(value) ? value : 0);
    }
    std::string line;
    AppendJsonLine(labels, run, &line);
    ImportedSeries series;
    ASSERT_TRUE(ParseJsonLine(line, &series).ok()) << line;
    EXPECT_EQ(Labels(series.labels.begin(), series.labels.end()), labels);
    EXPECT_EQ(series.run.values, run.values);
    EXPECT_EQ(series.run.times, run.times);

    std::string lines;
    AppendOpenMetrics(labels, run, &lines);
    for (size_t i = 0; i < run.times.size(); ++i) {
      const size_t end = lines.find('\n');
      OpenMetricsLine parsed;
      const absl::Status status = ParseOpenMetricsLine(lines.substr(0, end), 0, &parsed);
      ASSERT_TRUE(status.ok()) << status << " " << lines.substr(0, end);
      Labels read(parsed.series.labels.begin(), parsed.series.labels.end());
      std::sort(read.begin(), read.end());
      EXPECT_EQ(read, labels);
      EXPECT_EQ(parsed.series.run.values[0], run.values[i]);
      EXPECT_EQ(parsed.series.run.times[0], run.times[i]);
      lines.erase(0, end + 1);
    }
  }
}

}  // namespace
}  // namespace sonde::promql

#include "cli/watch/metrics_text.h"

#include <gtest/gtest.h>

#include "metrics/text_writer.h"

namespace sonde {
namespace {

TEST(MetricsText, ReadsWhatTheServerWrites) {
  MetricText text;
  text.Begin("sonde_things_total", MetricKind::kCounter, "Things.");
  text.Sample(3, {{"kind", "a \"b\"\\\n}, c"}, {"other", ""}});
  text.Sample(0.25, {{"kind", "d"}});
  text.Begin("sonde_one", MetricKind::kGauge, "One.");
  text.Sample(1e20);
  const auto samples = MetricSamples::Parse(text.text());
  ASSERT_TRUE(samples.ok()) << samples.status();
  ASSERT_EQ(samples->all().size(), 3u);
  EXPECT_EQ(samples->all()[0].Label("kind"), "a \"b\"\\\n}, c");
  EXPECT_EQ(samples->all()[0].Label("other"), "");
  EXPECT_EQ(samples->Sum("sonde_things_total"), 3.25);
  EXPECT_EQ(samples->Value("sonde_one"), 1e20);
  EXPECT_EQ(samples->Value("sonde_none", 7), 7);
  EXPECT_EQ(samples->Find("sonde_things_total").size(), 2u);
}

TEST(MetricsText, RefusesWhatIsNoSample) {
  for (const char* line : {"{}", "a", "a x", "a{b} 1", "a{b=\"c} 1", "a{b=\"c\" 1", "a{b=c} 1", "<html>"}) {
    const auto samples = MetricSamples::Parse(std::string("# TYPE a gauge\n") + line + "\n");
    EXPECT_EQ(samples.status().code(), absl::StatusCode::kInvalidArgument) << line;
    EXPECT_EQ(samples.status().message(), "line 2 is no sample of a metric") << line;
  }
  EXPECT_TRUE(MetricSamples::Parse("").ok());
}

}  // namespace
}  // namespace sonde

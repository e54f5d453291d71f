#include "prometheus/remote_messages.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sonde::prometheus {
namespace {

const std::vector<RemoteSeries> kSeries = {
    {{{"__name__", "up"}, {"job", "node"}}, {{1, 1'000}, {0, 2'000}}},
    {{{"__name__", "x"}, {"job", "node"}, {"name", "up"}}, {{-0.5, 1'500}}},
};

std::string Text(const std::vector<RemoteSeries>& all) {
  std::string text;
  for (const RemoteSeries& series : all) {
    for (const auto& [name, value] : series.labels) text.append(name).append("=").append(value).append(" ");
    for (const RemoteSample& sample : series.samples) {
      text += std::to_string(sample.timestamp_millis) + ":" + std::to_string(sample.value) + " ";
    }
    text += "\n";
  }
  return text;
}

TEST(RemoteMessages, WritesComeBackInBothVersions) {
  for (const WriteVersion version : {WriteVersion::k1, WriteVersion::k2}) {
    const auto write = DecodeWrite(EncodeWrite(kSeries, version), version);
    ASSERT_TRUE(write.ok()) << write.status();
    EXPECT_EQ(Text(write->series), Text(kSeries));
  }
}

TEST(RemoteMessages, ReadsComeBack) {
  const auto queries = DecodeRead(
      EncodeRead({{5, 9, {{RemoteMatcher::Type::kMatchesNot, "job", "a.*"}, {{}, "__name__", "up"}}}}));
  ASSERT_TRUE(queries.ok()) << queries.status();
  ASSERT_EQ(queries->size(), 1);
  EXPECT_EQ((*queries)[0].start_millis, 5);
  EXPECT_EQ((*queries)[0].end_millis, 9);
  EXPECT_EQ((*queries)[0].matchers[0].type, RemoteMatcher::Type::kMatchesNot);
  EXPECT_EQ((*queries)[0].matchers[1].value, "up");
  const auto results = DecodeReadResponse(EncodeReadResponse({kSeries, {}}));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->size(), 2);
  EXPECT_EQ(Text((*results)[0]), Text(kSeries));
}

TEST(RemoteMessages, RefusesWhatIsNone) {
  EXPECT_EQ(DecodeWrite("", WriteVersion::k1).status().message(), "the body is not a block of snappy");
  const std::string huge = {'\xff', '\xff', '\xff', '\xff', '\x0f'};
  EXPECT_TRUE(absl::IsResourceExhausted(DecodeWrite(huge, WriteVersion::k1).status()));
  SeededRandom random(1);
  const std::string good = EncodeWrite(kSeries, WriteVersion::k2);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_EQ(DecodeWrite(good.substr(0, bytes), WriteVersion::k2).status().message(),
              "the body is not a block of snappy");
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (uint64_t n = 1 + random.Uniform(4); n > 0; --n)
      bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Uniform(256));
    (void)DecodeWrite(bytes, WriteVersion::k2);
    (void)DecodeWrite(bytes, WriteVersion::k1);
    (void)DecodeRead(bytes);
  }
}

}  // namespace
}  // namespace sonde::prometheus

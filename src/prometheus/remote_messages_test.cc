#include "prometheus/remote_messages.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "base/random.h"
#include "prometheus/remote_messages_test_support.h"

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
    EXPECT_EQ(Text(*write), Text(kSeries));
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

std::string Packed(const std::string& message) {
  std::string packed;
  snappy::Compress(message.data(), message.size(), &packed);
  return packed;
}

// Small messages of two bytes each would take fifty times as much when they are parsed.
TEST(RemoteMessages, HoldsNeitherManySmallSeriesNorManyLabels) {
  std::string series;
  for (int i = 0; i < 1'000'000; ++i) series.append("\x0a\x00", 2);
  int64_t seen = 0;
  const auto counts = ReadWrite(series, WriteVersion::k1, [&](const RemoteLabels&, RemoteSamples) {
    ++seen;
    return absl::OkStatus();
  });
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(seen, 1'000'000);

  const auto with = [](size_t labels) {
    std::string one;
    for (size_t i = 0; i < labels; ++i) one.append("\x0a\x00", 2);
    const char head[] = {'\x0a', static_cast<char>(one.size() % 128 + 128),
                         static_cast<char>(one.size() / 128)};
    return DecodeWrite(Packed(std::string(head, sizeof head) + one), WriteVersion::k1).status();
  };
  EXPECT_TRUE(with(kRemoteLabelsMax).ok()) << with(kRemoteLabelsMax);
  EXPECT_EQ(with(kRemoteLabelsMax + 1).message(), "a series has more than 1000 labels, the limit");
  std::string symbols;
  for (size_t i = 0; i <= kRemoteSymbolsMax; ++i) symbols.append("\x22\x00", 2);
  EXPECT_EQ(DecodeWrite(Packed(symbols), WriteVersion::k2).status().message(),
            "the write has more than 1000000 symbols, the limit");
  std::string queries;
  for (size_t i = 0; i <= kRemoteReadPartsMax; ++i) queries.append("\x0a\x00", 2);
  EXPECT_EQ(DecodeRead(Packed(queries)).status().message(),
            "the read has more than 10000 queries and matchers, the limit");
}

// A write that is not right as a whole is not begun.
TEST(RemoteMessages, GivesNothingOfAWriteThatIsBroken) {
  const absl::StatusOr<std::string> good = UnpackWrite(EncodeWrite(kSeries, WriteVersion::k1));
  ASSERT_TRUE(good.ok());
  int seen = 0;
  const auto take = [&](const RemoteLabels&, RemoteSamples) {
    ++seen;
    return absl::OkStatus();
  };
  for (const std::string& broken : {*good + "\x0a\x05", *good + std::string("\x0a\x02\x0a\x05", 4),
                                    *good + '\0', good->substr(0, good->size() - 1)}) {
    EXPECT_EQ(ReadWrite(broken, WriteVersion::k1, take).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(seen, 0);
  EXPECT_TRUE(ReadWrite(*good, WriteVersion::k1, take).ok());
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace sonde::prometheus

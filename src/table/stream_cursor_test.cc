#include "table/stream_cursor.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "base/random.h"

namespace sonde {
namespace {

constexpr StreamIdentity kStream = {.table = 7, .start_micros = 1000};

StreamCursor Two() { return {.segments = {{{"a", "f"}, 10}, {{"f", "m"}, 20}}, .watermark = 30}; }

TEST(StreamCursor, KnowsWhatHasBeenRead) {
  const StreamCursor cursor = Two();
  EXPECT_EQ(cursor.partition(), (RowRange{"a", "m"}));
  EXPECT_EQ(cursor.position(), 10);
  EXPECT_TRUE(cursor.HasRead("b", 10));
  EXPECT_FALSE(cursor.HasRead("b", 11));
  EXPECT_TRUE(cursor.HasRead("f", 20));
  EXPECT_FALSE(cursor.HasRead("f", 21));
  EXPECT_TRUE(cursor.HasRead("m", 99)) << "rows of other partitions are passed over";
  EXPECT_TRUE(cursor.HasRead("", 99));
}

TEST(StreamCursor, SegmentsJoinOnceTheyHaveComeEquallyFar) {
  StreamCursor cursor = Two();
  cursor.Advance(15);
  EXPECT_EQ(cursor, (StreamCursor{.segments = {{{"a", "f"}, 15}, {{"f", "m"}, 20}}, .watermark = 30}));
  cursor.Advance(20);
  EXPECT_EQ(cursor, (StreamCursor{.segments = {{{"a", "m"}, 20}}, .watermark = 30}));
  cursor.Advance(40);
  EXPECT_EQ(cursor, (StreamCursor{.segments = {{{"a", "m"}, 40}}, .watermark = 40}));
}

TEST(StreamCursor, IsClippedToAWindow) {
  EXPECT_EQ(Two().Clip({"c", "g"}),
            (StreamCursor{.segments = {{{"c", "f"}, 10}, {{"f", "g"}, 20}}, .watermark = 30}));
  EXPECT_EQ(Two().Clip({"", "b"}), (StreamCursor{.segments = {{{"a", "b"}, 10}}, .watermark = 30}));
  EXPECT_TRUE(Two().Clip({"m", ""}).segments.empty());
}

TEST(StreamToken, RoundTrips) {
  const StreamCursor all = {.segments = {{RowRange::All(), 0}}, .watermark = INT64_MAX};
  const StreamCursor bytes = {
      .segments = {{{std::string("\0\xff", 2), "\xff\xff"}, 5}, {{"\xff\xff", ""}, 4}}, .watermark = 6};
  for (const StreamCursor& cursor : {Two(), all, bytes}) {
    const auto again = DecodeStreamToken(kStream, EncodeStreamToken(kStream, cursor));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, cursor);
  }
}

TEST(StreamToken, RefusesWhatIsNoneOfTheStream) {
  const std::string token = EncodeStreamToken(kStream, Two());
  const auto code = [](const StreamIdentity& stream, std::string_view text) {
    return DecodeStreamToken(stream, text).status().code();
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({.table = 8, .start_micros = 1000}, token), kInvalid);
  EXPECT_EQ(code({.table = 7, .start_micros = 1001}, token), kInvalid);
  EXPECT_EQ(code(kStream, ""), kInvalid);
  EXPECT_EQ(code(kStream, "!"), kInvalid);
  EXPECT_EQ(code(kStream, absl::WebSafeBase64Escape("\x01")), kInvalid);
  EXPECT_EQ(code(kStream, absl::WebSafeBase64Escape("\x02\x07")), kInvalid);
  const StreamCursor reversed = {.segments = {{{"b", "a"}, 10}}, .watermark = 30};
  EXPECT_EQ(code(kStream, EncodeStreamToken(kStream, reversed)), kInvalid);
  SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string damaged = token.substr(0, random.Uniform(token.size() + 1));
    if (!damaged.empty()) damaged[random.Uniform(damaged.size())] = static_cast<char>(random.Next());
    const auto decoded = DecodeStreamToken(kStream, damaged);
    EXPECT_TRUE(decoded.ok() ? !decoded->segments.empty() : decoded.status().code() == kInvalid);
  }
}

}  // namespace
}  // namespace sonde

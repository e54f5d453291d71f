#include "table/stream_cursor.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "base/random.h"
#include "model/limits.h"

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

// As long keys as there are, and positions that do not let neighbours join.
StreamCursor OfSegments(size_t count) {
  StreamCursor cursor = {.watermark = INT64_MAX};
  std::string start;
  for (size_t i = 0; i < count; ++i) {
    std::string end = std::to_string(100'000 + i);
    end.resize(kRowRangeBoundBytesMax, 'k');
    cursor.segments.push_back({{start, end}, INT64_MAX - 1 - static_cast<int64_t>(i % 3)});
    start = std::move(end);
  }
  return cursor;
}

TEST(StreamCursor, OfTooManySegmentsIsCoarsened) {
  StreamCursor cursor = OfSegments(kStreamSegmentsMax);
  cursor.Coarsen();
  EXPECT_EQ(cursor, OfSegments(kStreamSegmentsMax)) << "so many are fine";
  const StreamCursor fine = OfSegments(3 * kStreamSegmentsMax);
  cursor = fine;
  cursor.Coarsen();
  EXPECT_LE(cursor.segments.size(), kStreamSegmentsMax);
  EXPECT_EQ(cursor.partition(), fine.partition());
  EXPECT_EQ(cursor.watermark, fine.position());
  for (const StreamCursor::Segment& segment : fine.segments) {
    EXPECT_FALSE(cursor.HasRead(segment.range.start, segment.position + 1));
    EXPECT_TRUE(cursor.HasRead(segment.range.start, fine.position()));
  }
}

TEST(StreamToken, AsLongAsAnyRoundTripsAndALongerOneIsRefused) {
  const StreamCursor longest = OfSegments(kStreamSegmentsMax);
  EXPECT_EQ(*DecodeStreamToken(kStream, EncodeStreamToken(kStream, longest)), longest);
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  const auto code = [](const StreamCursor& cursor) {
    return DecodeStreamToken(kStream, EncodeStreamToken(kStream, cursor)).status().code();
  };
  EXPECT_EQ(code(OfSegments(kStreamSegmentsMax + 1)), kInvalid);
  StreamCursor many = {.watermark = 1};
  for (int i = 0; i < 1'000; ++i) {
    many.segments.push_back({{std::to_string(1'000 + i), std::to_string(1'001 + i)}, i % 2});
  }
  EXPECT_EQ(code(many), kInvalid) << "short, but of many segments";
  const StreamCursor long_end = {.segments = {{{"", std::string(kRowRangeBoundBytesMax + 1, 'k')}, 1}},
                                 .watermark = 1};
  EXPECT_EQ(code(long_end), kInvalid);
  EXPECT_EQ(DecodeStreamToken(kStream, std::string(64 << 20, 'A')).status().code(), kInvalid);
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

#include "series/key/row_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

KeyCodec CodecOf(std::string_view text) {
  auto schema = ParseSchema(
      fmt::format("series: s\ntags: {{ a: string, b: string }}\nfields: {{ x: double }}\n{}\n", text),
      "x.yaml");
  EXPECT_TRUE(schema.ok()) << text << ": " << schema.status();
  return KeyCodec(*std::move(schema));
}

std::string Name(RowOrder::Times times) {
  return times == RowOrder::Times::kAscending    ? "ascending"
         : times == RowOrder::Times::kDescending ? "descending"
                                                 : "mixed";
}

// Times of rows as they lie, and of rows that are merged over salts.
std::string Times(std::string_view text) {
  const KeyCodec codec = CodecOf(text);
  return Name(RowOrder(codec, false).times_of_field()) + " " + Name(RowOrder(codec, true).times_of_field());
}

TEST(RowOrder, KnowsTheOrderOfTimes) {
  EXPECT_EQ(Times("bucket: day\nkey: [a, b, bucket]"), "ascending ascending");
  EXPECT_EQ(Times("bucket: day\nkey: [bucket, a, b]"), "ascending ascending");
  EXPECT_EQ(Times("bucket: day\nkey: [a, b, { bucket: day, format: epoch_s, reverse: true }]"),
            "descending descending");
  EXPECT_EQ(Times("layout: row\nkey: [a, b, { time: epoch_s, reverse: true }]"), "descending descending");
  EXPECT_EQ(Times("bucket: day\nkey: [{ salt: 4, of: time }, a, b, bucket]"), "mixed ascending");
  EXPECT_EQ(Times("bucket: day\nkey: [a, { salt: 4, of: time }, b, bucket]"), "mixed ascending");
  EXPECT_EQ(Times("layout: row\nkey: [a, b, { salt: 4, of: time }, time]"), "mixed ascending");
  // Behind the piece of time that it is made of, a salt says nothing more.
  EXPECT_EQ(Times("bucket: day\nkey: [a, bucket, { salt: 4, of: time }, b]"), "ascending ascending");
  EXPECT_EQ(Times("bucket: day\nkey: [{ salt: 4, of: [a] }, a, b, bucket]"), "ascending ascending");
  // A second part of time: the salt is that of the finer one.
  EXPECT_EQ(Times("layout: row\nkey: [a, b, { time: yyyymmdd }, { salt: 4, of: time }, time]"),
            "mixed ascending");
  EXPECT_EQ(Times("layout: row\nkey: [a, b, { time: yyyymmdd }, time]"), "ascending ascending");
  EXPECT_EQ(Times("layout: row\nkey: [a, b, time, { time: yyyymmdd }]"), "ascending ascending");
  EXPECT_EQ(Times("layout: row\nkey: [a, b, { time: yyyymmdd }, { time: epoch_ms, reverse: true }]"),
            "mixed mixed");
}

TEST(RowOrder, OfAKeyWithTheFieldKnowsTheOrderOfEachField) {
  const KeyCodec codec = CodecOf("bucket: day\nlayout: columns\nkey: [a, b, field, bucket]");
  EXPECT_EQ(RowOrder(codec, true).times_of_field(), RowOrder::Times::kAscending);
  EXPECT_EQ(RowOrder(codec, true).times_of_series(), RowOrder::Times::kMixed);
}

// Which of the groups by a; b; a and b; nothing lie together: as the rows lie, and merged over salts.
std::string Together(std::string_view text) {
  const KeyCodec codec = CodecOf(text);
  std::string result;
  for (const bool without_salt : {false, true}) {
    const RowOrder order(codec, without_salt);
    if (order.LieTogether({0})) result += "a ";
    if (order.LieTogether({1})) result += "b ";
    if (order.LieTogether({1, 0})) result += "ab ";
    if (order.LieTogether({})) result += "- ";
    EXPECT_EQ(order.SeriesLieTogether(), order.LieTogether({0, 1}));
    result += without_salt ? "" : "| ";
  }
  return result;
}

TEST(RowOrder, KnowsWhichRowsLieTogether) {
  EXPECT_EQ(Together("bucket: day\nkey: [a, b, bucket]"), "a ab - | a ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [{ const: M }, b, a, bucket]"), "b ab - | b ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [a, bucket, b]"), "a - | a - ");
  EXPECT_EQ(Together("bucket: day\nkey: [{ salt: 9, of: [a, b] }, a, b, bucket]"), "ab - | a ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [{ salt: 9, of: [a] }, a, b, bucket]"), "a ab - | a ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [{ salt: 9, of: time }, a, b, bucket]"), "- | a ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [a, { salt: 9, of: time }, b, bucket]"), "a - | a ab - ");
  EXPECT_EQ(Together("bucket: day\nkey: [a, b, { salt: 9, of: time }, bucket]"), "a ab - | a ab - ");
  EXPECT_EQ(Together("bucket: day\nlayout: columns\nkey: [a, field, b, bucket]"), "a - | a - ");
}

TEST(RowOrder, KnowsTheTagsInFront) {
  const KeyCodec codec = CodecOf("bucket: day\nkey: [{ const: M }, a, { salt: 9, of: time }, b, bucket]");
  EXPECT_EQ(RowOrder(codec, false).tags_in_front(), std::vector<size_t>{0});
  EXPECT_EQ(RowOrder(codec, true).tags_in_front(), (std::vector<size_t>{0, 1}));
}

}  // namespace
}  // namespace sonde::series

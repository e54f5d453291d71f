#include "series/key/scan_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

KeyCodec CodecOf(std::string_view text) {
  auto schema = ParseSchema(fmt::format("series: s\nfields: {{ x: double }}\n{}\n", text), "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return KeyCodec(*std::move(schema));
}

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

using Ranges = std::vector<RowRange>;

Ranges RangesOf(const KeyCodec& codec, const Selection& selection) {
  const auto plan = PlanScan(codec, selection);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->ranges;
}

TEST(ScanPlan, FixedTagsAndABucketAreOneRange) {
  const KeyCodec codec = CodecOf("tags: { host: string, id: int }\nbucket: day\nkey: [host, id, bucket]");
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}, {{"7"}, {}}}, kDay + 5, kDay + 2 * kMicrosPerDay}),
            (Ranges{{"h#7#20210304", "h#7#20210306"}}));
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}, {{"7"}, {}}}, kDay + 5, kDay + 6}),
            (Ranges{{"h#7#20210304", "h#7#20210305"}}));
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}, {{"7"}, {}}}}), Ranges{RowRange::Prefix("h#7#")});
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}, {}}, kDay, kDay + 1}), Ranges{RowRange::Prefix("h#")});
  EXPECT_EQ(RangesOf(codec, {{{{}, "h"}}}), Ranges{RowRange::Prefix("h")});
  EXPECT_EQ(RangesOf(codec, {{{{"a", "b"}, {}}}}), (Ranges{RowRange::Prefix("a#"), RowRange::Prefix("b#")}));
  EXPECT_EQ(RangesOf(codec, {{}, kDay, kDay}), Ranges{});
}

TEST(ScanPlan, SaysWhenEverythingIsRead) {
  const KeyCodec codec =
      CodecOf("tags: { host: string, id: int }\nbucket: day\nkey: [{ const: M }, host, id, bucket]");
  EXPECT_TRUE(PlanScan(codec, {})->is_full_scan);
  EXPECT_TRUE(PlanScan(codec, {{{}, {{"7"}, {}}}, kDay})->is_full_scan);
  EXPECT_FALSE(PlanScan(codec, {{{{"h"}, {}}}})->is_full_scan);
  EXPECT_EQ(RangesOf(codec, {}), Ranges{RowRange::Prefix("M#")});
}

TEST(ScanPlan, ReversedTimesAreReadFromTheEnd) {
  const KeyCodec codec =
      CodecOf("tags: { host: string }\nlayout: row\nkey: [host, { time: epoch_s, reverse: true }]");
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}}, 10 * kMicrosPerSecond, 12 * kMicrosPerSecond}),
            (Ranges{{"h#9223372036854775796", "h#9223372036854775798"}}));
}

TEST(ScanPlan, WritesOutBucketsBeforeFixedTags) {
  const KeyCodec codec = CodecOf("tags: { site: string, id: int }\nbucket: day\nkey: [site, bucket, id]");
  EXPECT_EQ(RangesOf(codec, {{{{"s"}, {}}, {{"7"}, {}}}, kDay, kDay + 2 * kMicrosPerDay}),
            (Ranges{RowRange::Single("s#20210304#7"), RowRange::Single("s#20210305#7")}));
  EXPECT_EQ(RangesOf(codec, {{{{"s"}, {}}, {}}, kDay, kDay + 2 * kMicrosPerDay}),
            (Ranges{{"s#20210304", "s#20210306"}}));
}

// Salts in front and values behind multiply the buckets.
TEST(ScanPlan, BucketsThatWouldBeTooManyRangesAreOne) {
  const KeyCodec codec = CodecOf(
      "tags: { host: string }\nbucket: week\nkey: [{ salt: 100, of: time }, { bucket: week, format: yyyymmdd "
      "}, host]");
  const int64_t week = 7 * kMicrosPerDay;
  Selection selection{{{{"h"}, {}}}, kDay, kDay + 90 * week};
  EXPECT_EQ(RangesOf(codec, selection).size(), 9'100) << "91 weeks of each salt";
  selection.to_micros = kDay + 120 * week;
  const auto plan = PlanScan(codec, selection);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->streams.size(), 100);
  EXPECT_EQ(plan->ranges.size(), 100);
  EXPECT_EQ(plan->ranges[7], (RowRange{"07#20210301", "07#2023061:"}));
  EXPECT_FALSE(plan->is_full_scan);
  for (int i = 0; i < 101; ++i) selection.tags[0].values.push_back(fmt::format("h{}", i));
  EXPECT_EQ(RangesOf(codec, selection).size(), 100) << "hosts behind the time are not walked then";
}

TEST(ScanPlan, RefusesWhatNoKeyHolds) {
  const KeyCodec codec = CodecOf("tags: { host: string, id: int }\nbucket: day\nkey: [host, id, bucket]");
  EXPECT_EQ(PlanScan(codec, {{{}, {{"x"}, {}}}}).status().message(),
            "tag 'id': value 'x' is not an int of 64 bits");
  EXPECT_EQ(PlanScan(codec, {{{}, {{}, "1"}}}).status().message(),
            "tag 'id' is an int: '1*' asks for a prefix; allowed: whole values");
}

// Every point that is asked for is in the ranges, and Matches agrees with a look at the tags and the time.
TEST(ScanPlan, RangesHoldAllThatIsAskedFor) {
  SeededRandom random(21);
  const char* keys[] = {
      "bucket: day\nkey: [a, b, bucket]",
      "bucket: week\nkey: [bucket, a, b]",
      "bucket: 7h\nkey: [a, bucket, b]",
      "bucket: month\nkey: [b, { bucket: month }, { const: K }, a]",
      "bucket: hour\nkey: [a, { bucket: hour, format: epoch_s, reverse: true }, b]",
      "layout: row\nkey: [a, b, time]",
      "layout: row\nkey: [b, { time: epoch_ms, reverse: true }, a]",
      "layout: row\nkey: [{ time: yyyymmdd }, a, { time: yyyymmddhhmmssmmm }, b]",
  };
  for (const char* text : keys) {
    const KeyCodec codec =
        CodecOf(fmt::format("tags: {{ a: string, b: {{ type: int, width: 3 }} }}\n{}", text));
    for (int i = 0; i < 300; ++i) {
      const auto random_time = [&] {
        return kDay + static_cast<int64_t>(random.Uniform(40 * kMicrosPerDay / 1000)) * 1000;
      };
      Selection selection;
      selection.tags.resize(2);
      if (random.Uniform(2) == 0) selection.tags[0].values = {"x", "xy"};
      if (random.Uniform(4) == 0) selection.tags[0] = {{}, "x"};
      if (random.Uniform(2) == 0) selection.tags[1].values = {"1"};
      if (random.Uniform(2) == 0) selection.from_micros = random_time();
      if (random.Uniform(2) == 0) selection.to_micros = random_time();
      const Ranges ranges = RangesOf(codec, selection);
      for (int p = 0; p < 40; ++p) {
        const std::string_view a = std::array{"x", "xy", "xyz", "w"}[random.Uniform(4)];
        const std::string_view b = std::array{"1", "2", "10"}[random.Uniform(3)];
        const int64_t time = random_time();
        std::string key;
        ASSERT_TRUE(codec.Encode({a, b}, time, &key).ok());
        const auto& a_filter = selection.tags[0];
        const bool is_a = a_filter.IsAny() || (a_filter.prefix ? a[0] == 'x' : a == "x" || a == "xy");
        const bool is_b = selection.tags[1].IsAny() || b == "1";
        const bool is_asked = is_a && is_b && time >= selection.from_micros && time < selection.to_micros;
        const bool is_read =
            std::any_of(ranges.begin(), ranges.end(), [&](const auto& r) { return r.Contains(key); });
        EXPECT_TRUE(is_read || !is_asked) << text << " " << key;
        DecodedKey decoded;
        ASSERT_TRUE(codec.Decode(key, &decoded).ok());
        const bool matches = Matches(codec, selection, decoded);
        EXPECT_TRUE(matches || !is_asked);
        EXPECT_TRUE((is_a && is_b) || !matches);
        if (codec.schema().layout == Layout::kRow && selection.from_micros < selection.to_micros) {
          EXPECT_EQ(matches, is_asked);
        }
      }
    }
  }
}

TEST(ScanPlan, SaltsOfGivenTagsAreComputed) {
  const KeyCodec codec =
      CodecOf("tags: { host: string, id: int }\nbucket: day\nkey: [{ salt: 4, of: host }, host, id, bucket]");
  const auto salt = [&](std::string_view host) {
    return *codec.SaltOf(codec.schema().key[0], {host, ""}, 0);
  };
  EXPECT_EQ(RangesOf(codec, {{{{"h"}, {}}}}), Ranges{RowRange::Prefix(fmt::format("{}#h#", salt("h")))});
  const auto two = PlanScan(codec, {{{{"h", "x"}, {}}}});
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->ranges.size(), 2);
  EXPECT_EQ(two->streams.size(), salt("h") == salt("x") ? 1 : 2);
  EXPECT_FALSE(two->is_full_scan);
}

TEST(ScanPlan, OtherSaltsAreAllOfThem) {
  const KeyCodec codec = CodecOf(
      "tags: { host: string }\nlayout: row\nkey: [{ const: B }, { salt: 3, of: time }, host, { time: "
      "yyyymmdd }]");
  const auto plan = PlanScan(codec, {{{{"h"}, {}}}, kDay, kDay + kMicrosPerDay});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->streams, (std::vector<Ranges>{{{"B#0#h#20210304", "B#0#h#20210305"}},
                                                {{"B#1#h#20210304", "B#1#h#20210305"}},
                                                {{"B#2#h#20210304", "B#2#h#20210305"}}}));
  EXPECT_FALSE(plan->is_full_scan);
  EXPECT_TRUE(PlanScan(codec, {})->is_full_scan);
  const KeyCodec behind =
      CodecOf("tags: { host: string }\nlayout: row\nkey: [host, { time: yyyymmdd }, salt]");
  EXPECT_EQ(PlanScan(behind, {{}, kDay})->streams.size(), 1);
}

TEST(ScanPlan, FieldsNarrowTheKey) {
  const auto schema = ParseSchema(
      "series: s\nfields: { x: double, y: double }\ntags: { host: string }\nlayout: columns\nbucket: day\n"
      "key: [host, field, bucket]\n",
      "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  const KeyCodec codec(*schema);
  Selection selection = {{{{"h"}, {}}}, kDay, kDay + 1};
  EXPECT_EQ(RangesOf(codec, selection),
            (Ranges{{"h#x#20210304", "h#x#20210305"}, {"h#y#20210304", "h#y#20210305"}}));
  selection.fields = {1};
  EXPECT_EQ(RangesOf(codec, selection), (Ranges{{"h#y#20210304", "h#y#20210305"}}));
  DecodedKey key;
  ASSERT_TRUE(codec.Decode("h#x#20210304", &key).ok());
  EXPECT_FALSE(Matches(codec, selection, key));
}

}  // namespace
}  // namespace sonde::series

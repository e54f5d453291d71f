// Points through every layout and back: whatever the layout, the key, the salt or the version, what was
// written is what is read, and late and repeated points change nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "series/key/field_codec.h"
#include "series/known/point_scan.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

// Tags and time to the fields' texts.
using Points = std::map<std::pair<std::vector<std::string>, int64_t>, std::map<std::string, std::string>>;

constexpr std::string_view kHead =
    "series: s\ntags: { loc: string, id: { type: int, width: 4 } }\n"
    "fields: { pressure: int, temp: double }\ntime: { resolution: 1m }\n";

constexpr const char* kShapes[] = {
    "layout: cells\nbucket: day\nkey: [loc, id, bucket]\n",
    "layout: cells\nkey: [loc, id]\n",
    "layout: cells\nbucket: week\nkey: [{ salt: 4 }, loc, id, bucket]\n",
    "layout: cells\nbucket: hour\nkey: [bucket, { salt: 3, of: id }, loc, id]\n",
    "layout: columns\nbucket: week\nkey: [loc, id, field, bucket]\n",
    "layout: columns\nbucket: day\nkey: [{ salt: 3, of: time }, loc, field, id, bucket]\n",
    "layout: offsets\nbucket: day\nslot: 1m\nkey: [id, loc, bucket]\n",
    "layout: offsets\nbucket: hour\nslot: 1m\nkey: [id, field, loc, { bucket: hour, format: epoch_s, "
    "reverse: true }]\n",
    "layout: offsets\nbucket: month\nslot: 1m\nkey: [id, loc, bucket]\ncorrections: keep\n",
    "layout: offsets\nbucket: week\nslot: 1m\nkey: [id, loc, bucket]\n",
    "layout: row\nkey: [loc, id, time]\n",
    "layout: row\nkey: [loc, id, { time: epoch_ms, reverse: true }]\ncorrections: keep\n",
    "layout: row\nkey: [{ salt: 3, of: time }, { const: M }, loc, { time: yyyy-mm-dd-hhmm }, id]\n",
    "layout: row\nkey: [loc, { time: yyyymmddhhmm }, salt, id]\n",
    "layout: blob\nkey: [loc, id, { time: yyyymmddhhmm }]\n",
    "layout: blob\nblob: { format: protobuf, column: b }\nkey: [loc, id, time]\ncorrections: keep\n",
    "layout: blob\nbucket: day\nkey: [loc, id, bucket]\n",
    "layout: blob\nblob: { format: protobuf }\nbucket: week\nkey: [{ salt: 5 }, loc, id, bucket]\n",
};

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

struct Sample {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<std::string> fields;
};

Sample RandomSample(RandomSource& random) {
  Sample sample;
  sample.tags = {fmt::format("l{}", random.Uniform(3)), fmt::format("{}", random.Uniform(4))};
  sample.time_micros = kDay + static_cast<int64_t>(random.Uniform(4'000)) * kMicrosPerMinute;
  sample.fields = {fmt::format("{}", random.Uniform(50)), fmt::format("{}.5", random.Uniform(50))};
  if (random.Uniform(4) == 0) sample.fields[random.Uniform(2)].clear();
  return sample;
}

absl::Status AddSample(const Sample& sample, PointWriter* writer) {
  const std::vector<std::string_view> tags(sample.tags.begin(), sample.tags.end());
  const std::vector<std::string_view> fields(sample.fields.begin(), sample.fields.end());
  return writer->Add({tags, sample.time_micros, fields});
}

Points ReadAll(const SeriesSchema& schema, const Selection& selection, TableAccess* tables) {
  Points points;
  std::vector<size_t> fields = selection.fields;
  if (fields.empty()) fields = {0, 1};
  const absl::Status status = ScanPoints(
      schema, selection, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        for (size_t i = 0; i < fields.size(); ++i) {
          if (point.values[i].data() == nullptr) continue;
          const Field& field = schema.fields[fields[i]];
          const absl::StatusOr<FieldValue> value = DecodeValue(field, point.values[i]);
          if (!value.ok()) return value.status();
          points[{key.tags, point.time_micros}][field.name] = ValueText(*value);
        }
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return points;
}

Points Narrow(const Points& points, const Selection& selection) {
  Points result;
  for (const auto& [of, fields] : points) {
    if (of.second < selection.from_micros || of.second >= selection.to_micros) continue;
    bool matches = true;
    for (size_t tag = 0; tag < selection.tags.size(); ++tag) {
      const std::vector<std::string>& values = selection.tags[tag].values;
      matches &= values.empty() || std::find(values.begin(), values.end(), of.first[tag]) != values.end();
    }
    if (!matches) continue;
    for (const auto& [name, value] : fields) {
      if (selection.fields.empty() || (name == "temp") == (selection.fields[0] == 1))
        result[of][name] = value;
    }
  }
  return result;
}

void CheckShape(const std::string& declaration, uint64_t seed) {
  SCOPED_TRACE(declaration);
  const auto schema = ParseSchema(declaration, "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  SeededRandom random(seed);
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(*schema, &tables).ok());
  ManualClock clock(kDay + 30 * kMicrosPerDay);
  PointWriter writer(*schema, &tables, {}, &clock);
  Points points;
  std::vector<Sample> samples;
  for (int i = 0; i < 400; ++i) {
    // Some points come again, as they were; in layout columns another reading would stand beside the first.
    const bool is_repeated = !samples.empty() && random.Uniform(5) == 0;
    Sample sample = is_repeated ? samples[random.Uniform(samples.size())] : RandomSample(random);
    auto& fields = points[{sample.tags, sample.time_micros}];
    if (!is_repeated && !fields.empty()) continue;
    ASSERT_TRUE(AddSample(sample, &writer).ok());
    for (size_t f = 0; f < 2; ++f) {
      if (!sample.fields[f].empty()) fields[schema->fields[f].name] = sample.fields[f];
    }
    samples.push_back(std::move(sample));
    const bool is_flushed = random.Uniform(50) == 0;
    ASSERT_TRUE(!is_flushed || writer.Flush().ok());
    clock.Advance(1'000);
  }
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(ReadAll(*schema, {}, &tables), points);
  for (int i = 0; i < 30; ++i) {
    Selection selection;
    selection.tags.resize(2);
    if (random.Uniform(2) == 0) selection.tags[0].values = {"l1", "l2"};
    if (random.Uniform(2) == 0) selection.tags[1].values = {"3"};
    if (random.Uniform(2) == 0)
      selection.from_micros = kDay + static_cast<int64_t>(random.Uniform(4'000)) * 61'000'000;
    if (random.Uniform(2) == 0)
      selection.to_micros = kDay + static_cast<int64_t>(random.Uniform(4'000)) * 61'000'000;
    if (random.Uniform(3) == 0) selection.fields = {random.Uniform(2)};
    EXPECT_EQ(ReadAll(*schema, selection, &tables), Narrow(points, selection));
  }
}

TEST(Layouts, WhatIsWrittenIsRead) {
  uint64_t seed = 100;
  for (const char* shape : kShapes) CheckShape(std::string(kHead) + shape, ++seed);
}

TEST(Layouts, ReadsSpanVersions) {
  SeededRandom random(31);
  for (int i = 0; i < 40; ++i) {
    const auto shape = [&] { return std::string(kShapes[random.Uniform(std::size(kShapes))]); };
    const auto nested = [&](const char* until, const char* table) {
      std::string text = fmt::format("  - until: {}\n    table: {}\n", until, table);
      std::string lines = shape();
      for (size_t at = 0; at < lines.size();) {
        const size_t end = lines.find('\n', at);
        text += "    " + lines.substr(at, end + 1 - at);
        at = end + 1;
      }
      return text;
    };
    // Neither a version's blob nor its slot is inherited by a layout that has none.
    const std::string declaration = std::string(kHead) + shape() + "versions:\n" +
                                    nested("2021-03-05", "s_1") + nested("2021-03-05-1207", "s_2");
    const bool is_inherited = declaration.find("corrections") != std::string::npos;
    if (is_inherited) continue;  // `corrections` is, and not every layout can
    CheckShape(declaration, 200 + i);
  }
}

TEST(Layouts, WritesTheDocumentsColumns) {
  MemoryTables tables;
  const auto write = [&](const std::string& text, std::vector<std::string> tags, int64_t time,
                         std::vector<std::string> fields) {
    const auto schema = ParseSchema(text, "x.yaml");
    ASSERT_TRUE(schema.ok()) << schema.status();
    ASSERT_TRUE(EnsureSeriesTables(*schema, &tables).ok());
    PointWriter writer(*schema, &tables);
    ASSERT_TRUE(AddSample({std::move(tags), time, std::move(fields)}, &writer).ok());
    ASSERT_TRUE(writer.Flush().ok());
  };
  using Row = MemoryTables::Row;
  write(
      "series: SENSOR\ntags: { meter: { type: int, width: 10, column: ID } }\nfields: { kwh: double }\n"
      "layout: offsets\nslot: 15m\nbucket: day\nfamily: METER\nkey: [meter, bucket]\n",
      {"987654"}, kDay + 23 * kMicrosPerHour + 50 * kMicrosPerMinute, {"8.90"});
  EXPECT_EQ(tables.tables["SENSOR"].rows["0000987654#20210304"],
            (Row{{{"METER", "ID"}, {{kDay, "987654"}}},
                 {{"METER", "2345"}, {{kDay + 23 * kMicrosPerHour + 45 * kMicrosPerMinute, "8.90"}}}}));
  write(
      "series: garden\ntags: { place: string }\nfields: { temp: { type: double, family: TEMP } }\n"
      "layout: offsets\nslot: 1d\nbucket: month\nkey: [place, { bucket: month, format: yyyymmdd }]\n",
      {"VEGGIEGARDEN"}, kDay, {"60.4"});
  EXPECT_EQ(tables.tables["garden"].rows["VEGGIEGARDEN#20210301"], (Row{{{"TEMP", "4"}, {{kDay, "60.4"}}}}));
  write(
      "series: balloon\ntags: { loc: string, id: int }\nfields: { pressure: int, temp: double }\n"
      "layout: columns\nbucket: week\nkey: [loc, id, field, bucket]\n",
      {"us-west2", "3698"}, kDay, {"94558", ""});
  EXPECT_EQ(tables.tables["balloon"].rows["us-west2#3698#pressure#2021-w09"],
            (Row{{{"m", "94558"}, {{kDay, ""}}}}));
  write(
      "series: QUOTE\ntags: { exchange: { width: 6, column: EXCHANGE }, symbol: { width: 5, column: SYMBOL } "
      "}\n"
      "fields: { bid: { type: double, as: BID } }\nfamily: MD\nlayout: row\ntime: { column: QUOTETIME }\n"
      "key: [exchange, symbol, time]\n",
      {"NASDAQ", "ZXZZT"}, 1426535612156000, {"600.55"});
  EXPECT_EQ(tables.tables["QUOTE"].rows["NASDAQ#ZXZZT#1426535612156"],
            (Row{{{"MD", "BID"}, {{1426535612156000, "600.55"}}},
                 {{"MD", "EXCHANGE"}, {{1426535612156000, "NASDAQ"}}},
                 {{"MD", "QUOTETIME"}, {{1426535612156000, "1426535612156"}}},
                 {{"MD", "SYMBOL"}, {{1426535612156000, "ZXZZT"}}}}));
}

TEST(Layouts, CorrectionsAreKept) {
  const auto schema = ParseSchema(
      "series: price\ntags: { symbol: string }\nfields: { price: double }\nlayout: row\ncorrections: keep\n"
      "time: { resolution: 1d }\nkey: [symbol, { time: yyyymmdd }]\n",
      "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(*schema, &tables).ok());
  ManualClock clock(kDay + 500);
  PointWriter writer(*schema, &tables, {}, &clock);
  ASSERT_TRUE(writer.Add({{"ZXZZT"}, kDay, {"559.40"}}).ok());
  ASSERT_TRUE(writer.Add({{"ZXZZT"}, kDay, {"558.40"}}).ok());  // in the same millisecond and request
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ((tables.tables["price"].rows["ZXZZT#20210304"][{"m", "price"}]),
            (MemoryTables::Column{{kDay, "559.40"}, {kDay + 1000, "558.40"}}));
  int points = 0;
  ASSERT_TRUE(
      ScanPoints(*schema, {}, &tables, [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
        ++points;
        EXPECT_EQ(point.values[0], "558.40");
        EXPECT_EQ(point.time_micros, kDay);
        return true;
      }).ok());
  EXPECT_EQ(points, 1);
}

}  // namespace
}  // namespace sonde::series

#include "series/key/key_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

KeyCodec CodecOf(std::string_view text) {
  auto schema = ParseSchema(text, "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return KeyCodec(*std::move(schema));
}

constexpr int64_t kTime = 1614945873001000;  // 2021-03-05T12:04:33.001Z

TEST(KeyCodec, WritesTheDocumentsKeys) {
  struct Case {
    std::string_view declaration;
    std::vector<std::string_view> tags;
    std::string_view key;
  };
  const Case cases[] = {
      {"tags: { location: string, id: int }\nbucket: week\nkey: [location, id, bucket]",
       {"asia-south2", "3698"},
       "asia-south2#3698#2021-w09"},
      {"tags: { location: string, id: int }\nlayout: row\nkey: [location, id, { time: yyyy-mm-dd-hhmm }]",
       {"us-west2", "3698"},
       "us-west2#3698#2021-03-05-1204"},
      {"tags: { user: string }\nlayout: row\nkey: [{ const: BATTERY }, user, { time: yyyymmddhhmmssmmm }]",
       {"Corrie"},
       "BATTERY#Corrie#20210305120433001"},
      {"tags: { exchange: { width: 6 }, symbol: { width: 5 } }\nlayout: row\nkey: [exchange, symbol, time]",
       {"NYSE", "ZX"},
       "NYSE  #ZX   #1614945873001"},
      {"tags: { exchange: { width: 6 }, symbol: { width: 5 } }\nlayout: row\ndelimiter: ''\nkey: [exchange, "
       "symbol, time]",
       {"NASDAQ", "ZXZZT"},
       "NASDAQZXZZT1614945873001"},
      {"tags: { meter: { type: int, width: 10 } }\nbucket: day\nkey: [meter, bucket]",
       {"987654"},
       "0000987654#20210305"},
      {"tags: { host: string }\nlayout: row\nkey: [host, { time: epoch_ms, reverse: true }]",
       {"h"},
       "h#9223370421908902806"},
      {"tags: { host: string }\nbucket: 15m\nkey: [host, bucket]", {"h"}, "h#2021-03-05-1200"},
      {"tags: { location: string, id: int }\nbucket: week\nlayout: columns\nkey: [location, id, field, "
       "bucket]",
       {"us-west2", "3698"},
       "us-west2#3698#x#2021-w09"},
      {"tags: { user: string }\nlayout: row\nkey: [{ const: BATTERY }, { salt: 3, of: time }, { time: "
       "yyyymmddhhmmssmmm }, user]",
       {"Corrie"},
       "BATTERY#2#20210305120433001#Corrie"},
  };
  for (const Case& c : cases) {
    const KeyCodec codec = CodecOf(fmt::format("series: s\nfields: {{ x: double }}\n{}\n", c.declaration));
    std::string key;
    ASSERT_TRUE(codec.Encode(c.tags, kTime, &key).ok());
    EXPECT_EQ(key, c.key);
    DecodedKey decoded;
    ASSERT_TRUE(codec.Decode(key, &decoded).ok()) << codec.Decode(key, &decoded);
    EXPECT_EQ(decoded.tags, std::vector<std::string>(c.tags.begin(), c.tags.end()));
  }
}

TEST(KeyCodec, RefusesWhatItCouldNotReadBack) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { site: string, rack: { width: 4 }, id: { type: int, width: 3 "
      "} }\n"
      "layout: row\nkey: [site, rack, id, time]\n");
  const auto error = [&](std::string_view site, std::string_view rack, std::string_view id,
                         int64_t time = kTime) {
    std::string key;
    const absl::Status status = codec.Encode({site, rack, id}, time, &key);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(TextOfStatus(status));
  };
  EXPECT_EQ(error("", "r", "1"), "tag 'site': value '' is empty");
  EXPECT_EQ(error("a#b", "r", "1"), "tag 'site': value 'a#b' holds the delimiter '#'");
  EXPECT_EQ(error("a", "rack12", "1"), "tag 'rack': value 'rack12' has 6 bytes; its width is 4");
  EXPECT_EQ(error("a", "r ", "1"), "tag 'rack': value 'r ' ends with its pad ' '");
  EXPECT_EQ(error("a", "r\x01", "1"),
            "tag 'rack': value 'r\\x01' holds a byte below its pad ' ', which would sort wrongly");
  EXPECT_EQ(error("a", "r", "1000"), "tag 'id': value '1000' has more than 3 digits, its width");
  EXPECT_EQ(error("a", "r", "-1"), "tag 'id': value '-1' is negative, which does not sort in a padded key");
  EXPECT_EQ(error("a", "r", "1.5"), "tag 'id': value '1.5' is not an int of 64 bits");
  EXPECT_EQ(error("a", "r", ""), "tag 'id': value '' is empty");
  EXPECT_EQ(error("a", "r", "1", -1),
            "time 1969-12-31T23:59:59.999999Z: the keys of table 's' have epoch_ms of width 13, which counts "
            "from 1970-01-01T00:00:00Z; earlier times take an earlier origin, as in time: { origin: "
            "0001-01-01 }, or layout row with a calendar format such as yyyymmdd in the key");
  EXPECT_EQ(error("a", "r", "1", kTimeEndMicros),
            "time 253402300800000000 microseconds since 1970; allowed: the years 0001 to 9999");
  EXPECT_EQ(error("a", "r", "1", 10'000'000'000'000'000),
            "time 2286-11-20T17:46:40Z: the keys of table 's' have epoch_ms of width 13, which counts from "
            "1970-01-01T00:00:00Z, and ends at 2286-11-20T17:46:39.999999Z; later times take a larger width, "
            "or a calendar format such as yyyymmdd");
  EXPECT_EQ(
      error(std::string(5000, 'a'), "r", "1"),
      fmt::format("row key '{}... (5023 bytes)' has 5023 bytes; allowed: up to 4096", std::string(60, 'a')));
}

TEST(KeyCodec, RefusesForeignKeys) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { host: string, id: { type: int, width: 3 } }\nbucket: 15m\n"
      "key: [{ const: M }, host, id, bucket]\n");
  DecodedKey decoded;
  EXPECT_TRUE(codec.Decode("M#h#007#2021-03-05-1215", &decoded).ok());
  EXPECT_EQ(decoded.tags[1], "7");
  for (const char* key :
       {"", "M", "M#h", "M#h#007", "M#h#007#", "M#h#007#2021-03-05-1216", "N#h#007#2021-03-05-1215",
        "M##007#2021-03-05-1215", "M#h#07#2021-03-05-1215", "M#h#-07#2021-03-05-1215",
        "M#h#007#2021-03-05-1215#", "M#h#007#2021-02-30-1215", "M#h#007#0000-12-31-1215"}) {
    EXPECT_EQ(codec.Decode(key, &decoded).code(), absl::StatusCode::kDataLoss) << key;
  }
  const KeyCodec twice = CodecOf(
      "series: s\nfields: { x: double }\ntags: { host: string }\nlayout: row\nkey: [{ time: yyyymmdd }, "
      "host, time]\n");
  EXPECT_TRUE(twice.Decode("20210305#h#1614945873001", &decoded).ok());
  EXPECT_EQ(decoded.time_micros, kTime);
  EXPECT_EQ(twice.Decode("20210306#h#1614945873001", &decoded).message(),
            "'20210306#h#1614945873001' is not a key whose parts agree: this row was not written by this "
            "declaration");
}

TEST(KeyCodec, RefusesReversedTimesThatAreNone) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { host: string }\nlayout: row\n"
      "key: [host, { time: epoch_s, reverse: true }]\n");
  DecodedKey decoded;
  EXPECT_TRUE(codec.Decode("h#9223372036854775807", &decoded).ok());
  EXPECT_EQ(decoded.time_micros, 0);
  ASSERT_TRUE(codec.Decode("h#9223372098990372607", &decoded).ok());
  EXPECT_EQ(decoded.time_micros, kTimeBeginMicros);
  for (const char* key : {"h#-223372035239830207", "h#0000000000000000001", "h#9223372098990372608"}) {
    EXPECT_EQ(codec.Decode(key, &decoded).code(), absl::StatusCode::kDataLoss) << key;
  }
}

TEST(KeyCodec, SaltsAreThoseThatOthersCompute) {
  EXPECT_EQ(SaltHash(""), 0xcbf29ce4U ^ 0x84222325U);
  EXPECT_EQ(SaltHash("a"), 0xaf63dc4cU ^ 0x8601ec8cU);
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { host: string, id: { type: int, width: 3 } }\nlayout: row\n"
      "key: [{ salt: 16 }, host, id, time]\n");
  std::string key;
  ASSERT_TRUE(codec.Encode({"h", "7"}, kTime, &key).ok());
  EXPECT_EQ(key, fmt::format("{:02}#h#007#1614945873001", SaltHash(std::string("h\0"
                                                                               "007\0",
                                                                               6)) %
                                                              16));
  EXPECT_EQ(codec.MergeKey(key), "h#007#1614945873001");
  DecodedKey decoded;
  ASSERT_TRUE(codec.Decode(key, &decoded).ok());
  key[1] = key[1] == '0' ? '1' : '0';
  EXPECT_EQ(codec.Decode(key, &decoded).code(), absl::StatusCode::kDataLoss);
}

TEST(KeyCodec, SaltsSpreadEvenly) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { host: string }\nbucket: day\nkey: [{ salt: 8 }, host, "
      "bucket]\n");
  std::vector<int> rows(8);
  std::string key;
  for (int i = 0; i < 8'000; ++i) {
    ASSERT_TRUE(codec.Encode({fmt::format("host_{}", i)}, kTime, &key).ok());
    ++rows[key[0] - '0'];
  }
  for (const int count : rows) EXPECT_NEAR(count, 1'000, 200);
}

// A time of the years 1 to 9999; half of them are near 1970, 1850 and 2286.
int64_t AnyTime(RandomSource& random) {
  if (random.Uniform(2) == 0) {
    return kTimeBeginMicros + static_cast<int64_t>(random.Uniform(kTimeEndMicros - kTimeBeginMicros));
  }
  const int64_t around[] = {0, -3'786'825'600 * kMicrosPerSecond, 10'000'000'000 * kMicrosPerSecond};
  return around[random.Uniform(3)] + static_cast<int64_t>(random.Uniform(20 * kMicrosPerDay)) -
         10 * kMicrosPerDay;
}

// A declaration with a random key; every choice that the parser allows.
std::string RandomDeclaration(RandomSource& random) {
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.Uniform(choices.size())]);
  };
  const bool is_row = random.Uniform(2) == 0;
  std::vector<std::string> key = {"a", "b", "c"};
  std::swap(key[random.Uniform(3)], key[random.Uniform(3)]);
  key.insert(key.begin() + random.Uniform(4), "{ const: K }");
  if (is_row) {
    key.insert(key.begin() + random.Uniform(key.size() + 1),
               pick({"time", "{ time: epoch_us }", "{ time: epoch_ms, width: 15 }",
                     "{ time: epoch_us, reverse: true }", "{ time: yyyymmddhhmmssmmm }",
                     "{ time: yyyy-mm-dd-hhmmss }"}));
    if (random.Uniform(3) == 0) key.insert(key.begin(), "{ time: yyyymmdd }");
  } else {
    key.insert(key.begin() + random.Uniform(key.size() + 1),
               pick({"{ bucket: week }", "{ bucket: month }", "{ bucket: day }", "{ bucket: 15m }",
                     "{ bucket: 7s }", "{ bucket: hour, format: epoch_s, reverse: true }",
                     "{ bucket: week, format: yyyymmdd }", "{ bucket: 10ms }"}));
  }
  if (random.Uniform(3) == 0) {
    key.insert(key.begin() + random.Uniform(key.size() + 1),
               pick({"salt", "{ salt: 3, of: time }", "{ salt: 12, of: [a, c] }", "{ salt: 1000, of: b }"}));
  }
  return fmt::format(
      "series: s\nfields: {{ x: double }}\ntags: {{ a: {}, b: {}, c: {} }}\nlayout: {}\nkey: [{}]\n"
      "time: {{ resolution: 1ms }}\ndelimiter: '{}'\n",
      pick({"string", "{ width: 5 }", "{ width: 7, pad: '.' }"}), pick({"int", "{ type: int, width: 6 }"}),
      pick({"string", "{ width: 4, pad: '!' }"}), is_row ? "row" : "cells", fmt::join(key, ", "),
      pick({"#", "|", "/"}));
}

std::string RandomText(RandomSource& random) {
  std::string text;
  for (size_t i = 0, size = 1 + random.Uniform(6); i < size; ++i) {
    text.push_back(random.Uniform(8) == 0 ? static_cast<char>(random.Uniform(256))
                                          : "ab.# !/|-"[random.Uniform(9)]);
  }
  return text;
}

TEST(KeyCodec, EveryKeyThatIsWrittenComesBack) {
  SeededRandom random(11);
  int written = 0;
  for (int d = 0; d < 300; ++d) {
    const std::string declaration = RandomDeclaration(random);
    const KeyCodec codec = CodecOf(declaration);
    for (int i = 0; i < 100; ++i) {
      const std::string a = RandomText(random);
      const std::string b = fmt::format("{}", static_cast<int64_t>(random.Uniform(2'000'000)) - 10'000);
      const std::string c = RandomText(random);
      const int64_t time = random.Uniform(2) == 0
                               ? AnyTime(random)
                               : static_cast<int64_t>(random.Uniform(6'000'000'000'000'000));
      std::string key;
      if (!codec.Encode({a, b, c}, time, &key).ok()) continue;
      ++written;
      DecodedKey decoded;
      ASSERT_TRUE(codec.Decode(key, &decoded).ok()) << declaration << key << codec.Decode(key, &decoded);
      EXPECT_EQ(decoded.tags, (std::vector<std::string>{a, b, c})) << declaration << key;
      if (const KeyPart* part = codec.schema().FinestTimePart()) {
        EXPECT_EQ(decoded.time_micros, codec.UnitOf(*part).Start(time)) << declaration << key;
      }
      if (codec.schema().bucket) {
        EXPECT_EQ(decoded.bucket_start_micros, codec.schema().bucket->Start(time));
      }
    }
  }
  EXPECT_GT(written, 5'000);
}

TEST(KeyCodec, KeysSortAsTimesDoFromTheYear1To9999) {
  struct Case {
    const char* declaration;
    bool takes_all;  // without an origin
    bool is_newest_first;
  };
  const Case cases[] = {
      {"layout: row\nkey: [a, { time: yyyymmddhhmmssmmm }]", true, false},
      {"layout: row\nkey: [a, { time: yyyy-mm-dd-hhmmss }]", true, false},
      {"layout: row\nkey: [a, { time: yyyy-www }]", true, false},
      {"layout: row\nkey: [a, { time: epoch_us, reverse: true }]", true, true},
      {"layout: row\nkey: [a, { time: epoch_s, reverse: true }]", true, true},
      {"layout: row\nkey: [a, time]", false, false},
      {"layout: row\nkey: [a, { time: epoch_us }]", false, false},
      {"layout: offsets\nslot: 1h\nkey: [a, { bucket: week }]\nbucket: week", true, false},
      {"layout: offsets\nslot: 1h\nkey: [a, { bucket: week, format: epoch_s }]\nbucket: week", false, false},
      {"layout: offsets\nslot: 1d\nkey: [a, { bucket: 14d, format: yyyymmdd }]\nbucket: 14d", true, false},
      {"layout: offsets\nslot: 1d\nkey: [a, { bucket: month, format: epoch_ms, reverse: true }]\nbucket: "
       "month",
       true, true},
  };
  SeededRandom random(21);
  for (const Case& c : cases) {
    for (const char* origin : {"none", "0001-01-01", "1850-05-17", "1970-01-01"}) {
      const std::string declaration = fmt::format(
          "series: s\nfields: {{ x: double }}\ntags: {{ a: string }}\n{}\ntime: {{ resolution: "
          "{}, origin: {} }}\n",
          c.declaration, std::string_view(c.declaration).find("row") < 10 ? "1ms" : "1d", origin);
      SCOPED_TRACE(declaration);
      const KeyCodec codec = CodecOf(declaration);
      const KeyPart& part = codec.schema().key[1];
      std::map<int64_t, std::string> keys;  // by the piece of time that they say
      for (int i = 0; i < 1000; ++i) {
        const int64_t time = AnyTime(random);
        std::string key;
        const absl::Status status = codec.Encode({"h"}, time, &key);
        const int64_t from = codec.schema().Origin();
        EXPECT_TRUE(status.ok() || (!c.takes_all && (time < from || origin == std::string_view("none"))))
            << TimeText(time) << status;
        if (!status.ok()) continue;
        DecodedKey decoded;
        ASSERT_TRUE(codec.Decode(key, &decoded).ok()) << key << codec.Decode(key, &decoded);
        const int64_t start =
            part.kind == KeyPart::Kind::kTime ? *decoded.time_micros : *decoded.bucket_start_micros;
        EXPECT_EQ(start, codec.UnitOf(part).Start(time)) << key;
        EXPECT_EQ(keys.try_emplace(start, key).first->second, key);
      }
      std::string last;
      for (const auto& [start, key] : keys) {
        EXPECT_TRUE(last.empty() || (c.is_newest_first ? key < last : last < key)) << last << " " << key;
        last = key;
      }
      EXPECT_GT(keys.size(), 20);
    }
  }
}

TEST(KeyCodec, WritesTimesBefore1970) {
  const auto key = [](std::string_view part, std::string_view time, int64_t micros) {
    const KeyCodec codec = CodecOf(fmt::format(
        "series: s\nfields: {{ x: double }}\nlayout: row\nkey: [{}]\ntime: {{ resolution: 1s{} }}\n", part,
        time));
    std::string text;
    const absl::Status status = codec.Encode({}, micros, &text);
    return status.ok() ? text : std::string(TextOfStatus(status));
  };
  constexpr int64_t kYear1850 = -3'786'825'600 * kMicrosPerSecond;
  EXPECT_EQ(key("{ time: yyyy-mm-dd-hhmm }", "", kYear1850), "1850-01-01-0000");
  EXPECT_EQ(key("{ time: yyyymmdd }", "", kTimeBeginMicros), "00010101");
  EXPECT_EQ(key("{ time: yyyy-www }", "", kYear1850), "1850-w01");
  // 2^63 - 1 minus a negative number.
  EXPECT_EQ(key("{ time: epoch_s, reverse: true }", "", kYear1850), "9223372040641601407");
  EXPECT_EQ(key("{ time: epoch_s }", ", origin: 1850-01-01", kYear1850 + kMicrosPerDay), "000000086400");
  EXPECT_EQ(key("time", ", origin: 1970-01-01", kTime), "001614945873001");
}

// The week of 1970-01-01 was once written as the part of it that lies in 1970.
TEST(KeyCodec, ReadsTheFirstWeekOf1970AsItWasWritten) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { a: string }\nbucket: week\n"
      "key: [a, { bucket: week, format: yyyymmdd }]\n");
  DecodedKey decoded;
  ASSERT_TRUE(codec.Decode("h#19700101", &decoded).ok());
  EXPECT_EQ(decoded.bucket_start_micros, -3 * kMicrosPerDay);
  EXPECT_EQ(codec.Decode("h#19700102", &decoded).code(), absl::StatusCode::kDataLoss);
}

TEST(KeyCodec, DamagedKeysNeverDecodeToSomethingElse) {
  SeededRandom random(12);
  for (int d = 0; d < 200; ++d) {
    const KeyCodec codec = CodecOf(RandomDeclaration(random));
    std::string key;
    if (!codec.Encode({"ab", "17", "b"}, kTime, &key).ok()) continue;
    for (int i = 0; i < 100; ++i) {
      std::string damaged = key;
      damaged[random.Uniform(damaged.size())] = static_cast<char>(random.Uniform(256));
      if (random.Uniform(4) == 0) damaged.resize(random.Uniform(damaged.size() + 1));
      DecodedKey decoded;
      if (!codec.Decode(damaged, &decoded).ok()) continue;
      const std::vector<std::string_view> tags(decoded.tags.begin(), decoded.tags.end());
      std::string again;
      const int64_t time = decoded.time_micros.value_or(decoded.bucket_start_micros.value_or(0));
      ASSERT_TRUE(codec.Encode(tags, time, &again).ok()) << damaged;
      EXPECT_EQ(again, damaged);
    }
  }
}

TEST(KeyCodec, PaddedPartsSortAsTheirValues) {
  const KeyCodec codec = CodecOf(
      "series: s\nfields: { x: double }\ntags: { a: { width: 5 }, b: { type: int, width: 6 } }\nlayout: row\n"
      "key: [a, b, time]\n");
  const KeyCodec reversed = CodecOf(
      "series: s\nfields: { x: double }\ntags: { a: { width: 5 }, b: { type: int, width: 6 } }\nlayout: row\n"
      "key: [a, b, { time: epoch_ms, reverse: true }]\n");
  SeededRandom random(13);
  using Point = std::tuple<std::string, int64_t, int64_t>;
  std::vector<std::pair<Point, std::pair<std::string, std::string>>> points;
  while (points.size() < 300) {
    Point point(RandomText(random), random.Uniform(300), static_cast<int64_t>(random.Uniform(1000)) * 1000);
    const std::string b = fmt::format("{}", std::get<1>(point));
    std::string key;
    std::string reversed_key;
    if (!codec.Encode({std::get<0>(point), b}, std::get<2>(point), &key).ok()) continue;
    ASSERT_TRUE(reversed.Encode({std::get<0>(point), b}, std::get<2>(point), &reversed_key).ok());
    points.push_back({point, {key, reversed_key}});
  }
  for (const auto& [p, p_keys] : points) {
    for (const auto& [q, q_keys] : points) {
      EXPECT_EQ(p < q, p_keys.first < q_keys.first) << p_keys.first << " " << q_keys.first;
      if (std::get<0>(p) == std::get<0>(q) && std::get<1>(p) == std::get<1>(q)) {
        EXPECT_EQ(std::get<2>(p) > std::get<2>(q), p_keys.second < q_keys.second);
      }
    }
  }
}

}  // namespace
}  // namespace sonde::series

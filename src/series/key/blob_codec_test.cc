#include "series/key/blob_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "series/key/field_codec.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

SeriesSchema SchemaOf(std::string_view format) {
  return ParseSchema(
             fmt::format("series: my_balloon\ntags: {{ id: string }}\n"
                         "fields: {{ pressure: {{ type: int, as: p }}, temp: double, note: string }}\n"
                         "layout: blob\nblob: {{ format: {} }}\nkey: [id, time]\n",
                         format),
             "x.yaml")
      .value();
}

// Texts of the fields, "" for none, through the blob and back.
std::vector<std::string> ThroughBlob(const SeriesSchema& schema, const std::vector<std::string>& texts,
                                     std::string* blob) {
  std::vector<std::string> encoded(texts.size());
  std::vector<std::string_view> values(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    EXPECT_TRUE(EncodeValue(schema.fields[i], texts[i], &encoded[i])) << texts[i];
    values[i] = encoded[i];
  }
  EXPECT_TRUE(EncodeBlob(schema, values, blob).ok());
  std::vector<std::string> decoded;
  std::vector<bool> has;
  EXPECT_TRUE(DecodeBlob(schema, *blob, &decoded, &has).ok()) << *blob;
  std::vector<std::string> result(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!has[i]) continue;
    const auto value = DecodeValue(schema.fields[i], decoded[i]);
    EXPECT_TRUE(value.ok()) << value.status();
    result[i] = ValueText(*value);
  }
  return result;
}

TEST(BlobCodec, WritesJsonThatOthersRead) {
  const SeriesSchema schema = SchemaOf("json");
  std::string blob;
  ThroughBlob(schema, {"94587", "9.50", "a \"b\"\n"}, &blob);
  EXPECT_EQ(blob, R"({"p":94587,"temp":9.50,"note":"a \"b\"\n"})");
  ThroughBlob(schema, {"007", ".5", ""}, &blob);
  EXPECT_EQ(blob, R"({"p":7,"temp":0.5})");
}

TEST(BlobCodec, WritesProtocolBuffersThatOthersRead) {
  const SeriesSchema schema = SchemaOf("protobuf");
  std::string blob;
  ThroughBlob(schema, {"150", "1", "ab"}, &blob);
  EXPECT_EQ(blob, std::string("\x08\x96\x01\x11\0\0\0\0\0\0\xf0\x3f\x1a\x02"
                              "ab",
                              16));
  EXPECT_EQ(
      ProtoText(schema),
      "syntax = \"proto3\";\nmessage MyBalloon {\n  optional int64 p = 1;\n  optional double temp = 2;\n"
      "  optional string note = 3;\n}\n");
}

TEST(BlobCodec, PassesOverWhatItDoesNotKnow) {
  std::vector<std::string> values;
  std::vector<bool> has;
  ASSERT_TRUE(DecodeBlob(SchemaOf("json"), R"({"x":{"p":1,"y":[2]},"p":3,"temp":null})", &values, &has).ok());
  EXPECT_EQ(has, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(values[0], "3");
  ASSERT_TRUE(DecodeBlob(SchemaOf("protobuf"), "\x28\x01\x08\x05", &values, &has).ok());
  EXPECT_EQ(has, (std::vector<bool>{true, false, false}));
}

TEST(BlobCodec, RefusesWhatIsNoBlob) {
  std::vector<std::string> values;
  std::vector<bool> has;
  for (const char* text : {"", "3", "[1]", "{", "{\"p\":1}x"}) {
    EXPECT_EQ(DecodeBlob(SchemaOf("json"), text, &values, &has).code(), absl::StatusCode::kDataLoss) << text;
  }
  for (const char* text : {"\x08", "\x09\x01",
                           "\x1a\x05"
                           "ab",
                           "\x0b",
                           "\x12\x01"
                           "a"}) {
    EXPECT_EQ(DecodeBlob(SchemaOf("protobuf"), text, &values, &has).code(), absl::StatusCode::kDataLoss)
        << text;
  }
  std::string blob;
  const std::vector<std::string_view> no_text = {{}, {}, "\xff"};
  EXPECT_EQ(EncodeBlob(SchemaOf("json"), no_text, &blob).message(),
            "field 'note': value '\\xff' is not UTF-8, which blobs must be");
}

TEST(BlobCodec, EveryBlobThatIsWrittenComesBack) {
  SeededRandom random(21);
  for (const char* format : {"json", "protobuf"}) {
    const SeriesSchema schema = SchemaOf(format);
    for (int i = 0; i < 2'000; ++i) {
      const auto number = static_cast<int64_t>(random.Next());
      const double fraction =
          static_cast<double>(number) * std::pow(10.0, static_cast<int>(random.Uniform(40)) - 30);
      std::vector<std::string> texts = {fmt::format("{}", number), fmt::format("{}", fraction), "ü\x01\"\\x"};
      for (std::string& text : texts) {
        if (random.Uniform(4) == 0) text.clear();
      }
      std::string blob;
      EXPECT_EQ(ThroughBlob(schema, texts, &blob), texts) << blob;
    }
  }
}

}  // namespace
}  // namespace sonde::series

#include "sql/key/row_key_codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sql/key/ordered_number.h"
#include "sql/key/random_key_test_support.h"

namespace sonde::sql {
namespace {

using Kind = RowKeyField::Kind;
using Number = RowKeyField::NumberEncoding;
using Encoding = RowKeySchema::Encoding;

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

RowKeyField Text(std::string name, std::string null_escape = "") {
  return {.name = std::move(name), .kind = Kind::kString, .null_escape = std::move(null_escape)};
}
RowKeyField Int(std::string name, Number encoding) {
  return {.name = std::move(name), .kind = Kind::kInt64, .number_encoding = encoding};
}

std::string Written(const RowKeySchema& schema, std::vector<Datum> fields) {
  std::string key;
  const absl::Status status = AppendRowKey(schema, fields, &key);
  return status.ok() ? key : status.ToString();
}

// The fields as text, or the error.
std::string Read(const RowKeySchema& schema, std::string_view key) {
  Arena arena;
  std::vector<Datum> fields(schema.fields.size());
  const absl::Status status = ReadRowKey(schema, key, &arena, absl::MakeSpan(fields));
  if (!status.ok()) return status.ToString();
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += '|';
    if (!fields[i].is_there) {
      text += "NULL";
    } else if (schema.fields[i].IsNumber()) {
      text += std::to_string(fields[i].integer);
    } else {
      text += fields[i].bytes();
    }
  }
  return text;
}

TEST(OrderedNumber, IsWrittenAsTheSpecificationSays) {
  const std::pair<int64_t, std::string_view> vectors[] = {
      {0, "80"},
      {1, "81"},
      {-1, "7f"},
      {63, "bf"},
      {64, "c040"},
      {-64, "40"},
      {-65, "3fbf"},
      {8191, "dfff"},
      {8192, "e02000"},
      {-8192, "2000"},
      {-8193, "1fdfff"},
      {1'426'535'612'156, "fd4c2425fefc"},
      {1'614'945'840'000'000, "ff05bcc8e11fec00"},
      {std::numeric_limits<int64_t>::max(), "ffc07fffffffffffffff"},
      {std::numeric_limits<int64_t>::min(), "003f8000000000000000"},
  };
  for (const auto& [number, hex] : vectors) {
    std::string bytes;
    AppendOrderedNumber(number, &bytes);
    EXPECT_EQ(Hex(bytes), hex) << number;
    EXPECT_EQ(ReadOrderedNumber(bytes), number);
    EXPECT_EQ(OrderedNumberBytes(bytes + "x"), bytes.size());
    EXPECT_EQ(ReadOrderedNumber(bytes + "x"), std::nullopt);
    EXPECT_NE(ReadOrderedNumber(std::string_view(bytes).substr(1)), number);
  }
  EXPECT_EQ(ReadOrderedNumber(""), std::nullopt);
  EXPECT_EQ(ReadOrderedNumber(std::string_view("\xc0\x01", 2)), std::nullopt) << "1 has a shorter form";
  EXPECT_EQ(ReadOrderedNumber("\xff\xc0\xff\xff\xff\xff\xff\xff\xff\xff"), std::nullopt) << "65 bits";
  EXPECT_EQ(ReadOrderedNumber("\xff\xe0\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), std::nullopt) << "11 bytes";
}

TEST(RowKeyCodec, WritesOrderedCodesAsTheSpecificationSays) {
  const RowKeySchema three{.encoding = Encoding::kOrderedCode, .fields = {Text("a"), Text("b"), Text("c")}};
  const auto key = [&](std::string_view a, std::string_view b, std::string_view c) {
    return Hex(Written(three, {Datum::Bytes(a), Datum::Bytes(b), Datum::Bytes(c)}));
  };
  EXPECT_EQ(key("", "", ""), "0000");
  EXPECT_EQ(key("", "B", ""), "0000000142");
  EXPECT_EQ(key("A", "", ""), "41");
  EXPECT_EQ(key("A", "", "C"), "4100010000000143");
  EXPECT_EQ(key(std::string_view("\0x", 2), "B", ""), "00ff78000142");
  const RowKeySchema none{.encoding = Encoding::kOrderedCode};
  EXPECT_EQ(Hex(Written(none, {})), "0000");
  EXPECT_EQ(Read(none, std::string_view("\0\0", 2)), "");

  EXPECT_EQ(Read(three, "A"), "A||");
  EXPECT_EQ(Read(three, std::string_view("A\0\1\0\0\0\1C", 8)), "A||C");
  EXPECT_EQ(Read(three, std::string_view("A\0\1B\0\1C\0\1D", 10)),
            "INVALID_ARGUMENT: Row key 'A\\x00\\x01B\\x00\\x01C\\x00\\x01D' does not fit the row key schema: "
            "it has "
            "more than 3 fields");
  EXPECT_EQ(
      Read(three, std::string_view("A\0", 2)),
      "INVALID_ARGUMENT: Row key 'A\\x00' does not fit the row key schema: field 'a': a byte 0x00 in it is "
      "not escaped");
  EXPECT_EQ(
      Read(three, std::string_view("A\0\1", 3)),
      "INVALID_ARGUMENT: Row key 'A\\x00\\x01' does not fit the row key schema: field 'b': it is empty, but "
      "not written as 00 00");
}

TEST(RowKeyCodec, DelimitedKeysAreReadFromTheLeft) {
  const RowKeySchema schema{.encoding = Encoding::kDelimited,
                            .delimiter = "#",
                            .fields = {Text("place"), Int("time", Number::kBigEndian), Text("rest")}};
  // The integer has the delimiter in it.
  const std::string key = std::string("rome#\0\0\0\0\0\0##", 13) + "#x";
  EXPECT_EQ(Written(schema, {Datum::Bytes("rome"), Datum::Int(0x2323), Datum::Bytes("x")}), key);
  EXPECT_EQ(Read(schema, key), "rome|8995|x");
  EXPECT_EQ(
      Read(schema, "rome"),
      "INVALID_ARGUMENT: Row key 'rome' does not fit the row key schema: field 'place': the key ends before "
      "its delimiter");
  EXPECT_EQ(
      Read(schema, "rome#1#x"),
      "INVALID_ARGUMENT: Row key 'rome#1#x' does not fit the row key schema: field 'time': 3 bytes do not "
      "begin with an integer");
  EXPECT_EQ(Read(schema, key + "#y"),
            "INVALID_ARGUMENT: Row key 'rome#\\x00\\x00\\x00\\x00\\x00\\x00###x#y' does not fit the row key "
            "schema: "
            "field 'rest': it has the delimiter in it");
  EXPECT_EQ(Read(schema, "rome#12345678x"),
            "INVALID_ARGUMENT: Row key 'rome#12345678x' does not fit the row key schema: field 'time': no "
            "delimiter "
            "is behind it");
  EXPECT_EQ(Written(schema, {Datum::Bytes("a#b"), Datum::Int(1), Datum::Bytes("")}),
            "INVALID_ARGUMENT: Field 'place' of a row key has the delimiter in it: 'a#b'");
  const RowKeySchema none{.encoding = Encoding::kDelimited, .delimiter = "#"};
  EXPECT_EQ(Written(none, {}), "#");
  EXPECT_EQ(Read(none, "#"), "");
  EXPECT_EQ(Read(none, "x"),
            "INVALID_ARGUMENT: Row key 'x' does not fit the row key schema: it is not the delimiter");
}

TEST(RowKeyCodec, ASingletonIsItsField) {
  const auto single = [](RowKeyField field) { return RowKeySchema{.fields = {std::move(field)}}; };
  EXPECT_EQ(Hex(Written(single(Int("n", Number::kBigEndian)), {Datum::Int(-2)})), "fffffffffffffffe");
  EXPECT_EQ(Hex(Written(single(Int("n", Number::kOrderedCode)), {Datum::Int(-2)})), "7e");
  EXPECT_EQ(
      Read(single(Int("n", Number::kBigEndian)), "1234567"),
      "INVALID_ARGUMENT: Row key '1234567' does not fit the row key schema: field 'n': its 7 bytes are no "
      "big-endian integer");
  EXPECT_EQ(Read(single(Text("s")), "\xff"),
            "INVALID_ARGUMENT: Row key '\\xff' does not fit the row key schema: field 's': it is no UTF-8");
  RowKeyField time = Int("t", Number::kBigEndian);
  time.kind = Kind::kTimestamp;
  EXPECT_EQ(Hex(Written(single(time), {Datum::Int(1)})), "0000000000000001");
  EXPECT_EQ(
      Read(single(time), "\x7f\xff\xff\xff\xff\xff\xff\xff"),
      "INVALID_ARGUMENT: Row key '\\x7f\\xff\\xff\\xff\\xff\\xff\\xff\\xff' does not fit the row key schema: "
      "field 't': 9223372036854775807 microseconds are no TIMESTAMP");
}

TEST(RowKeyCodec, NullIsTheEmptyStringWhereItIsEscaped) {
  const RowKeySchema schema{.fields = {Text("s", "x")}};
  EXPECT_EQ(Written(schema, {Datum::Missing()}), "");
  EXPECT_EQ(Written(schema, {Datum::Bytes("")}), "x");
  EXPECT_EQ(Written(schema, {Datum::Bytes("xx")}), "xxx");
  EXPECT_EQ(Written(schema, {Datum::Bytes("xy")}), "xy");
  EXPECT_EQ(Read(schema, ""), "NULL");
  EXPECT_EQ(Read(schema, "x"), "");
  EXPECT_EQ(Read(schema, "xxx"), "xx");
  EXPECT_EQ(Read(schema, "yx"), "yx");
  EXPECT_EQ(Written({.fields = {Text("s")}}, {Datum::Missing()}),
            "INVALID_ARGUMENT: Field 's' of a row key cannot be NULL");
  const RowKeySchema bytes{
      .fields = {{.name = "b", .kind = Kind::kBytes, .null_escape = std::string(1, '\0')}}};
  EXPECT_EQ(Hex(Written(bytes, {Datum::Bytes("")})), "00");
  EXPECT_EQ(Hex(Written(bytes, {Datum::Bytes(std::string_view("\0", 1))})), "0000");
}

TEST(RowKeyCodec, WhatIsWrittenIsRead) {
  RandomKeys random(1);
  for (int i = 0; i < 20'000; ++i) {
    Arena arena;
    const RowKeySchema schema = random.Schema();
    const std::vector<Datum> values = random.Values(schema, &arena);
    std::string key;
    if (!AppendRowKey(schema, values, &key).ok()) continue;
    std::vector<Datum> read(values.size());
    const absl::Status status = ReadRowKey(schema, key, &arena, absl::MakeSpan(read));
    ASSERT_TRUE(status.ok()) << status;
    for (size_t j = 0; j < values.size(); ++j) {
      ASSERT_EQ(CompareValues(schema.fields[j], values[j], read[j]), 0) << Hex(key);
    }
  }
}

// The encodings that promise the order of values (the comments of google.bigtable.v2.Type).
bool KeepsOrder(const RowKeySchema& schema, const std::vector<Datum>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const RowKeyField& field = schema.fields[i];
    std::string bytes;
    EXPECT_TRUE(AppendField(field, values[i], &bytes).ok());
    if (field.IsNumber()) {
      if (field.number_encoding == Number::kBigEndian && values[i].integer < 0) return false;
    } else if (!IsSortedText(field)) {
      return false;
    }
    if (schema.encoding != Encoding::kDelimited) continue;
    for (const char byte : bytes) {
      if (static_cast<uint8_t>(byte) <= static_cast<uint8_t>(schema.delimiter[0])) return false;
    }
  }
  return true;
}

TEST(RowKeyCodec, KeepsTheOrderThatTheEncodingsPromise) {
  RandomKeys random(2);
  int compared = 0;
  for (int i = 0; i < 60'000; ++i) {
    Arena arena;
    const RowKeySchema schema = random.Schema();
    const std::vector<Datum> a = random.Values(schema, &arena);
    const std::vector<Datum> b = random.Values(schema, &arena);
    std::string keys[2];
    if (!AppendRowKey(schema, a, &keys[0]).ok() || !AppendRowKey(schema, b, &keys[1]).ok()) continue;
    if (!KeepsOrder(schema, a) || !KeepsOrder(schema, b)) continue;
    int order = 0;
    for (size_t j = 0; j < a.size() && order == 0; ++j) order = CompareValues(schema.fields[j], a[j], b[j]);
    ASSERT_EQ(order < 0, keys[0] < keys[1]) << Hex(keys[0]) << " " << Hex(keys[1]);
    ASSERT_EQ(order == 0, keys[0] == keys[1]);
    ++compared;
  }
  EXPECT_GT(compared, 5'000);
}

}  // namespace
}  // namespace sonde::sql

#include "sql/key/field_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sql/key/random_key_test_support.h"
#include "sql/key/row_key_codec.h"

namespace sonde::sql {
namespace {

using Ranges = std::vector<RowRange>;

constexpr size_t kRangesMax = 1'000;

RowKeySchema TwoTexts(RowKeySchema::Encoding encoding) {
  return {.encoding = encoding,
          .delimiter = "#",
          .fields = {{.name = "a", .kind = RowKeyField::Kind::kString},
                     {.name = "b", .kind = RowKeyField::Kind::kString}}};
}

std::string Bytes(std::string_view text) { return std::string(text); }

TEST(FieldRanges, ValuesOfAllFieldsAreSingleRows) {
  const Ranges a = {RowRange::Single("x"), RowRange::Single("y")};
  const Ranges b = {RowRange::Single(""), RowRange::Single("1")};
  EXPECT_EQ(KeysWithFields(TwoTexts(RowKeySchema::Encoding::kDelimited), {a, b}, kRangesMax),
            (Ranges{RowRange::Single("x#"), RowRange::Single("x#1"), RowRange::Single("y#"),
                    RowRange::Single("y#1")}));
  EXPECT_EQ(KeysWithFields(TwoTexts(RowKeySchema::Encoding::kOrderedCode), {{a[0]}, b}, kRangesMax),
            (Ranges{RowRange::Single("x"), RowRange::Single(Bytes({"x\0\1"
                                                                   "1",
                                                                   4}))}));
}

TEST(FieldRanges, AValueOfTheFirstFieldIsAPrefix) {
  const Ranges a = {RowRange::Single("x")};
  const Ranges all = {RowRange::All()};
  EXPECT_EQ(KeysWithFields(TwoTexts(RowKeySchema::Encoding::kDelimited), {a, all}, kRangesMax),
            Ranges{RowRange::Prefix("x#")});
  EXPECT_EQ(KeysWithFields(TwoTexts(RowKeySchema::Encoding::kOrderedCode), {a, all}, kRangesMax),
            (Ranges{{"x", Bytes({"x\0\2", 3})}}));
  EXPECT_EQ(KeysWithFields(TwoTexts(RowKeySchema::Encoding::kDelimited), {all, a}, kRangesMax), all)
      << "the first field is not known";
}

TEST(FieldRanges, BoundsOfADelimitedFieldEndAtItsBytes) {
  const RowKeySchema schema = TwoTexts(RowKeySchema::Encoding::kDelimited);
  const Ranges all = {RowRange::All()};
  EXPECT_EQ(KeysWithFields(schema, {{{"b", "d"}}, all}, kRangesMax), (Ranges{{"b", "d"}}))
      << "b <= a AND a < d";
  EXPECT_EQ(KeysWithFields(schema, {{{"", Bytes({"d\0", 2})}}, all}, kRangesMax),
            (Ranges{{"", Bytes({"d\0", 2})}, {"d#", "d$"}}))
      << "a <= d: d! is greater, and its keys come before those of d";
  EXPECT_EQ(KeysWithFields(schema, {{RowRange::Single("x")}, {{"b", ""}}}, kRangesMax),
            (Ranges{{"x#b", "x$"}}));
}

TEST(FieldRanges, TooManyValuesAreOneRange) {
  const RowKeySchema schema = TwoTexts(RowKeySchema::Encoding::kDelimited);
  const Ranges values = {RowRange::Single("a"), RowRange::Single("b"), RowRange::Single("c")};
  EXPECT_EQ(KeysWithFields(schema, {values, values}, 9).size(), 9);
  EXPECT_EQ(
      KeysWithFields(schema, {values, values}, 8),
      (Ranges{{"a#a", Bytes({"a#c\0", 4})}, {"b#a", Bytes({"b#c\0", 4})}, {"c#a", Bytes({"c#c\0", 4})}}));
  EXPECT_EQ(KeysWithFields(schema, {values, {}}, 9), Ranges{});
}

// Random ranges of the bytes of a field.
Ranges RandomRanges(const RowKeyField& field, RandomKeys* random, Arena* arena) {
  if (random->Below(4) == 0) return {RowRange::All()};
  const bool are_single = random->Below(2) == 0;
  Ranges ranges;
  for (size_t count = random->Below(4); count > 0; --count) {
    std::string bytes[2];
    for (std::string& of : bytes) EXPECT_TRUE(AppendField(field, random->Value(field, arena), &of).ok());
    if (bytes[1] < bytes[0]) std::swap(bytes[0], bytes[1]);
    RowRange range = {bytes[0], bytes[1]};
    if (random->Below(2) == 0) range.start += '\0';
    if (random->Below(2) == 0) range.end += '\0';
    if (random->Below(4) == 0) range.end.clear();
    if (range.end.empty() && random->Below(2) == 0) continue;
    ranges.push_back(are_single ? RowRange::Single(bytes[0]) : range);
  }
  return NormalizeRanges(std::move(ranges));
}

bool Contains(const Ranges& ranges, std::string_view bytes) {
  for (const RowRange& range : ranges) {
    if (range.Contains(bytes)) return true;
  }
  return false;
}

TEST(FieldRanges, HoldJustTheKeysWhoseFieldsAreInThem) {
  RandomKeys random(3);
  int checked = 0;
  for (int i = 0; i < 3'000; ++i) {
    Arena arena;
    const RowKeySchema schema = random.Schema();
    std::vector<Ranges> fields;
    for (const RowKeyField& field : schema.fields) fields.push_back(RandomRanges(field, &random, &arena));
    const Ranges keys = KeysWithFields(schema, fields, kRangesMax);
    ASSERT_TRUE(AreNormal(keys));
    for (int j = 0; j < 20; ++j) {
      const std::vector<Datum> values = random.Values(schema, &arena);
      std::string key;
      if (!AppendRowKey(schema, values, &key).ok()) continue;
      bool is_wanted = true;   // by all fields
      bool is_bounded = true;  // by the fields that bound
      bool still_bounds = true;
      for (size_t f = 0; f < fields.size(); ++f) {
        std::string bytes;
        ASSERT_TRUE(AppendField(schema.fields[f], values[f], &bytes).ok());
        const bool is_in = Contains(fields[f], bytes);
        is_wanted &= is_in;
        if (still_bounds) is_bounded &= is_in;
        for (const RowRange& range : fields[f]) still_bounds &= range.IsSingleRow();
        if (fields[f].empty()) is_bounded = false;
      }
      ASSERT_TRUE(!is_wanted || Contains(keys, key));
      ASSERT_EQ(is_bounded, Contains(keys, key)) << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 30'000);
}

}  // namespace
}  // namespace sonde::sql

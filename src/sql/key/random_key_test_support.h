// Random row key schemas, and random values of their fields, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "model/datum.h"
#include "model/row_key_schema.h"
#include "sql/key/key_field.h"

namespace sonde::sql {

class RandomKeys {
 public:
  explicit RandomKeys(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t end) { return random_() % end; }

  RowKeyField Field(std::string name) {
    RowKeyField field{.name = std::move(name), .kind = static_cast<RowKeyField::Kind>(Below(4))};
    field.number_encoding = static_cast<RowKeyField::NumberEncoding>(Below(2));
    if (field.IsNumber()) return field;
    const std::string escapes[] = {"", "", std::string(1, '\0'),
                                   field.kind == RowKeyField::Kind::kString ? "a" : ""};
    field.null_escape = escapes[Below(4)];
    return field;
  }

  RowKeySchema Schema() {
    RowKeySchema schema;
    schema.encoding = static_cast<RowKeySchema::Encoding>(Below(3));
    const std::string delimiters[] = {"#", "##", std::string(1, '\0'), "b"};
    if (schema.encoding == RowKeySchema::Encoding::kDelimited) schema.delimiter = delimiters[Below(4)];
    const size_t fields = schema.encoding == RowKeySchema::Encoding::kSingleton ? 1 : 1 + Below(3);
    for (size_t i = 0; i < fields; ++i) schema.fields.push_back(Field("f" + std::to_string(i)));
    return schema;
  }

  // Short, of few bytes that the encodings treat apart, so that values meet each other.
  std::string Text() {
    static constexpr char kBytes[] = {'\0', '\1', '!', '#', '$', 'a', 'b', 'c'};
    std::string text;
    for (size_t size = Below(4); text.size() < size;) text += kBytes[Below(std::size(kBytes))];
    return text;
  }

  int64_t Number() {
    static constexpr int64_t kNumbers[] = {0,
                                           1,
                                           -1,
                                           63,
                                           64,
                                           -64,
                                           -65,
                                           35,
                                           8191,
                                           8192,
                                           97,
                                           -8193,
                                           1'000,
                                           0x6261,
                                           std::numeric_limits<int64_t>::max(),
                                           std::numeric_limits<int64_t>::min()};
    if (Below(4) > 0) return kNumbers[Below(std::size(kNumbers))];
    return static_cast<int64_t>(random_()) >> Below(64);
  }

  // A value that the field can have; texts are put into the arena.
  Datum Value(const RowKeyField& field, Arena* arena) {
    if (!field.null_escape.empty() && Below(8) == 0) return Datum::Missing();
    if (!field.IsNumber()) return Datum::Bytes(arena->Copy(Text()));
    const int64_t number = Number();
    if (field.kind == RowKeyField::Kind::kInt64) return Datum::Int(number);
    return Datum::Int(std::clamp(number, kKeyMicrosMin, kKeyMicrosMax));
  }

  std::vector<Datum> Values(const RowKeySchema& schema, Arena* arena) {
    std::vector<Datum> values;
    for (const RowKeyField& field : schema.fields) values.push_back(Value(field, arena));
    return values;
  }

 private:
  std::mt19937_64 random_;
};

// NULL comes first.
inline int CompareValues(const RowKeyField& field, const Datum& a, const Datum& b) {
  if (a.is_there != b.is_there) return a.is_there ? 1 : -1;
  if (!a.is_there) return 0;
  if (!field.IsNumber()) return a.bytes().compare(b.bytes());
  return a.integer < b.integer ? -1 : static_cast<int>(a.integer > b.integer);
}

}  // namespace sonde::sql

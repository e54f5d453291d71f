// How the row keys of a table are made of typed fields.
//
// Source: google.bigtable.admin.v2.Table.row_key_schema, and google.bigtable.v2.Type, whose comments describe the
// encodings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

struct RowKeyField {
  enum class Kind : uint8_t { kBytes = 0, kString = 1, kInt64 = 2, kTimestamp = 3 };
  enum class NumberEncoding : uint8_t { kBigEndian = 0, kOrderedCode = 1 };

  std::string name;
  Kind kind = Kind::kBytes;
  NumberEncoding number_encoding =
      NumberEncoding::kBigEndian;  // of kInt64 and kTimestamp, which counts microseconds
  // The escape of NULL, for kBytes (0x00) and kString (one character): NULL is written as "", and each value that
  // consists of the escape only is written with one more of it.  Empty: the field is never NULL.
  std::string null_escape = {};

  bool IsNumber() const { return kind == Kind::kInt64 || kind == Kind::kTimestamp; }
  bool operator==(const RowKeyField&) const = default;
};

struct RowKeySchema {
  enum class Encoding : uint8_t { kSingleton = 0, kDelimited = 1, kOrderedCode = 2 };

  Encoding encoding = Encoding::kSingleton;
  std::string delimiter = {};  // of kDelimited
  std::vector<RowKeyField> fields;

  bool operator==(const RowKeySchema&) const = default;
};

}  // namespace sonde

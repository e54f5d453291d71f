// One value with its type, which owns what it holds: literals and parameters of queries, and values in tests.
//
//   Value::Int(7).ToSql()                                         // "7"
//   Value::Array(TypeKind::kString, {Value::String("a"), Value::Null(TypeKind::kString)})
//
// Threads: a value is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/value/type.h"

namespace sonde::sql {

class Value {
 public:
  // NULL of INT64, GoogleSQL's type of a NULL that nothing gives a type.
  Value() = default;
  static Value Null(Type type) { return {std::move(type), Datum::Missing()}; }
  static Value Bool(bool value) { return {TypeKind::kBool, Datum::Int(value ? 1 : 0)}; }
  static Value Int(int64_t value) { return {TypeKind::kInt64, Datum::Int(value)}; }
  static Value Double(double value) { return {TypeKind::kFloat64, Datum::Double(value)}; }
  static Value String(std::string_view value) { return {TypeKind::kString, Datum::Bytes(value)}; }
  static Value Bytes(std::string_view value) { return {TypeKind::kBytes, Datum::Bytes(value)}; }
  static Value Date(int64_t days) { return {TypeKind::kDate, Datum::Int(days)}; }
  static Value Timestamp(int64_t micros) { return {TypeKind::kTimestamp, Datum::Int(micros)}; }
  static Value Array(Type element, const std::vector<Value>& elements);
  static Value Struct(Type type, const std::vector<Value>& fields);
  // Copies `datum`, which is one of `type`.
  Value(Type type, const Datum& datum);

  const Type& type() const { return type_; }
  bool is_null() const { return !datum_.is_there; }
  // The views hold as long as this value, or a copy of it.
  const Datum& datum() const { return datum_; }

  // `rows` times this value.  The view holds as long as this value, or a copy of it.
  ColumnView AsColumn(size_t rows) const;

  // As GoogleSQL prints a value of a result: 1.5, "a\n", b"\xff", [1, NULL], DATE "2020-01-01".
  std::string ToSql() const;

 private:
  struct Held {
    Arena arena;             // of a list
    std::string text;        // of a string
    Datum datum;             // what AsColumn views
    std::string_view bytes;  // likewise, of a string
  };

  Type type_;
  Datum datum_;
  std::shared_ptr<const Held> held_;
};

// A value of a column of this type: its views are the column's.
Datum DatumAt(const ColumnView& column, size_t row);

// Appends `datum`, one of `type`, as ToSql.
void AppendSql(const Type& type, const Datum& datum, std::string* text);

// The order of ORDER BY ... ASC: less than 0, 0, more than 0.  NULL is the least, then NaN, then numbers; all NaN
// are equal, and so are 0.0 and -0.0.  Strings are ordered by bytes, lists by their elements.
int Compare(const Datum& a, const Datum& b);
int Compare(const ColumnView& a, size_t row_a, const ColumnView& b, size_t row_b);
// Whether GROUP BY and DISTINCT take two values as one: Compare is 0.  Equal values have equal hashes.
uint64_t HashOf(const Datum& datum);
uint64_t HashOf(const ColumnView& column, size_t row);

}  // namespace sonde::sql

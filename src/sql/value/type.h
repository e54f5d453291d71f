// The types of SQL, as Bigtable has them.
//
//   Type::Array(TypeKind::kInt64).ToString()    // "ARRAY<INT64>"
//
// Shape: a kind, and for composite kinds the types inside.  A column of a type is a ColumnView (model/column.h)
//   of ColumnTypeOf(type): kInt64 for BOOL (0, 1), INT64, DATE (days since 1970-01-01), TIMESTAMP (microseconds
//   since then) and ENUM; kDouble for FLOAT64 and FLOAT32, whose values are those of a float; kBytes for STRING
//   (valid UTF-8), BYTES and PROTO (a serialized message); kList for ARRAY, STRUCT and MAP (model/datum.h).
// Ownership: types are values, and cheap to copy.
// Threads: a type is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/column.h"

namespace sonde::sql {

struct EnumType;     // sql/value/message_type.h
struct MessageType;  // sql/value/message_type.h

enum class TypeKind : uint8_t {
  kBool,
  kInt64,
  kFloat32,
  kFloat64,
  kString,
  kBytes,
  kDate,
  kTimestamp,
  kArray,
  kStruct,
  kMap,
  kProto,
  kEnum,
};

class Type {
 public:
  struct Field;

  // NOLINTNEXTLINE(google-explicit-constructor): a kind is the type, unless the kind is composite.
  Type(TypeKind kind = TypeKind::kInt64) : kind_(kind) {}
  static Type Array(Type element);
  static Type Struct(std::vector<Field> fields);
  static Type Map(Type key, Type value);
  // A message or enum of a schema bundle: bundle id, and full name.  The description may be null: a type that came in an answer
  // has none.
  static Type Proto(std::string bundle, std::string name,
                    std::shared_ptr<const MessageType> message = nullptr);
  static Type Enum(std::string bundle, std::string name,
                   std::shared_ptr<const EnumType> enumeration = nullptr);

  TypeKind kind() const { return kind_; }
  bool Is(TypeKind kind) const { return kind_ == kind; }
  bool IsNumeric() const {
    return kind_ == TypeKind::kInt64 || kind_ == TypeKind::kFloat32 || kind_ == TypeKind::kFloat64;
  }
  bool IsFloat() const { return kind_ == TypeKind::kFloat32 || kind_ == TypeKind::kFloat64; }
  // STRING or BYTES.
  bool IsText() const { return kind_ == TypeKind::kString || kind_ == TypeKind::kBytes; }

  const Type& element() const;                                 // of ARRAY
  const std::vector<Field>& fields() const;                    // of STRUCT
  const Type& key() const;                                     // of MAP
  const Type& value() const;                                   // of MAP
  const std::string& bundle() const;                           // of PROTO and ENUM
  const std::string& name() const;                             // of PROTO and ENUM
  const std::shared_ptr<const MessageType>& message() const;   // of PROTO
  const std::shared_ptr<const EnumType>& enumeration() const;  // of ENUM

  // Whether = compares them; whether GROUP BY and DISTINCT take them; whether ORDER BY and < do.
  bool IsComparable() const;
  bool IsGroupable() const;
  bool IsOrderable() const;

  // GoogleSQL's name of the type.
  std::string ToString() const;

  // Names of fields count; descriptions of messages and enums do not.
  bool operator==(const Type& other) const;

 private:
  struct Inside;

  Type(TypeKind kind, std::shared_ptr<const Inside> inside) : kind_(kind), inside_(std::move(inside)) {}

  TypeKind kind_;
  std::shared_ptr<const Inside> inside_;  // of composite kinds
};

struct Type::Field {
  std::string name;  // empty: none; may repeat
  Type type;

  bool operator==(const Field&) const = default;
};

// How a column of the type is stored.
ColumnType ColumnTypeOf(const Type& type);

}  // namespace sonde::sql

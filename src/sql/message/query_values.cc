#include "sql/message/query_values.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "absl/time/civil_time.h"
#include "base/arena.h"
#include "model/datum.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

constexpr int64_t kMicros = 1'000'000;
// Of 0001-01-01 and of the last second of 9999.
constexpr int64_t kTimestampSecondsMin = -62'135'596'800;
constexpr int64_t kTimestampSecondsMax = 253'402'300'799;

void SetScalar(const Type& type, const Datum& datum, pb::Value* out) {
  if (!datum.is_there) return;
  switch (type.kind()) {
    case TypeKind::kBool:
      return out->set_bool_value(datum.integer != 0);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return out->set_float_value(datum.number);
    case TypeKind::kString:
      return out->set_string_value(std::string(datum.bytes()));
    case TypeKind::kBytes:
      return out->set_bytes_value(std::string(datum.bytes()));
    case TypeKind::kDate: {
      const absl::CivilDay day = absl::CivilDay(1970, 1, 1) + datum.integer;
      out->mutable_date_value()->set_year(static_cast<int32_t>(day.year()));
      out->mutable_date_value()->set_month(day.month());
      out->mutable_date_value()->set_day(day.day());
      return;
    }
    case TypeKind::kTimestamp: {
      const int64_t micros = (datum.integer % kMicros + kMicros) % kMicros;
      out->mutable_timestamp_value()->set_seconds((datum.integer - micros) / kMicros);
      out->mutable_timestamp_value()->set_nanos(static_cast<int32_t>(micros * 1'000));
      return;
    }
    case TypeKind::kArray:
      out->mutable_array_value();
      for (const Datum& element : datum.list()) {
        SetScalar(type.element(), element, out->mutable_array_value()->add_values());
      }
      return;
    default:
      return out->set_int_value(datum.integer);
  }
}

absl::StatusOr<Datum> DatumOf(const Type& type, const pb::Value& value, Arena* arena);

absl::Status NoValue(const Type& type) {
  return absl::InternalError(fmt::format("The server sent a value that is no {}", type.ToString()));
}

// The type of item `index` of a list.
const Type& TypeOfItem(const Type& type, size_t index) {
  if (type.Is(TypeKind::kArray)) return type.element();
  return type.fields()[index].type;
}

absl::StatusOr<Datum> MapOf(const Type& type, const pb::ArrayValue& pairs, Arena* arena) {
  auto* const items = arena->New<Datum>(2 * pairs.values_size());
  size_t count = 0;
  for (const pb::Value& pair : pairs.values()) {
    if (pair.array_value().values_size() != 2) return NoValue(type);
    const absl::StatusOr<Datum> key = DatumOf(type.key(), pair.array_value().values(0), arena);
    if (!key.ok()) return key.status();
    const absl::StatusOr<Datum> mapped = DatumOf(type.value(), pair.array_value().values(1), arena);
    if (!mapped.ok()) return mapped.status();
    items[count++] = *key;
    items[count++] = *mapped;
  }
  return Datum::List({items, count});
}

absl::StatusOr<Datum> ListOf(const Type& type, const pb::ArrayValue& values, Arena* arena) {
  if (type.Is(TypeKind::kMap)) return MapOf(type, values, arena);
  const auto size = static_cast<size_t>(values.values_size());
  if (type.Is(TypeKind::kStruct) && size != type.fields().size()) return NoValue(type);
  auto* const items = arena->New<Datum>(size);
  for (size_t i = 0; i < size; ++i) {
    const absl::StatusOr<Datum> item =
        DatumOf(TypeOfItem(type, i), values.values(static_cast<int>(i)), arena);
    if (!item.ok()) return item.status();
    items[i] = *item;
  }
  return Datum::List({items, size});
}

absl::StatusOr<Datum> TimestampOf(const Type& type, const google::protobuf::Timestamp& time) {
  if (time.seconds() < kTimestampSecondsMin || time.seconds() > kTimestampSecondsMax || time.nanos() < 0 ||
      time.nanos() >= 1'000'000'000) {
    return NoValue(type);
  }
  return Datum::Int(time.seconds() * kMicros + time.nanos() / 1'000);
}

absl::StatusOr<Datum> DateOf(const Type& type, const google::type::Date& date) {
  const absl::CivilDay day(date.year(), date.month(), date.day());
  if (date.year() < 1 || date.year() > 9999 || day.month() != date.month() || day.day() != date.day()) {
    return NoValue(type);
  }
  return Datum::Int(day - absl::CivilDay(1970, 1, 1));
}

// The views are those of `value` and of the arena.
absl::StatusOr<Datum> DatumOf(const Type& type, const pb::Value& value, Arena* arena) {
  switch (value.kind_case()) {
    case pb::Value::KIND_NOT_SET:
      return Datum::Missing();
    case pb::Value::kBytesValue:
      if (type.Is(TypeKind::kBytes) || type.Is(TypeKind::kProto)) return Datum::Bytes(value.bytes_value());
      break;
    case pb::Value::kStringValue:
      if (type.Is(TypeKind::kString)) return Datum::Bytes(value.string_value());
      break;
    case pb::Value::kIntValue:
      if (type.Is(TypeKind::kInt64) || type.Is(TypeKind::kEnum)) return Datum::Int(value.int_value());
      break;
    case pb::Value::kBoolValue:
      if (type.Is(TypeKind::kBool)) return Datum::Int(value.bool_value() ? 1 : 0);
      break;
    case pb::Value::kFloatValue:
      if (type.IsFloat()) return Datum::Double(value.float_value());
      break;
    case pb::Value::kTimestampValue:
      if (type.Is(TypeKind::kTimestamp)) return TimestampOf(type, value.timestamp_value());
      break;
    case pb::Value::kDateValue:
      if (type.Is(TypeKind::kDate)) return DateOf(type, value.date_value());
      break;
    case pb::Value::kArrayValue:
      if (ColumnTypeOf(type) == ColumnType::kList) return ListOf(type, value.array_value(), arena);
      break;
    default:
      break;
  }
  return NoValue(type);
}

void Append(const Datum& datum, rows::Column* column) {
  if (!datum.is_there) return column->AppendMissing();
  switch (datum.kind) {
    case Datum::Kind::kInt:
      return column->AppendInt(datum.integer);
    case Datum::Kind::kDouble:
      return column->AppendDouble(datum.number);
    case Datum::Kind::kBytes:
      return column->AppendBytes(datum.bytes());
    case Datum::Kind::kList:
      return column->AppendList(datum);
  }
}

}  // namespace

void ToProto(const Type& type, pb::Type* out) {
  switch (type.kind()) {
    case TypeKind::kBool:
      out->mutable_bool_type();
      return;
    case TypeKind::kInt64:
      out->mutable_int64_type();
      return;
    case TypeKind::kFloat32:
      out->mutable_float32_type();
      return;
    case TypeKind::kFloat64:
      out->mutable_float64_type();
      return;
    case TypeKind::kString:
      out->mutable_string_type();
      return;
    case TypeKind::kBytes:
      out->mutable_bytes_type();
      return;
    case TypeKind::kDate:
      out->mutable_date_type();
      return;
    case TypeKind::kTimestamp:
      out->mutable_timestamp_type();
      return;
    case TypeKind::kArray:
      return ToProto(type.element(), out->mutable_array_type()->mutable_element_type());
    case TypeKind::kStruct:
      out->mutable_struct_type();
      for (const Type::Field& field : type.fields()) {
        pb::Type::Struct::Field* const to = out->mutable_struct_type()->add_fields();
        to->set_field_name(field.name);
        ToProto(field.type, to->mutable_type());
      }
      return;
    case TypeKind::kMap:
      ToProto(type.key(), out->mutable_map_type()->mutable_key_type());
      return ToProto(type.value(), out->mutable_map_type()->mutable_value_type());
    case TypeKind::kProto:
      out->mutable_proto_type()->set_schema_bundle_id(type.bundle());
      out->mutable_proto_type()->set_message_name(type.name());
      return;
    case TypeKind::kEnum:
      out->mutable_enum_type()->set_schema_bundle_id(type.bundle());
      out->mutable_enum_type()->set_enum_name(type.name());
      return;
  }
}

void ToProto(const Value& value, pb::Value* out) { SetScalar(value.type(), value.datum(), out); }

absl::StatusOr<Type> FromProto(const pb::Type& type) {
  switch (type.kind_case()) {
    case pb::Type::kBytesType:
      return Type(TypeKind::kBytes);
    case pb::Type::kStringType:
      return Type(TypeKind::kString);
    case pb::Type::kInt64Type:
      return Type(TypeKind::kInt64);
    case pb::Type::kFloat32Type:
      return Type(TypeKind::kFloat32);
    case pb::Type::kFloat64Type:
      return Type(TypeKind::kFloat64);
    case pb::Type::kBoolType:
      return Type(TypeKind::kBool);
    case pb::Type::kTimestampType:
      return Type(TypeKind::kTimestamp);
    case pb::Type::kDateType:
      return Type(TypeKind::kDate);
    case pb::Type::kProtoType:
      return Type::Proto(type.proto_type().schema_bundle_id(), type.proto_type().message_name());
    case pb::Type::kEnumType:
      return Type::Enum(type.enum_type().schema_bundle_id(), type.enum_type().enum_name());
    case pb::Type::kArrayType: {
      absl::StatusOr<Type> element = FromProto(type.array_type().element_type());
      if (!element.ok()) return element.status();
      return Type::Array(*std::move(element));
    }
    case pb::Type::kMapType: {
      absl::StatusOr<Type> key = FromProto(type.map_type().key_type());
      if (!key.ok()) return key.status();
      absl::StatusOr<Type> value = FromProto(type.map_type().value_type());
      if (!value.ok()) return value.status();
      return Type::Map(*std::move(key), *std::move(value));
    }
    case pb::Type::kStructType: {
      std::vector<Type::Field> fields;
      for (const pb::Type::Struct::Field& field : type.struct_type().fields()) {
        absl::StatusOr<Type> parsed = FromProto(field.type());
        if (!parsed.ok()) return parsed.status();
        fields.push_back({field.field_name(), *std::move(parsed)});
      }
      return Type::Struct(std::move(fields));
    }
    default:
      return absl::InternalError("The server sent a column of a type that is not known");
  }
}

absl::Status AppendRows(const std::vector<Type>& types, const pb::ProtoRows& rows, rows::HeldBatch* out) {
  if (types.empty() || rows.values_size() % static_cast<int>(types.size()) != 0) {
    return absl::InternalError("The server sent a part of a row");
  }
  Arena arena;
  size_t column = 0;
  for (const pb::Value& value : rows.values()) {
    const absl::StatusOr<Datum> datum = DatumOf(types[column], value, &arena);
    if (!datum.ok()) return datum.status();
    Append(*datum, &out->columns[column]);
    column = (column + 1) % types.size();
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql

#include "wire/sql/sql_parameters.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "base/bytes.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
using sql::Type;
using sql::TypeKind;
using sql::Value;

// Microseconds of 0001-01-01 and of the last moment of 9999.
constexpr int64_t kTimestampMicrosMin = -62'135'596'800'000'000;
constexpr int64_t kTimestampMicrosMax = 253'402'300'799'999'999;

constexpr int kViewParametersMax = 10'000;
constexpr size_t kViewParameterNameBytesMax = 1'024;

absl::Status BadParameter(const std::string& name, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field 'params' : Parameter '{}' {}", name, what));
}

std::optional<Type> TypeOf(const pb::Type& type) {
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
    case pb::Type::kArrayType: {
      std::optional<Type> element = TypeOf(type.array_type().element_type());
      if (!element.has_value() || element->Is(TypeKind::kArray)) return std::nullopt;
      return Type::Array(*std::move(element));
    }
    default:
      return std::nullopt;
  }
}

absl::StatusOr<Value> ParseDate(const std::string& name, const google::type::Date& date) {
  const absl::CivilDay day(date.year(), date.month(), date.day());
  if (date.year() < 1 || date.year() > 9999 || day.month() != date.month() || day.day() != date.day()) {
    return BadParameter(name, fmt::format("is no date: {}-{}-{}", date.year(), date.month(), date.day()));
  }
  return Value::Date(day - absl::CivilDay(1970, 1, 1));
}

absl::StatusOr<Value> ParseTimestamp(const std::string& name, const google::protobuf::Timestamp& time) {
  constexpr int64_t kMicros = 1'000'000;
  if (time.nanos() < 0 || time.nanos() >= 1'000'000'000 || time.seconds() < kTimestampMicrosMin / kMicros ||
      time.seconds() > kTimestampMicrosMax / kMicros) {
    return BadParameter(name, fmt::format("is no TIMESTAMP: {} s and {} ns", time.seconds(), time.nanos()));
  }
  return Value::Timestamp(time.seconds() * kMicros + time.nanos() / 1'000);
}

absl::StatusOr<Value> ParseFloat(const std::string& name, const Type& type, double number) {
  if (!std::isfinite(number)) return BadParameter(name, "is NaN or infinite, which cannot be sent");
  if (type.Is(TypeKind::kFloat32) && static_cast<double>(static_cast<float>(number)) != number) {
    number = static_cast<float>(number);
  }
  return Value(type, Datum::Double(number));
}

absl::StatusOr<Value> ParseArray(const std::string& name, const Type& type, const pb::ArrayValue& array) {
  std::vector<Value> elements;
  elements.reserve(array.values_size());
  for (const pb::Value& element : array.values()) {
    absl::StatusOr<Value> parsed = ParseParameter(name, type.element(), element);
    if (!parsed.ok()) return parsed.status();
    elements.push_back(*std::move(parsed));
  }
  return Value::Array(type.element(), elements);
}

}  // namespace

absl::StatusOr<sql::ViewParameters> ParseViewParameters(const pb::ExecuteQueryRequest& request) {
  if (request.view_parameters_size() > kViewParametersMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'view_parameters' : {} view parameters; {} are allowed",
                    request.view_parameters_size(), kViewParametersMax));
  }
  sql::ViewParameters parameters;
  for (const auto& [name, value] : request.view_parameters()) {
    if (name.empty() || name.size() > kViewParameterNameBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'view_parameters' : A name has {} bytes; 1 to {} are allowed",
                      name.size(), kViewParameterNameBytesMax));
    }
    const bool has_other_type = value.has_type() && value.type().kind_case() != pb::Type::kStringType;
    const bool is_null = value.kind_case() == pb::Value::KIND_NOT_SET;
    if (has_other_type || (!is_null && value.kind_case() != pb::Value::kStringValue)) {
      return absl::InvalidArgumentError(fmt::format(
          "Error in field 'view_parameters' : View parameter '{}' is no STRING", Printable(name)));
    }
    if (!is_null) parameters.emplace(name, value.string_value());
  }
  return parameters;
}

absl::StatusOr<Type> ParseParameterType(const std::string& name, const pb::Type& type) {
  std::optional<Type> parsed = TypeOf(type);
  if (parsed.has_value()) return *std::move(parsed);
  return absl::InvalidArgumentError(fmt::format(
      "Error in field 'param_types' : Parameter '{}' has a type that parameters cannot have", name));
}

absl::StatusOr<Value> ParseParameter(const std::string& name, const Type& type, const pb::Value& value) {
  if (value.has_type()) {
    const std::optional<Type> said = TypeOf(value.type());
    if (!said.has_value() || *said != type) {
      return BadParameter(name,
                          fmt::format("is declared as {}, and its value has another type", type.ToString()));
    }
  }
  if (value.kind_case() == pb::Value::KIND_NOT_SET) return Value::Null(type);
  switch (type.kind()) {
    case TypeKind::kBytes:
      if (value.kind_case() == pb::Value::kBytesValue) return Value::Bytes(value.bytes_value());
      break;
    case TypeKind::kString:
      // It is UTF-8: else the request would have been no message.
      if (value.kind_case() == pb::Value::kStringValue) return Value::String(value.string_value());
      break;
    case TypeKind::kInt64:
      if (value.kind_case() == pb::Value::kIntValue) return Value::Int(value.int_value());
      break;
    case TypeKind::kBool:
      if (value.kind_case() == pb::Value::kBoolValue) return Value::Bool(value.bool_value());
      break;
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      if (value.kind_case() == pb::Value::kFloatValue) return ParseFloat(name, type, value.float_value());
      break;
    case TypeKind::kTimestamp:
      if (value.kind_case() == pb::Value::kTimestampValue)
        return ParseTimestamp(name, value.timestamp_value());
      break;
    case TypeKind::kDate:
      if (value.kind_case() == pb::Value::kDateValue) return ParseDate(name, value.date_value());
      break;
    case TypeKind::kArray:
      if (value.kind_case() == pb::Value::kArrayValue) return ParseArray(name, type, value.array_value());
      break;
    default:
      break;
  }
  return BadParameter(name, fmt::format("is declared as {}, and its value is none", type.ToString()));
}

}  // namespace sonde

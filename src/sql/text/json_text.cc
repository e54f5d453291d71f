#include "sql/text/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "sql/function/bounds.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/text/json_scanner.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

// Beyond it a number of JSON may lose digits in a double.
constexpr int64_t kExactIntegerMax = int64_t{1} << 53;

std::string JsonNumberText(double number, bool is_float) {
  if (std::isnan(number)) return "\"NaN\"";
  if (std::isinf(number)) return number < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  return is_float ? FloatText(static_cast<float>(number)) : DoubleText(number);
}

std::string JsonIntegerText(int64_t integer) {
  const bool is_exact = integer >= -kExactIntegerMax && integer <= kExactIntegerMax;
  return is_exact ? fmt::format("{}", integer) : fmt::format("\"{}\"", integer);
}

// 2020-01-31T12:00:00.500Z
std::string Rfc3339Text(int64_t micros) {
  std::string text = TimestampText(micros);
  text.replace(text.find(' '), 1, "T");
  text.replace(text.rfind('+'), std::string::npos, "Z");
  return text;
}

std::string Base64Text(std::string_view bytes) { return absl::Base64Escape({bytes.data(), bytes.size()}); }

// Writes one value, and asks for room and time as the text grows.
class JsonWriter {
 public:
  JsonWriter(const Call& call, JsonLayout layout, std::string* json)
      : call_(call), layout_(layout), json_(*json) {}

  absl::Status Write(const Type& type, const Datum& datum) {
    if (absl::Status status = Watch(); !status.ok()) return status;
    if (!datum.is_there) {
      json_ += "null";
      return absl::OkStatus();
    }
    switch (type.kind()) {
      case TypeKind::kArray:
      case TypeKind::kStruct:
      case TypeKind::kMap:
        return WriteList(type, datum);
      default:
        WriteScalar(type, datum);
        return absl::OkStatus();
    }
  }

 private:
  absl::Status Watch() {
    if (json_.size() < next_bytes_) return absl::OkStatus();
    if (absl::Status status = meter_.Add(call_, json_.size() - asked_bytes_); !status.ok()) return status;
    asked_bytes_ = json_.size();
    next_bytes_ = json_.size() + kLargeValueBytes;
    return AskForRoom(call_, next_bytes_ + kLargeValueBytes);
  }

  void WriteScalar(const Type& type, const Datum& datum) {
    switch (type.kind()) {
      case TypeKind::kBool:
        json_ += datum.integer != 0 ? "true" : "false";
        return;
      case TypeKind::kInt64:
      case TypeKind::kEnum:
        json_ += JsonIntegerText(datum.integer);
        return;
      case TypeKind::kFloat32:
      case TypeKind::kFloat64:
        json_ += JsonNumberText(datum.number, type.Is(TypeKind::kFloat32));
        return;
      case TypeKind::kString:
        return AppendJsonString(datum.bytes(), &json_);
      case TypeKind::kDate:
        return AppendJsonString(DateText(datum.integer), &json_);
      case TypeKind::kTimestamp:
        return AppendJsonString(Rfc3339Text(datum.integer), &json_);
      default:
        return AppendJsonString(Base64Text(datum.bytes()), &json_);
    }
  }

  void WriteKey(const Type& type, const Datum& key) {
    if (type.Is(TypeKind::kString)) return AppendJsonString(key.bytes(), &json_);
    if (type.Is(TypeKind::kBytes)) return AppendJsonString(Base64Text(key.bytes()), &json_);
    std::string text;
    AppendSql(type, key, &text);
    AppendJsonString(text, &json_);
  }

  absl::Status WriteList(const Type& type, const Datum& datum) {
    const bool is_array = type.Is(TypeKind::kArray);
    const bool is_map = type.Is(TypeKind::kMap);
    json_ += is_array ? '[' : '{';
    ++depth_;
    for (size_t i = 0; i < datum.size; i += is_map ? 2 : 1) {
      if (i > 0) json_ += ',';
      BreakLine();
      if (is_map) WriteKey(type.key(), datum.items[i]);
      if (type.Is(TypeKind::kStruct)) AppendJsonString(type.fields()[i].name, &json_);
      if (!is_array) json_ += layout_ == JsonLayout::kPretty ? ": " : ":";
      const Type& inside = is_array ? type.element() : is_map ? type.value() : type.fields()[i].type;
      if (absl::Status status = Write(inside, datum.items[is_map ? i + 1 : i]); !status.ok()) return status;
    }
    --depth_;
    if (datum.size > 0) BreakLine();
    json_ += is_array ? ']' : '}';
    return absl::OkStatus();
  }

  void BreakLine() {
    if (layout_ != JsonLayout::kPretty) return;
    json_ += '\n';
    json_.append(2 * depth_, ' ');
  }

  const Call& call_;
  const JsonLayout layout_;
  std::string& json_;
  size_t depth_ = 0;
  size_t asked_bytes_ = 0;
  size_t next_bytes_ = kLargeValueBytes;
  WorkMeter meter_;
};

absl::StatusOr<std::string_view> ToJsonString(Call& call, std::optional<Datum> value, bool is_pretty) {
  const Datum datum = value.value_or(Datum::Missing());
  if (datum.is_there && call.argument_type(0).IsText()) {
    if (absl::Status status = AskForRoom(call, datum.size); !status.ok()) return status;
  }
  std::string json;
  const JsonLayout layout = is_pretty ? JsonLayout::kPretty : JsonLayout::kCompact;
  if (absl::Status status = AppendJson(call, call.argument_type(0), datum, layout, &json); !status.ok())
    return status;
  return call.arena()->Copy(json);
}

absl::StatusOr<std::string_view> ToCompactJsonString(Call& call, std::optional<Datum> value) {
  return ToJsonString(call, value, false);
}

}  // namespace

absl::Status AppendJson(const Call& call, const Type& type, const Datum& datum, JsonLayout layout,
                        std::string* json) {
  return JsonWriter(call, layout, json).Write(type, datum);
}

Function ToJsonStringFunction() {
  return {.name = "TO_JSON_STRING",
          .overloads = {Scalar("(T1, [BOOL]) -> STRING",
                               KernelByCount<1, RowKernel<ToCompactJsonString>, RowKernel<ToJsonString>>)},
          .meaning =
              "A value of any type as a JSON text; on several lines if the second argument is TRUE.  "
              "Integers beyond 2^53 become "
              "strings, BYTES base64, a map an object.",
          .examples = {"TO_JSON_STRING(STRUCT(1 AS id, [10, 20] AS coordinates))",
                       "TO_JSON_STRING([1, 2], TRUE)"}};
}

}  // namespace sonde::sql

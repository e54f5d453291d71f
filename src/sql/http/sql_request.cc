#include "sql/http/sql_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "sql/exec/parameter_values.h"

namespace sonde::sql {
namespace {

using Json = nlohmann::json;

absl::Status BadParameter(const std::string& name, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("parameter '{}' {}", Printable(name), what));
}

// The value of a JSON value that is no object; nothing: it has none without a type.
std::optional<Value> ValueOfScalar(const Json& json) {
  if (json.is_string()) return Value::String(json.get_ref<const std::string&>());
  if (json.is_boolean()) return Value::Bool(json.get<bool>());
  if (json.is_number_float()) return Value::Double(json.get<double>());
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return std::nullopt;
  }
  if (json.is_number_integer()) return Value::Int(json.get<int64_t>());
  return std::nullopt;
}

// The elements of an array are of one type, but whole numbers may stand among others.
absl::StatusOr<Value> ValueOfArray(const std::string& name, const Json& json) {
  constexpr std::string_view kNeedsType =
      R"(needs a type, such as {"type": "ARRAY<STRING>", "value": [...]}: its elements do not say one)";
  std::vector<Value> elements;
  std::optional<Type> type;
  for (const Json& element : json) {
    if (element.is_null()) continue;
    const std::optional<Value> value = ValueOfScalar(element);
    if (!value.has_value()) return BadParameter(name, kNeedsType);
    const bool are_numbers = type.has_value() && type->IsNumeric() && value->type().IsNumeric();
    if (!type.has_value() || (are_numbers && value->type().IsFloat())) {
      type = value->type();
    } else if (!are_numbers && *type != value->type()) {
      return BadParameter(name, kNeedsType);
    }
  }
  if (!type.has_value()) return BadParameter(name, kNeedsType);
  for (const Json& element : json) {
    const bool is_float = type->IsFloat() && !element.is_null();
    elements.push_back(is_float ? Value::Double(element.get<double>())
                                : ValueOfScalar(element).value_or(Value::Null(*type)));
  }
  return Value::Array(*type, elements);
}

// As text, for a cast; NULL of null.
std::optional<Value> TextOf(const Json& json) {
  if (json.is_null()) return Value::Null(TypeKind::kString);
  if (json.is_string()) return Value::String(json.get_ref<const std::string&>());
  if (json.is_boolean() || json.is_number()) return Value::String(json.dump());
  return std::nullopt;
}

absl::StatusOr<Value> ValueOfType(const std::string& name, const Json& json,
                                  const std::function<absl::Status()>& interrupted) {
  constexpr std::string_view kShape = R"(must be a value, or {"type": "INT64", "value": ...})";
  const auto type = json.find("type");
  const auto value = json.find("value");
  if (json.size() != 2 || type == json.end() || value == json.end() || !type->is_string()) {
    return BadParameter(name, kShape);
  }
  std::optional<Value> from = TextOf(*value);
  if (value->is_array()) {
    std::vector<Value> texts;
    for (const Json& element : *value) {
      std::optional<Value> text = TextOf(element);
      if (!text.has_value())
        return BadParameter(name, "has an element that is neither text, number nor null");
      texts.push_back(*std::move(text));
    }
    from = Value::Array(TypeKind::kString, texts);
  }
  if (!from.has_value()) return BadParameter(name, kShape);
  absl::StatusOr<Value> cast = CastToNamed(*from, type->get_ref<const std::string&>(), interrupted);
  if (cast.ok() || absl::IsCancelled(cast.status())) return cast;
  return BadParameter(name, fmt::format("is no {}: {}", Printable(type->get_ref<const std::string&>()),
                                        std::string(cast.status().message())));
}

absl::StatusOr<Value> ValueOf(const std::string& name, const Json& json,
                              const std::function<absl::Status()>& interrupted) {
  if (json.is_object()) return ValueOfType(name, json, interrupted);
  if (json.is_array()) return ValueOfArray(name, json);
  std::optional<Value> value = ValueOfScalar(json);
  if (value.has_value()) return *std::move(value);
  return BadParameter(name, json.is_null() ? R"(needs a type, such as {"type": "STRING", "value": null})"
                                           : "is beyond INT64");
}

absl::Status SetParameters(const Json& json, const std::function<absl::Status()>& interrupted,
                           SqlRequest* request) {
  if (!json.is_object() || json.size() > kParametersMax) {
    return absl::InvalidArgumentError(
        fmt::format("'params' must be an object of at most {} parameters by name", kParametersMax));
  }
  for (const auto& [name, one] : json.items()) {
    absl::StatusOr<Value> value = ValueOf(name, one, interrupted);
    if (!value.ok()) return value.status();
    request->parameters.push_back({name, *std::move(value)});
  }
  return absl::OkStatus();
}

absl::Status SetViewParameters(const Json& json, SqlRequest* request) {
  if (!json.is_object() || json.size() > kParametersMax) {
    return absl::InvalidArgumentError(
        fmt::format("'view_parameters' must be an object of at most {} texts by name", kParametersMax));
  }
  for (const auto& [name, one] : json.items()) {
    if (one.is_null()) continue;
    if (name.empty() || !one.is_string()) {
      return absl::InvalidArgumentError(
          fmt::format("view parameter '{}' must have a name and be a text or null", Printable(name)));
    }
    request->view_parameters.emplace(name, one.get_ref<const std::string&>());
  }
  return absl::OkStatus();
}

absl::Status SetTimeout(const Json& json, SqlRequest* request) {
  const int64_t most = absl::ToInt64Milliseconds(kTimeoutMax);
  if (!json.is_number_integer() || json.get<int64_t>() < 1 || json.get<int64_t>() > most) {
    return absl::InvalidArgumentError(fmt::format(
        "'timeout_ms' must be a whole number from 1 to {}, but is {}", most, Printable(json.dump())));
  }
  request->timeout = absl::Milliseconds(json.get<int64_t>());
  return absl::OkStatus();
}

absl::Status SetText(const std::string& name, const std::string& text, SqlRequest* request) {
  if (name == "query") {
    if (text.size() > kQueryBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("the query has {} bytes; {} are allowed", text.size(), kQueryBytesMax));
    }
    request->query = text;
  } else if (name == "project") {
    request->project = text;
  } else if (name == "instance") {
    request->instance = text;
  } else if (text == "csv") {
    request->format = AnswerFormat::kCsv;
  } else if (text == "json") {
    request->format = AnswerFormat::kJsonArrays;
  } else {
    return absl::InvalidArgumentError(fmt::format("format '{}'; allowed: json, csv", Printable(text)));
  }
  return absl::OkStatus();
}

absl::Status SetMember(const std::string& name, const Json& json,
                       const std::function<absl::Status()>& interrupted, SqlRequest* request) {
  if (name == "params") return SetParameters(json, interrupted, request);
  if (name == "view_parameters") return SetViewParameters(json, request);
  if (name == "timeout_ms") return SetTimeout(json, request);
  if (name != "query" && name != "format" && name != "project" && name != "instance") {
    return absl::InvalidArgumentError(
        fmt::format("unknown member '{}'; allowed: format, instance, params, project, query, timeout_ms, "
                    "view_parameters",
                    Printable(name)));
  }
  if (!json.is_string()) return absl::InvalidArgumentError(fmt::format("'{}' must be a text", name));
  return SetText(name, json.get_ref<const std::string&>(), request);
}

}  // namespace

absl::StatusOr<SqlRequest> ParseSqlRequest(const std::string& body, SqlRequest usual,
                                           const std::function<absl::Status()>& interrupted) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(R"(the body must be a JSON object, such as {"query": "SELECT 1"})");
  }
  for (const auto& [name, value] : json.items()) {
    if (absl::Status status = SetMember(name, value, interrupted, &usual); !status.ok()) return status;
  }
  if (usual.query.empty()) return absl::InvalidArgumentError("'query' is missing or empty");
  return usual;
}

}  // namespace sonde::sql

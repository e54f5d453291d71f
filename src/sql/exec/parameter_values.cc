#include "sql/exec/parameter_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/bytes.h"
#include "sql/bind/binder.h"
#include "sql/exec/execution.h"

namespace sonde::sql {
namespace {

constexpr size_t kTypeNameBytesMax = 100;

template <typename Number>
std::optional<Number> NumberOf(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Memory in which the value of one parameter is made.
constexpr int64_t kValueBytesMax = 64 << 20;

// Only what the name of a type can hold: the name becomes a part of a query.
absl::Status CheckTypeName(std::string_view type) {
  const bool fits = !type.empty() && type.size() <= kTypeNameBytesMax &&
                    std::all_of(type.begin(), type.end(), [](unsigned char c) {
                      return absl::ascii_isalnum(c) || c == '_' || c == '<' || c == '>' || c == ' ';
                    });
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("'{}' is no name of a type, such as BYTES or ARRAY<INT64>", Printable(type)));
}

// Errors of a query that nobody has written name no place of it.
absl::Status WithoutPlace(const absl::Status& status) {
  std::string message(status.message());
  message.resize(std::min(message.rfind(" [at "), message.size()));
  return absl::InvalidArgumentError(message);
}

// The only value of a query that reads no table.
absl::StatusOr<Value> OnlyValue(const std::string& text, std::vector<QueryParameter> declared,
                                std::vector<Value> values, const std::function<absl::Status()>& interrupted) {
  const BindOptions options{.find_table = [](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
                              return absl::InvalidArgumentError(fmt::format(
                                  "The value of a parameter must not read a table: '{}'", Printable(id)));
                            },
                            .parameters = std::move(declared)};
  const absl::StatusOr<BoundQuery> query = ParseAndBind(text, options);
  if (!query.ok()) return WithoutPlace(query.status());
  int64_t held_bytes = 0;
  const auto hold = [&held_bytes](int64_t more_bytes) {
    if (more_bytes > 0 && held_bytes + more_bytes > kValueBytesMax) {
      return absl::ResourceExhaustedError(
          fmt::format("The value of a parameter takes {} bytes to be made; {} is the limit",
                      held_bytes + more_bytes, kValueBytesMax));
    }
    held_bytes += more_bytes;
    return absl::OkStatus();
  };
  const absl::StatusOr<std::unique_ptr<Execution>> execution =
      Execute(*query, std::move(values), {.interrupted = interrupted, .hold = hold});
  if (!execution.ok()) return WithoutPlace(execution.status());
  rows::Batch batch;
  const absl::StatusOr<bool> more = (*execution)->Next(&batch);
  if (absl::IsCancelled(more.status())) return more.status();
  if (!more.ok()) return WithoutPlace(more.status());
  return Value(query->columns[0].type, DatumAt(batch.columns[0], 0));
}

}  // namespace

Value ValueByLook(const std::string& text) {
  if (const std::optional<int64_t> number = NumberOf<int64_t>(text)) return Value::Int(*number);
  if (const std::optional<double> number = NumberOf<double>(text)) return Value::Double(*number);
  if (absl::EqualsIgnoreCase(text, "true") || absl::EqualsIgnoreCase(text, "false")) {
    return Value::Bool(absl::EqualsIgnoreCase(text, "true"));
  }
  return Value::String(text);
}

absl::StatusOr<Value> CastToNamed(const Value& value, std::string_view type,
                                  const std::function<absl::Status()>& interrupted) {
  if (absl::Status status = CheckTypeName(type); !status.ok()) return status;
  std::string text = fmt::format("SELECT CAST(@value AS {})", type);
  std::string trimmed(type);
  absl::StripAsciiWhitespace(&trimmed);
  const size_t open = trimmed.find('<');
  std::string outer = trimmed.substr(0, open);
  absl::StripTrailingAsciiWhitespace(&outer);
  if (value.type().Is(TypeKind::kArray) && trimmed.ends_with('>') && absl::EqualsIgnoreCase(outer, "ARRAY")) {
    text = fmt::format(
        "SELECT IF(@value IS NULL, NULL, ARRAY(SELECT CAST(element AS {}) FROM UNNEST(@value) AS element "
        "WITH OFFSET AS place ORDER BY place))",
        trimmed.substr(open + 1, trimmed.size() - open - 2));
  }
  return OnlyValue(text, {{"value", value.type()}}, {value}, interrupted);
}

absl::StatusOr<Value> CastExpressionToNamed(std::string_view expression, std::string_view type) {
  if (absl::Status status = CheckTypeName(type); !status.ok()) return status;
  return OnlyValue(fmt::format("SELECT CAST({} AS {})", expression, type), {}, {}, {});
}

}  // namespace sonde::sql

// Literals, and names of types.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/constant.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

ExpressionPtr Written(Value value) {
  ExpressionPtr literal = MakeLiteral(std::move(value));
  literal->written = Expression::Written::kLiteral;
  return literal;
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::BindInteger(const Expr& expr, bool negative, Position position) {
  const std::string& text = expr.text;
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number, is_hex ? 16 : 10);
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (error != std::errc() || stop != end || number > kMost + (negative ? 1 : 0)) {
    return Error(position, fmt::format("Invalid integer literal: {}{}", negative ? "-" : "", text));
  }
  return Written(Value::Int(static_cast<int64_t>(negative ? 0 - number : number)));
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindLiteral(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kNull: {
      ExpressionPtr literal = MakeLiteral(Value::Null(TypeKind::kInt64));
      literal->written = Expression::Written::kUntyped;
      return literal;
    }
    case Expr::Kind::kBool:
      return Written(Value::Bool(expr.boolean));
    case Expr::Kind::kInt:
      return BindInteger(expr, /*negative=*/false, expr.position);
    case Expr::Kind::kFloat: {
      double number = 0;
      if (!absl::SimpleAtod(expr.text, &number)) {
        return Error(expr.position, fmt::format("Invalid floating point literal: {}", expr.text));
      }
      return Written(Value::Double(number));
    }
    case Expr::Kind::kString:
      return Written(Value::String(expr.text));
    case Expr::Kind::kBytes:
      return Written(Value::Bytes(expr.text));
    default:
      break;
  }
  const bool is_date = expr.kind == Expr::Kind::kDate;
  absl::StatusOr<Value> value =
      CastValue(Value::String(expr.text), is_date ? TypeKind::kDate : TypeKind::kTimestamp);
  if (!value.ok())
    return Error(expr.position, fmt::format("Invalid {} literal", is_date ? "DATE" : "TIMESTAMP"));
  return Written(*std::move(value));
}

absl::StatusOr<Type> QueryBinder::BindType(const TypeName& name) {
  std::string path;
  for (const std::string& part : name.path.parts) path += (path.empty() ? "" : ".") + part;
  const auto not_found = [&] { return Error(name.position, fmt::format("Type not found: {}", path)); };
  if (name.arguments.empty() && path.find('.') != std::string::npos) {
    SONDE_TRY_SET(std::optional<Type> type, FindBundleType(path));
    return type.has_value() ? absl::StatusOr<Type>(*std::move(type)) : not_found();
  }
  if (name.path.parts.size() != 1) return not_found();
  const std::string word = absl::AsciiStrToUpper(name.path.parts.front());
  std::vector<Type> inside;
  for (const std::unique_ptr<TypeName>& argument : name.arguments) {
    SONDE_TRY_SET(Type type, BindType(*argument));
    inside.push_back(std::move(type));
  }
  if (word == "ARRAY" && inside.size() == 1) {
    if (inside[0].Is(TypeKind::kArray)) return Error(name.position, "Arrays of arrays are not supported");
    return Type::Array(inside[0]);
  }
  if (word == "MAP" && inside.size() == 2) return Type::Map(inside[0], inside[1]);
  if (word == "STRUCT") {
    std::vector<Type::Field> fields;
    for (size_t i = 0; i < inside.size(); ++i) {
      fields.push_back({i < name.field_names.size() ? name.field_names[i] : "", inside[i]});
    }
    return Type::Struct(std::move(fields));
  }
  if (!inside.empty()) return not_found();
  static constexpr std::pair<std::string_view, TypeKind> kNames[] = {
      {"BOOL", TypeKind::kBool},       {"BOOLEAN", TypeKind::kBool},    {"INT64", TypeKind::kInt64},
      {"FLOAT32", TypeKind::kFloat32}, {"FLOAT64", TypeKind::kFloat64}, {"STRING", TypeKind::kString},
      {"BYTES", TypeKind::kBytes},     {"DATE", TypeKind::kDate},       {"TIMESTAMP", TypeKind::kTimestamp},
  };
  for (const auto& [known, kind] : kNames) {
    if (word == known) return Type(kind);
  }
  return not_found();
}

}  // namespace sonde::sql

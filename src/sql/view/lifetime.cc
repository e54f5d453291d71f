#include "sql/view/lifetime.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "series/schema/calendar.h"
#include "sql/bind/names.h"
#include "sql/plan/try.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/syntax_error.h"

namespace sonde::sql {

std::string NameOf(const Path& path) {
  std::string name;
  for (const std::string& part : path.parts) name += (name.empty() ? "" : ".") + part;
  return name;
}

absl::StatusOr<ViewLifetime> LifetimeOf(const Query& query, std::string_view text) {
  ViewLifetime lifetime;
  for (const Hint& hint : query.hints) {
    const std::string name = NameOf(hint.name);
    if (SameName(name, "outlive_source")) {
      if (hint.value->kind != Expr::Kind::kBool)
        return ErrorAt(text, hint.value->position, "Hint outlive_source must have a BOOL literal");
      lifetime.outlives_source = hint.value->boolean;
    } else if (SameName(name, "retain")) {
      if (hint.value->kind != Expr::Kind::kString)
        return ErrorAt(text, hint.value->position, "Hint retain must have a STRING literal");
      const absl::StatusOr<int64_t> micros = series::ParseDurationMicros(hint.value->text);
      if (!micros.ok())
        return ErrorAt(text, hint.value->position,
                       fmt::format("Hint retain: {}", std::string(micros.status().message())));
      lifetime.retain_micros = *micros;
    } else {
      return ErrorAt(text, hint.name.position,
                     fmt::format("A materialized view cannot have the hint {}", name));
    }
  }
  if (lifetime.retain_micros.has_value() && !lifetime.outlives_source) {
    return ErrorAt(text, query.hints.front().name.position,
                   "Hint retain needs outlive_source=true: other views forget what their source forgets");
  }
  return lifetime;
}

bool OutlivesSource(std::string_view text) {
  const absl::StatusOr<std::unique_ptr<Statement>> statement = ParseStatement(text);
  if (!statement.ok() || (*statement)->query == nullptr) return false;
  const absl::StatusOr<ViewLifetime> lifetime = LifetimeOf(*(*statement)->query, text);
  return lifetime.ok() && lifetime->outlives_source;
}

}  // namespace sonde::sql

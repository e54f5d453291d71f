// CONCAT and || of values that are no texts: GoogleSQL takes them as CAST(value AS STRING) would write them.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

bool HasText(const Expression& value) {
  switch (value.type.kind()) {
    case TypeKind::kBool:
    case TypeKind::kInt64:
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
    case TypeKind::kString:
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status QueryBinder::CastToTexts(const std::vector<ExpressionPtr*>& values, Position position) {
  const bool all_have_texts =
      std::all_of(values.begin(), values.end(), [](const ExpressionPtr* value) { return HasText(**value); });
  if (!all_have_texts) return absl::OkStatus();
  for (ExpressionPtr* const value : values) {
    if ((*value)->type.Is(TypeKind::kString) || IsUntypedNull(**value)) continue;
    SONDE_TRY_SET(*value, MakeCast(std::move(*value), TypeKind::kString, /*is_safe=*/false, position));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::CastArgumentsToTexts(std::vector<CallArgument>* arguments, Position position) {
  std::vector<ExpressionPtr*> values;
  for (CallArgument& argument : *arguments) {
    if (argument.facts.kind != ArgumentFacts::Kind::kValue) return absl::OkStatus();
    values.push_back(&argument.bound);
  }
  SONDE_TRY(CastToTexts(values, position));
  for (CallArgument& argument : *arguments) argument.facts = FactsOf(*argument.bound);
  return absl::OkStatus();
}

}  // namespace sonde::sql

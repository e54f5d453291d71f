#include "sql/function/cast.h"

#include "sql/function/cast_format.h"
#include "sql/function/cast_nested.h"
#include "sql/function/cast_scalar.h"

namespace sonde::sql {

Kernel FindCast(const Type& from, const Type& to) {
  const bool is_nested = ColumnTypeOf(from) == ColumnType::kList || ColumnTypeOf(to) == ColumnType::kList;
  if (is_nested) return FindNestedCast(from, to);
  const bool is_named = from.Is(TypeKind::kProto) || from.Is(TypeKind::kEnum);
  if (is_named && from.kind() == to.kind() && !(from == to)) return nullptr;
  return FindScalarCast(from.kind(), to.kind());
}

Kernel FindFormatCast(const Type& from, const Type& to) { return FindCastWithFormat(from.kind(), to.kind()); }

}  // namespace sonde::sql

#include "sql/function/cast.h"

#include <string_view>

#include "sql/function/row_kernel.h"

namespace sonde::sql {
namespace {

double DoubleOfInt(Call&, int64_t value) { return static_cast<double>(value); }
double FloatOfDouble(Call&, double value) { return static_cast<float>(value); }
std::string_view SameBytes(Call&, std::string_view value) { return value; }

}  // namespace

Kernel FindCast(const Type& from, const Type& to) {
  if (from.Is(TypeKind::kInt64) && to.Is(TypeKind::kFloat64)) return RowKernel<DoubleOfInt>;
  if (from.Is(TypeKind::kFloat64) && to.Is(TypeKind::kFloat32)) return RowKernel<FloatOfDouble>;
  if (from.Is(TypeKind::kString) && to.Is(TypeKind::kBytes)) return RowKernel<SameBytes>;
  return nullptr;
}

Kernel FindFormatCast(const Type&, const Type&) { return nullptr; }

}  // namespace sonde::sql

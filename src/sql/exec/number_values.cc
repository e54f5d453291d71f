#include "sql/exec/number_values.h"

#include <fmt/format.h>

#include <utility>

#include "sql/function/cast.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

// The kernel of a function that takes BYTES.
Kernel KernelOf(std::string_view name) {
  const Function* const function = FindFunction(name);
  if (function == nullptr || function->overloads.empty()) return nullptr;
  return function->overloads[0].kernel;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NumberValues>> NumberValues::Create(const ScanColumn& column,
                                                                   const StatementFacts& facts) {
  const Type number = column.type.Is(TypeKind::kArray) ? column.type.element().fields()[1].type : column.type;
  std::unique_ptr<NumberValues> values(new NumberValues(facts));
  bool is_known = false;
  if (column.written == NumberBytes::kDecimalText) {
    const Type bytes = TypeKind::kBytes;
    const Type text = TypeKind::kString;
    is_known = values->AddStep(FindCast(bytes, text), bytes, text, column.is_safe) &&
               values->AddStep(FindCast(text, number), text, number, column.is_safe);
  } else {
    const bool is_int = column.written == NumberBytes::kBigEndianInteger;
    is_known = number.Is(is_int ? TypeKind::kInt64 : TypeKind::kFloat64) &&
               values->AddStep(KernelOf(is_int ? "TO_INT64" : "TO_FLOAT64"), TypeKind::kBytes, number,
                               column.is_safe);
  }
  if (is_known) return values;
  return absl::UnimplementedError(
      fmt::format("Numbers of column {}:{} as {}", column.family, column.qualifier, number.ToString()));
}

bool NumberValues::AddStep(Kernel kernel, const Type& from, const Type& to, bool is_safe) {
  if (kernel == nullptr) return false;
  auto step = std::make_unique<Step>();
  step->kernel = kernel;
  step->argument_types = {from};
  step->result_type = to;
  step->site.argument_types = &step->argument_types;
  step->site.result_type = &step->result_type;
  step->site.is_safe = is_safe;
  step->site.lambdas.resize(1);
  steps_.push_back(std::move(step));
  return true;
}

absl::StatusOr<ColumnView> NumberValues::Of(const ColumnView& bytes, Arena* arena) {
  ColumnView values = bytes;
  for (const auto& step : steps_) {
    Call call(&facts_, &step->site, arena, values.size());
    values = step->kernel(call, {&values, 1});
    if (!call.status().ok()) return call.status();
  }
  return values;
}

}  // namespace sonde::sql

#include "promql/syntax/function_table.h"

#include <algorithm>
#include <array>

namespace sonde::promql {
namespace {

constexpr ValueType kVector = ValueType::kVector;
constexpr ValueType kScalar = ValueType::kScalar;

// Sorted by name.
constexpr std::array<FunctionSignature, 90> kFunctions = {{
    {"abs", "v", 0, kVector, false},
    {"absent", "v", 0, kVector, false},
    {"absent_over_time", "m", 0, kVector, false},
    {"acos", "v", 0, kVector, false},
    {"acosh", "v", 0, kVector, false},
    {"asin", "v", 0, kVector, false},
    {"asinh", "v", 0, kVector, false},
    {"atan", "v", 0, kVector, false},
    {"atanh", "v", 0, kVector, false},
    {"avg_over_time", "m", 0, kVector, false},
    {"ceil", "v", 0, kVector, false},
    {"changes", "m", 0, kVector, false},
    {"clamp", "vss", 0, kVector, false},
    {"clamp_max", "vs", 0, kVector, false},
    {"clamp_min", "vs", 0, kVector, false},
    {"cos", "v", 0, kVector, false},
    {"cosh", "v", 0, kVector, false},
    {"count_over_time", "m", 0, kVector, false},
    {"day_of_month", "v", 1, kVector, false},
    {"day_of_week", "v", 1, kVector, false},
    {"day_of_year", "v", 1, kVector, false},
    {"days_in_month", "v", 1, kVector, false},
    {"deg", "v", 0, kVector, false},
    {"delta", "m", 0, kVector, false},
    {"deriv", "m", 0, kVector, false},
    {"double_exponential_smoothing", "mss", 0, kVector, true},
    {"end", "", 0, kScalar, true},
    {"exp", "v", 0, kVector, false},
    {"first_over_time", "m", 0, kVector, false},
    {"floor", "v", 0, kVector, false},
    {"histogram_avg", "v", 0, kVector, false},
    {"histogram_count", "v", 0, kVector, false},
    {"histogram_fraction", "ssv", 0, kVector, false},
    {"histogram_quantile", "sv", 0, kVector, false},
    {"histogram_quantiles", "vtss", 9, kVector, true},
    {"histogram_stddev", "v", 0, kVector, false},
    {"histogram_stdvar", "v", 0, kVector, false},
    {"histogram_sum", "v", 0, kVector, false},
    {"hour", "v", 1, kVector, false},
    {"idelta", "m", 0, kVector, false},
    {"increase", "m", 0, kVector, false},
    {"info", "vv", 1, kVector, true},
    {"irate", "m", 0, kVector, false},
    {"label_join", "vttt", -1, kVector, false},
    {"label_replace", "vtttt", 0, kVector, false},
    {"last_over_time", "m", 0, kVector, false},
    {"ln", "v", 0, kVector, false},
    {"log10", "v", 0, kVector, false},
    {"log2", "v", 0, kVector, false},
    {"mad_over_time", "m", 0, kVector, true},
    {"max_of", "ss", 0, kScalar, true},
    {"max_over_time", "m", 0, kVector, false},
    {"min_of", "ss", 0, kScalar, true},
    {"min_over_time", "m", 0, kVector, false},
    {"minute", "v", 1, kVector, false},
    {"month", "v", 1, kVector, false},
    {"pi", "", 0, kScalar, false},
    {"predict_linear", "ms", 0, kVector, false},
    {"present_over_time", "m", 0, kVector, false},
    {"quantile_over_time", "sm", 0, kVector, false},
    {"rad", "v", 0, kVector, false},
    {"range", "", 0, kScalar, true},
    {"rate", "m", 0, kVector, false},
    {"resets", "m", 0, kVector, false},
    {"round", "vs", 1, kVector, false},
    {"scalar", "v", 0, kScalar, false},
    {"sgn", "v", 0, kVector, false},
    {"sin", "v", 0, kVector, false},
    {"sinh", "v", 0, kVector, false},
    {"sort", "v", 0, kVector, false},
    {"sort_by_label", "vt", -1, kVector, true},
    {"sort_by_label_desc", "vt", -1, kVector, true},
    {"sort_desc", "v", 0, kVector, false},
    {"sqrt", "v", 0, kVector, false},
    {"start", "", 0, kScalar, true},
    {"start_timestamp", "v", 0, kVector, true},
    {"stddev_over_time", "m", 0, kVector, false},
    {"stdvar_over_time", "m", 0, kVector, false},
    {"step", "", 0, kScalar, true},
    {"sum_over_time", "m", 0, kVector, false},
    {"tan", "v", 0, kVector, false},
    {"tanh", "v", 0, kVector, false},
    {"time", "", 0, kScalar, false},
    {"timestamp", "v", 0, kVector, false},
    {"ts_of_first_over_time", "m", 0, kVector, true},
    {"ts_of_last_over_time", "m", 0, kVector, true},
    {"ts_of_max_over_time", "m", 0, kVector, true},
    {"ts_of_min_over_time", "m", 0, kVector, true},
    {"vector", "s", 0, kVector, false},
    {"year", "v", 1, kVector, false},
}};

}  // namespace

std::string_view DocumentedName(ValueType type) {
  switch (type) {
    case ValueType::kVector:
      return "instant vector";
    case ValueType::kMatrix:
      return "range vector";
    default:
      return ShortName(type);
  }
}

std::string_view ShortName(ValueType type) {
  switch (type) {
    case ValueType::kNone:
      return "none";
    case ValueType::kScalar:
      return "scalar";
    case ValueType::kString:
      return "string";
    case ValueType::kVector:
      return "vector";
    case ValueType::kMatrix:
      return "matrix";
  }
  return "none";
}

ValueType FunctionSignature::ArgumentType(size_t index) const {
  switch (arguments[std::min(index, arguments.size() - 1)]) {
    case 'v':
      return ValueType::kVector;
    case 's':
      return ValueType::kScalar;
    case 'm':
      return ValueType::kMatrix;
    default:
      return ValueType::kString;
  }
}

const FunctionSignature* FindFunction(std::string_view name) {
  const auto found =
      std::lower_bound(kFunctions.begin(), kFunctions.end(), name,
                       [](const FunctionSignature& a, std::string_view b) { return a.name < b; });
  return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace sonde::promql

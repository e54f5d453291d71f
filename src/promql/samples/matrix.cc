#include "promql/samples/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::promql {

bool Row::IsEmpty() const { return std::find(present.begin(), present.end(), 1) == present.end(); }

void SortByLabels(Matrix* rows) {
  std::sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) { return a.labels < b.labels; });
}

double QuantileOf(double quantile, std::vector<double>* values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (values->empty() || std::isnan(quantile)) return std::nan("");
  if (quantile < 0) return -kInfinity;
  if (quantile > 1) return kInfinity;
  std::sort(values->begin(), values->end(),
            [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
  const auto count = static_cast<double>(values->size());
  const double rank = quantile * (count - 1);
  const double lower = std::max(0.0, std::floor(rank));
  const double upper = std::min(count - 1, lower + 1);
  const double weight = rank - std::floor(rank);
  return (*values)[static_cast<size_t>(lower)] * (1 - weight) +
         (*values)[static_cast<size_t>(upper)] * weight;
}

}  // namespace sonde::promql

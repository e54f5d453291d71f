// Values of many series at the steps of a query.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "promql/samples/labels.h"

namespace sonde::promql {

// One series: a value or none at each step.
struct Row {
  Labels labels;
  std::vector<double> values;    // one a step; of a step without a value: anything
  std::vector<uint8_t> present;  // one a step

  Row(Labels its_labels, size_t steps) : labels(std::move(its_labels)), values(steps), present(steps) {}

  void Set(size_t step, double value) {
    values[step] = value;
    present[step] = 1;
  }
  bool IsEmpty() const;
};

// What a value in memory counts as: with its time or presence, and the room that a vector has grown to.
constexpr int64_t kValueBytes = 24;

// In an order that means something at one step only (sorting, topk).
using Matrix = std::vector<Row>;

void SortByLabels(Matrix* rows);

// Kahan's sum as Neumaier has it.
struct KahanSum {
  double sum = 0;
  double lost = 0;

  void Add(double value) {
    const double total = sum + value;
    if (std::isinf(total)) {
      lost = 0;
    } else if (std::fabs(sum) >= std::fabs(value)) {
      lost += (sum - total) + value;
    } else {
      lost += (value - total) + sum;
    }
    sum = total;
  }
  double Total() const { return sum + lost; }
};

// Prometheus' quantile of values, which are sorted by it, NaN first.
double QuantileOf(double quantile, std::vector<double>* values);

}  // namespace sonde::promql

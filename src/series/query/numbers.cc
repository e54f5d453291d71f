#include "series/query/numbers.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

constexpr std::array<std::string_view, 3> kChangeNames = {"delta", "increase", "rate"};

}  // namespace

std::optional<Change> ChangeOfName(std::string_view name) {
  for (size_t i = 0; i < kChangeNames.size(); ++i) {
    if (kChangeNames[i] == name) return static_cast<Change>(i);
  }
  return std::nullopt;
}

std::string_view ChangeName(Change change) { return kChangeNames[static_cast<size_t>(change)]; }

void Numbers::Append(const Numbers& other) {
  columns.resize(other.columns.size());
  times_micros.insert(times_micros.end(), other.times_micros.begin(), other.times_micros.end());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].is_text = other.columns[i].is_text;
    columns[i].values.insert(columns[i].values.end(), other.columns[i].values.begin(),
                             other.columns[i].values.end());
  }
}

void Numbers::SortByTime() {
  if (std::is_sorted(times_micros.begin(), times_micros.end())) return;
  std::vector<size_t> order(times_micros.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times_micros[a] < times_micros[b]; });
  const auto arrange = [&](auto* some) {
    auto arranged = *some;
    for (size_t i = 0; i < order.size(); ++i) arranged[i] = (*some)[order[i]];
    *some = std::move(arranged);
  };
  arrange(&times_micros);
  for (Column& column : columns) arrange(&column.values);
}

void ChangesOfSeries::Apply(Change change, Numbers* numbers) {
  before_.resize(numbers->columns.size());
  for (size_t column = 0; column < before_.size(); ++column) {
    Before& before = before_[column];
    std::vector<double>& values = numbers->columns[column].values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!IsNumber(values[i])) continue;
      const Before now = {values[i], numbers->times_micros[i]};
      values[i] = kNoNumber;
      if (IsNumber(before.value)) {
        const bool is_reset = change != Change::kDelta && now.value < before.value;
        values[i] = is_reset ? now.value : now.value - before.value;
        if (change == Change::kRate) {
          values[i] *= static_cast<double>(kMicrosPerSecond) /
                       static_cast<double>(now.time_micros - before.time_micros);
        }
      }
      before = now;
    }
  }
}

}  // namespace sonde::series

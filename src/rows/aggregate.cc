#include "rows/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sonde::rows {
namespace {

// In the order of Aggregate::Kind, without kPercentile.
constexpr std::array<std::string_view, 8> kNames = {"avg", "min",   "max",  "count",
                                                    "sum", "first", "last", "stddev"};

}  // namespace

std::string AggregateName(const Aggregate& aggregate) {
  if (aggregate.kind == Aggregate::Kind::kPercentile) return fmt::format("p{}", aggregate.percentile);
  return std::string(kNames[static_cast<size_t>(aggregate.kind)]);
}

std::optional<Aggregate> AggregateOfName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return Aggregate{static_cast<Aggregate::Kind>(found - kNames.begin())};
  if (name == "median") return Aggregate::Percentile(50);
  if (name.size() < 2 || name[0] != 'p') return std::nullopt;
  double percentile = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), percentile);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (!(percentile >= 0 && percentile <= 100)) return std::nullopt;
  return Aggregate::Percentile(percentile);
}

std::string AggregateNames() {
  return fmt::format("{}, median, and p0 to p100 such as p95", fmt::join(kNames, ", "));
}

ColumnType TypeOfAggregate(const Aggregate& aggregate, ColumnType type) {
  switch (aggregate.kind) {
    case Aggregate::Kind::kCount:
      return ColumnType::kInt64;
    case Aggregate::Kind::kSum:
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax:
    case Aggregate::Kind::kFirst:
    case Aggregate::Kind::kLast:
      return type == ColumnType::kInt128 ? ColumnType::kInt64 : type;
    case Aggregate::Kind::kAvg:
    case Aggregate::Kind::kStddev:
    case Aggregate::Kind::kPercentile:
      break;
  }
  return ColumnType::kDouble;
}

AggregateNeeds AggregateNeeds::Of(const std::vector<Aggregate>& aggregates) {
  AggregateNeeds needs;
  for (const Aggregate& aggregate : aggregates) {
    switch (aggregate.kind) {
      case Aggregate::Kind::kAvg:
      case Aggregate::Kind::kSum:
        needs.has_sum = true;
        break;
      case Aggregate::Kind::kMin:
      case Aggregate::Kind::kMax:
        needs.has_extremes = true;
        break;
      case Aggregate::Kind::kFirst:
      case Aggregate::Kind::kLast:
        needs.has_ends = true;
        break;
      case Aggregate::Kind::kStddev:
        needs.has_moments = true;
        break;
      case Aggregate::Kind::kPercentile:
        needs.has_values = true;
        break;
      case Aggregate::Kind::kCount:
        break;
    }
  }
  return needs;
}

}  // namespace sonde::rows

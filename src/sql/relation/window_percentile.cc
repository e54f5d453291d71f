// Window functions over all rows of a partition in the order of their values: PERCENTILE_CONT, PERCENTILE_DISC.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sql/operator/sort_order.h"
#include "sql/relation/window_function.h"

namespace sonde::sql {
namespace {

class Percentile final : public WindowFunction {
 public:
  Percentile(bool is_continuous, bool ignores_nulls)
      : is_continuous_(is_continuous), ignores_nulls_(ignores_nulls) {}

  bool needs_frames() const override { return false; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& /*frames*/, rows::WorkCheck* check, rows::Column* results) override {
    const char* const name = is_continuous_ ? "PERCENTILE_CONT" : "PERCENTILE_DISC";
    if (!arguments[1].IsThere(0)) {
      return absl::OutOfRangeError(fmt::format("Argument 2 to {} must be non-NULL", name));
    }
    const double percentile = arguments[1].doubles()[arguments[1].PlaceOf(0)];
    if (!(percentile >= 0 && percentile <= 1)) {
      return absl::OutOfRangeError(fmt::format("Argument 2 to {} must be between 0 and 1", name));
    }
    const std::vector<SortColumn> columns = {{arguments[0], false, true}};
    absl::StatusOr<std::vector<size_t>> order = SortOrder(columns, partition.rows, check);
    if (!order.ok()) return order.status();
    if (ignores_nulls_) std::erase_if(*order, [&](size_t row) { return !arguments[0].IsThere(row); });
    if (order->empty()) {
      results->AppendMissing(partition.rows);
    } else if (is_continuous_) {
      AppendContinuous(arguments[0], *order, percentile, partition.rows, results);
    } else {
      const double place = std::ceil(percentile * static_cast<double>(order->size())) - 1;
      const size_t row = (*order)[static_cast<size_t>(std::max(place, 0.0))];
      results->AppendPlaces(arguments[0], std::vector<size_t>(partition.rows, row));
    }
    return absl::OkStatus();
  }

 private:
  static void AppendContinuous(const ColumnView& values, const std::vector<size_t>& order, double percentile,
                               size_t rows, rows::Column* results) {
    const double place = percentile * static_cast<double>(order.size() - 1);
    const double whole = std::floor(place);
    const size_t low = order[static_cast<size_t>(whole)];
    const size_t high = order[static_cast<size_t>(std::ceil(place))];
    const double part = place - whole;
    // NULL beside a number counts for nothing.
    const bool has_low = values.IsThere(low);
    const bool has_high = values.IsThere(high);
    if (!has_low && !has_high) return results->AppendMissing(rows);
    const double of_low = values.doubles()[values.PlaceOf(has_low ? low : high)];
    const double of_high = values.doubles()[values.PlaceOf(has_high ? high : low)];
    const double result = part == 0 || low == high ? of_low : of_low * (1 - part) + of_high * part;
    for (size_t row = 0; row < rows; ++row) results->AppendDouble(result);
  }

  const bool is_continuous_;
  const bool ignores_nulls_;
};

}  // namespace

std::unique_ptr<WindowFunction> MakePercentileFunction(std::string_view name, const AggregateItem& item) {
  if (name != "PERCENTILE_CONT" && name != "PERCENTILE_DISC") return nullptr;
  return std::make_unique<Percentile>(name == "PERCENTILE_CONT", item.ignores_nulls);
}

}  // namespace sonde::sql

// PERCENTILE_CONT and PERCENTILE_DISC of a group: its values are held, and sorted once the result is asked for.
//
// Results are those of the window functions of these names over the same rows (sql/relation/window_percentile.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/point_aggregates.h"

namespace sonde::sql {
namespace {

// The order of ORDER BY.
template <typename T>
bool PercentileLess(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a < b;
}

inline void SaveValue(const std::string& text, std::string* bytes) { PutBytes(bytes, text); }
inline void SaveValue(double number, std::string* bytes) { SaveNumber(number, bytes); }
inline void SaveValue(int64_t number, std::string* bytes) { SaveNumber(number, bytes); }
inline bool LoadValue(std::string_view* bytes, std::string* text) {
  std::string_view view;
  if (!GetBytes(bytes, &view)) return false;
  *text = view;
  return true;
}
inline bool LoadValue(std::string_view* bytes, double* number) { return LoadNumber(bytes, number); }
inline bool LoadValue(std::string_view* bytes, int64_t* number) { return LoadNumber(bytes, number); }

inline size_t OwnBytes(const std::string& text) {
  return text.capacity() < sizeof(text) ? 0 : text.capacity() + 1;
}
inline size_t OwnBytes(double /*number*/) { return 0; }
inline size_t OwnBytes(int64_t /*number*/) { return 0; }

template <typename Held>
struct PercentileState {
  std::vector<Held> values;
  size_t text_bytes = 0;  // of the values beside themselves
  double percentile = 0;

  absl::Status Merge(const PercentileState& other) {
    if (other.values.empty()) return absl::OkStatus();
    percentile = other.percentile;
    values.insert(values.end(), other.values.begin(), other.values.end());
    text_bytes += other.text_bytes;
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return values.capacity() * sizeof(Held) + text_bytes; }
  void Save(std::string* bytes) const {
    if (values.empty()) return;
    SaveNumber(percentile, bytes);
    for (const Held& value : values) SaveValue(value, bytes);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    if (!LoadNumber(bytes, &percentile) || !(percentile >= 0 && percentile <= 1)) return false;
    while (!bytes->empty()) {
      if (!LoadValue(bytes, &values.emplace_back())) return false;
      text_bytes += OwnBytes(values.back());
    }
    return !values.empty();
  }
};

// kIsContinuous: between two values where the percentile falls between them.
template <typename T, typename Held, bool kIsContinuous>
class PercentileAggregator : public StatesOf<PercentileState<Held>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    absl::Status failed;
    for (size_t row = 0; row < groups.size() && failed.ok(); ++row)
      failed = CheckPercentile(arguments[1], row);
    if (!failed.ok()) return failed;
    const ColumnView& percentiles = arguments[1];
    ForEachThere<T>(arguments[0], groups.size(), [&](size_t row, T value) {
      PercentileState<Held>& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.percentile = percentiles.doubles()[percentiles.PlaceOf(row)];
      state.values.emplace_back(value);
      state.text_bytes += OwnBytes(state.values.back());
      this->held_bytes_ += state.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<T>(count, arena, [&](size_t i) -> std::optional<T> {
      PercentileState<Held>& state = this->states_[first + i];
      if (state.values.empty()) return std::nullopt;
      std::sort(state.values.begin(), state.values.end(), PercentileLess<Held>);
      if constexpr (kIsContinuous) {
        return Between(state.values, state.percentile);
      } else {
        const double place = std::ceil(state.percentile * static_cast<double>(state.values.size())) - 1;
        const Held& value = state.values[static_cast<size_t>(std::max(place, 0.0))];
        if constexpr (std::is_same_v<T, std::string_view>) return arena->Copy(value);
        if constexpr (!std::is_same_v<T, std::string_view>) return value;
      }
    });
  }

 private:
  // All rows have the same one: calls are bound so.
  static absl::Status CheckPercentile(const ColumnView& percentiles, size_t row) {
    const std::string_view name = kIsContinuous ? "PERCENTILE_CONT" : "PERCENTILE_DISC";
    if (!percentiles.IsThere(row)) {
      return absl::OutOfRangeError(fmt::format("Argument 2 to {} must be non-NULL", name));
    }
    const double percentile = percentiles.doubles()[percentiles.PlaceOf(row)];
    if (percentile >= 0 && percentile <= 1) return absl::OkStatus();
    return absl::OutOfRangeError(fmt::format("Argument 2 to {} must be between 0 and 1", name));
  }

  static double Between(const std::vector<double>& values, double percentile) {
    const double place = percentile * static_cast<double>(values.size() - 1);
    const double low = std::floor(place);
    const double part = place - low;
    const double of_low = values[static_cast<size_t>(low)];
    if (part == 0) return of_low;
    return of_low * (1 - part) + values[static_cast<size_t>(std::ceil(place))] * part;
  }
};

}  // namespace

std::unique_ptr<Aggregator> MakePercentileCont(const AggregateSite& /*site*/) {
  return std::make_unique<PercentileAggregator<double, double, true>>();
}

std::unique_ptr<Aggregator> MakePercentileDisc(const AggregateSite& site) {
  switch (ColumnTypeOf(site.argument_types[0])) {
    case ColumnType::kBytes:
      return std::make_unique<PercentileAggregator<std::string_view, std::string, false>>();
    case ColumnType::kDouble:
      return std::make_unique<PercentileAggregator<double, double, false>>();
    default:
      return std::make_unique<PercentileAggregator<int64_t, int64_t, false>>();
  }
}

}  // namespace sonde::sql

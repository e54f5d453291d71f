// Window functions that give the value of another row: FIRST_VALUE, LAST_VALUE, NTH_VALUE, LAG, LEAD.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sql/relation/window_function.h"

namespace sonde::sql {
namespace {

// Appends the value that `values` has in a place, or NULL.
void AppendFrom(const ColumnView& values, std::optional<size_t> place, rows::Column* results) {
  if (place.has_value()) {
    results->AppendPlaces(values, {&*place, 1});
  } else {
    results->AppendMissing();
  }
}

// The value of a row of the frame: the first, the last, or number n.
class ValueOfFrame final : public WindowFunction {
 public:
  enum class Which : uint8_t { kFirst, kLast, kNth };
  ValueOfFrame(Which which, bool ignores_nulls) : which_(which), ignores_nulls_(ignores_nulls) {}

  bool needs_frames() const override { return true; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& frames, rows::WorkCheck* check, rows::Column* results) override {
    int64_t number = 1;
    if (which_ == Which::kNth) {
      if (!arguments[1].IsThere(0)) {
        return absl::OutOfRangeError("Argument 2 to NTH_VALUE must be non-NULL");
      }
      number = arguments[1].ints()[arguments[1].PlaceOf(0)];
      if (number < 1) return absl::OutOfRangeError("Argument 2 to NTH_VALUE must be at least 1");
    }
    const ColumnView& values = arguments[0];
    std::vector<size_t> rows;  // that count
    for (size_t row = 0; row < partition.rows && ignores_nulls_; ++row) {
      if (values.IsThere(row)) rows.push_back(row);
    }
    for (size_t row = 0; row < partition.rows; ++row) {
      if (absl::Status status = check->Step(1); !status.ok()) return status;
      size_t begin = frames.begin[row];
      size_t end = frames.end[row];
      if (ignores_nulls_) {
        begin = std::lower_bound(rows.begin(), rows.end(), begin) - rows.begin();
        end = std::lower_bound(rows.begin(), rows.end(), end) - rows.begin();
      }
      std::optional<size_t> place = PlaceIn(begin, end, number);
      if (place.has_value() && ignores_nulls_) place = rows[*place];
      AppendFrom(values, place, results);
    }
    return absl::OkStatus();
  }

 private:
  std::optional<size_t> PlaceIn(size_t begin, size_t end, int64_t number) const {
    if (begin >= end || static_cast<uint64_t>(number) > end - begin) return std::nullopt;
    return which_ == Which::kLast ? end - 1 : begin + static_cast<size_t>(number) - 1;
  }

  const Which which_;
  const bool ignores_nulls_;
};

class Lag final : public WindowFunction {
 public:
  explicit Lag(bool is_lead) : is_lead_(is_lead) {}

  bool needs_frames() const override { return false; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& /*frames*/, rows::WorkCheck* check, rows::Column* results) override {
    const char* const name = is_lead_ ? "LEAD" : "LAG";
    int64_t offset = 1;
    if (arguments.size() > 1) {
      if (!arguments[1].IsThere(0)) {
        return absl::OutOfRangeError(fmt::format("The offset to the function {} must not be null", name));
      }
      offset = arguments[1].ints()[arguments[1].PlaceOf(0)];
      if (offset < 0) {
        return absl::OutOfRangeError(fmt::format("The offset to the function {} must not be negative", name));
      }
    }
    const auto away = static_cast<uint64_t>(offset);
    for (size_t row = 0; row < partition.rows; ++row) {
      if (absl::Status status = check->Step(1); !status.ok()) return status;
      const bool is_there = is_lead_ ? away < partition.rows - row : away <= row;
      if (is_there) {
        AppendFrom(arguments[0], is_lead_ ? row + away : row - away, results);
      } else {
        AppendFrom(arguments.back(), arguments.size() > 2 ? std::optional<size_t>(row) : std::nullopt,
                   results);
      }
    }
    return absl::OkStatus();
  }

 private:
  const bool is_lead_;
};

}  // namespace

std::unique_ptr<WindowFunction> MakeNavigationFunction(std::string_view name, const AggregateItem& item) {
  using Which = ValueOfFrame::Which;
  if (name == "FIRST_VALUE") return std::make_unique<ValueOfFrame>(Which::kFirst, item.ignores_nulls);
  if (name == "LAST_VALUE") return std::make_unique<ValueOfFrame>(Which::kLast, item.ignores_nulls);
  if (name == "NTH_VALUE") return std::make_unique<ValueOfFrame>(Which::kNth, item.ignores_nulls);
  if (name == "LAG" || name == "LEAD") return std::make_unique<Lag>(name == "LEAD");
  return nullptr;
}

}  // namespace sonde::sql

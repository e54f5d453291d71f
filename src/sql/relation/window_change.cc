// Window functions of what a number changed since the one before it in the order of the window: DELTA, INCREASE, RATE.
//
// They are the changes of series (rows/change.h): rows that are NULL are passed over.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "rows/change.h"
#include "sql/relation/window_function.h"

namespace sonde::sql {
namespace {

class ChangeOfRow final : public WindowFunction {
 public:
  ChangeOfRow(rows::Change change, std::string name) : change_(change), name_(std::move(name)) {}

  bool needs_frames() const override { return false; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& /*frames*/, rows::WorkCheck* check, rows::Column* results) override {
    if (absl::Status status = check->Step(partition.rows); !status.ok()) return status;
    std::vector<int64_t> times(partition.rows, 0);
    if (change_ == rows::Change::kRate) {
      for (size_t row = 0; row < partition.rows; ++row) {
        if (!partition.key.IsThere(row)) {
          return absl::OutOfRangeError("The ORDER BY key of the function RATE must not be null");
        }
        times[row] = partition.key.ints()[partition.key.PlaceOf(row)];
      }
    }
    rows::Changes changes;
    rows::Column changed;
    changes.Apply(change_, times, arguments[0], &changed);
    if (changed.type() == ColumnType::kInt128) {
      return absl::OutOfRangeError("int64 overflow in the function " + name_);
    }
    if (change_ == rows::Change::kRate) LeaveOutSameTimes(arguments[0], times, &changed);
    std::vector<size_t> places(partition.rows);
    for (size_t row = 0; row < partition.rows; ++row) places[row] = row;
    results->AppendPlaces(changed.View(), places);
    return absl::OkStatus();
  }

 private:
  // Between two values of one time there is no rate.
  static void LeaveOutSameTimes(const ColumnView& values, const std::vector<int64_t>& times,
                                rows::Column* changed) {
    std::optional<int64_t> before;
    for (size_t row = 0; row < times.size(); ++row) {
      if (!values.IsThere(row)) continue;
      if (before == times[row]) changed->SetMissing(row);
      before = times[row];
    }
  }

  const rows::Change change_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<WindowFunction> MakeChangeFunction(std::string_view name) {
  using rows::Change;
  if (name == "DELTA") return std::make_unique<ChangeOfRow>(Change::kDelta, "DELTA");
  if (name == "INCREASE") return std::make_unique<ChangeOfRow>(Change::kIncrease, "INCREASE");
  if (name == "RATE") return std::make_unique<ChangeOfRow>(Change::kRate, "RATE");
  return nullptr;
}

}  // namespace sonde::sql

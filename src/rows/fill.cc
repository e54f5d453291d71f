#include "rows/fill.h"

#include <algorithm>
#include <array>

#include "rows/value.h"

namespace sonde::rows {
namespace {

constexpr std::array<std::string_view, 4> kNamesOfFills = {"none", "null", "previous", "linear"};

}  // namespace

std::optional<Fill> FillOfName(std::string_view name) {
  const auto found = std::find(kNamesOfFills.begin(), kNamesOfFills.end(), name);
  if (found == kNamesOfFills.end()) return std::nullopt;
  return static_cast<Fill>(found - kNamesOfFills.begin());
}

absl::Status FillPrevious(Column* values, WorkCheck* check) {
  for (size_t row = 1; row < values->size(); ++row) {
    if (absl::Status status = check->Step(1); !status.ok()) return status;
    if (!values->IsThere(row)) values->CopyFromBefore(row);
  }
  return absl::OkStatus();
}

absl::Status FillLinear(absl::Span<const int64_t> times_micros, const ColumnView& values, Column* between,
                        WorkCheck* check) {
  between->Become(ColumnType::kDouble);
  between->ResizeMissing(values.size());
  std::optional<size_t> before;
  for (size_t row = 0; row < values.size(); ++row) {
    if (absl::Status status = check->Step(1); !status.ok()) return status;
    const std::optional<double> high = NumberOf(values, row);
    if (!high) continue;
    if (before && *before + 1 < row) {
      const double low = *NumberOf(values, *before);
      const auto distance = static_cast<double>(times_micros[row] - times_micros[*before]);
      for (size_t gap = *before + 1; gap < row; ++gap) {
        const double share = static_cast<double>(times_micros[gap] - times_micros[*before]) / distance;
        between->doubles()[gap] = low + (*high - low) * share;
        between->SetThere(gap);
      }
    }
    before = row;
  }
  return absl::OkStatus();
}

}  // namespace sonde::rows

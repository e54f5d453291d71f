#include "rows/change.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace sonde::rows {
namespace {

constexpr std::array<std::string_view, 3> kNamesOfChanges = {"delta", "increase", "rate"};
constexpr double kMicrosOfSecond = 1e6;

}  // namespace

std::optional<Change> ChangeOfName(std::string_view name) {
  const auto found = std::find(kNamesOfChanges.begin(), kNamesOfChanges.end(), name);
  if (found == kNamesOfChanges.end()) return std::nullopt;
  return static_cast<Change>(found - kNamesOfChanges.begin());
}

std::string_view ChangeName(Change change) { return kNamesOfChanges[static_cast<size_t>(change)]; }

ColumnType TypeOfChange(Change change, ColumnType type) {
  return change == Change::kRate ? ColumnType::kDouble : type;
}

namespace {

// now - before.  False: it leaves 64 bits.
bool Subtract(int64_t now, int64_t before, int64_t* changed) {
  return !__builtin_sub_overflow(now, before, changed);
}
bool Subtract(double now, double before, double* changed) {
  *changed = now - before;
  return true;
}
double WideDifference(int64_t now, int64_t before) { return static_cast<double>(absl::int128(now) - before); }
double WideDifference(double now, double before) { return now - before; }

}  // namespace

template <typename Value, typename Changed>
bool Changes::ApplyTo(Change change, absl::Span<const int64_t> times_micros, const Value* values,
                      const ColumnView& column, Value* before, Changed* changed, Column* out) {
  for (size_t i = 0; i < column.size(); ++i) {
    if (!column.IsThere(i)) {
      out->SetMissing(i);
      continue;
    }
    const Value now = values[column.PlaceOf(i)];
    const bool is_reset = change != Change::kDelta && now < *before;
    if (!has_before_) {
      out->SetMissing(i);
    } else if constexpr (std::is_same_v<Changed, Value>) {
      if (is_reset) {
        changed[i] = now;
      } else if (!Subtract(now, *before, &changed[i])) {
        return false;
      }
    }
    if constexpr (std::is_same_v<Changed, double>) {
      if (has_before_ && change == Change::kRate) {
        const double difference = is_reset ? static_cast<double>(now) : WideDifference(now, *before);
        changed[i] = difference * (kMicrosOfSecond / static_cast<double>(times_micros[i] - before_micros_));
      }
    }
    has_before_ = true;
    *before = now;
    before_micros_ = times_micros[i];
  }
  return true;
}

// Differences of ints, of which some leave 64 bits.
void Changes::ApplyToWide(Change change, absl::Span<const int64_t> times_micros, const ColumnView& values,
                          Column* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values.IsThere(i)) {
      out->AppendMissing();
      continue;
    }
    const int64_t now = values.ints()[values.PlaceOf(i)];
    if (!has_before_) {
      out->AppendMissing();
    } else if (change == Change::kIncrease && now < before_int_) {
      out->AppendInt(now);
    } else {
      out->AppendWideInt(absl::int128(now) - before_int_);
    }
    has_before_ = true;
    before_int_ = now;
    before_micros_ = times_micros[i];
  }
}

void Changes::Apply(Change change, absl::Span<const int64_t> times_micros, const ColumnView& values,
                    Column* out) {
  assert(values.type() == ColumnType::kInt64 || values.type() == ColumnType::kDouble);
  const ColumnType type = TypeOfChange(change, values.type());
  out->Become(type);
  out->ResizeDense(values.size());
  if (values.type() == ColumnType::kDouble) {
    ApplyTo(change, times_micros, values.doubles(), values, &before_double_, out->doubles(), out);
  } else if (type == ColumnType::kDouble) {
    ApplyTo(change, times_micros, values.ints(), values, &before_int_, out->doubles(), out);
  } else {
    const Changes begin = *this;
    if (ApplyTo(change, times_micros, values.ints(), values, &before_int_, out->ints(), out)) return;
    *this = begin;
    out->Clear();
    ApplyToWide(change, times_micros, values, out);
  }
}

}  // namespace sonde::rows

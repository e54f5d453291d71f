#include "sql/time/timestamp_trunc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "model/column.h"
#include "sql/function/call.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_state.h"
#include "sql/time/time_text.h"

namespace sonde::sql {
namespace {

bool IsWeek(DatePartKind kind) { return kind == DatePartKind::kWeek || kind == DatePartKind::kIsoWeek; }

// WEEK_MONDAY, in this one error.
std::string NameInError(const DatePart& part) {
  std::string name = NameOf(part);
  if (name.back() == ')') {
    name.pop_back();
    name[name.find('(')] = '_';
  }
  return name;
}

}  // namespace

absl::Status TimestampTruncation::LeavesRange(int64_t micros, int64_t days, int64_t start_days) const {
  if (IsWeek(part_.kind) && start_days < kDateMin) {
    return absl::OutOfRangeError(fmt::format("Truncating {} to the nearest week causes overflow",
                                             TimestampTextIn(clock_.zone(), micros)));
  }
  if (part_.kind == DatePartKind::kIsoYear && !IsDate(days)) {
    return absl::OutOfRangeError(fmt::format("Invalid date value: {}", days));
  }
  return absl::OutOfRangeError(fmt::format("Truncating to the nearest {} causes underflow at timezone {}",
                                           NameInError(part_), clock_.zone().name()));
}

absl::StatusOr<int64_t> TimestampTruncation::Find(int64_t micros) {
  const int64_t local = clock_.Local(micros);
  const int64_t offset = local - micros;
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  int64_t start_days = days;
  int64_t local_start = 0;
  int64_t local_end = 0;
  int64_t start = 0;
  const std::optional<int64_t> width = FixedMicros(part_.kind);
  if (width.has_value() && *width < kMicrosPerDay) {
    local_start = local - FloorModulo(local, *width);
    local_end = local_start + *width;
    start = local_start - offset;
  } else {
    start_days = StartOf(part_, days);
    local_start = start_days * kMicrosPerDay;
    local_end = NextStartOf(part_, days) * kMicrosPerDay;
    // Only a change of clocks less than a day before can make midnight another time.
    constexpr int64_t kChangeMax = 2 * kMicrosPerDay;
    start = local_start - offset;
    if (start < kTimestampMin || start - kChangeMax < clock_.from()) start = clock_.Midnight(start_days);
  }
  const bool has_iso_year = part_.kind != DatePartKind::kIsoYear || IsDate(days);
  if (start < kTimestampMin || !has_iso_year) return LeavesRange(micros, days, start_days);
  from_ = std::max(local_start - offset, clock_.from());
  to_ = std::min(local_end - offset, clock_.to());
  start_ = start;
  return start;
}

namespace {

struct TruncState : public TimeState {
  std::unique_ptr<TimestampTruncation> truncation;
  std::string part;
  std::string zone;
};

// In UTC, of parts of a day or less: division only, and of sorted times hardly any.
template <int64_t kWidth>
void TruncateFixed(const int64_t* times, size_t rows, int64_t* starts) {
  int64_t start = 0;
  for (size_t i = 0; i < rows; ++i) {
    // As unsigned numbers, times before the start are far behind its end.
    if (static_cast<uint64_t>(times[i]) - static_cast<uint64_t>(start) >= static_cast<uint64_t>(kWidth)) {
      start = times[i] - FloorModulo(times[i], kWidth);
    }
    starts[i] = start;
  }
}

// False: the part is longer than a day.
bool TruncateInUtc(DatePartKind kind, const int64_t* times, size_t rows, int64_t* starts) {
  switch (kind) {
    case DatePartKind::kDay:
      TruncateFixed<kMicrosPerDay>(times, rows, starts);
      return true;
    case DatePartKind::kHour:
      TruncateFixed<kMicrosPerHour>(times, rows, starts);
      return true;
    case DatePartKind::kMinute:
      TruncateFixed<kMicrosPerMinute>(times, rows, starts);
      return true;
    case DatePartKind::kSecond:
      TruncateFixed<kMicrosPerSecond>(times, rows, starts);
      return true;
    case DatePartKind::kMillisecond:
      TruncateFixed<kMicrosPerMillisecond>(times, rows, starts);
      return true;
    case DatePartKind::kMicrosecond:
      std::memcpy(starts, times, rows * sizeof(*starts));
      return true;
    default:
      return false;
  }
}

// The truncation for a part and a zone; it stays the same as long as these do.
absl::StatusOr<TimestampTruncation*> TruncationFor(Call& call, std::string_view part_text,
                                                   std::optional<std::string_view> zone) {
  auto& state = call.state<TruncState>();
  if (state.truncation != nullptr && part_text == state.part && zone.value_or("") == state.zone) {
    return state.truncation.get();
  }
  const absl::StatusOr<DatePart> part = state.Part("TIMESTAMP_TRUNC", "TIMESTAMP", part_text);
  if (!part.ok()) return part.status();
  const absl::StatusOr<LocalClock*> clock =
      zone.has_value() ? state.Clock(*zone) : state.TimeState::Clock(call.facts());
  if (!clock.ok()) return clock.status();
  state.truncation = std::make_unique<TimestampTruncation>(*part, **clock);
  state.part = part_text;
  state.zone = zone.value_or("");
  return state.truncation.get();
}

// The short way of UTC.  False: it does not lead to the results.
bool TruncateInUtc(Call& call, absl::Span<const ColumnView> arguments, int64_t* starts) {
  const ColumnView& times = arguments[0];
  if (times.is_constant() || times.there() != nullptr || !arguments[1].is_constant() ||
      !arguments[1].IsThere(0)) {
    return false;
  }
  const bool is_utc = arguments.size() == 2 ? call.facts().time_zone == absl::UTCTimeZone()
                                            : arguments[2].is_constant() && arguments[2].IsThere(0) &&
                                                  arguments[2].bytes()[0] == "UTC";
  if (!is_utc) return false;
  const absl::StatusOr<DatePart> part =
      call.state<TruncState>().Part("TIMESTAMP_TRUNC", "TIMESTAMP", arguments[1].bytes()[0]);
  return part.ok() && TruncateInUtc(part->kind, times.ints(), call.rows(), starts);
}

ColumnView TimestampTrunc(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& times = arguments[0];
  const ColumnView& parts = arguments[1];
  const ColumnView* const zones = arguments.size() > 2 ? &arguments[2] : nullptr;
  const size_t rows = call.rows();
  auto* const starts = call.arena()->New<int64_t>(rows);
  if (rows > 0 && TruncateInUtc(call, arguments, starts)) return ColumnView::OfInts({starts, rows});
  auto* const there = call.arena()->New<uint8_t>(rows);
  const bool is_same = parts.is_constant() && (zones == nullptr || zones->is_constant());
  absl::StatusOr<TimestampTruncation*> truncation = nullptr;
  for (size_t row = 0; row < rows; ++row) {
    starts[row] = 0;
    there[row] =
        times.IsThere(row) && parts.IsThere(row) && (zones == nullptr || zones->IsThere(row)) ? 1 : 0;
    if (there[row] == 0) continue;
    if (!is_same || !truncation.ok() || *truncation == nullptr) {
      truncation =
          TruncationFor(call, parts.bytes()[parts.PlaceOf(row)],
                        zones == nullptr ? std::nullopt : std::optional(zones->bytes()[zones->PlaceOf(row)]));
    }
    const int64_t time = times.ints()[times.PlaceOf(row)];
    if (truncation.ok() && (*truncation)->TryStart(time, &starts[row])) continue;
    const absl::StatusOr<int64_t> start = truncation.ok() ? (*truncation)->Start(time) : truncation.status();
    if (start.ok()) {
      starts[row] = *start;
    } else {
      there[row] = 0;
      call.Fail(row, start.status());
    }
  }
  return ColumnView::OfInts({starts, rows}, there);
}

}  // namespace

Kernel TimestampTruncKernel() { return TimestampTrunc; }

}  // namespace sonde::sql

#include "series/query/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
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
    Column& column = columns[i];
    const Column& behind = other.columns[i];
    column.is_text = behind.is_text;
    column.is_int = behind.is_int;
    if (!column.rests.empty() || !behind.rests.empty()) {
      column.rests.resize(column.values.size());
      column.rests.insert(column.rests.end(), behind.rests.begin(), behind.rests.end());
    }
    column.values.insert(column.values.end(), behind.values.begin(), behind.values.end());
    if (!column.rests.empty()) column.rests.resize(column.values.size());
  }
}

namespace {

// The order in which times ascend.  They come in stretches that ascend (of a salt each), which are merged.
absl::StatusOr<std::vector<size_t>> OrderOf(const std::vector<int64_t>& times, WorkCheck* check) {
  struct Stretch {
    size_t next = 0;
    size_t end = 0;
  };
  const auto comes_later = [&times](const Stretch& a, const Stretch& b) {
    return times[a.next] != times[b.next] ? times[a.next] > times[b.next] : a.next > b.next;
  };
  std::priority_queue<Stretch, std::vector<Stretch>, decltype(comes_later)> stretches(comes_later);
  for (size_t begin = 0; begin < times.size();) {
    size_t end = begin + 1;
    while (end < times.size() && times[end] >= times[end - 1]) ++end;
    stretches.push({begin, end});
    begin = end;
  }
  constexpr size_t kStepsOfMerge = 8;
  std::vector<size_t> order;
  order.reserve(times.size());
  while (!stretches.empty()) {
    if (absl::Status status = check->Step(kStepsOfMerge); !status.ok()) return status;
    Stretch first = stretches.top();
    stretches.pop();
    order.push_back(first.next);
    if (++first.next < first.end) stretches.push(first);
  }
  return order;
}

}  // namespace

absl::Status Numbers::SortByTime(WorkCheck* check) {
  if (std::is_sorted(times_micros.begin(), times_micros.end())) return absl::OkStatus();
  const absl::StatusOr<std::vector<size_t>> order = OrderOf(times_micros, check);
  if (!order.ok()) return order.status();
  const auto arrange = [&](auto* some) {
    auto arranged = *some;
    for (size_t i = 0; i < order->size(); ++i) arranged[i] = (*some)[(*order)[i]];
    *some = std::move(arranged);
  };
  arrange(&times_micros);
  for (Column& column : columns) {
    arrange(&column.values);
    if (!column.rests.empty()) arrange(&column.rests);
  }
  return absl::OkStatus();
}

namespace {

ExactNumber Difference(const ExactNumber& now, const ExactNumber& before, bool is_int) {
  const double difference = now.value - before.value;
  const bool is_exact = now.rest == 0 && before.rest == 0 && std::abs(difference) < 0x1p53;
  if (!is_int || is_exact) return {difference};
  return ExactNumber::OfInt(now.Int() - before.Int());
}

}  // namespace

void ChangesOfSeries::Apply(Change change, Numbers* numbers) {
  before_.resize(numbers->columns.size());
  for (size_t i = 0; i < before_.size(); ++i) {
    Before& before = before_[i];
    Numbers::Column& column = numbers->columns[i];
    for (size_t at = 0; at < column.values.size(); ++at) {
      if (!IsNumber(column.values[at])) continue;
      const Before now = {column.At(at), numbers->times_micros[at]};
      ExactNumber changed{kNoNumber};
      if (IsNumber(before.number.value)) {
        const bool is_reset = change != Change::kDelta && now.number < before.number;
        changed = is_reset ? now.number : Difference(now.number, before.number, column.is_int);
        if (change == Change::kRate) {
          changed = {changed.value * (static_cast<double>(kMicrosPerSecond) /
                                      static_cast<double>(now.time_micros - before.time_micros))};
        }
      }
      column.values[at] = changed.value;
      column.SetRest(at, changed.rest);
      before = now;
    }
    column.is_int = column.is_int && change != Change::kRate;
  }
}

}  // namespace sonde::series

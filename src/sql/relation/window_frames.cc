#include "sql/relation/window_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

using BoundKind = WindowItem::Bound::Kind;

bool HasOffset(const WindowItem::Bound& bound) {
  return bound.kind == BoundKind::kPreceding || bound.kind == BoundKind::kFollowing;
}

int64_t MicrosOf(std::string_view part) {
  constexpr int64_t kSecond = 1'000'000;
  constexpr std::pair<std::string_view, int64_t> kParts[] = {
      {"MICROSECOND", 1},       {"MILLISECOND", 1'000},   {"SECOND", kSecond},
      {"MINUTE", 60 * kSecond}, {"HOUR", 3600 * kSecond}, {"DAY", 86'400 * kSecond}};
  for (const auto& [name, micros] : kParts) {
    if (name == part) return micros;
  }
  return 1;  // no interval
}

// The rows whose key is a number: neither NULL nor NaN.  They lie together.
struct Numbers {
  size_t begin = 0;
  size_t end = 0;
};

Numbers NumbersOf(const ColumnView& key) {
  const auto is_number = [&key](size_t row) {
    return key.IsThere(row) &&
           (key.type() != ColumnType::kDouble || !std::isnan(key.doubles()[key.PlaceOf(row)]));
  };
  Numbers numbers{0, key.size()};
  while (numbers.begin < numbers.end && !is_number(numbers.begin)) ++numbers.begin;
  while (numbers.end > numbers.begin && !is_number(numbers.end - 1)) --numbers.end;
  return numbers;
}

// The first of the rows in `numbers` that is not before the row `delta` away from `row`, or behind that.
template <typename Number, typename ValueOf>
size_t Search(const Numbers& numbers, Number target, bool descends, bool is_end, const ValueOf& value_of) {
  size_t low = numbers.begin;
  size_t high = numbers.end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const Number value = value_of(middle);
    const bool is_before = descends ? value > target : value < target;
    if (is_before || (is_end && value == target)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

absl::Status CheckInfinite(const Numbers& numbers, const ColumnView& key, bool is_following, bool descends) {
  if (numbers.begin == numbers.end) return absl::OkStatus();
  const double first = key.doubles()[key.PlaceOf(numbers.begin)];
  const double last = key.doubles()[key.PlaceOf(numbers.end - 1)];
  // Infinity less infinity is no number: of -inf + inf, and of inf - inf.
  const bool adds = is_following != descends;
  const double bad =
      adds ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (first != bad && last != bad) return absl::OkStatus();
  return absl::OutOfRangeError(
      fmt::format("Offset value cannot be positive infinity when there exists a {} infinity order key for an "
                  "offset {} on {} partition",
                  adds ? "negative" : "positive", is_following ? "FOLLOWING" : "PRECEDING",
                  descends ? "a descending" : "an ascending"));
}

}  // namespace

absl::StatusOr<FrameBounds> FrameBounds::Create(const WindowItem& item, const EvaluationContext& evaluation) {
  FrameBounds bounds(item);
  for (const bool is_end : {false, true}) {
    const WindowItem::Bound& bound = is_end ? item.end : item.start;
    if (!HasOffset(bound)) continue;
    const absl::StatusOr<Value> value = EvaluateConstant(*bound.offset, evaluation);
    if (!value.ok()) return value.status();
    if (value->is_null()) return absl::OutOfRangeError("Window framing expression cannot be NULL");
    Offset& offset = is_end ? bounds.end_ : bounds.start_;
    const bool is_double = ColumnTypeOf(value->type()) == ColumnType::kDouble;
    if (is_double) {
      offset.number = value->datum().number;
    } else {
      offset.integer = absl::int128(value->datum().integer) * MicrosOf(bound.part);
      offset.number = static_cast<double>(value->datum().integer);
    }
    if (offset.number >= 0) continue;
    return absl::OutOfRangeError(
        fmt::format("Window frame offset for PRECEDING or FOLLOWING must be non-negative, but was {}",
                    is_double ? DoubleText(offset.number) : fmt::format("{}", value->datum().integer)));
  }
  return bounds;
}

absl::Status FrameBounds::FindByRows(const PartitionRows& partition, bool is_end, rows::WorkCheck* check,
                                     std::vector<size_t>* ends) const {
  const WindowItem::Bound& bound = is_end ? item_.end : item_.start;
  const absl::int128 rows = partition.rows;
  const absl::int128 offset = is_end ? end_.integer : start_.integer;
  const absl::int128 away = bound.kind == Kind::kPreceding   ? -offset
                            : bound.kind == Kind::kFollowing ? offset
                                                             : absl::int128(0);
  for (size_t row = 0; row < partition.rows; ++row) {
    if (absl::Status status = check->Step(1); !status.ok()) return status;
    const absl::int128 place = absl::int128(row) + away + (is_end ? 1 : 0);
    (*ends)[row] = static_cast<size_t>(std::clamp(place, absl::int128(0), rows));
  }
  return absl::OkStatus();
}

absl::Status FrameBounds::FindByKeys(const PartitionRows& partition, bool is_end, rows::WorkCheck* check,
                                     std::vector<size_t>* ends) const {
  const WindowItem::Bound& bound = is_end ? item_.end : item_.start;
  const Offset& offset = is_end ? end_ : start_;
  const ColumnView& key = partition.key;
  const bool descends = partition.key_descends;
  const bool adds = (bound.kind == Kind::kFollowing) != descends;
  const Numbers numbers = NumbersOf(key);
  const bool is_double = key.type() == ColumnType::kDouble;
  if (is_double && std::isinf(offset.number)) {
    absl::Status status = CheckInfinite(numbers, key, bound.kind == Kind::kFollowing, descends);
    if (!status.ok()) return status;
  }
  // Rows without a number see only their peers.
  *ends = is_end ? partition.peers_end : partition.peers_begin;
  for (size_t row = numbers.begin; row < numbers.end; ++row) {
    if (absl::Status status = check->Step(8); !status.ok()) return status;
    if (row > numbers.begin && partition.peers_begin[row] != row) {
      (*ends)[row] = (*ends)[row - 1];
    } else if (is_double) {
      const auto value_of = [&key](size_t place) { return key.doubles()[key.PlaceOf(place)]; };
      const double target = value_of(row) + (adds ? offset.number : -offset.number);
      (*ends)[row] = Search(numbers, target, descends, is_end, value_of);
    } else {
      const auto value_of = [&key](size_t place) { return absl::int128(key.ints()[key.PlaceOf(place)]); };
      const absl::int128 target = value_of(row) + (adds ? offset.integer : -offset.integer);
      (*ends)[row] = Search(numbers, target, descends, is_end, value_of);
    }
  }
  return absl::OkStatus();
}

absl::Status FrameBounds::Find(const PartitionRows& partition, rows::WorkCheck* check, Frames* frames) const {
  for (const bool is_end : {false, true}) {
    const WindowItem::Bound& bound = is_end ? item_.end : item_.start;
    std::vector<size_t>* const ends = is_end ? &frames->end : &frames->begin;
    ends->resize(partition.rows);
    absl::Status status;
    if (bound.kind == Kind::kUnboundedPreceding) {
      std::fill(ends->begin(), ends->end(), 0);
    } else if (bound.kind == Kind::kUnboundedFollowing) {
      std::fill(ends->begin(), ends->end(), partition.rows);
    } else if (!item_.is_range) {
      status = FindByRows(partition, is_end, check, ends);
    } else if (bound.kind == Kind::kCurrentRow) {
      *ends = is_end ? partition.peers_end : partition.peers_begin;
    } else {
      status = FindByKeys(partition, is_end, check, ends);
    }
    if (!status.ok()) return status;
  }
  for (size_t row = 0; row < partition.rows; ++row) {
    frames->end[row] = std::max(frames->end[row], frames->begin[row]);
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql

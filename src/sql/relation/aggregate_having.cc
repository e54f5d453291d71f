#include "sql/relation/aggregate_having.h"

#include <algorithm>
#include <cmath>

#include "sql/value/value.h"

namespace sonde::sql {
namespace {

bool IsNan(const Datum& datum) { return datum.kind == Datum::Kind::kDouble && std::isnan(datum.number); }

}  // namespace

void GroupExtremes::Clear() {
  groups_.clear();
  arena_.Clear();
  bytes_held_ = 0;
}

bool GroupExtremes::IsBeyond(const Datum& value, const Datum& extreme) const {
  if (!extreme.is_there) return true;
  const int order = Compare(value, extreme);
  return is_max_ ? order > 0 : order < 0;
}

void GroupExtremes::Take(const Datum& value, Group* group) {
  ++group->generation;
  group->is_nan = IsNan(value);
  const bool is_by_itself = value.kind != Datum::Kind::kBytes && value.kind != Datum::Kind::kList;
  // Bytes that fit take the place of those before, so that an extreme that grows and grows takes no more memory.
  if (value.kind == Datum::Kind::kBytes && group->extreme.is_there && group->extreme.size >= value.size) {
    std::copy_n(value.data, value.size, const_cast<char*>(group->extreme.data));
    group->extreme.size = value.size;
    return;
  }
  group->extreme = CopyTo(&arena_, value);
  if (!is_by_itself) bytes_held_ = arena_.MemoryBytes();
}

void GroupExtremes::Keep(const ColumnView& values, absl::Span<const uint32_t> groups,
                         std::vector<size_t>* places, Aggregator* aggregator) {
  for (const size_t place : *places) {
    const uint32_t number = groups[place];
    if (number >= groups_.size()) groups_.resize(number + 1);
    Group& group = groups_[number];
    const Datum value = DatumAt(values, place);
    if (!value.is_there || group.is_nan || (!IsNan(value) && !IsBeyond(value, group.extreme))) continue;
    Take(value, &group);
    aggregator->Clear(number);
  }
  std::erase_if(*places, [&](size_t place) {
    const Group& group = groups_[groups[place]];
    const Datum value = DatumAt(values, place);
    return !value.is_there || group.is_nan || Compare(value, group.extreme) != 0;
  });
}

}  // namespace sonde::sql

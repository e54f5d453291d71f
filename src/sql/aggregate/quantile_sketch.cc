#include "sql/aggregate/quantile_sketch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/varint.h"
#include "sql/aggregate/datum_bytes.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

bool HoldsText(const Datum& datum) {
  return datum.is_there && (datum.kind == Datum::Kind::kBytes || datum.kind == Datum::Kind::kList);
}

size_t HeldBytesOf(const HeldDatum& value) { return sizeof(value) + value.text.size(); }

// Of values without values inside.
Datum ViewOf(const HeldDatum& value) {
  if (!HoldsText(value.datum)) return value.datum;
  return Datum::Bytes(value.text);
}

bool IsHeldLess(const HeldDatum& a, const HeldDatum& b) { return Compare(ViewOf(a), ViewOf(b)) < 0; }

}  // namespace

HeldDatum HeldDatum::Of(const Type& type, const Datum& datum) {
  HeldDatum held{datum, {}};
  if (!HoldsText(datum)) return held;
  held.datum.data = nullptr;
  if (datum.kind == Datum::Kind::kBytes) {
    held.text = datum.bytes();
  } else {
    AppendDatumBytes(type, datum, &held.text);
  }
  return held;
}

Datum HeldDatum::Get(const Type& type, Arena* arena) const {
  if (!HoldsText(datum)) return datum;
  std::string_view bytes = arena->Copy(text);
  if (datum.kind == Datum::Kind::kBytes) return Datum::Bytes(bytes);
  Datum list;
  CHECK(TakeDatumBytes(type, &bytes, arena, &list));
  return list;
}

void QuantileSketch::Add(const Type& type, const Datum& datum) {
  DCHECK(datum.is_there && datum.kind != Datum::Kind::kList);
  ++count_;
  Put(0, HeldDatum::Of(type, datum));
}

void QuantileSketch::Put(size_t level, HeldDatum value) {
  if (levels_.size() <= level) levels_.resize(level + 1);
  held_bytes_ += HeldBytesOf(value);
  levels_[level].values.push_back(std::move(value));
  if (levels_[level].values.size() > kBufferValues) Compact(level);
}

void QuantileSketch::Compact(size_t level) {
  std::vector<HeldDatum> values = std::move(levels_[level].values);
  levels_[level].values.clear();
  std::sort(values.begin(), values.end(), IsHeldLess);
  // Of an odd number of values the greatest stays.
  const size_t even = values.size() / 2 * 2;
  const size_t first = levels_[level].keeps_odd ? 1 : 0;
  levels_[level].keeps_odd = !levels_[level].keeps_odd;
  for (const HeldDatum& value : values) held_bytes_ -= HeldBytesOf(value);
  if (even < values.size()) Put(level, std::move(values.back()));
  for (size_t i = first; i < even; i += 2) Put(level + 1, std::move(values[i]));
}

void QuantileSketch::Merge(const Type& /*type*/, const QuantileSketch& other) {
  count_ += other.count_;
  for (size_t level = 0; level < other.levels_.size(); ++level) {
    for (const HeldDatum& value : other.levels_[level].values) Put(level, value);
  }
}

std::vector<Datum> QuantileSketch::Quantiles(const Type& type, size_t n, Arena* arena) const {
  struct Weighted {
    const HeldDatum* value;
    uint64_t weight;
  };
  std::vector<Weighted> all;
  uint64_t total = 0;
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const HeldDatum& value : levels_[level].values) {
      all.push_back({&value, uint64_t{1} << level});
      total += uint64_t{1} << level;
    }
  }
  std::vector<Datum> quantiles;
  if (all.empty()) return quantiles;
  std::sort(all.begin(), all.end(),
            [](const Weighted& a, const Weighted& b) { return IsHeldLess(*a.value, *b.value); });
  size_t at = 0;
  uint64_t through = all[0].weight;  // the ranks of values up to `at`
  const uint64_t step = total / n;
  const uint64_t rest = total % n;
  for (size_t i = 0; i <= n; ++i) {
    // The rank i / n * total, rounded up.
    const uint64_t rank = std::max<uint64_t>(1, step * i + (rest * i + n - 1) / n);
    while (through < rank && at + 1 < all.size()) through += all[++at].weight;
    quantiles.push_back(all[at].value->Get(type, arena));
  }
  return quantiles;
}

void QuantileSketch::Save(const Type& type, std::string* bytes) const {
  PutVarint(bytes, count_);
  PutVarint(bytes, levels_.size());
  for (const Level& level : levels_) {
    PutVarint(bytes, level.values.size());
    for (const HeldDatum& value : level.values) AppendDatumBytes(type, ViewOf(value), bytes);
  }
}

bool QuantileSketch::Load(const Type& type, std::string_view* bytes) {
  constexpr uint64_t kLevelsMax = 40;
  uint64_t levels = 0;
  if (!GetVarint(bytes, &count_) || !GetVarint(bytes, &levels) || levels > kLevelsMax) return false;
  for (uint64_t level = 0; level < levels; ++level) {
    uint64_t values = 0;
    if (!GetVarint(bytes, &values) || values > kBufferValues) return false;
    for (uint64_t i = 0; i < values; ++i) {
      Arena arena;
      Datum datum;
      if (!TakeDatumBytes(type, bytes, &arena, &datum) || !datum.is_there) return false;
      Put(level, HeldDatum::Of(type, datum));
    }
  }
  return true;
}

}  // namespace sonde::sql

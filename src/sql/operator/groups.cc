#include "sql/operator/groups.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr size_t kPlacesMin = 64;
// While the table grows: how many places move with each new group.  It grows when it is half full, so 2 would do.
constexpr size_t kPlacesMovedAtOnce = 16;

// Whether two values of one column, or of two columns of one type, are one key.  Both are there.
bool AreSame(int64_t a, int64_t b) { return a == b; }
bool AreSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool AreSame(std::string_view a, std::string_view b) { return a == b; }
// A column says by itself that a list is there.
Datum ThatIsThere(Datum list) {
  list.kind = Datum::Kind::kList;
  list.is_there = true;
  return list;
}
bool AreSame(const Datum& a, const Datum& b) { return Compare(ThatIsThere(a), ThatIsThere(b)) == 0; }
bool AreInts(const ColumnView& column) {
  return column.type() == ColumnType::kInt64 || column.type() == ColumnType::kTime;
}

uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ hash >> 32;
}

// Calls `with` with the array of the column's values.
template <typename With>
decltype(auto) WithValues(const ColumnView& column, With with) {
  switch (column.type()) {
    case ColumnType::kDouble:
      return with(column.doubles());
    case ColumnType::kBytes:
      return with(column.bytes());
    case ColumnType::kList:
      return with(column.lists());
    default:
      return with(column.ints());
  }
}

}  // namespace

// Memory from calloc costs nothing before it is touched.
Groups::Places::Places(size_t count)
    : count(count), array(count == 0 ? nullptr : static_cast<Place*>(std::calloc(count, sizeof(Place)))) {
  CHECK(count == 0 || array != nullptr);
}

Groups::Place* Groups::Places::Empty(uint32_t hash) const {
  size_t place = hash & (count - 1);
  while (array[place].group != 0) place = (place + 1) & (count - 1);
  return &array[place];
}

Groups::Groups(const std::vector<ColumnType>& types) : places_(kPlacesMin), old_places_(0) {
  for (const ColumnType type : types) keys_.emplace_back(type);
  for (const rows::Column& column : keys_) views_.push_back(column.View());
}

void Groups::Clear() {
  for (rows::Column& column : keys_) column.Clear();
  for (size_t i = 0; i < keys_.size(); ++i) views_[i] = keys_[i].View();
  size_ = 0;
  places_ = Places(kPlacesMin);
  old_places_ = Places(0);
}

size_t Groups::MemoryBytes() const {
  size_t bytes = (places_.count + old_places_.count) * sizeof(Place);
  for (const rows::Column& column : keys_) bytes += column.MemoryBytes();
  return bytes;
}

void Groups::Find(absl::Span<const ColumnView> keys, size_t rows, bool adds) {
  rows_ = rows;
  runs_.clear();
  if (keys.empty()) {
    if (adds) size_ = 1;
    runs_.push_back({0, rows, size_ == 0 ? kNone : 0});
    return;
  }
  FindRuns(keys);
  HashRuns(keys);
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].group = FindRow(keys, runs_[i].first, run_hashes_[i], adds);
  }
}

absl::Span<const uint32_t> Groups::of_rows() {
  of_rows_.resize(rows_);
  for (const Run& run : runs_) std::fill_n(of_rows_.begin() + run.first, run.rows, run.group);
  return of_rows_;
}

void Groups::FindRuns(absl::Span<const ColumnView> keys) {
  begins_.assign(rows_, 0);
  begins_[0] = 1;
  for (const ColumnView& key : keys) {
    if (key.is_constant()) continue;
    const uint8_t* const there = key.there();
    WithValues(key, [&](const auto* values) {
      if (there == nullptr) {
        for (size_t i = 1; i < rows_; ++i) begins_[i] |= AreSame(values[i], values[i - 1]) ? 0 : 1;
        return;
      }
      for (size_t i = 1; i < rows_; ++i) {
        const bool is_same = there[i] == there[i - 1] && (!there[i] || AreSame(values[i], values[i - 1]));
        begins_[i] |= is_same ? 0 : 1;
      }
    });
  }
  for (size_t i = 0; i < rows_; ++i) {
    if (begins_[i]) {
      runs_.push_back({i, 1, 0});
    } else {
      ++runs_.back().rows;
    }
  }
}

void Groups::HashRuns(absl::Span<const ColumnView> keys) {
  run_hashes_.assign(runs_.size(), 0);
  for (const ColumnView& key : keys) {
    if (AreInts(key) && key.there() == nullptr && !key.is_constant()) {
      for (size_t i = 0; i < runs_.size(); ++i) {
        const auto value = static_cast<uint64_t>(key.ints()[runs_[i].first]);
        run_hashes_[i] = Mix(std::rotl(run_hashes_[i], 17) ^ value);
      }
      continue;
    }
    uint64_t of_value = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (i == 0 || !key.is_constant()) {
        const size_t row = runs_[i].first;
        const bool is_int = AreInts(key) && key.IsThere(row);
        of_value = is_int ? static_cast<uint64_t>(key.ints()[key.PlaceOf(row)]) : HashOf(key, row);
      }
      run_hashes_[i] = Mix(std::rotl(run_hashes_[i], 17) ^ of_value);
    }
  }
}

uint32_t Groups::Probe(const Places& places, absl::Span<const ColumnView> keys, size_t row, uint32_t hash,
                       Place** empty) const {
  const size_t mask = places.count - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Place& place = places.array[i];
    if (place.group == 0) {
      *empty = &place;
      return kNone;
    }
    if (place.hash == hash && IsOf(place.group - 1, keys, row)) return place.group - 1;
  }
}

uint32_t Groups::FindRow(absl::Span<const ColumnView> keys, size_t row, uint64_t hash, bool adds) {
  const auto short_hash = static_cast<uint32_t>(hash);
  Place* empty = nullptr;
  uint32_t group = Probe(places_, keys, row, short_hash, &empty);
  if (group == kNone && old_places_.count > 0) {
    Place* old_empty = nullptr;
    group = Probe(old_places_, keys, row, short_hash, &old_empty);
  }
  if (group != kNone || !adds) return group;
  Add(keys, row);
  *empty = {static_cast<uint32_t>(size_), short_hash};
  Grow();
  return static_cast<uint32_t>(size_ - 1);
}

bool Groups::IsOf(uint32_t group, absl::Span<const ColumnView> keys, size_t row) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    const ColumnView& key = keys[i];
    const ColumnView& known = views_[i];
    const bool is_there = key.IsThere(row);
    if (is_there != known.IsThere(group)) return false;
    if (!is_there) continue;
    const size_t place = key.PlaceOf(row);
    bool is_same = false;
    switch (key.type()) {
      case ColumnType::kDouble:
        is_same = AreSame(key.doubles()[place], known.doubles()[group]);
        break;
      case ColumnType::kBytes:
        is_same = key.bytes()[place] == known.bytes()[group];
        break;
      case ColumnType::kList:
        is_same = AreSame(key.lists()[place], known.lists()[group]);
        break;
      default:
        is_same = key.ints()[place] == known.ints()[group];
    }
    if (!is_same) return false;
  }
  return true;
}

void Groups::Add(absl::Span<const ColumnView> keys, size_t row) {
  CHECK(size_ < kGroupsMax);
  for (size_t i = 0; i < keys.size(); ++i) {
    keys_[i].AppendPlaces(keys[i], {&row, 1});
    views_[i] = keys_[i].View();
  }
  ++size_;
}

void Groups::Grow() {
  if (old_places_.count == 0) {
    if (2 * size_ <= places_.count) return;
    old_places_ = std::exchange(places_, Places(2 * places_.count));
    moved_ = 0;
  }
  const size_t end = std::min(moved_ + kPlacesMovedAtOnce, old_places_.count);
  for (; moved_ < end; ++moved_) {
    const Place& place = old_places_.array[moved_];
    if (place.group != 0) *places_.Empty(place.hash) = place;
  }
  if (moved_ == old_places_.count) old_places_ = Places(0);
}

}  // namespace sonde::sql

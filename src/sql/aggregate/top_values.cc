#include "sql/aggregate/top_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr size_t kEntryBytes = 80;  // of the map, about

// NaN is one value, and so is 0.
Datum Normal(const Datum& datum) {
  if (!datum.is_there || datum.kind != Datum::Kind::kDouble) return datum;
  if (std::isnan(datum.number)) return Datum::Double(std::numeric_limits<double>::quiet_NaN());
  return Datum::Double(datum.number == 0 ? 0.0 : datum.number);
}

}  // namespace

template <typename Weight>
void TopValues<Weight>::Add(const Type& type, const Datum& value, const std::optional<Weight>& weight) {
  std::string bytes;
  AppendDatumBytes(type, Normal(value), &bytes);
  AddBytes(std::move(bytes), weight);
}

template <typename Weight>
void TopValues<Weight>::AddBytes(std::string value, const std::optional<Weight>& weight) {
  const size_t bytes = value.size() + kEntryBytes;
  const auto [entry, is_new] = values_.try_emplace(std::move(value), weight);
  if (!is_new) {
    if (!weight.has_value()) return;
    entry->second = entry->second.has_value() ? *entry->second + *weight : *weight;
    return;
  }
  held_bytes_ += bytes;
  if (values_.size() > kValuesMax) ForgetLightest();
}

template <typename Weight>
void TopValues<Weight>::ForgetLightest() {
  std::vector<std::pair<std::string, std::optional<Weight>>> all;
  all.reserve(values_.size());
  while (!values_.empty()) {
    auto node = values_.extract(values_.begin());
    all.emplace_back(std::move(node.key()), node.mapped());
  }
  const size_t kept = all.size() / 2;
  std::nth_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept), all.end(),
                   [](const auto& a, const auto& b) {
                     if (IsHeavier(a.second, b.second)) return true;
                     if (IsHeavier(b.second, a.second)) return false;
                     return a.first < b.first;
                   });
  held_bytes_ = 0;
  for (size_t i = 0; i < kept; ++i) {
    held_bytes_ += all[i].first.size() + kEntryBytes;
    values_.emplace(std::move(all[i].first), all[i].second);
  }
}

template <typename Weight>
void TopValues<Weight>::Merge(const TopValues& other) {
  for (const auto& [value, weight] : other.values_) AddBytes(value, weight);
}

template <typename Weight>
auto TopValues<Weight>::Top(const Type& type, size_t count, Arena* arena) const -> std::vector<Entry> {
  std::vector<Entry> entries;
  for (const auto& [value, weight] : values_) {
    std::string_view bytes = arena->Copy(value);
    Entry entry{{}, weight};
    CHECK(TakeDatumBytes(type, &bytes, arena, &entry.value));
    entries.push_back(entry);
  }
  const size_t kept = std::min(count, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(kept), entries.end(),
                    [](const Entry& a, const Entry& b) {
                      if (IsHeavier(a.weight, b.weight)) return true;
                      if (IsHeavier(b.weight, a.weight)) return false;
                      return Compare(a.value, b.value) < 0;
                    });
  entries.resize(kept);
  return entries;
}

template class TopValues<absl::int128>;
template class TopValues<double>;

}  // namespace sonde::sql

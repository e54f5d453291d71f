#include "promql/http/series_counts.h"

#include <algorithm>
#include <queue>

#include "promql/syntax/matcher.h"

namespace sonde::promql {
namespace {

// Beside its text: its place in a table, which is half empty.
constexpr int64_t kEntryBytes = 2 * (sizeof(std::string) + sizeof(uint64_t) + 1);

// The largest of those that come.
class Largest {
 public:
  explicit Largest(size_t limit) : limit_(limit) {}

  void Add(uint64_t count, std::string_view label, std::string_view value) {
    const One one{count, label, value};
    if (kept_.size() == limit_ && !IsBefore(one, kept_.top())) return;
    kept_.push(one);
    if (kept_.size() > limit_) kept_.pop();
  }

  std::vector<NamedCount> Take() {
    std::vector<NamedCount> result;
    for (; !kept_.empty(); kept_.pop()) {
      const One& one = kept_.top();
      std::string name(one.label);
      if (!one.label.empty() && !one.value.empty()) name.push_back('=');
      result.push_back({name.append(one.value), one.count});
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  struct One {
    uint64_t count = 0;
    std::string_view label;
    std::string_view value;
  };
  static bool IsBefore(const One& a, const One& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::pair(a.label, a.value) < std::pair(b.label, b.value);
  }
  struct Order {
    bool operator()(const One& a, const One& b) const { return IsBefore(a, b); }
  };

  const size_t limit_;
  std::priority_queue<One, std::vector<One>, Order> kept_;  // the last of them on top
};

}  // namespace

absl::Status SeriesCounts::AddValue(std::string_view label, std::string_view value, uint64_t series) {
  const auto [values, is_new_label] = values_of_.try_emplace(std::string(label));
  const auto [entry, is_new] = values->second.try_emplace(std::string(value), 0);
  entry->second += series;
  if (!is_new) return absl::OkStatus();
  ++label_pairs_;
  const size_t text_bytes = value.size() + (is_new_label ? label.size() : 0);
  return memory_.Add(kEntryBytes + static_cast<int64_t>(text_bytes));
}

std::vector<NamedCount> SeriesCounts::SeriesByMetric(size_t limit) const {
  Largest largest(limit);
  if (const auto names = values_of_.find(kMetricLabel); names != values_of_.end()) {
    for (const auto& [name, count] : names->second) largest.Add(count, "", name);
  }
  return largest.Take();
}

std::vector<NamedCount> SeriesCounts::ValuesByLabel(size_t limit) const {
  Largest largest(limit);
  for (const auto& [label, values] : values_of_) largest.Add(values.size(), label, "");
  return largest.Take();
}

std::vector<NamedCount> SeriesCounts::BytesByLabel(size_t limit) const {
  Largest largest(limit);
  for (const auto& [label, values] : values_of_) {
    uint64_t bytes = 0;
    for (const auto& [value, count] : values) bytes += value.size() * count;
    largest.Add(bytes, label, "");
  }
  return largest.Take();
}

std::vector<NamedCount> SeriesCounts::SeriesByPair(size_t limit) const {
  Largest largest(limit);
  for (const auto& [label, values] : values_of_) {
    for (const auto& [value, count] : values) largest.Add(count, label, value);
  }
  return largest.Take();
}

}  // namespace sonde::promql

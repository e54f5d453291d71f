// The values that come most often, or weigh most, of many; about, if there are more than kValuesMax distinct ones.
//
// Shape: each value with its count or the sum of its weights.  Of more than kValuesMax values the lightest half is
//   forgotten, and a value that was forgotten begins anew: so no count is too large.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/arena.h"
#include "model/datum.h"
#include "sql/aggregate/datum_bytes.h"
#include "sql/value/type.h"

namespace sonde::sql {

// Weight: absl::int128 or double; a std::optional of it is NULL until a weight comes that is not.
template <typename Weight>
class TopValues {
 public:
  static constexpr size_t kValuesMax = 16'384;

  struct Entry {
    Datum value;
    std::optional<Weight> weight;
  };

  void Add(const Type& type, const Datum& value, const std::optional<Weight>& weight);
  void Merge(const TopValues& other);

  bool is_empty() const { return values_.empty(); }
  // The `count` heaviest values, the heaviest first, of two that weigh the same the lesser; in the arena.
  std::vector<Entry> Top(const Type& type, size_t count, Arena* arena) const;

  size_t HeldBytes() const { return held_bytes_; }
  // By value: the weights are the caller's to write.
  template <typename F>
  void ForEach(F&& f) const {
    for (const auto& [value, weight] : values_) f(value, weight);
  }
  // `value`: as datum_bytes.h writes it.
  void AddBytes(std::string value, const std::optional<Weight>& weight);

 private:
  static bool IsHeavier(const std::optional<Weight>& a, const std::optional<Weight>& b) {
    if (!a.has_value() || !b.has_value()) return a.has_value();
    return *b < *a;
  }
  void ForgetLightest();

  std::unordered_map<std::string, std::optional<Weight>> values_;
  size_t held_bytes_ = 0;
};

}  // namespace sonde::sql

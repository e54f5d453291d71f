#include "base/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sonde {
namespace {

constexpr size_t kWordBytesMax = 64;  // of words that are compared

// Letters that are put in, taken out, changed, or swapped with their neighbours.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& best = table[i][j];
      if (i == 0 || j == 0) {
        best = i + j;
        continue;
      }
      best = std::min(
          {table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> NearestWord(std::string_view word, const std::vector<std::string>& words) {
  if (word.size() > kWordBytesMax) return std::nullopt;
  std::optional<std::pair<size_t, std::string>> best;
  for (const std::string& one : words) {
    if (one.size() > kWordBytesMax) continue;
    const size_t distance = Distance(word, one);
    const bool is_beginning = word.size() >= 3 && one.starts_with(word);
    if (!is_beginning && 3 * distance > std::max<size_t>(word.size(), 3)) continue;
    const size_t rank = is_beginning ? 1 : distance;
    if (!best.has_value() || rank < best->first) best = {rank, one};
  }
  if (!best.has_value()) return std::nullopt;
  return std::move(best->second);
}

}  // namespace sonde

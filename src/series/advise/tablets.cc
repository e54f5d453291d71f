#include "series/advise/tablets.h"

#include <algorithm>
#include <cstddef>

namespace sonde::series {

double HottestTabletShare(const std::vector<std::string>& keys, size_t tablets, size_t windows) {
  if (keys.size() < windows || windows < 2) return 1;
  double sum = 0;
  for (size_t window = 1; window < windows; ++window) {
    const size_t begin = keys.size() * window / windows;
    const size_t end = keys.size() * (window + 1) / windows;
    std::vector<std::string> before(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(begin));
    std::sort(before.begin(), before.end());
    std::vector<std::string> splits;  // the first key of each tablet but the first
    for (size_t i = 1; i < tablets; ++i) splits.push_back(before[before.size() * i / tablets]);
    std::vector<size_t> writes(tablets);
    for (size_t i = begin; i < end; ++i) {
      ++writes[std::upper_bound(splits.begin(), splits.end(), keys[i]) - splits.begin()];
    }
    sum += static_cast<double>(*std::max_element(writes.begin(), writes.end())) /
           static_cast<double>(end - begin);
  }
  return sum / static_cast<double>(windows - 1);
}

}  // namespace sonde::series

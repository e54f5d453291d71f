// Where writes go: how much of them the hottest of several tablets takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::series {

// `keys`: the row keys of a sample's writes, in the order of their time.  The sample is cut into `windows`
// pieces of as many writes; for each but the first, the rows that were written before it are cut into
// `tablets` equal pieces of the key space, as a cluster splits by size, and the tablet that takes most of the
// window's writes is the hot one. Returns its share, the mean of the windows: 1 / tablets is best, 1 is a
// single node that takes everything.
double HottestTabletShare(const std::vector<std::string>& keys, size_t tablets, size_t windows);

}  // namespace sonde::series

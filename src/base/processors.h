// How many processors this process may use at a time.
#pragma once

#include <filesystem>

namespace sonde {

// Those that it may run on (sched_setaffinity), or fewer, also a part of one, where its control groups
// (version 1 or 2) are given a quota.  `root`: a directory that stands for "/", for tests.
double UsableProcessors(const std::filesystem::path& root = "/");

}  // namespace sonde

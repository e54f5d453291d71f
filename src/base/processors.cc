#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace sonde {
namespace {

namespace fs = std::filesystem;

int AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where there are more than the set has room for.
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  return std::max(1, CPU_COUNT(&set));
}

// "max 100000" or "50000 100000" of version 2, or version 1's two files; 0: no quota.
double QuotaOf(const fs::path& group) {
  double quota = 0, period = 0;
  if (std::ifstream(group / "cpu.max") >> quota >> period && period > 0) return quota / period;
  if (std::ifstream(group / "cpu.cfs_quota_us") >> quota &&
      std::ifstream(group / "cpu.cfs_period_us") >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return 0;
}

// A quota of a group binds those in it.  In a container the path may be one outside of it: then its own
// group is the root of what it sees.
double LeastQuota(const fs::path& mount, fs::path path) {
  double least = 0;
  while (true) {
    const double quota = QuotaOf(mount / path);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (path.empty()) return least;
    path = path.parent_path();
  }
}

bool HasController(const std::string& list, const std::string& name) {
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    if (one == name) return true;
  }
  return false;
}

}  // namespace

double UsableProcessors(const fs::path& root) {
  double processors = AllowedProcessors();
  std::ifstream groups(root / "proc/self/cgroup");
  // "0::/PATH" of version 2, "4:cpu,cpuacct:/PATH" of version 1.
  for (std::string line; std::getline(groups, line);) {
    std::istringstream in(line);
    std::string number, controllers, path;
    if (!std::getline(in, number, ':') || !std::getline(in, controllers, ':') || !std::getline(in, path))
      continue;
    if (!controllers.empty() && !HasController(controllers, "cpu")) continue;
    const fs::path relative = fs::path(path).relative_path();
    for (const fs::path& mount :
         {root / "sys/fs/cgroup", root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup/cpu"}) {
      const double quota = LeastQuota(mount, relative);
      if (quota > 0) processors = std::min(processors, quota);
    }
  }
  return processors;
}

}  // namespace sonde

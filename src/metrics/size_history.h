// What the parts of the disk and the largest tables took over time: for people who want to know what grew.
//
// Every kStep for kKept, in memory: after a restart it begins anew.  It holds at most kNamesMax sizes of a moment, the
// largest: some 3 MB after kKept.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sonde {

class SizeHistory {
 public:
  static constexpr int64_t kStep = 300, kKept = 14 * 24 * 3'600;  // seconds
  static constexpr size_t kNamesMax = 100;

  struct Size {
    std::string name;
    uint64_t bytes = 0;
  };

  // Notes the sizes of a moment.  `now_seconds` ascends; a moment within kStep of the last one is left out, so that anybody may
  // call it often.
  void Note(std::vector<Size> sizes, int64_t now_seconds) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether Note would take sizes now.
  bool Wants(int64_t now_seconds) const ABSL_LOCKS_EXCLUDED(mutex_);

  struct Grown {
    std::string name;
    uint64_t bytes = 0;  // now
    int64_t grew = 0;    // since then
  };
  struct Answer {
    int64_t since_seconds =
        0;  // the moment of comparison: the last one at or before the wanted one, or the first one
    std::vector<Grown> sizes;  // what has grown the most comes first
  };
  // Compares `now` with what was noted `seconds` before it.  A name that was not among the largest then counts as having been
  // as large as the smallest noted one, or empty where all were noted.  Nothing was noted yet: nothing has grown.
  Answer Compare(const std::vector<Size>& now, int64_t now_seconds, int64_t seconds) const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Moment {
    int64_t seconds = 0;
    std::map<uint32_t, uint64_t> bytes;  // by number of the name
    uint64_t others_max = 0;             // no name that is not here was larger; 0: all are here
  };
  uint32_t NumberOf(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, uint32_t, std::less<>> numbers_ ABSL_GUARDED_BY(mutex_);  // of the names of moments_
  uint32_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Moment> moments_ ABSL_GUARDED_BY(mutex_);  // ascending
};

}  // namespace sonde

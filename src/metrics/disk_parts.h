// What a data directory takes of the disk, by its parts.
//
// The parts are those of docs/formats/data-directory.md: "cells" (files of rows and change logs), "log" (what is not flushed yet), "records"
// (catalog), "history" (key visualizer and latencies), "ballast", "copies" (backups of the API and copies under way: what no file of
// `cells` shares), "other".
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "metrics/figure.h"

namespace sonde {

class DiskParts {
 public:
  // The directory is looked at again after so long.
  static constexpr absl::Duration kAgeMax = absl::Seconds(10);
  // No more entries are visited; what is behind them is left out.
  static constexpr uint64_t kEntriesMax = 1'000'000;

  // An empty name: a server whose rows are elsewhere, which has no parts.
  explicit DiskParts(std::string data_dir) : data_dir_(std::move(data_dir)) {}

  // Bytes of blocks of the disk, as du counts them: sparse and shared files once.
  struct Part {
    std::string name;
    uint64_t bytes = 0;
  };
  // All parts, also empty ones, in one order.  They are of a moment at most kAgeMax ago.
  std::vector<Part> List(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);

  // `sonde_disk_used_bytes` by part.
  std::vector<Figure> Figures(absl::Time now);

 private:
  std::vector<Part> Look() const;

  const std::string data_dir_;
  absl::Mutex mutex_;
  absl::Time looked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::vector<Part> parts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde

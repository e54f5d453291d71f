// Reads every live table from time to time, slowly, and compares its checksum with the one from when it was
// written, so that decay of the disk is noticed while there is still a copy.  Nothing is repaired: rows of a
// damaged block are answered with DATA_LOSS, the others are served.
//
// One thread.  It reads the MANIFEST, too.  Logs are short-lived, and are read at the next start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/rocks/files/tell.h"
#include "rocksdb/db.h"

namespace sonde {

struct ScrubProgress {
  uint64_t passes_count = 0;                   // passes that have ended
  uint64_t tables_done = 0, tables_count = 0;  // of the current or last pass
  uint64_t bytes_done = 0;                     // of the current or last pass
  std::vector<std::string> damaged_files;      // found by any pass
};

class Scrubber {
 public:
  struct Options {
    absl::Duration interval = absl::Hours(24);  // from the end of a pass to the start of the next
    absl::Duration first_after = absl::Minutes(5);
    uint64_t bytes_per_second_max = uint64_t{32} << 20;
    Tell tell;  // told of damage, and of each pass that ended
  };

  // `databases`, by path, must stay open as long as this.
  Scrubber(rocksdb::Env* env, std::map<std::string, rocksdb::DB*> databases, Options options);
  ~Scrubber();

  // Runs one pass now, on the calling thread.  DATA_LOSS: the text names the first damaged file.  CANCELLED:
  // the scrubber ends.
  absl::Status Pass();

  ScrubProgress progress() const;

 private:
  absl::Status CheckTable(const rocksdb::LiveFileMetaData& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mutex_);
  absl::Status CheckManifest(const std::string& path, rocksdb::DB* db);
  // Waits, after `bytes` were read, so that the rate is kept.  Returns false if the scrubber ends.
  bool Pace(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mutex_);
  bool WaitUntil(absl::Time time);
  void TellOf(TellLevel level, const std::string& text) const;

  rocksdb::Env* const env_;
  const std::map<std::string, rocksdb::DB*> databases_;
  const Options options_;

  mutable absl::Mutex mutex_;
  SteadyCondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  ScrubProgress progress_ ABSL_GUARDED_BY(mutex_);
  absl::Mutex pass_mutex_;  // one pass at a time
  absl::Time next_read_ ABSL_GUARDED_BY(pass_mutex_) = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace sonde

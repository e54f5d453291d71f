// Where queries put what their memory has no room for: files in one directory that have no name, so that they are gone
// with the query, also when the process is killed.
//
//   SpillSpace space("/data/spill", {});
//   QuerySpill spill(&space);
//   absl::StatusOr<std::unique_ptr<SpillFile>> file = SpillFile::Create(&spill, "Sort");
//
// Threads: the functions of a SpillSpace may be called at once.  A QuerySpill and its files belong to one thread at a time.
// Errors: RESOURCE_EXHAUSTED: the query, all queries together, or the disk have no more room; the text names the operator,
//   the bytes and the limit.  UNAVAILABLE: the directory cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace sonde::sql {

class SpillSpace {
 public:
  struct Limits {
    int64_t query_bytes_max = int64_t{16} << 30;  // of one query
    int64_t bytes_max = int64_t{64} << 30;        // of all queries together
    // So many hundredths of the disk stay free, but no more than so many bytes: more than writes of cells need, which are
    // refused when the disk is nearly full (docs/reliability.md).
    int64_t free_percent_min = 10;
    int64_t free_bytes_max = int64_t{32} << 30;
  };

  // `directory` is made when it is first needed.
  SpillSpace(std::string directory, Limits limits) : directory_(std::move(directory)), limits_(limits) {}
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;

  const Limits& limits() const { return limits_; }
  int64_t bytes() const;

 private:
  friend class QuerySpill;

  // A descriptor of a new file without a name.
  absl::StatusOr<int> Open(std::string_view operator_name) const;
  absl::Status Take(std::string_view operator_name, int64_t bytes);
  void Give(int64_t bytes);
  absl::Status CheckDisk(std::string_view operator_name, int64_t bytes) const;

  const std::string directory_;
  const Limits limits_;
  mutable absl::Mutex mutex_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The files of one query.
class QuerySpill {
 public:
  // `space` must outlive this; null: nothing can be put on disk.
  explicit QuerySpill(SpillSpace* space) : space_(space) {}
  // All files must be gone.
  ~QuerySpill();
  QuerySpill(const QuerySpill&) = delete;
  QuerySpill& operator=(const QuerySpill&) = delete;

  bool is_there() const { return space_ != nullptr; }
  // The bytes of all files now, and of all that were written so far.
  int64_t bytes() const { return bytes_; }
  int64_t bytes_written() const { return bytes_written_; }

 private:
  friend class SpillFile;

  // The descriptor of a new file without a name.
  absl::StatusOr<int> Open(std::string_view operator_name) const;
  absl::Status Take(std::string_view operator_name, int64_t bytes);
  void Give(int64_t bytes);

  // Room is taken from the space in steps.
  static constexpr int64_t kStepBytes = int64_t{16} << 20;

  SpillSpace* const space_;
  int64_t bytes_ = 0;
  int64_t taken_bytes_ = 0;  // from space_
  int64_t bytes_written_ = 0;
};

}  // namespace sonde::sql

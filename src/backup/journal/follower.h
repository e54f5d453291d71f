// Follows the journal of a store: puts its segments into a repository, one after the other, until its user stops.
//
// A segment is read and checked, copied under a name that ends in .part, synced, renamed; then the directory is synced.  So a follower
// may be killed at any moment, and the next one goes on behind the last whole segment.  Small segments are merged.  No lock is needed: two followers
// of a journal write the same.
//
// Threads: an object is for one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/journal/journal_chain.h"
#include "backup/journal/segment.h"
#include "backup/repository/repository.h"

namespace sonde {

// If nothing changes, a segment comes once in so many microseconds: so much may the latest moment that can be restored lie behind.
constexpr int64_t kIdleSegmentMicros = 5'000'000;

// A segment that is not in the repository yet.
struct CutSegment {
  std::string path;
  SegmentPlace place;
  uint64_t records = 0;
  bool is_cut_short = false;  // there is more to cut at once
};

class JournalSource {
 public:
  virtual ~JournalSource() = default;
  // Makes a segment of the changes behind `after`; its file stays until the next call.  OUT_OF_RANGE: changes behind `after` are
  // forgotten.  FAILED_PRECONDITION: the store has no such journal any more.
  virtual absl::StatusOr<CutSegment> Cut(const std::string& journal, int64_t after, bool starts) = 0;
};

class Follower {
 public:
  // Goes on behind the segments that the repository has, or else at the backup's place.  Repository and source must outlive this.
  static absl::StatusOr<Follower> Open(const Repository& repository, JournalSource* source,
                                       const JournalPlace& base);

  // Puts one segment into the repository, unless nothing has changed.  Returns whether there is more to do at once.  Errors: those of the
  // source and of the files; the next call tries again.  OUT_OF_RANGE: changes are forgotten, also those behind the backup: a new backup
  // is needed.  DATA_LOSS: the source gave a damaged segment.
  absl::StatusOr<bool> Step();

  // All changes up to this position are in the repository.
  int64_t stored_through() const { return after_; }

 private:
  Follower(const Repository& repository, JournalSource* source, JournalPlace base)
      : repository_(&repository), source_(source), base_(std::move(base)) {}
  absl::Status Store(const CutSegment& cut);

  const Repository* repository_;
  JournalSource* source_;
  JournalPlace base_;
  int64_t after_ = 0;
  bool starts_ = false;     // the next segment starts a chain
  size_t small_count_ = 0;  // segments since the last merge, or that were there
};

}  // namespace sonde

// Brings roll-ups up to date for the many short writers of a server: what the requests of some seconds have
// touched is read again once, not once a request.
//
// Writers mark the pieces that they touch, write their points, and leave the marked pieces here (Take). Until
// Refresh has computed them anew they have their marks, so that a death of the process loses nothing: the
// pieces of the dead are refreshed after the next start (Recover).
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"
#include "series/write/rollup_keeper.h"

namespace sonde::series {

class RollupRefresher {
 public:
  static constexpr size_t kPiecesWaitingMax = 100'000;  // each takes some hundred bytes

  // Both must outlive this.
  RollupRefresher(TableAccess* tables, const Clock* clock, size_t pieces_waiting_max = kPiecesWaitingMax)
      : tables_(tables), clock_(clock), pieces_waiting_max_(pieces_waiting_max) {}

  // Takes over what `keeper`, of a series with this schema, has to refresh.  False, and nothing is taken: too
  // much waits already.
  bool Take(const SeriesSchema& schema, RollupKeeper* keeper);

  // Refreshes all that has been taken before.  The first error of the store; pieces of series with an error
  // keep their marks, for Recover.
  absl::Status Refresh();
  // Refreshes what has marks of the dead, of all series that have roll-ups; does nothing for others.
  absl::Status Recover(const SeriesSchema& schema);

  size_t pieces_waiting() const;

 private:
  struct Waiting {
    SeriesSchema schema;
    std::vector<RollupKeeper::Marked> marked;
  };

  TableAccess* const tables_;
  const Clock* const clock_;
  const size_t pieces_waiting_max_;
  mutable absl::Mutex mutex_;
  // By name and declaration: one that changes has other roll-ups.
  std::map<std::pair<std::string, std::string>, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t pieces_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde::series

// Drops deleted tables whose rows have been kept long enough, so that their space comes back; sooner where the disk runs low.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "metrics/figure.h"

namespace sonde {

struct TablePurgerOptions {
  absl::Duration keep = absl::Hours(24 * 7);  // from the deletion on
  // While less than this part of the disk is free, each sweep drops the table that was deleted first.
  double free_share_min = 0.1;
  // The part of the disk that is free; nullopt: it is not known.  Null: nobody can tell.
  std::function<std::optional<double>()> free_share = nullptr;
};

// Threads: all functions may be called at once.
class TablePurger {
 public:
  // All must outlive this.
  TablePurger(Catalog* catalog, Engine* engine, const Clock* clock, TablePurgerOptions options)
      : catalog_(catalog), engine_(engine), clock_(clock), options_(std::move(options)) {}

  // To be called now and then.  Goes on after an error, and returns the first.  Errors: those of Catalog::Purge.
  absl::Status Sweep();

  // The number of deleted tables that are kept, and of the bytes that the last sweep has found them to hold.
  std::vector<Figure> Figures() const;

 private:
  uint64_t BytesOf(TableId table) const;

  Catalog* const catalog_;
  Engine* const engine_;
  const Clock* const clock_;
  const TablePurgerOptions options_;

  mutable absl::Mutex mutex_;
  uint64_t kept_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t purged_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde

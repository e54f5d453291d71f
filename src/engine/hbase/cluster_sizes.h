// How large the regions of tables are, as the cluster's master knows it: some seconds old, in whole MiB.
//
// HBase tells nothing of what lies inside of a region, so that its bytes are shared out evenly between the keys that are asked for: they
// come from where rows are.
//
// Threads: all functions may be called at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/range_sizes.h"
#include "engine/row_store.h"
#include "hbase/client.h"

namespace sonde {

// Shares out the bytes of `regions` (ascending; the last end is empty) to [starts[0], starts[1]), ..., [starts.back(), end).
std::vector<uint64_t> ShareOut(const std::vector<RangeStats>& regions, const std::vector<std::string>& starts,
                               const std::string& end);

// `ranges` (normal form), cut where regions end.  The first kPartsMax are parts.
DividedRanges DivideByRegions(const std::vector<RangeStats>& regions, const std::vector<RowRange>& ranges);

class ClusterSizes final : public RangeSizes {
 public:
  // A range with fewer bytes is not divided.
  static constexpr uint64_t kDividedBytesMin = uint64_t{16} << 20;
  static constexpr size_t kPartsMax = 1'000;

  // `client` must outlive this.
  ClusterSizes(hbase::Client* client, std::string space) : client_(client), space_(std::move(space)) {}

  // A range a region.
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table, absl::Time deadline);
  absl::StatusOr<std::vector<uint64_t>> Measure(TableId table, const std::vector<std::string>& starts,
                                                const std::string& end, absl::Time deadline) override;
  absl::StatusOr<DividedRanges> Divide(TableId table, FamilyId family,
                                       const std::vector<RowRange>& ranges) override;

 private:
  using BytesByRegion = std::map<std::string, uint64_t>;  // by the region's name
  // What the master says is remembered for kRemembered: many servers ask it.
  static constexpr absl::Duration kRemembered = absl::Seconds(3);
  absl::StatusOr<std::shared_ptr<const BytesByRegion>> Bytes(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  hbase::Client* const client_;
  const std::string space_;
  absl::Mutex mutex_;
  std::shared_ptr<const BytesByRegion> bytes_ ABSL_GUARDED_BY(mutex_);
  absl::Time asked_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace sonde

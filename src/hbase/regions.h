// Where a cluster's master, its hbase:meta, and the regions of tables are: looked up, and remembered until a call finds them elsewhere.
//
// Threads: all functions may be called at once.  They wait for the network, but for those that forget.
// Errors: NOT_FOUND: there is no such table.  UNAVAILABLE, DEADLINE_EXCEEDED: the cluster does not say.  DATA_LOSS: it says what
// cannot be true.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "hbase/attempts.h"
#include "hbase/call/servers.h"
#include "hbase/wire/names.h"
#include "hbase/wire/read_messages.h"

namespace sonde::hbase {

// More are not remembered: then all are forgotten, and looked up anew.
constexpr size_t kRegionsMax = 200'000;

class Regions {
 public:
  using Place = std::shared_ptr<const Region>;

  // `roots` are masters or region servers, any of which says where things are; at least one.  `timeout` is of one call.
  Regions(Servers* servers, std::vector<ServerAddress> roots, absl::Duration timeout);

  absl::StatusOr<ServerAddress> Master(absl::Time deadline);
  // The region that has a row.
  absl::StatusOr<Place> Find(const TableName& table, std::string_view row, absl::Time deadline);
  // The region that has the rows right before `row`; an empty row is the end of the table.
  absl::StatusOr<Place> FindBefore(const TableName& table, std::string_view row, absl::Time deadline);
  // Whether there is such a table.  Asks nothing when a region of it is remembered, and waits for no region to be open.
  absl::Status CheckTable(const TableName& table, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // All regions, ascending and without gaps, as they are now: not as they are remembered.
  absl::StatusOr<std::vector<Place>> All(const TableName& table, absl::Time deadline);

  // A call did not find this region at its place.
  void Forget(const Region& region) ABSL_LOCKS_EXCLUDED(mutex_);
  // The table is gone, or its regions are others.
  void ForgetTable(const TableName& table) ABSL_LOCKS_EXCLUDED(mutex_);
  void ForgetMaster() ABSL_LOCKS_EXCLUDED(mutex_);

  uint64_t lookups() const { return lookups_.load(std::memory_order_relaxed); }

 private:
  using Parse = absl::StatusOr<std::optional<ServerAddress>> (*)(std::string_view);
  // Asks one root after the other, that which answered last before the others.
  absl::StatusOr<ServerAddress> AskRoots(std::string_view method, Parse parse, Attempts* attempts);
  absl::StatusOr<ServerAddress> Meta(Attempts* attempts) ABSL_LOCKS_EXCLUDED(mutex_);
  // Finds in hbase:meta the region whose start key is the last one up to `row` (or before it).
  absl::StatusOr<Place> LookUp(const TableName& table, std::string_view row, bool before,
                               absl::Time deadline);
  // Reads rows of hbase:meta.  `visit` gets the regions that are open.  Returns where to go on; nullopt: the range is read.
  absl::StatusOr<std::optional<std::string>> ReadMeta(const ScanRange& range, uint32_t rows_max,
                                                      Attempts* attempts,
                                                      const std::function<void(Region)>& visit);
  Place Recall(const TableName& table, std::string_view row, bool before) ABSL_LOCKS_EXCLUDED(mutex_);
  Place Remember(Region region) ABSL_LOCKS_EXCLUDED(mutex_);

  Servers* const servers_;
  const std::vector<ServerAddress> roots_;
  const absl::Duration timeout_;
  std::atomic<uint64_t> lookups_ = 0;
  std::atomic<size_t> first_root_ = 0;  // index of the root that answered last

  absl::Mutex mutex_;
  std::optional<ServerAddress> master_ ABSL_GUARDED_BY(mutex_);
  std::optional<ServerAddress> meta_ ABSL_GUARDED_BY(mutex_);
  std::map<TableName, std::map<std::string, Place, std::less<>>> places_
      ABSL_GUARDED_BY(mutex_);  // by start key
  size_t places_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde::hbase

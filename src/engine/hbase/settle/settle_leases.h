// Which server settles which region now: leases in the store's catalog, so that servers do not do the same work.
//
// A table's leases are one row of the catalog's table, "settle/t00000007", with a column a region (family 1, qualifier: the region's start
// key).  The value: who has it (8 bytes; zeros: nobody), how often it was written, when the region was settled last (milliseconds), 8 bytes
// big-endian each; and the row from which the next one goes on.  A lease that does not change for kLease counts no more, by the
// clock of the server that watches it.  Two servers that settle one region would both work, and harm nothing.
//
// Threads: not for several.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hbase/client.h"
#include "model/cell.h"

namespace sonde {

class SettleLeases {
 public:
  static constexpr absl::Duration kLease = absl::Seconds(30);

  // `owner`: not 0.  `client` must outlive it.
  SettleLeases(hbase::Client* client, std::string space, uint64_t owner);

  // Takes the lease of a region, if nobody has it and nobody settled it within the last `pause`.  Returns the row from which to go on; nullopt:
  // it is not to be had now.
  absl::StatusOr<std::optional<std::string>> Take(TableId table, std::string_view region_start,
                                                  absl::Duration pause, absl::Time now, absl::Time deadline);
  // False: another server has taken it.
  absl::StatusOr<bool> Renew(TableId table, std::string_view region_start, absl::Time deadline);
  // Gives it back.  The region was settled up to the row `next`; empty: whole.
  absl::Status Give(TableId table, std::string_view region_start, std::string_view next, absl::Time now,
                    absl::Time deadline);

 private:
  struct Lease {
    uint64_t owner = 0;
    uint64_t writes = 0;
    int64_t settled_millis = 0;
    std::string next;
    bool operator==(const Lease&) const = default;
  };
  struct Watched {
    Lease lease;
    absl::Time since;
  };
  using Place = std::pair<TableId, std::string>;

  static std::string BytesOf(const Lease& lease);
  static absl::StatusOr<Lease> LeaseOf(std::string_view bytes);
  // Whether a lease is free at this moment, after it was looked at.
  bool IsFree(const Place& place, const Lease& lease, absl::Time now);
  // Writes what `change` makes of the lease.  It returns false to leave it.  Returns whether the lease was written.
  template <typename Change>
  absl::StatusOr<bool> Write(const Place& place, const Change& change, absl::Time deadline);

  hbase::Client* const client_;
  const std::string space_;
  const uint64_t owner_;
  std::atomic<uint64_t> conflicts_ = 0;
  std::map<Place, Watched> watched_;  // leases of other servers
};

}  // namespace sonde

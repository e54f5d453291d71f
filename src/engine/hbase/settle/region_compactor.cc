#include "engine/hbase/settle/region_compactor.h"

#include <algorithm>

#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/stored_cells.h"

namespace sonde {
namespace {

constexpr size_t kNotedMax = 100'000;  // more are forgotten, and noted anew

}  // namespace

void RegionCompactor::Note(const hbase::Region& region, CellStorage storage, const SettledBytes& bytes,
                           bool is_whole) {
  if (noted_.size() >= kNotedMax) noted_.clear();
  Noted& noted = noted_[{region.table, region.start_key}];
  noted.region = region;
  noted.storage = storage;
  noted.since.packed += bytes.packed;
  noted.since.left += bytes.left;
  if (!is_whole) return;
  noted.is_whole = true;
  noted.left = std::exchange(noted.since.left, 0);
}

bool RegionCompactor::IsDue(const Noted& noted, absl::Time now) const {
  return noted.is_whole && noted.not_before <= now &&
         noted.since.packed >= std::max(options_.bytes_min, noted.left);
}

absl::Status RegionCompactor::Begin(const Noted& noted, absl::Time deadline) {
  hbase::Tables* const tables = client_->tables();
  // A compaction takes files only: cells that HBase has in memory go to one first.
  if (absl::Status status = tables->FlushRegion(noted.region, deadline); !status.ok()) return status;
  if (noted.storage == CellStorage::kPackedAtOnce) {
    absl::Status status = tables->CompactRegion(noted.region, kWrittenFamily, /*major=*/true, deadline);
    if (!status.ok()) return status;
  }
  return tables->CompactRegion(noted.region, kCellsFamily, /*major=*/true, deadline);
}

absl::Status RegionCompactor::Run(absl::Time now, absl::Time deadline) {
  if (under_way_.has_value()) {
    const absl::StatusOr<hbase::RegionState> state = client_->tables()->StateOf(*under_way_, deadline);
    if (!state.ok() && !absl::IsNotFound(state.status())) return state.status();
    if (state.ok() && state->is_compacting) return absl::OkStatus();
    under_way_.reset();
  }
  auto most = noted_.end();
  for (auto at = noted_.begin(); at != noted_.end(); ++at) {
    if (!IsDue(at->second, now)) continue;
    if (most == noted_.end() || at->second.since.packed > most->second.since.packed) most = at;
  }
  if (most == noted_.end()) return absl::OkStatus();
  Noted& noted = most->second;
  const absl::Status status = Begin(noted, deadline);
  if (absl::IsNotFound(status)) {
    noted_.erase(most);
    return absl::OkStatus();
  }
  // A region that refuses does not keep others from their turns.
  noted.not_before = now + options_.pause;
  if (!status.ok()) return status;
  under_way_ = noted.region;
  noted.since.packed = 0;
  noted.is_whole = false;
  ++begun_;
  return absl::OkStatus();
}

}  // namespace sonde

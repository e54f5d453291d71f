#include "engine/hbase/cluster_sizes.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/engine_errors.h"
#include "engine/hbase/store_layout.h"

namespace sonde {
namespace {

constexpr absl::Duration kDivideTimeMax = absl::Seconds(10);

}  // namespace

std::vector<uint64_t> ShareOut(const std::vector<RangeStats>& regions, const std::vector<std::string>& starts,
                               const std::string& end) {
  std::vector<uint64_t> shares(starts.size(), 0);
  std::string_view region_start;
  for (const RangeStats& region : regions) {
    const std::string_view region_end = region.end_key;
    const auto is_inside = [&](std::string_view key) {
      return key > region_start && (region_end.empty() || key < region_end);
    };
    // The keys that cut the region, and its start: each begins a piece.
    std::vector<std::string_view> cuts = {region_start};
    for (const std::string& start : starts) {
      if (is_inside(start)) cuts.push_back(start);
    }
    if (!end.empty() && is_inside(end)) cuts.push_back(end);
    const uint64_t piece = region.bytes / cuts.size();
    for (const std::string_view cut : cuts) {
      if (!end.empty() && cut >= end) continue;
      const auto after = std::upper_bound(starts.begin(), starts.end(), cut);
      if (after != starts.begin()) shares[after - starts.begin() - 1] += piece;
    }
    region_start = region_end;
  }
  return shares;
}

DividedRanges DivideByRegions(const std::vector<RangeStats>& regions, const std::vector<RowRange>& ranges) {
  DividedRanges divided;
  std::string start;
  for (const RangeStats& region : regions) {
    std::vector<RowRange> part = ClipRanges(ranges, {start, region.end_key});
    start = region.end_key;
    if (part.empty()) continue;
    if (divided.parts.size() < ClusterSizes::kPartsMax) {
      divided.parts.push_back(std::move(part));
    } else {
      std::move(part.begin(), part.end(), std::back_inserter(divided.rest));
    }
  }
  if (divided.parts.empty()) divided.parts.push_back(ranges);
  return divided;
}

absl::StatusOr<std::shared_ptr<const ClusterSizes::BytesByRegion>> ClusterSizes::Bytes(absl::Time deadline) {
  {
    const absl::MutexLock lock(&mutex_);
    if (bytes_ != nullptr && absl::Now() - asked_at_ < kRemembered) return bytes_;
  }
  const absl::StatusOr<hbase::ClusterState> state = client_->tables()->State(deadline);
  if (!state.ok()) return state.status();
  auto bytes = std::make_shared<BytesByRegion>();
  for (const hbase::ServerLoad& server : state->servers) {
    for (const hbase::RegionLoad& region : server.regions)
      (*bytes)[region.name] = region.file_bytes + region.memory_bytes;
  }
  const absl::MutexLock lock(&mutex_);
  bytes_ = std::move(bytes);
  asked_at_ = absl::Now();
  return bytes_;
}

absl::StatusOr<std::vector<RangeStats>> ClusterSizes::Ranges(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::StatusOr<std::vector<hbase::Regions::Place>> places =
      client_->regions()->All(CellsTable(space_, table), deadline);
  if (!places.ok()) return places.status();
  const absl::StatusOr<std::shared_ptr<const BytesByRegion>> bytes = Bytes(deadline);
  if (!bytes.ok()) return bytes.status();
  std::vector<RangeStats> ranges;
  for (const hbase::Regions::Place& place : *places) {
    const auto found = (*bytes)->find(place->name);
    ranges.push_back({.end_key = place->end_key, .bytes = found == (*bytes)->end() ? 0 : found->second});
  }
  return ranges;
}

absl::StatusOr<std::vector<uint64_t>> ClusterSizes::Measure(TableId table,
                                                            const std::vector<std::string>& starts,
                                                            const std::string& end, absl::Time deadline) {
  const absl::StatusOr<std::vector<RangeStats>> regions = Ranges(table, deadline);
  if (!regions.ok()) return regions.status();
  return ShareOut(*regions, starts, end);
}

absl::StatusOr<DividedRanges> ClusterSizes::Divide(TableId table, FamilyId /*family*/,
                                                   const std::vector<RowRange>& ranges) {
  const absl::StatusOr<std::vector<RangeStats>> regions = Ranges(table, absl::Now() + kDivideTimeMax);
  if (!regions.ok()) return regions.status();
  uint64_t bytes = 0;
  for (const RangeStats& region : *regions) bytes += region.bytes;
  if (bytes < kDividedBytesMin) return DividedRanges{.parts = {ranges}, .rest = {}};
  return DivideByRegions(*regions, ranges);
}

}  // namespace sonde

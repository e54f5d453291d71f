#include "hbase/regions.h"

#include <algorithm>
#include <utility>

namespace sonde::hbase {
namespace {

constexpr char kBehindTable[] = " ,,";
// A root answers from its memory; one that does not is away, and there may be others.
constexpr absl::Duration kRootTimeMax = absl::Seconds(1);

Failure NotNow(std::string message) { return {.remedy = Remedy::kLocate, .message = std::move(message)}; }

// The rows of which `block` has all cells.
absl::StatusOr<std::vector<std::vector<Cell>>> RowsOf(const ScanAnswer& answer, std::string_view block) {
  std::vector<std::vector<Cell>> rows;
  CellReader reader(block);
  while (!reader.is_at_end()) {
    absl::StatusOr<Cell> cell = reader.Next();
    if (!cell.ok()) return cell.status();
    if (rows.empty() || rows.back().front().row != cell->row) rows.emplace_back();
    rows.back().push_back(*cell);
  }
  if (!rows.empty() && !answer.parts.empty() && answer.parts.back().may_go_on) rows.pop_back();
  return rows;
}

}  // namespace

Regions::Regions(Servers* servers, std::vector<ServerAddress> roots, absl::Duration timeout)
    : servers_(servers), roots_(std::move(roots)), timeout_(timeout) {}

absl::StatusOr<ServerAddress> Regions::AskRoots(std::string_view method, Parse parse, Attempts* attempts) {
  Failure last;
  do {
    const size_t first = first_root_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < roots_.size(); ++i) {
      const size_t index = (first + i) % roots_.size();
      const CallResult result = servers_->Call({roots_[index], kRegistryService, method, {}},
                                               std::min(attempts->TimeForOne(), kRootTimeMax));
      if (result.failure.has_value()) {
        last = *result.failure;
        if (last.remedy == Remedy::kNone) return StatusOf(last, false);
        continue;
      }
      const absl::StatusOr<std::optional<ServerAddress>> found = parse(result.answer.parameter());
      if (!found.ok()) return found.status();
      if (found->has_value()) {
        first_root_.store(index, std::memory_order_relaxed);
        return **found;
      }
      last = NotNow("HBase answers no address to " + std::string(method) +
                    ": it has no active master, or hbase:meta is not open");
    }
  } while (attempts->WaitAfter(last));
  return attempts->Over(last, false);
}

absl::StatusOr<ServerAddress> Regions::Master(absl::Time deadline) {
  {
    const absl::MutexLock lock(&mutex_);
    if (master_.has_value()) return *master_;
  }
  Attempts attempts(deadline, timeout_);
  const absl::StatusOr<ServerAddress> found = AskRoots("GetActiveMaster", ParseActiveMaster, &attempts);
  if (!found.ok()) return found.status();
  const absl::MutexLock lock(&mutex_);
  master_ = *found;
  return *found;
}

absl::StatusOr<ServerAddress> Regions::Meta(Attempts* attempts) {
  {
    const absl::MutexLock lock(&mutex_);
    if (meta_.has_value()) return *meta_;
  }
  const absl::StatusOr<ServerAddress> found = AskRoots("GetMetaRegionLocations", ParseMetaServer, attempts);
  if (!found.ok()) return found.status();
  const absl::MutexLock lock(&mutex_);
  meta_ = *found;
  return *found;
}

void Regions::ForgetMaster() {
  const absl::MutexLock lock(&mutex_);
  master_.reset();
}

void Regions::ForgetTable(const TableName& table) {
  const absl::MutexLock lock(&mutex_);
  const auto found = places_.find(table);
  if (found == places_.end()) return;
  places_count_ -= found->second.size();
  places_.erase(found);
}

void Regions::Forget(const Region& region) {
  const absl::MutexLock lock(&mutex_);
  const auto table = places_.find(region.table);
  if (table == places_.end()) return;
  const auto found = table->second.find(region.start_key);
  // It may have been looked up again since.
  if (found == table->second.end() || !(*found->second == region)) return;
  table->second.erase(found);
  --places_count_;
  if (table->second.empty()) places_.erase(table);
}

Regions::Place Regions::Recall(const TableName& table, std::string_view row, bool before) {
  const absl::MutexLock lock(&mutex_);
  const auto found = places_.find(table);
  if (found == places_.end()) return nullptr;
  const auto& by_start = found->second;
  if (before && row.empty()) {
    const Place& last = by_start.rbegin()->second;
    return last->end_key.empty() ? last : nullptr;
  }
  auto at = before ? by_start.lower_bound(row) : by_start.upper_bound(row);
  if (at == by_start.begin()) return nullptr;
  const Place& place = (--at)->second;
  const bool has_it = before ? place->end_key.empty() || place->end_key >= row : place->Contains(row);
  return has_it ? place : nullptr;
}

Regions::Place Regions::Remember(Region region) {
  const absl::MutexLock lock(&mutex_);
  if (places_count_ >= kRegionsMax) {
    places_.clear();
    places_count_ = 0;
  }
  auto& by_start = places_[region.table];
  // What the region covers by now is no longer there: it was split, or merged.
  auto at = by_start.lower_bound(region.start_key);
  while (at != by_start.end() && (region.end_key.empty() || at->first < region.end_key)) {
    at = by_start.erase(at);
    --places_count_;
  }
  if (at != by_start.begin()) {
    const auto before = std::prev(at);
    if (before->second->end_key.empty() || before->second->end_key > region.start_key) {
      by_start.erase(before);
      --places_count_;
    }
  }
  const std::string start = region.start_key;
  ++places_count_;
  return by_start[start] = std::make_shared<const Region>(std::move(region));
}

absl::StatusOr<Regions::Place> Regions::Find(const TableName& table, std::string_view row,
                                             absl::Time deadline) {
  if (Place place = Recall(table, row, false)) return place;
  return LookUp(table, row, false, deadline);
}

absl::StatusOr<Regions::Place> Regions::FindBefore(const TableName& table, std::string_view row,
                                                   absl::Time deadline) {
  if (Place place = Recall(table, row, true)) return place;
  return LookUp(table, row, true, deadline);
}

absl::StatusOr<std::optional<std::string>> Regions::ReadMeta(const ScanRange& range, uint32_t rows_max,
                                                             Attempts* attempts,
                                                             const std::function<void(Region)>& visit) {
  lookups_.fetch_add(1, std::memory_order_relaxed);
  const ScanBounds bounds{.rows_max = rows_max, .rows_in_all = rows_max};
  const std::string message = OpenScanMessage(
      kMetaRegion, range, {.families = {std::string(kMetaFamily)}, .newest_per_column = 1}, bounds, true);
  Failure last;
  do {
    const absl::StatusOr<ServerAddress> meta = Meta(attempts);
    if (!meta.ok()) return meta.status();
    const CallResult result =
        servers_->Call({*meta, kRegionService, "Scan", message}, attempts->TimeForOne());
    if (result.failure.has_value()) {
      last = *result.failure;
      const absl::MutexLock lock(&mutex_);
      if (meta_ == *meta) meta_.reset();
      continue;
    }
    const absl::StatusOr<ScanAnswer> answer = ParseScan(result.answer.parameter());
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<std::vector<std::vector<Cell>>> rows = RowsOf(*answer, result.answer.cells());
    if (!rows.ok()) return rows.status();
    if (rows->empty() && answer->has_more) {
      last = NotNow("HBase took too long to read hbase:meta");
      continue;
    }
    std::optional<std::string> last_row;
    for (const std::vector<Cell>& row : *rows) {
      last_row = std::string(row.front().row);
      absl::StatusOr<std::optional<Region>> region = ParseMetaRow(row);
      if (!region.ok()) return region.status();
      if (region->has_value()) visit(**std::move(region));
    }
    return last_row;
  } while (attempts->WaitAfter(last));
  return attempts->Over(last, false);
}

absl::StatusOr<Regions::Place> Regions::LookUp(const TableName& table, std::string_view row, bool before,
                                               absl::Time deadline) {
  const std::string name = table.Text();
  // Keys of hbase:meta are TABLE,START_KEY,ID..., sorted by these three.  A colon comes after every digit of an id, and nothing is
  // between a table's name and that name with a space.
  ScanRange range{.stop = name + ",,", .reverse = true};
  range.start =
      name + (before && row.empty() ? kBehindTable : "," + std::string(row) + (before ? "," : ",:"));
  Attempts attempts(deadline, timeout_);
  Failure last;
  do {
    std::optional<Region> found;
    const absl::StatusOr<std::optional<std::string>> read =
        ReadMeta(range, 1, &attempts, [&](Region region) { found = std::move(region); });
    if (!read.ok()) return read.status();
    if (!read->has_value()) return absl::NotFoundError("HBase has no table " + name);
    const bool has_it =
        found.has_value() && found->table == table &&
        (before ? row.empty() ? found->end_key.empty() : found->end_key.empty() || found->end_key >= row
                : found->Contains(row));
    if (has_it) return Remember(*std::move(found));
    // In the middle of a split, a merge, or a move.
    last = NotNow("HBase has no open region of table " + name + " at this row");
  } while (attempts.WaitAfter(last));
  return attempts.Over(last, false);
}

absl::Status Regions::CheckTable(const TableName& table, absl::Time deadline) {
  {
    const absl::MutexLock lock(&mutex_);
    if (places_.contains(table)) return absl::OkStatus();
  }
  const std::string name = table.Text();
  Attempts attempts(deadline, timeout_);
  const absl::StatusOr<std::optional<std::string>> read = ReadMeta(
      {.start = name + ",,", .stop = name + kBehindTable}, 1, &attempts, [](const Region& /*region*/) {});
  if (!read.ok()) return read.status();
  return read->has_value() ? absl::OkStatus() : absl::NotFoundError("HBase has no table " + name);
}

absl::StatusOr<std::vector<Regions::Place>> Regions::All(const TableName& table, absl::Time deadline) {
  constexpr uint32_t kRowsOfCall = 1'000;
  const std::string name = table.Text();
  Attempts attempts(deadline, timeout_);
  Failure last;
  do {
    std::vector<Place> places;
    bool is_whole = true;
    bool has_rows = false;
    ScanRange range{.start = name + ",,", .stop = name + kBehindTable};
    std::string end_before;  // of the region before
    while (true) {
      const absl::StatusOr<std::optional<std::string>> read =
          ReadMeta(range, kRowsOfCall, &attempts, [&](Region region) {
            if (region.table != table) return;
            if (region.start_key != end_before || (!places.empty() && end_before.empty())) is_whole = false;
            end_before = region.end_key;
            places.push_back(Remember(std::move(region)));
          });
      if (!read.ok()) return read.status();
      if (!read->has_value()) break;
      if (places.size() > kRegionsMax)
        return absl::ResourceExhaustedError("HBase has too many regions of table " + name);
      has_rows = true;
      range.start = **read + '\0';
    }
    if (!has_rows) return absl::NotFoundError("HBase has no table " + name);
    if (is_whole && !places.empty() && places.back()->end_key.empty()) return places;
    last = NotNow("HBase does not have all regions of table " + name + " open");
  } while (attempts.WaitAfter(last));
  return attempts.Over(last, false);
}

}  // namespace sonde::hbase

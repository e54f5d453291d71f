#include "engine/hbase/store_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "engine/hbase/cluster_sizes.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/records.h"
#include "engine/hbase/stored_cells.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr absl::Duration kLookTimeMax = absl::Seconds(30);  // until a cluster is told to be away
constexpr size_t kGapsMax = 64;                             // HBase looks at each cell once for each

// Qualifiers of cells of other families, of cells by themselves and of packed ones.
std::vector<hbase::QualifierRange> RangesOfOthers(const std::set<FamilyId>& families, CellStorage storage) {
  std::vector<hbase::QualifierRange> alone = GapsBetween(families);
  if (!HasPacked(storage)) return alone;
  const hbase::QualifierRange all_packed = AllPackedRange();
  std::set<FamilyId> ids = families;
  for (const FamilyId family : families) ids.insert(family | kExpiringFamilies);
  std::vector<hbase::QualifierRange> ranges;
  for (const hbase::QualifierRange& gap : GapsBetween(ids))
    ranges.push_back(
        {all_packed.start + gap.start, gap.end.empty() ? all_packed.end : all_packed.start + gap.end});
  for (hbase::QualifierRange& gap : alone) {
    if (gap.start < all_packed.end) gap.start = all_packed.end;
    if (gap.end.empty() || gap.start < gap.end) ranges.push_back(std::move(gap));
  }
  return ranges;
}

// The family of a cell; nullopt: Sonde did not write it.
std::optional<FamilyId> FamilyOfCell(const hbase::Cell& stored) {
  if (IsPacked(stored)) {
    const absl::StatusOr<FamilyId> family = FamilyOfPacked(stored);
    return family.ok() ? std::optional(*family) : std::nullopt;
  }
  std::deque<std::string> bytes;
  SeamCell cell;
  return ReadStoredCell(stored, &bytes, &cell).ok() ? std::optional(cell.family) : std::nullopt;
}

// A fault, if a row of the table has a cell of none of these families, or cannot be read.
std::string FaultOfRows(hbase::Client* client, const hbase::TableName& table, const std::string& name,
                        const std::set<FamilyId>& families, CellStorage storage, absl::Time deadline) {
  hbase::CellChoice choice{.families = PackedFamilies(storage), .newest_per_column = 1, .keys_only = true};
  choice.families.emplace_back(kCellsFamily);
  choice.qualifiers = RangesOfOthers(families, storage);
  const std::unique_ptr<hbase::RowScan> scan = client->Scan(table, {}, choice, {.rows_in_all = 1}, deadline);
  hbase::RowScan::Part part;
  const absl::StatusOr<bool> more = scan->Next(&part);
  if (!more.ok()) {
    return fmt::format("Table {} ({}) cannot be read to its end: {}", name, table.Text(),
                       std::string(more.status().message()));
  }
  if (!*more || part.cells.empty()) return "";
  const std::optional<FamilyId> family = FamilyOfCell(part.cells.front());
  if (!family.has_value()) {
    return fmt::format("Row '{}' of table {} ({}) has a cell that Sonde did not write", Printable(part.row),
                       name, table.Text());
  }
  return fmt::format("Row '{}' of table {} ({}) has a cell of family {}, which the table does not have",
                     Printable(part.row), name, table.Text(), *family);
}

}  // namespace

std::vector<hbase::QualifierRange> GapsBetween(const std::set<FamilyId>& families) {
  std::vector<hbase::QualifierRange> gaps;
  std::string start;
  for (const FamilyId family : families) {
    const hbase::QualifierRange range = StoredFamilyRange(family);
    if (start < range.start) gaps.push_back({start, range.start});
    start = range.end;
    if (start.empty()) break;  // the greatest id
  }
  if (!start.empty() || families.empty()) gaps.push_back({start, ""});
  if (gaps.size() > kGapsMax) gaps.erase(gaps.begin(), gaps.end() - kGapsMax);
  return gaps;
}

absl::StatusOr<StoreCheck> CheckStore(hbase::Client* client, const HBaseStoreAddress& address,
                                      const std::function<RecordedTables(const std::vector<Record>&)>& read,
                                      absl::Time deadline) {
  absl::StatusOr<StoreFacts> facts =
      LookAtStore(client, address, std::min(deadline, absl::Now() + kLookTimeMax));
  if (!facts.ok()) return facts.status();
  StoreCheck check{.facts = *std::move(facts)};
  std::vector<std::string>* const faults = &check.facts.faults;
  if (faults->empty() && !check.facts.has_catalog)
    return absl::NotFoundError(fmt::format("Namespace '{}' has no store of Sonde's", address.space));
  if (!check.facts.has_catalog) return check;
  std::atomic<uint64_t> conflicts = 0;
  const absl::StatusOr<std::vector<Record>> records =
      HBaseRecords(client, CatalogTable(address.space), &conflicts).Read("", deadline);
  if (!records.ok()) {
    faults->push_back(fmt::format("The records cannot be read: {}", std::string(records.status().message())));
    return check;
  }
  const RecordedTables recorded = read(*records);
  faults->insert(faults->end(), recorded.faults.begin(), recorded.faults.end());
  ClusterSizes sizes(client, address.space);
  for (const auto& [id, table] : recorded.tables) {
    const hbase::TableName name = CellsTable(address.space, id);
    if (std::find(check.facts.tables.begin(), check.facts.tables.end(), id) == check.facts.tables.end()) {
      faults->push_back(
          fmt::format("Table {} is in the records, and HBase has no table {}", table.name, name.Text()));
      continue;
    }
    std::string fault =
        FaultOfRows(client, name, table.name, table.families, check.facts.storages[id], deadline);
    if (!fault.empty()) faults->push_back(std::move(fault));
    const absl::StatusOr<std::vector<RangeStats>> ranges = sizes.Ranges(id, deadline);
    if (!ranges.ok()) return ranges.status();
    for (const RangeStats& range : *ranges) check.bytes += range.bytes;
  }
  for (const TableId id : check.facts.tables) {
    if (recorded.tables.contains(id)) continue;
    check.facts.notices.push_back(fmt::format(
        "HBase's table {} is in no record: it is being made or dropped at this moment, or was left",
        CellsTable(address.space, id).Text()));
  }
  return check;
}

}  // namespace sonde

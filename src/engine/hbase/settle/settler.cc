#include "engine/hbase/settle/settler.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/store_layout.h"
#include "engine/hbase/stored_row.h"
#include "model/limits.h"
#include "work/at_once.h"

namespace sonde {
namespace {

constexpr size_t kRowsAtOnceMax = 8;   // that are under way
constexpr size_t kRowsPerBatch = 256;  // after which the lease is looked at
constexpr absl::Duration kRenewAfter = absl::Seconds(5);
constexpr absl::Duration kCallTimeMax = absl::Seconds(30);
constexpr size_t kBytesACell = 24;  // of HBase's, beside its key, names and value

// Bytes of the cells that a row has by themselves, or packed at once.  Long values stay as they are.
SettledBytes BytesOf(std::string_view row_key, const StoredRow& row) {
  SettledBytes bytes;
  for (const SeamCell& cell : row.cells()) {
    if (cell.is_packed) continue;
    const size_t value_bytes = cell.cell.value.size();
    (value_bytes > kPackedCellBytesMax ? bytes.left : bytes.packed) +=
        row_key.size() + cell.cell.qualifier.size() + value_bytes + kBytesACell;
  }
  for (const auto& family : row.packed().families()) {
    for (size_t i = 0; i < family->places.size(); ++i) {
      if (!family->places[i].is_settled)
        bytes.packed += row_key.size() + family->values[i].size() + kBytesACell;
    }
  }
  return bytes;
}

}  // namespace

Settler::Settler(hbase::Client* client, std::string space, SettlerOptions options)
    : client_(client),
      space_(std::move(space)),
      options_(options),
      leases_(client, space_, random_.Next() | 1),
      compactor_(client, options.compactor) {}

Settler::~Settler() {
  is_ending_ = true;
  rounds_.reset();
}

void Settler::Start(std::function<void(const absl::Status& error)> tell_error) {
  rounds_ =
      std::make_unique<RepeatedWork>(options_.pause, [this] { return RunRound(); }, std::move(tell_error));
}

SettleRules Settler::RulesNow() const {
  return {.newest_micros = absl::ToUnixMicros(absl::Now() - options_.quiet), .cells_min = options_.cells_min};
}

absl::Status Settler::RunRound() {
  rows_left_ = options_.rows_max;
  absl::StatusOr<std::vector<hbase::TableSchema>> schemas =
      client_->tables()->List(space_, absl::Now() + kCallTimeMax);
  absl::Status first = schemas.status();
  if (schemas.ok()) {
    // Not all servers begin with the same table.
    for (size_t i = schemas->size(); i > 1; --i) std::swap((*schemas)[i - 1], (*schemas)[random_.Uniform(i)]);
    for (const hbase::TableSchema& schema : *schemas) {
      const std::optional<TableId> id = CellsTableId(schema.table);
      const CellStorage storage = StorageOf(schema);
      if (is_ending_ || rows_left_ == 0) break;
      if (!id.has_value() || !HasPacked(storage)) continue;
      const absl::Status settled = SettleTable(*id, schema.table, storage);
      if (!absl::IsNotFound(settled)) first.Update(settled);  // it is dropped meanwhile
    }
  }
  if (!is_ending_) first.Update(compactor_.Run(absl::Now(), absl::Now() + kCallTimeMax));
  compactions_ = compactor_.begun();
  if (!first.ok()) errors_.fetch_add(1, std::memory_order_relaxed);
  was_cut_short_ = rows_left_ == 0;
  last_round_micros_ = absl::ToUnixMicros(absl::Now());
  return is_ending_ ? absl::OkStatus() : first;
}

absl::Status Settler::SettleTable(TableId id, const hbase::TableName& table, CellStorage storage) {
  const auto places = client_->regions()->All(table, absl::Now() + kCallTimeMax);
  if (!places.ok()) return places.status();
  absl::Status first;
  const size_t begin = random_.Uniform(std::max<size_t>(places->size(), 1));
  for (size_t i = 0; i < places->size() && rows_left_ > 0 && !is_ending_; ++i)
    first.Update(SettleRegion(id, *(*places)[(begin + i) % places->size()], storage));
  return first;
}

absl::Status Settler::SettleRegion(TableId id, const hbase::Region& region, CellStorage storage) {
  const auto soon = [] { return absl::Now() + kCallTimeMax; };
  const absl::StatusOr<std::optional<std::string>> start =
      leases_.Take(id, region.start_key, options_.pause, absl::Now(), soon());
  if (!start.ok()) return start.status();
  if (!start->has_value()) return absl::OkStatus();
  absl::Time renewed = absl::Now();
  const auto go_on = [&]() -> absl::StatusOr<bool> {
    if (is_ending_) return false;
    if (absl::Now() - renewed < kRenewAfter) return true;
    renewed = absl::Now();
    return leases_.Renew(id, region.start_key, soon());
  };
  // The region may have been split since.
  const bool goes_on = **start > region.start_key && (region.end_key.empty() || **start < region.end_key);
  const RowRange range{goes_on ? **start : region.start_key, region.end_key};
  const SettledBytes before{bytes_packed_, bytes_left_};
  const absl::StatusOr<std::string> next =
      SettleRange(region.table, storage, range, RulesNow(), rows_left_, go_on, absl::InfiniteFuture());
  regions_visited_.fetch_add(1, std::memory_order_relaxed);
  compactor_.Note(region, storage, {bytes_packed_ - before.packed, bytes_left_ - before.left},
                  next.ok() && next->empty());
  absl::Status status = next.status();
  status.Update(leases_.Give(id, region.start_key, next.ok() ? *next : std::string(), absl::Now(), soon()));
  return status;
}

absl::StatusOr<std::string> Settler::SettleRange(const hbase::TableName& table, CellStorage storage,
                                                 const RowRange& range, const SettleRules& rules,
                                                 size_t rows_max,
                                                 const std::function<absl::StatusOr<bool>()>& go_on,
                                                 absl::Time deadline) {
  // Rows with anything that is not settled: of these there are few.
  hbase::CellChoice choice{.families = {kCellsFamily}, .newest_per_column = 1, .keys_only = true};
  if (storage == CellStorage::kPackedAtOnce) choice.families.insert(choice.families.begin(), kWrittenFamily);
  std::string start = range.start;
  for (size_t rows_count = 0; rows_count < rows_max;) {
    const absl::StatusOr<bool> goes_on = go_on();
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) return start;
    std::vector<std::string> found;
    bool is_end = false;
    {
      const std::unique_ptr<hbase::RowScan> scan =
          client_->Scan(table, {.start = start, .stop = range.end}, choice, {.rows_max = kRowsPerBatch},
                        std::min(deadline, absl::Now() + kCallTimeMax));
      hbase::RowScan::Part part;
      while (true) {
        const absl::StatusOr<bool> more = scan->Next(&part);
        if (!more.ok()) return more.status();
        is_end = !*more;
        if (is_end || (found.size() == kRowsPerBatch && found.back() != part.row)) break;
        if (found.empty() || found.back() != part.row) found.emplace_back(part.row);
      }
    }
    if (!found.empty()) {
      absl::Status status =
          SettleRows(table, storage, found, rules, std::min(deadline, absl::Now() + kCallTimeMax));
      if (!status.ok()) return status;
      rows_count += found.size();
      rows_left_ -= std::min(rows_left_, found.size());
      start = Successor(found.back());
    }
    if (is_end) return std::string();
  }
  return start;
}

absl::Status Settler::SettleRows(const hbase::TableName& table, CellStorage storage,
                                 const std::vector<std::string>& row_keys, const SettleRules& rules,
                                 absl::Time deadline) {
  std::vector<absl::Status> statuses(row_keys.size());
  ForEachAtOnce(row_keys.size(), kRowsAtOnceMax, [&](size_t i) {
    if (!is_ending_) statuses[i] = SettleRow(table, storage, row_keys[i], rules, deadline);
  });
  absl::Status first;
  for (const absl::Status& status : statuses) first.Update(status);
  return first;
}

absl::Status Settler::SettleRow(const hbase::TableName& table, CellStorage storage,
                                const std::string& row_key, const SettleRules& rules, absl::Time deadline) {
  const StoredChoice choice = ChoiceOf({}, storage);
  size_t cells_count = 0;
  SettledBytes bytes;
  int reads = 0;
  const auto read = [&] { return ReadStoredRow(client_, table, row_key, choice, deadline); };
  const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
    cells_count = 0;
    bytes = BytesOf(row_key, row);
    // A row that has changed meanwhile is not quiet.
    if (++reads > 1) return Made::kNothing;
    cells_count = MakeSettleEdit(row_key, row, rules, edit);
    return cells_count > 0 ? Made::kEdit : Made::kNothing;
  };
  const absl::Status status = CommitGuarded(client_, table, row_key, read, make, deadline, &conflicts_);
  // Nobody settles what is too long to be read whole.
  if (absl::IsFailedPrecondition(status)) {
    bytes_left_.fetch_add(kRowWholeBytesMax, std::memory_order_relaxed);
    return absl::OkStatus();
  }
  if (!status.ok()) return status;
  bytes_packed_.fetch_add(cells_count > 0 ? bytes.packed : 0, std::memory_order_relaxed);
  bytes_left_.fetch_add(cells_count > 0 ? bytes.left : bytes.left + bytes.packed, std::memory_order_relaxed);
  rows_settled_.fetch_add(cells_count > 0 ? 1 : 0, std::memory_order_relaxed);
  cells_settled_.fetch_add(cells_count, std::memory_order_relaxed);
  return absl::OkStatus();
}

std::vector<Figure> Settler::Figures() const {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  return {
      Figure::Counter("sonde_hbase_settled_rows_total",
                      "Rows whose cells were packed because they were quiet.")
          .Add(number(rows_settled_)),
      Figure::Counter("sonde_hbase_settled_cells_total",
                      "Cells that were packed because their rows were quiet.")
          .Add(number(cells_settled_)),
      Figure::Counter("sonde_hbase_settle_conflicts_total", "Rows that changed while they were to be packed.")
          .Add(number(conflicts_)),
      Figure::Counter("sonde_hbase_settle_compactions_total",
                      "Compactions that HBase was asked for, to drop cells that had been packed.")
          .Add(number(compactions_)),
      Figure::Counter("sonde_hbase_settle_regions_total", "Visits to regions whose quiet rows were packed.")
          .Add(number(regions_visited_)),
      Figure::Counter("sonde_hbase_settle_errors_total", "Rounds of packing that met an error.")
          .Add(number(errors_)),
      Figure::Gauge("sonde_hbase_settle_is_behind", "1: the last round of packing ended before its work did.")
          .Add(was_cut_short_ ? 1 : 0),
      Figure::Gauge("sonde_hbase_settle_last_round_seconds",
                    "When the last round of packing ended, since 1970.")
          .Add(static_cast<double>(last_round_micros_) / 1e6)};
}

}  // namespace sonde

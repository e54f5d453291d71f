#include "engine/hbase/hbase_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "base/check.h"
#include "base/random.h"
#include "engine/engine_errors.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/hbase_stream.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/packed_edit.h"
#include "engine/hbase/stored_row.h"
#include "hbase/row_version.h"
#include "model/expiring_family.h"
#include "work/at_once.h"

namespace sonde {
namespace {

// Of a region that is to be emptied; it is truncated if it has more rows.
constexpr size_t kRowsDeletedSinglyMax = 10'000;
constexpr size_t kDeletesABatch = 500;
// Guarded changes of one call that are under way at once.
constexpr size_t kGuardedAtOnceMax = 8;

RowRange RangeOf(const hbase::Region& region) { return {region.start_key, region.end_key}; }

bool IsWithin(const RowRange& inner, const RowRange& outer) {
  return inner.start >= outer.start && (outer.end.empty() || (!inner.end.empty() && inner.end <= outer.end));
}

bool HasForbidden(const StoredRow& row, const RowGuard& guard) {
  return std::any_of(row.cells().begin(), row.cells().end(), [&](const SeamCell& cell) {
    return cell.cell.qualifier == guard.qualifier && cell.cell.timestamp_micros > guard.newest_old_micros &&
           std::find(guard.families.begin(), guard.families.end(), cell.family) != guard.families.end();
  });
}

LoggedCommit::Edit PartsOf(RowEdit* edit) {
  return {.change = &edit->change, .bytes = &edit->bytes, .time_to_send = &edit->time_to_send};
}

// Adds the record of a change to its edit.
absl::Status AddTo(LoggedCommit* logged, const LogRecord& record, const StoredRow& row, RowEdit* edit) {
  return logged->Add(record, row.newest_record(), PartsOf(edit));
}

// Adds what the guard looks at.
void AddGuard(const RowGuard& guard, EditNeeds* needs) {
  needs->is_guarded = true;
  needs->choice.time_range = {};
  for (const FamilyId family : guard.families) {
    needs->choice.qualifiers.push_back(StoredColumnRange(family, guard.qualifier));
    needs->choice.with_expiring |= IsExpiringFamily(family);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HBaseEngine>> HBaseEngine::Open(HBaseEngineOptions options) {
  absl::StatusOr<std::unique_ptr<hbase::Client>> client = hbase::Client::Create(
      {.roots = options.address.masters, .user = options.user, .sync = options.sync, .tls = options.tls});
  if (!client.ok()) return client.status();
  const absl::Time open_end = absl::Now() + options.open_timeout;
  const absl::Status status = PrepareStore(client->get(), options.address, open_end);
  if (!status.ok()) return status;
  std::unique_ptr<HBaseEngine> engine(new HBaseEngine(std::move(options), *std::move(client)));
  if (absl::Status loaded = engine->kinds_.Load(open_end); !loaded.ok()) return loaded;
  // Whoever uses the engine reads records first, and waits for them for a moment only; their region may still be on its way from a lost
  // server.
  if (absl::Status there = engine->records_.Version(open_end).status(); !there.ok()) return there;
  return engine;
}

HBaseEngine::HBaseEngine(HBaseEngineOptions options, std::unique_ptr<hbase::Client> client)
    : options_(std::move(options)),
      client_(std::move(client)),
      kinds_(client_.get(), options_.address.space),
      sizes_(client_.get(), options_.address.space),
      records_(client_.get(), CatalogTable(options_.address.space), &conflicts_),
      log_(
          client_.get(), CatalogTable(options_.address.space),
          [this](TableId table) { return NameOf(table); }, options_.log),
      leases_(client_.get(), CatalogTable(options_.address.space)),
      snapshots_(client_.get(), StoreOfSnapshots()) {}

HBaseSnapshots::Store HBaseEngine::StoreOfSnapshots() {
  return {.space = options_.address.space,
          .name_of = [this](TableId table) { return NameOf(table); },
          .id_of = CellsTableId,
          .bytes_of = [this](TableId table, absl::Time deadline) -> absl::StatusOr<uint64_t> {
            const absl::StatusOr<std::vector<RangeStats>> ranges = sizes_.Ranges(table, deadline);
            if (!ranges.ok()) return ranges.status();
            uint64_t bytes = 0;
            for (const RangeStats& range : *ranges) bytes += range.bytes;
            return bytes;
          },
          .on_replaced =
              [this](TableId table) {
                kinds_.Forget(table);
                log_.Forget(NameOf(table));
              }};
}

absl::Status HBaseEngine::WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) {
  return records_.Write(changes, deadline);
}

absl::StatusOr<std::vector<Record>> HBaseEngine::ReadRecords(std::string_view prefix, absl::Time deadline) {
  return records_.Read(prefix, deadline);
}

absl::StatusOr<int64_t> HBaseEngine::RecordsVersion(absl::Time deadline) {
  return records_.Version(deadline);
}

absl::Status HBaseEngine::CheckWrites(absl::Time deadline) { return records_.CheckWrites(deadline); }

absl::StatusOr<CellStorage> HBaseEngine::FindTable(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::Status found = client_->regions()->CheckTable(NameOf(table), deadline);
  if (!found.ok()) return found;
  return kinds_.Of(table, deadline);
}

absl::Status HBaseEngine::CreateTable(const TableSpec& spec, absl::Time deadline) {
  const absl::Status found = FindTable(spec.id, deadline).status();
  if (found.ok()) return AlterTable(spec, deadline);
  if (!absl::IsNotFound(found)) return found;
  return MakeTable(client_.get(), NameOf(spec.id), spec, deadline);
}

absl::Status HBaseEngine::AlterTable(const TableSpec& spec, absl::Time deadline) {
  if (absl::Status status = FindTable(spec.id, deadline).status(); !status.ok()) return status;
  if (spec.log_kept_micros == 0) return absl::OkStatus();
  return log_.Prepare(NameOf(spec.id), absl::Microseconds(spec.log_kept_micros), deadline);
}

absl::Status HBaseEngine::DropTable(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  kinds_.Forget(table);
  const absl::Status dropped = client_->tables()->Drop(NameOf(table), deadline);
  log_.Forget(NameOf(table));
  return absl::IsNotFound(dropped) ? absl::OkStatus() : dropped;
}

std::vector<absl::Status> HBaseEngine::ApplyBlind(const hbase::TableName& table, std::vector<RowEdit>* edits,
                                                  absl::Time deadline) {
  SystemRandom random;
  std::vector<hbase::RowChange> changes;
  changes.reserve(edits->size());
  for (RowEdit& edit : *edits) {
    const std::string_view version = edit.bytes.emplace_back(hbase::FirstVersion(&random));
    edit.change.puts.push_back(
        {{}, kVersionFamily, kVersionQualifier, kVersionTime, hbase::CellType::kPut, version});
    changes.push_back(std::move(edit.change));
  }
  blind_changes_.fetch_add(changes.size(), std::memory_order_relaxed);
  std::vector<absl::Status> statuses = client_->rows()->Apply(table, changes, deadline);
  edits->clear();
  return statuses;
}

absl::Status HBaseEngine::DeleteAll(const hbase::TableName& table, std::vector<RowEdit>* edits,
                                    absl::Time deadline) {
  absl::Status first;
  for (const absl::Status& status : ApplyBlind(table, edits, deadline)) first.Update(status);
  return first;
}

absl::Status HBaseEngine::DropFamily(TableId table, FamilyId family, absl::Time deadline) {
  const absl::StatusOr<CellStorage> storage = FindTable(table, deadline);
  if (!storage.ok()) return storage.status();
  const hbase::TableName name = NameOf(table);
  // Of packed cells, too, keys are enough.
  hbase::CellChoice choice{.families = PackedFamilies(*storage),
                           .qualifiers = PackedRanges(family, *storage),
                           .newest_per_column = 1,
                           .keys_only = true};
  choice.families.emplace_back(kCellsFamily);
  choice.qualifiers.push_back(StoredFamilyRange(family));
  const std::unique_ptr<hbase::RowScan> scan = client_->Scan(name, {}, choice, {}, deadline);
  std::vector<RowEdit> edits;
  while (true) {
    hbase::RowScan::Part part;
    const absl::StatusOr<bool> more = scan->Next(&part);
    if (!more.ok()) return more.status();
    const bool is_new_row = !*more || edits.empty() || edits.back().change.row != part.row;
    if (!edits.empty() && (!*more || (is_new_row && edits.size() >= kDeletesABatch))) {
      if (absl::Status status = DeleteAll(name, &edits, deadline); !status.ok()) return status;
    }
    if (!*more) return absl::OkStatus();
    if (is_new_row) {
      edits.emplace_back().change.row = std::string(part.row);
      // Whoever packs cells that were found by themselves comes before the delete of both, or finds that the row has changed.
      if (HasPacked(*storage)) MarkSettled(family, &edits.back());
    }
    std::deque<std::string> bytes;
    for (const hbase::Cell& stored : part.cells) {
      if (IsPacked(stored)) {
        MarkPacked(stored, &edits.back());
        continue;
      }
      SeamCell cell;
      if (absl::Status status = ReadStoredCell(stored, &bytes, &cell); !status.ok()) return status;
      MarkColumn(family, cell.cell.qualifier, &edits.back());
    }
  }
}

absl::StatusOr<std::unique_ptr<RowStream>> HBaseEngine::Scan(TableId table, std::vector<RowRange> ranges,
                                                             ScanOptions options) {
  DCHECK(AreNormal(ranges));
  const absl::StatusOr<CellStorage> storage = FindTable(table, options.deadline);
  if (!storage.ok()) return storage.status();
  return std::make_unique<HBaseStream>(client_.get(), NameOf(table), *storage, std::move(ranges),
                                       std::move(options));
}

absl::Status HBaseEngine::CommitLogged(const hbase::TableName& table, std::string_view row_key,
                                       const GuardedRead& read, const GuardedMake& make, LoggedCommit* logged,
                                       absl::Time deadline) {
  const auto commit = [&] {
    return CommitGuarded(client_.get(), table, row_key, read, make, deadline, &conflicts_);
  };
  const auto tell_again = [&] {
    const auto read_version = [&] { return ReadStoredRow(client_.get(), table, row_key, {}, deadline); };
    const auto move = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
      edit->change.row = std::string(row_key);
      const absl::Status moved = logged->AddAgain(row.newest_record(), PartsOf(edit));
      if (!moved.ok()) return moved;
      return Made::kEdit;
    };
    return CommitGuarded(client_.get(), table, row_key, read_version, move, deadline, &conflicts_);
  };
  return logged->Run(commit, tell_again);
}

absl::Status HBaseEngine::ApplyGuarded(const hbase::TableName& table, const RowChange& change,
                                       EditNeeds needs, absl::Time deadline) {
  if (change.guard.has_value()) AddGuard(*change.guard, &needs);
  LoggedCommit logged(&log_, &table, deadline);
  guarded_changes_.fetch_add(1, std::memory_order_relaxed);
  const auto read = [&] {
    return ReadStoredRow(client_.get(), table, change.row_key, needs.choice, deadline);
  };
  const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
    if (change.guard.has_value() && HasForbidden(row, *change.guard)) return GuardRefused(change.row_key);
    if (absl::Status status = MakeEdit(change.row_key, change.delta, row, edit); !status.ok()) return status;
    AddPackedEdit(change.delta, row, edit);
    const absl::Status added = AddTo(&logged, change.delta.log, row, edit);
    if (!added.ok()) return added;
    return Made::kEdit;
  };
  return CommitLogged(table, change.row_key, read, make, &logged, deadline);
}

// The changes of one part, in rounds in which no row comes twice.
class HBaseEngine::PartOfApply {
 public:
  PartOfApply(HBaseEngine* engine, const hbase::TableName& table, CellStorage storage, RowSource* rows,
              const WriteOptions& options, std::set<std::string, std::less<>>* waiting)
      : engine_(engine),
        table_(table),
        storage_(storage),
        rows_(rows),
        options_(options),
        waiting_(waiting) {}

  // `first` is the number of the part's first change.
  void Run(absl::Span<const RowChange> changes, size_t first) {
    std::vector<std::vector<size_t>> rounds;
    std::map<std::string_view, size_t> seen;
    for (size_t i = 0; i < changes.size(); ++i) {
      const size_t round = seen[changes[i].row_key]++;
      if (round == rounds.size()) rounds.emplace_back();
      rounds[round].push_back(i);
    }
    for (const std::vector<size_t>& round : rounds) RunRound(changes, first, round);
  }

 private:
  void Refuse(size_t index, const absl::Status& status) {
    if (!status.ok()) rows_->OnRefused(index, status);
  }

  void RunRound(absl::Span<const RowChange> changes, size_t first, const std::vector<size_t>& round) {
    const int64_t now_micros = absl::ToUnixMicros(absl::Now());
    std::vector<RowEdit> blind;
    std::vector<size_t> blind_indices;
    std::vector<std::pair<size_t, EditNeeds>> guarded;
    for (const size_t i : round) {
      const RowChange& change = changes[i];
      absl::StatusOr<EditNeeds> needs = NeedsOf(change.delta);
      if (!needs.ok()) {
        Refuse(first + i, needs.status());
        continue;
      }
      AddPackedNeeds(change.delta, storage_, &*needs);
      const bool is_guarded = needs->is_guarded || change.guard.has_value();
      if (!options_.may_wait && (is_guarded || waiting_->contains(change.row_key))) {
        waiting_->emplace(change.row_key);
        Refuse(first + i, absl::AbortedError("The change must read its row first, and may not wait"));
        continue;
      }
      if (is_guarded) {
        guarded.emplace_back(i, *std::move(needs));
        continue;
      }
      RowEdit edit;
      const bool is_packed =
          MakePackedPuts(change.row_key, change.delta, storage_, now_micros, &random_, &edit);
      if (is_packed) engine_->packed_changes_.fetch_add(1, std::memory_order_relaxed);
      const absl::Status made =
          is_packed ? absl::OkStatus() : MakeEdit(change.row_key, change.delta, {}, &edit);
      Refuse(first + i, made);
      if (!made.ok() || edit.is_empty()) continue;
      blind.push_back(std::move(edit));
      blind_indices.push_back(i);
    }
    const std::vector<absl::Status> statuses = engine_->ApplyBlind(table_, &blind, options_.deadline);
    for (size_t k = 0; k < statuses.size(); ++k) Refuse(first + blind_indices[k], statuses[k]);
    std::vector<absl::Status> answers(guarded.size());
    ForEachAtOnce(guarded.size(), kGuardedAtOnceMax, [&](size_t k) {
      auto& [i, needs] = guarded[k];
      answers[k] = engine_->ApplyGuarded(table_, changes[i], std::move(needs), options_.deadline);
    });
    for (size_t k = 0; k < guarded.size(); ++k) Refuse(first + guarded[k].first, answers[k]);
  }

  HBaseEngine* const engine_;
  const hbase::TableName& table_;
  const CellStorage storage_;
  SystemRandom random_;
  RowSource* const rows_;
  const WriteOptions& options_;
  std::set<std::string, std::less<>>* const waiting_;  // rows with a change that was refused as it would wait
};

absl::Status HBaseEngine::Apply(TableId table, RowSource* rows, const WriteOptions& options) {
  const absl::StatusOr<CellStorage> storage = FindTable(table, options.deadline);
  if (!storage.ok()) return storage.status();
  const hbase::TableName name = NameOf(table);
  std::set<std::string, std::less<>> waiting;
  PartOfApply part(this, name, *storage, rows, options, &waiting);
  size_t first = 0;
  while (const std::optional<absl::Span<const RowChange>> changes = rows->Next()) {
    part.Run(*changes, first);
    first += changes->size();
  }
  return absl::OkStatus();
}

absl::Status HBaseEngine::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                 const Decide& decide, const WriteOptions& options) {
  const absl::StatusOr<CellStorage> storage = FindTable(table, options.deadline);
  if (!storage.ok()) return storage.status();
  const hbase::TableName name = NameOf(table);
  const StoredChoice choice = ChoiceOf(hints, *storage);
  LoggedCommit logged(&log_, &name, options.deadline);
  guarded_changes_.fetch_add(1, std::memory_order_relaxed);
  const auto read = [&] { return ReadStoredRow(client_.get(), name, row_key, choice, options.deadline); };
  const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
    std::vector<RowFamily> families = row.Families();
    std::erase_if(families, [&](const RowFamily& family) { return !MayGive(hints, family.family); });
    if (HasPacked(*storage)) KeepAsked(hints, &families);
    const absl::StatusOr<std::optional<RowDelta>> delta = decide(families);
    if (!delta.ok()) return delta.status();
    if (!delta->has_value()) return Made::kNothing;
    absl::StatusOr<EditNeeds> needs = NeedsOf(**delta);
    if (!needs.ok()) return needs.status();
    AddPackedNeeds(**delta, *storage, &*needs);
    absl::StatusOr<StoredRow> more = StoredRow();
    if (!needs->choice.qualifiers.empty()) {
      more = ReadStoredRow(client_.get(), name, row_key, needs->choice, options.deadline);
      if (!more.ok()) return more.status();
      if (more->version() != row.version()) return Made::kStale;
    }
    if (absl::Status status = MakeEdit(row_key, **delta, *more, edit); !status.ok()) return status;
    AddPackedEdit(**delta, *more, edit);
    const absl::Status added = AddTo(&logged, (*delta)->log, row, edit);
    if (!added.ok()) return added;
    return Made::kEdit;
  };
  return CommitLogged(name, row_key, read, make, &logged, options.deadline);
}

absl::StatusOr<bool> HBaseEngine::DeleteRows(const hbase::TableName& table, CellStorage storage,
                                             const RowRange& range, size_t rows_max, absl::Time deadline) {
  // One cell a row, of those of any family: the row is there if it has one.
  hbase::CellChoice choice{
      .families = {kCellsFamily, kExpiringFamily}, .newest_per_column = 1, .keys_only = true};
  for (std::string& family : PackedFamilies(storage)) choice.families.push_back(std::move(family));
  const std::unique_ptr<hbase::RowScan> scan =
      client_->Scan(table, {.start = range.start, .stop = range.end}, choice, {}, deadline);
  std::vector<RowEdit> edits;
  std::string last_row;
  size_t rows = 0;
  while (true) {
    hbase::RowScan::Part part;
    const absl::StatusOr<bool> more = scan->Next(&part);
    if (!more.ok()) return more.status();
    if (*more && part.row == last_row) continue;
    const bool is_end = !*more || rows == rows_max;
    if (!edits.empty() && (is_end || edits.size() >= kDeletesABatch)) {
      if (absl::Status status = DeleteAll(table, &edits, deadline); !status.ok()) return status;
    }
    if (is_end) return !*more;
    last_row = std::string(part.row);
    MakeRowDelete(last_row, storage, &edits.emplace_back());
    ++rows;
  }
}

absl::Status HBaseEngine::DropRange(TableId table, const RowRange& range, absl::Time deadline) {
  const absl::StatusOr<CellStorage> storage = FindTable(table, deadline);
  if (!storage.ok()) return storage.status();
  if (range.IsEmpty()) return absl::OkStatus();
  const hbase::TableName name = NameOf(table);
  const absl::StatusOr<std::vector<hbase::Regions::Place>> places = client_->regions()->All(name, deadline);
  if (!places.ok()) return places.status();
  for (const hbase::Regions::Place& place : *places) {
    const std::vector<RowRange> left = IntersectRanges({RangeOf(*place)}, {range});
    if (left.empty()) continue;
    const bool is_whole = IsWithin(RangeOf(*place), range);
    absl::StatusOr<bool> is_done =
        DeleteRows(name, *storage, left[0], is_whole ? kRowsDeletedSinglyMax : SIZE_MAX, deadline);
    if (!is_done.ok()) return is_done.status();
    if (*is_done) continue;
    // A region that is truncated loses its part of the change log.
    const absl::StatusOr<bool> is_logged = log_.MayHaveRecords(name, deadline);
    if (!is_logged.ok()) return is_logged.status();
    if (*is_logged) {
      is_done = DeleteRows(name, *storage, left[0], SIZE_MAX, deadline);
      if (!is_done.ok()) return is_done.status();
      continue;
    }
    // The region may be another one by now, which reaches further than the range.
    const absl::StatusOr<hbase::Regions::Place> now =
        client_->regions()->Find(name, place->start_key, deadline);
    if (!now.ok()) return now.status();
    const absl::Status emptied = **now == *place
                                     ? client_->tables()->TruncateRegion(name, place->start_key, deadline)
                                     : DeleteRows(name, *storage, left[0], SIZE_MAX, deadline).status();
    if (!emptied.ok()) return emptied;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RangeStats>> HBaseEngine::Ranges(TableId table, absl::Time deadline) {
  return sizes_.Ranges(table, deadline);
}

double HBaseEngine::WritePressure() const {
  // A region is busy when its memory is full, and a server when too many calls wait: half of the answers are much.
  return std::min(1.0, 2 * client_->rows()->Busy());
}

std::vector<Figure> HBaseEngine::Figures() const {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  std::vector<Figure> figures = {
      Figure::Counter("sonde_hbase_blind_changes_total", "Changes of rows that needed no look at the row.")
          .Add(number(blind_changes_)),
      Figure::Counter("sonde_hbase_guarded_changes_total", "Changes of rows that read the row first.")
          .Add(number(guarded_changes_)),
      Figure::Counter("sonde_hbase_packed_changes_total", "Blind changes whose cells were packed at once.")
          .Add(number(packed_changes_)),
      Figure::Counter("sonde_hbase_conflicts_total", "Guarded changes that began anew.")
          .Add(number(conflicts_)),
      Figure::Counter("sonde_hbase_retries_total", "Calls to HBase that were repeated.")
          .Add(number(client_->rows()->retries())),
      Figure::Counter("sonde_hbase_found_answers_total",
                      "Guarded changes whose answers were lost, and found in the row.")
          .Add(number(client_->rows()->settled())),
      Figure::Counter("sonde_hbase_log_slices_total", "Slices of change logs that were read from HBase.")
          .Add(number(log_.slices())),
      Figure::Counter("sonde_hbase_log_told_again_total",
                      "Records that were told again, as readers may have been past them.")
          .Add(number(log_.told_again())),
      Figure::Counter("sonde_hbase_log_slots_ended_total",
                      "Slots of servers that were gone, which this server gave back.")
          .Add(number(log_.ended_slots())),
      Figure::Counter("sonde_hbase_lookups_total", "Reads of hbase:meta.")
          .Add(number(client_->regions()->lookups()))};
  if (const std::optional<bool> reload_failed = client_->servers()->tls_reload_failed()) {
    figures.push_back(
        Figure::Gauge("sonde_hbase_tls_reload_failed",
                      "1: the files of TLS to HBase changed and do not fit, and those before are in force.")
            .Add(*reload_failed ? 1 : 0));
  }
  return figures;
}

}  // namespace sonde

#include "engine/memory/memory_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "base/check.h"
#include "engine/engine_errors.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

absl::Status NoTable(TableId table) { return absl::NotFoundError(fmt::format("no table with id {}", table)); }

// A piece that owns what it shows: all bytes of its cells in one string.
RowPiece MakePiece(std::string_view row_key, FamilyId family, const CellView* cells, size_t count) {
  RowPiece piece;
  piece.row_key = row_key;
  piece.family = family;
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += cells[i].qualifier.size() + cells[i].value.size();
  std::string& backing = piece.backing.emplace_back();
  backing.reserve(bytes);
  // Below the reserved size nothing moves, so views may be taken while it grows.
  const auto keep = [&](std::string_view view) {
    const size_t offset = backing.size();
    backing.append(view);
    return std::string_view(backing).substr(offset);
  };
  piece.cells.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    piece.cells.push_back({keep(cells[i].qualifier), cells[i].timestamp_micros, keep(cells[i].value)});
  }
  return piece;
}

}  // namespace

// Copies one row at a time, then hands out its pieces without a lock.
class MemoryEngine::Stream final : public RowStream {
 public:
  // `ranges`: normal form.
  Stream(MemoryEngine* engine, TableId table, std::vector<RowRange> ranges, ScanOptions options)
      : engine_(engine), table_(table), ranges_(ranges.begin(), ranges.end()), options_(std::move(options)) {}

  absl::StatusOr<bool> Next(RowPiece* piece) override {
    if (absl::Now() >= options_.deadline) {
      return absl::DeadlineExceededError(
          fmt::format("the deadline passed while table {} was scanned", table_));
    }
    if (pieces_.empty()) FetchRow();
    if (pieces_.empty()) return false;
    *piece = std::move(pieces_.front());
    pieces_.pop_front();
    return true;
  }

 private:
  // Fills pieces_ with the next row that has cells for this scan; leaves it empty at the end.
  void FetchRow() {
    const ReadHints& hints = options_.hints;
    if (hints.rows_max.has_value() && rows_count_ >= *hints.rows_max) return;
    const absl::ReaderMutexLock guard(&engine_->lock_);
    const MemoryTable* table = engine_->FindTable(table_);
    if (table == nullptr) return;
    while (!ranges_.empty() && pieces_.empty()) {
      RowRange& range = options_.reverse ? ranges_.back() : ranges_.front();
      const MemoryTable::Rows::value_type* row = table->Edge(range, options_.reverse);
      if (row != nullptr) {
        CopyRow(row->first, row->second);
        (options_.reverse ? range.end : range.start) =
            options_.reverse ? row->first : RowRange::Single(row->first).end;
      }
      // What is left of a range that ended at the first of all keys would be read as "to infinity".
      const bool is_over = row == nullptr || range.IsEmpty() || (options_.reverse && range.end.empty());
      if (is_over) options_.reverse ? ranges_.pop_back() : ranges_.pop_front();
    }
    if (pieces_.empty()) return;
    pieces_.back().last_of_row = true;
    ++rows_count_;
  }

  void CopyRow(const std::string& row_key, const MemoryRow& row) {
    const size_t cells_max = std::max<size_t>(engine_->options_.cells_per_piece_max, 1);
    for (const RowFamily& family : SelectCells(row, options_.hints)) {
      for (size_t start = 0; start < family.cells.size(); start += cells_max) {
        const size_t count = std::min(cells_max, family.cells.size() - start);
        pieces_.push_back(MakePiece(row_key, family.family, &family.cells[start], count));
      }
    }
  }

  MemoryEngine* const engine_;
  const TableId table_;
  std::deque<RowRange> ranges_;  // what is left to read
  const ScanOptions options_;    // its hints are those that the engine follows
  std::deque<RowPiece> pieces_;  // of the current row, not yet handed out
  int64_t rows_count_ = 0;
};

std::unique_ptr<MemoryEngine> MemoryEngine::Create(MemoryEngineOptions options) {
  return std::unique_ptr<MemoryEngine>(new MemoryEngine(options));
}

ReadHints MemoryEngine::Followed(const ReadHints& hints) const {
  if (options_.honour_hints) return hints;
  ReadHints followed;
  if (hints.families.has_value() &&
      std::any_of(hints.families->begin(), hints.families->end(), IsExpiringFamily)) {
    followed.families = hints.families;  // without them it would see none of an expiring family
  }
  return followed;
}

MemoryTable* MemoryEngine::FindTable(TableId table) {
  const auto found = tables_.find(table);
  return found == tables_.end() ? nullptr : &found->second;
}

absl::Status MemoryEngine::WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  for (const RecordChange& change : changes) {
    const auto found = records_.find(change.key);
    const int64_t version = found == records_.end() ? 0 : found->second.version;
    if (change.expected_version.value_or(version) != version) return RecordWasChanged(change, version);
  }
  ++records_version_;
  for (const RecordChange& change : changes) {
    if (change.value.has_value()) {
      records_[change.key] = {change.key, *change.value, records_version_};
    } else {
      records_.erase(change.key);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Record>> MemoryEngine::ReadRecords(std::string_view prefix, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  std::vector<Record> result;
  for (auto record = records_.lower_bound(prefix);
       record != records_.end() && record->first.starts_with(prefix); ++record) {
    result.push_back(record->second);
  }
  return result;
}

absl::StatusOr<int64_t> MemoryEngine::RecordsVersion(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  return records_version_;
}

absl::Status MemoryEngine::CreateTable(const TableSpec& spec, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  tables_.try_emplace(spec.id);
  return absl::OkStatus();
}

// It forgets nothing, so it need not know what it may forget.
absl::Status MemoryEngine::AlterTable(const TableSpec& spec, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  return FindTable(spec.id) == nullptr ? NoTable(spec.id) : absl::OkStatus();
}

absl::Status MemoryEngine::DropTable(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  tables_.erase(table);
  return absl::OkStatus();
}

absl::Status MemoryEngine::DropFamily(TableId table, FamilyId family, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  found->DropFamily(family);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RowStream>> MemoryEngine::Scan(TableId table, std::vector<RowRange> ranges,
                                                              ScanOptions options) {
  DCHECK(AreNormal(ranges));
  {
    const absl::ReaderMutexLock guard(&lock_);
    if (FindTable(table) == nullptr) return NoTable(table);
  }
  options.hints = Followed(options.hints);
  return std::make_unique<Stream>(this, table, std::move(ranges), std::move(options));
}

absl::Status MemoryEngine::Apply(TableId table, RowSource* rows, const WriteOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  size_t index = 0;
  while (const std::optional<absl::Span<const RowChange>> changes = rows->Next()) {
    for (const RowChange& change : *changes) {
      if (change.guard.has_value() && found->Has(change.row_key, *change.guard)) {
        rows->OnRefused(index, GuardRefused(change.row_key));
      } else {
        found->Apply(change.row_key, change.delta);
      }
      ++index;
    }
  }
  return absl::OkStatus();
}

absl::Status MemoryEngine::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                  const Decide& decide, const WriteOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  const MemoryRow* row = found->Find(row_key);
  const absl::StatusOr<std::optional<RowDelta>> change =
      decide(row == nullptr ? std::vector<RowFamily>() : SelectCells(*row, Followed(hints)));
  if (!change.ok()) return change.status();
  if (!change->has_value()) return absl::OkStatus();
  found->Apply(row_key, **change);
  return absl::OkStatus();
}

absl::Status MemoryEngine::DropRange(TableId table, const RowRange& range, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  found->DropRange(range);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RangeStats>> MemoryEngine::Ranges(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  const MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  return std::vector<RangeStats>{{.end_key = "", .bytes = found->CountBytes()}};
}

absl::StatusOr<std::vector<uint64_t>> MemoryEngine::Measure(TableId table,
                                                            const std::vector<std::string>& starts,
                                                            const std::string& end, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  const MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < starts.size(); ++i) {
    bytes.push_back(found->CountBytes({starts[i], i + 1 < starts.size() ? starts[i + 1] : end}));
  }
  return bytes;
}

// A table in memory is small.
absl::StatusOr<DividedRanges> MemoryEngine::Divide(TableId /*table*/, FamilyId /*family*/,
                                                   const std::vector<RowRange>& ranges) {
  return DividedRanges{.parts = {ranges}, .rest = {}};
}

absl::StatusOr<RowLog::End> MemoryEngine::FindEnd(TableId table, const RowRange& /*partition*/,
                                                  int64_t frontier_min, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  return found->log().FindEnd(frontier_min);
}

absl::Status MemoryEngine::Read(TableId table, const RowRange& /*partition*/, int64_t start,
                                uint32_t start_index, int64_t through,
                                const std::function<bool(const Piece&)>& visit, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  const MemoryLog::Pieces& pieces = found->log().pieces();
  for (auto piece = pieces.lower_bound({start, start_index}); piece != pieces.end(); ++piece) {
    const auto& [position, index] = piece->first;
    if (position > through || !visit({position, index, piece->second})) break;
  }
  return absl::OkStatus();
}

absl::Status MemoryEngine::Trim(TableId table, int64_t position, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  found->log().Trim(position);
  return absl::OkStatus();
}

absl::Status MemoryEngine::Make(std::string_view name, TableId table, absl::Time deadline) {
  if (absl::Status status = CheckSnapshotName(name); !status.ok()) return status;
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  const MemoryTable* found = FindTable(table);
  if (found == nullptr) return NoTable(table);
  if (!snapshots_.try_emplace(std::string(name), Snapshot{table, *found}).second) return HasSnapshot(name);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Snapshots::Facts>> MemoryEngine::List(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::ReaderMutexLock guard(&lock_);
  std::vector<Facts> facts;
  for (const auto& [name, snapshot] : snapshots_)
    facts.push_back({name, snapshot.table, snapshot.copy.CountBytes()});
  return facts;
}

absl::Status MemoryEngine::Restore(std::string_view name, TableId into, const RestoreOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  if (options.on_progress) {
    if (absl::Status status = options.on_progress(0); !status.ok()) return status;
  }
  const absl::WriterMutexLock guard(&lock_);
  const auto snapshot = snapshots_.find(name);
  if (snapshot == snapshots_.end()) return NoSnapshot(name);
  MemoryTable* found = FindTable(into);
  if (found == nullptr) return NoTable(into);
  found->CopyRows(snapshot->second.copy);
  return absl::OkStatus();
}

absl::Status MemoryEngine::Optimize(TableId table, const RestoreOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  {
    const absl::ReaderMutexLock guard(&lock_);
    if (FindTable(table) == nullptr) return NoTable(table);
  }
  return options.on_progress ? options.on_progress(1) : absl::OkStatus();  // maps are as fast as they get
}

absl::Status MemoryEngine::Drop(std::string_view name, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::WriterMutexLock guard(&lock_);
  if (const auto snapshot = snapshots_.find(name); snapshot != snapshots_.end()) snapshots_.erase(snapshot);
  return absl::OkStatus();
}

std::vector<Figure> MemoryEngine::Figures() const {
  const absl::ReaderMutexLock guard(&lock_);
  size_t rows = 0, pieces = 0;
  for (const auto& [id, table] : tables_) {
    rows += table.CountRows();
    pieces += table.log().pieces().size();
  }
  return {Figure::Gauge("sonde_memory_engine_tables", "Tables.").Add(static_cast<double>(tables_.size())),
          Figure::Gauge("sonde_memory_engine_rows", "Rows of all tables.").Add(static_cast<double>(rows)),
          Figure::Gauge("sonde_memory_engine_log_pieces", "Pieces of records in the logs of changes.")
              .Add(static_cast<double>(pieces))};
}

}  // namespace sonde

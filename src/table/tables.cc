#include "table/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/check_and_mutate.h"
#include "table/number_reader.h"
#include "table/row_assembler.h"
#include "table/row_time.h"
#include "table/view_access.h"
#include "work/at_once.h"

namespace sonde {
namespace {

// Rows of a range that are deleted in one commit.
constexpr size_t kRowsPerDeletion = 1'000;
// Rows of a request that wait for a shared store at once, and that are mutated between two looks whether anybody still wants it.
constexpr size_t kRowsAtOnceMax = 8;
constexpr size_t kRowsBetweenLooks = 256;

// Whether the status of rows that were refused together may be the fault of one of them: a row whose types do
// not match refuses all others, and on a full disk rows that add refuse rows that delete.
bool MayBeOfAnother(const absl::Status& status) {
  return !status.ok() && !absl::IsUnavailable(status) && !absl::IsUnknown(status) &&
         !absl::IsInternal(status) && !absl::IsDataLoss(status);
}

absl::Status NoKeeper(const TableSchema& schema) {
  return absl::UnavailableError(fmt::format(
      "Views of table {} keep what has expired, and none of them is kept by this process now", schema.name));
}

// Returns the keys of the rows that take turns: those that ask for the server's time.
std::vector<std::string_view> RowsOfTurns(absl::Span<const RowMutations> rows) {
  std::vector<std::string_view> row_keys;
  for (const RowMutations& row : rows) {
    if (WantsServerTime(row)) row_keys.push_back(row.row_key);
  }
  return row_keys;
}

// How many of the first rows may be mutated at once: those that ask for the server's time, each another row.
size_t CountAtOnce(absl::Span<const RowMutations> rows) {
  std::set<std::string_view> row_keys;
  for (const RowMutations& row : rows) {
    if (row_keys.size() == kRowsBetweenLooks || !WantsServerTime(row) || !row_keys.insert(row.row_key).second)
      break;
  }
  return row_keys.size();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowReader>> Tables::Read(TableSchemaRef schema, ReadRequest request) {
  return RowReader::Open(engine_, std::move(schema), clock_->NowMicros(), next_seed_++, std::move(request),
                         observer_);
}

absl::Status Tables::ReadNumbers(const TableSchemaRef& schema, const NumberRead& read,
                                 const std::function<bool(const NumberRow&)>& row,
                                 const std::function<std::string()>& caller) {
  return ReadNumbersOf(engine_, schema, clock_->NowMicros(), read, {observer_, caller}, row);
}

absl::StatusOr<std::unique_ptr<NumberStream>> Tables::OpenNumbers(TableSchemaRef schema, NumberRead read,
                                                                  std::function<std::string()> caller) {
  return NumberStream::Open(engine_, std::move(schema), clock_->NowMicros(), std::move(read), observer_,
                            std::move(caller));
}

absl::Status Tables::Confirmed(const TableSchema& schema, absl::Status applied) const {
  if (!applied.ok()) return applied;
  return catalog_->Confirm(schema);
}

std::vector<absl::Status> Tables::MutateRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                             const AuthorizedView* view,
                                             const std::function<absl::Status()>& interrupted) {
  if (is_shared_ && std::any_of(rows.begin(), rows.end(), WantsServerTime))
    return MutateByRowTime(schema, rows, view, interrupted);
  return MutateBlind(schema, rows, view, interrupted);
}

std::vector<absl::Status> Tables::MutateBlind(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                              const AuthorizedView* view,
                                              const std::function<absl::Status()>& interrupted) {
  const RowTurn turn(&turns_, schema.id, RowsOfTurns(rows));
  bool is_read = false;
  RowWrites writes(schema,
                   {.view = view,
                    .now_micros = turn.now_micros(),
                    .observer = observer_,
                    .interrupted = interrupted,
                    .has_token =
                        [&](const RowMutations& row) {
                          return HasToken(engine_, schema.id, row.row_key, row.idempotency->token,
                                          turn.now_micros());
                        }},
                   [&]() -> std::optional<absl::Span<const RowMutations>> {
                     if (std::exchange(is_read, true)) return std::nullopt;
                     return rows;
                   });
  writes.PrepareFirst();
  const absl::Status applied = Confirmed(schema, engine_->Apply(schema.id, &writes, {}));
  std::vector<std::vector<absl::Status>> statuses = writes.Finish(applied);
  if (statuses.empty()) return std::vector<absl::Status>(rows.size(), applied);
  return std::move(statuses.front());
}

std::vector<absl::Status> Tables::MutateByRowTime(const TableSchema& schema,
                                                  absl::Span<const RowMutations> rows,
                                                  const AuthorizedView* view,
                                                  const std::function<absl::Status()>& interrupted) {
  if (absl::Status status = CheckTypes(schema, rows, view); !status.ok())
    return std::vector<absl::Status>(rows.size(), status);
  std::vector<absl::Status> statuses;
  while (statuses.size() < rows.size()) {
    const absl::Span<const RowMutations> left = rows.subspan(statuses.size());
    const auto blind =
        static_cast<size_t>(std::find_if(left.begin(), left.end(), WantsServerTime) - left.begin());
    if (blind > 0) {
      for (absl::Status& status : MutateBlind(schema, left.first(blind), view, interrupted))
        statuses.push_back(std::move(status));
      continue;
    }
    const absl::Status status = interrupted ? interrupted() : absl::OkStatus();
    const size_t count = CountAtOnce(left);
    std::vector<absl::Status> answers(count, status);
    if (status.ok()) {
      ForEachAtOnce(count, kRowsAtOnceMax,
                    [&](size_t i) { answers[i] = MutateByRowTime(schema, left[i], view); });
    }
    for (absl::Status& answer : answers) statuses.push_back(std::move(answer));
  }
  return statuses;
}

absl::Status Tables::CheckTypes(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                const AuthorizedView* view) {
  const int64_t now_micros = clock_->NowMicros();
  std::set<std::pair<std::string_view, std::string_view>> tokens;  // of rows before
  for (const RowMutations& row : rows) {
    if (row.idempotency.has_value() && tokens.contains({row.row_key, row.idempotency->token})) continue;
    if (view != nullptr && !CheckInView(*view, schema, row.row_key, row.mutations).ok()) continue;
    if (row.idempotency.has_value() && !CheckStartTime(*row.idempotency, now_micros).ok()) continue;
    RowDelta delta;
    const absl::Status status = Normalize(schema, row.row_key, row.mutations, now_micros, &delta);
    if (status.ok() && row.idempotency.has_value()) tokens.insert({row.row_key, row.idempotency->token});
    if (!IsTypeMismatch(status)) continue;
    if (!row.idempotency.has_value()) return status;
    const absl::StatusOr<bool> has_had_it =
        HasToken(engine_, schema.id, row.row_key, row.idempotency->token, now_micros);
    if (!has_had_it.ok()) return has_had_it.status();
    if (!*has_had_it) return status;
  }
  return absl::OkStatus();
}

absl::Status Tables::MutateByRowTime(const TableSchema& schema, const RowMutations& row,
                                     const AuthorizedView* view) {
  if (view != nullptr) {
    if (absl::Status status = CheckInView(*view, schema, row.row_key, row.mutations); !status.ok())
      return status;
  }
  const AccessTimer timer;
  const RowTurn turn(&turns_, schema.id, row.row_key);
  const int64_t now_micros = turn.now_micros();
  // The hints ask only for the cells that the time and the token need.
  const RowTime time(schema, clock_, now_micros, {row.mutations});
  ReadHints hints{.families = std::vector<FamilyId>(),
                  .columns = std::vector<ReadHints::ColumnRange>(),
                  .time_range = {.start_micros = now_micros}};
  if (row.idempotency.has_value()) {
    if (absl::Status status = CheckStartTime(*row.idempotency, now_micros); !status.ok()) return status;
    AskForToken(row.idempotency->token, now_micros, &hints);
  }
  time.AddTo(&hints);
  std::optional<ChangeLogger> logger;
  const auto decide = [&](const std::vector<RowFamily>& cells) -> absl::StatusOr<std::optional<RowDelta>> {
    // A row that has the token has had the change, whatever the table is like by now.
    if (row.idempotency.has_value() && HasToken(cells, row.idempotency->token, now_micros))
      return std::nullopt;
    const int64_t time_micros = time.Of(cells);
    RowDelta delta;
    if (absl::Status status = Normalize(schema, row.row_key, row.mutations, time_micros, &delta);
        !status.ok())
      return status;
    if (row.idempotency.has_value()) AddToken(row.idempotency->token, now_micros, &delta);
    logger.emplace(schema, time_micros).Log(row.row_key, row.mutations, &delta);
    return delta;
  };
  const absl::Status status = Confirmed(schema, engine_->Update(schema.id, row.row_key, hints, decide));
  TellOfWrite(schema.id, row.row_key, {row.mutations.size(), BytesOf(row.mutations)}, timer, status);
  return status;
}

absl::StatusOr<std::vector<std::vector<absl::Status>>> Tables::MutateTogether(
    const TableSchema& schema, const AuthorizedView* view, const RowWrites::NextRows& next) {
  RowTurnsNow turns(&turns_, schema.id);
  const bool is_logged = schema.IsLogged();
  RowWrites writes(schema,
                   {.view = view,
                    .now_micros = turns.now_micros(),
                    .observer = observer_,
                    .one_part = is_logged,
                    .goes_along =
                        [&](const RowMutations& row) {
                          return !row.idempotency.has_value() &&
                                 (!WantsServerTime(row) || (!is_shared_ && turns.Take(row.row_key)));
                        }},
                   next);
  const absl::Status applied = Confirmed(schema, engine_->Apply(schema.id, &writes, {.may_wait = is_logged}));
  if (!applied.ok() && (!writes.has_ended() || MayBeOfAnother(applied))) return applied;
  return writes.Finish(applied);
}

void Tables::TellOfWrite(TableId table, std::string_view row_key, WrittenSize size, const AccessTimer& timer,
                         const absl::Status& status) {
  if (observer_ == nullptr) return;
  const AccessedRow row{row_key, size.bytes};
  observer_->OnAccess(table, {.kind = AccessKind::kWrite,
                              .rows = absl::MakeSpan(&row, 1),
                              .cells = size.cells,
                              .latency_micros = timer.Micros(),
                              .errors = status.ok() ? 0U : 1U});
}

absl::StatusOr<bool> Tables::CheckAndMutateRow(TableSchemaRef schema, std::string_view row_key,
                                               RowCheck check, const AuthorizedViewRef& view) {
  const AccessTimer timer;
  const RowTurn turn(&turns_, schema->id, row_key);
  CheckAndMutator mutator(schema, row_key, std::move(check), view, turn.now_micros(),
                          is_shared_ ? clock_ : nullptr, next_seed_++);
  if (absl::Status status = mutator.Check(); !status.ok()) return status;
  const ReadHints hints = mutator.Hints();
  const auto decide = [&](const std::vector<RowFamily>& row) { return mutator.Decide(row); };
  const absl::Status status = Confirmed(*schema, engine_->Update(schema->id, row_key, hints, decide));
  TellOfWrite(schema->id, row_key, {mutator.taken().size(), BytesOf(mutator.taken())}, timer, status);
  if (!status.ok()) return status;
  return mutator.matched();
}

absl::StatusOr<std::vector<WrittenCell>> Tables::ReadModifyWriteRow(
    TableSchemaRef schema, std::string_view row_key, absl::Span<const ReadModifyWriteRule> rules,
    const AuthorizedViewRef& view) {
  if (view != nullptr) {
    if (absl::Status status = CheckInView(*view, row_key, rules); !status.ok()) return status;
  }
  const AccessTimer timer;
  const RowTurn turn(&turns_, schema->id, row_key);
  const int64_t now_micros = turn.now_micros();
  const VisibleCells visible(schema, now_micros, view);
  ReadModifyWriter writer(*schema, row_key, rules, now_micros);
  std::optional<ChangeLogger> logger;
  const ReadHints hints = writer.Hints();
  const auto decide = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    std::vector<FilterCell> cells;
    AssembleRow(row, visible, &cells);
    if (absl::Status status = writer.Run(cells); !status.ok()) return status;
    RowDelta delta = writer.Delta();
    if (schema->IsLogged()) logger.emplace(*schema, now_micros).Log(row_key, writer.Mutations(), &delta);
    return delta;
  };
  const absl::Status status = Confirmed(*schema, engine_->Update(schema->id, row_key, hints, decide));
  std::vector<WrittenCell> written;
  if (status.ok()) written = writer.Written();
  WrittenSize size{written.size(), 0};
  for (const WrittenCell& cell : written) size.bytes += cell.qualifier.size() + cell.value.size();
  TellOfWrite(schema->id, row_key, size, timer, status);
  if (!status.ok()) return status;
  return written;
}

absl::StatusOr<DividedRanges> Tables::Divide(const TableSchema& schema, const std::string& family,
                                             const std::vector<RowRange>& ranges) {
  const FamilySchema* const found = schema.FindFamily(family);
  if (found == nullptr) return absl::NotFoundError(fmt::format("{}: no family '{}'", schema.name, family));
  RangeSizes* const sizes = engine_->range_sizes();
  if (sizes == nullptr) return DividedRanges{.parts = {ranges}, .rest = {}};
  return sizes->Divide(schema.id, found->id, ranges);
}

void Tables::NoteFullScan(const TableSchema& schema, int64_t rows,
                          const std::function<std::string()>& caller) {
  if (observer_ != nullptr) observer_->OnFullScan(schema.id, {rows, caller ? caller() : "Somebody unknown"});
}

absl::StatusOr<std::vector<RowKeySample>> Tables::SampleRowKeys(const TableSchema& schema,
                                                                absl::Span<const RowRange> clip) {
  absl::StatusOr<std::vector<RangeStats>> ranges = engine_->Ranges(schema.id);
  if (!ranges.ok()) return ranges.status();
  std::vector<std::string> splits = schema.split_points;
  if (observer_ != nullptr) {
    const std::vector<std::string> by_load = observer_->TabletStarts(schema.id);
    std::vector<std::string> both;
    std::set_union(splits.begin(), splits.end(), by_load.begin(), by_load.end(), std::back_inserter(both));
    splits = std::move(both);
  }
  return ClipSamples(SamplesOf(*ranges, splits), clip);
}

absl::Status Tables::DropRowRange(const TableSchema& schema, const RowRange& range) {
  if (!schema.IsLogged()) return engine_->DropRange(schema.id, range);
  if (absl::Status status = DeleteRows(schema, range); !status.ok()) return status;
  return schema.FindLogUse(kExpiredKeeperUse) == nullptr ? absl::OkStatus() : DeleteKept(schema, range);
}

// A row that is not there any more leaves a record, too: so its keeper learns of the deletion in the order of all changes.
absl::Status Tables::DeleteKept(const TableSchema& schema, RowRange range) {
  const std::vector<Mutation> mutations = {DeleteFromRow{}};
  while (!range.IsEmpty()) {
    absl::StatusOr<std::vector<std::string>> row_keys = NoKeeper(schema);
    {
      const absl::ReaderMutexLock lock(&expired_keeper_mutex_);
      if (expired_keeper_ != nullptr) row_keys = expired_keeper_->ListKept(schema, range, kRowsPerDeletion);
    }
    if (!row_keys.ok()) return row_keys.status();
    std::vector<RowMutations> rows;
    for (const std::string& row_key : *row_keys) rows.push_back({row_key, mutations});
    for (const absl::Status& status : MutateRows(schema, rows)) {
      if (!status.ok()) return status;
    }
    if (row_keys->size() < kRowsPerDeletion) return absl::OkStatus();
    range.start = Successor(row_keys->back());
  }
  return absl::OkStatus();
}

void Tables::SetExpiredKeeper(ExpiredKeeper* keeper) {
  const absl::MutexLock lock(&expired_keeper_mutex_);
  expired_keeper_ = keeper;
}

absl::Status Tables::KeepExpired(const TableSchema& schema, absl::Span<const ExpiredKeeper::Row> rows) {
  if (schema.FindLogUse(kExpiredKeeperUse) == nullptr) return absl::OkStatus();
  const absl::ReaderMutexLock lock(&expired_keeper_mutex_);
  return expired_keeper_ == nullptr ? NoKeeper(schema) : expired_keeper_->KeepExpired(schema, rows);
}

absl::Status Tables::DeleteRows(const TableSchema& schema, RowRange range) {
  const std::vector<Mutation> mutations = {DeleteFromRow{}};
  while (!range.IsEmpty()) {
    absl::StatusOr<std::unique_ptr<RowStream>> stream =
        engine_->Scan(schema.id, {range}, {.hints = {.keys_only = true}});
    if (!stream.ok()) return stream.status();
    std::vector<std::string> row_keys;
    RowPiece piece;
    bool more = true;
    while (row_keys.size() < kRowsPerDeletion) {
      absl::StatusOr<bool> found = (*stream)->Next(&piece);
      if (!found.ok()) return found.status();
      if (more = *found; !more) break;
      if (row_keys.empty() || row_keys.back() != piece.row_key) row_keys.push_back(piece.row_key);
    }
    if (row_keys.empty()) return absl::OkStatus();
    std::vector<RowMutations> rows;
    for (const std::string& row_key : row_keys) rows.push_back({row_key, mutations});
    for (const absl::Status& status : MutateRows(schema, rows)) {
      if (!status.ok()) return status;
    }
    if (!more) return absl::OkStatus();
    range.start = Successor(row_keys.back());
  }
  return absl::OkStatus();
}

}  // namespace sonde

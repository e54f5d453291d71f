#include "sql/view/keep/view_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "model/names.h"
#include "sql/plan/try.h"
#include "sql/view/keep/changed_rows.h"
#include "sql/view/keep/view_definitions.h"
#include "sql/view/state/state_keys.h"

namespace sonde::sql {
namespace {

// A checkpoint that has moved by this much is written even if nothing has changed, so that the log reaches back to it.
constexpr int64_t kCheckpointMicrosMax = int64_t{10} * 60 * 1'000'000;
// So many rows have their frozen shares in memory at once.
constexpr size_t kFrozenRowsMax = 256;
constexpr size_t kFrozenCommitBytes = 1 << 20;
// A sweep for groups that are too old comes after a hundredth of the time that they are kept, within these bounds.
constexpr int64_t kSweepMicrosMin = int64_t{60} * 1'000'000;
constexpr int64_t kSweepMicrosMax = int64_t{24} * 3'600 * 1'000'000;
constexpr int64_t kSweepsPerRetention = 100;
// A step of a sweep looks at the groups of so many rows.
constexpr size_t kSweptRowsPerStep = 16'384;

// The time before which all cells count as they were, once these are collected.
int64_t FreezeBefore(const ViewDefinition& definition, absl::Span<const Mutation> deletes) {
  int64_t before_micros = 0;
  for (const Mutation& mutation : deletes) {
    const auto& column = std::get<DeleteFromColumn>(mutation);
    const bool counts = std::ranges::any_of(definition.source_columns, [&column](const auto& of_view) {
      return of_view.family == column.family &&
             of_view.qualifier.value_or(std::string(column.qualifier)) == column.qualifier;
    });
    if (!counts) continue;
    const int64_t end_micros = column.time_range.end_micros == 0 ? INT64_MAX : column.time_range.end_micros;
    before_micros = std::max(before_micros, end_micros);
  }
  return before_micros;
}

void AddUse(std::string_view name, int64_t now_micros, TableSchema* table) {
  if (table->FindLogUse(name) != nullptr) return;
  const auto at = std::ranges::lower_bound(table->log_uses, name, {}, &LogUse::name);
  table->log_uses.insert(at, {.name = std::string(name),
                              .retention_micros = absl::ToInt64Microseconds(kLogRetention),
                              .start_micros = now_micros,
                              .reads_garbage = true});
}

}  // namespace

ViewKeeper::ViewKeeper(Tables* tables, UnloggedWriters* unlogged, MaterializedViewRef view,
                       ViewKeeperOptions options)
    : tables_(tables),
      unlogged_(unlogged),
      name_(view->name),
      source_(view->source),
      outlives_source_(OutlivesSource(view->query)),
      view_(std::move(view)),
      options_(options),
      bundles_(&tables->catalog()) {}

absl::StatusOr<bool> ViewKeeper::Prepare() {
  const TableSchemaRef source = tables_->catalog().FindById(source_.table_id);
  if (source == nullptr) {
    return absl::NotFoundError(fmt::format("Table {} of view {} is gone", source_.table, name_));
  }
  SONDE_TRY_SET(const bool is_logged, StartLogging(*source));
  if (!is_logged) return false;
  SONDE_TRY(Bind(source));
  const TableSchema& seen = *definition_->source();
  if (!checkpoint_.has_value()) SONDE_TRY(Open(seen));
  if (ShowsOtherCells(checkpoint_->families, RulesOf(seen)) || !LogReachesBack()) SONDE_TRY(PopulateAgain());
  checkpoint_->families = RulesOf(seen);
  return true;
}

absl::StatusOr<bool> ViewKeeper::Step() {
  SONDE_TRY_SET(const bool is_ready, Prepare());
  if (!is_ready) return false;
  SONDE_TRY_SET(const bool more_changes, Follow());
  bool more_rows = false;
  // Neither waits for the other: while both have work they take turns, a step each.
  if (checkpoint_->populating_from.has_value() &&
      (!more_changes || std::exchange(populates_next_, !populates_next_))) {
    SONDE_TRY_SET(more_rows, Populate());
  }
  if (!more_changes && !checkpoint_->populating_from.has_value()) {
    SONDE_TRY(TellReady());
    SONDE_TRY_SET(more_rows, Sweep());
  }
  TellProgress();
  return more_changes || more_rows;
}

absl::StatusOr<bool> ViewKeeper::StartLogging(const TableSchema& source) {
  const bool has_use = source.FindLogUse(kViewLogUse) != nullptr;
  const bool is_asked = !outlives_source_ || source.FindLogUse(kExpiredKeeperUse) != nullptr;
  if (has_use && is_asked && tables_->engine().traits().is_shared) {
    return tables_->clock().NowMicros() - source.FindLogUse(kViewLogUse)->start_micros >=
           absl::ToInt64Microseconds(options_.writers_wait_max);
  }
  if (has_use && is_asked) return !unlogged_->MayWrite(source.id);
  const bool was_logged = source.IsLogged();
  SONDE_TRY_SET(const TableSchemaRef before, tables_->catalog().Find(source.name));
  const int64_t now_micros = tables_->clock().NowMicros();
  SONDE_TRY(tables_->catalog()
                .Update(source.name,
                        [this, now_micros](TableSchema* table) {
                          AddUse(kViewLogUse, now_micros, table);
                          if (outlives_source_) AddUse(kExpiredKeeperUse, now_micros, table);
                          return absl::OkStatus();
                        })
                .status());
  if (!was_logged) unlogged_->Add(before, absl::Now() + options_.writers_wait_max);
  return false;
}

absl::Status ViewKeeper::Bind(const TableSchemaRef& source) {
  if (bound_to_ == source) return absl::OkStatus();
  SONDE_TRY_SET(
      std::shared_ptr<const ViewDefinition> definition,
      DefineView(view_->query, BindOptionsOfView(&tables_->catalog(), &bundles_, InstanceOfSqlView(name_))));
  if (definition->source()->id != source->id) {
    return absl::NotFoundError(fmt::format("Table {} of view {} is another one", source_.table, name_));
  }
  SONDE_TRY_SET(std::unique_ptr<ViewWriter> writer,
                ViewWriter::Create(options_.engine != nullptr ? options_.engine : &tables_->engine(),
                                   definition, view_->storage, view_->workings, options_.shape));
  std::unique_ptr<FrozenShares> frozen;
  if (definition->lifetime.outlives_source) {
    SONDE_TRY_SET(frozen, FrozenShares::Create(&writer->state(), *definition));
  }
  if (reader_ != nullptr) rows_left_out_before_ += reader_->rows_left_out();
  if (writer_ != nullptr) groups_left_out_before_ += writer_->groups_left_out();
  definition_ = std::move(definition);
  reader_ = std::make_unique<ContributionReader>(tables_, definition_, options_.idle_workers);
  frozen_ = std::move(frozen);  // before the writer, which has its rows
  writer_ = std::move(writer);
  bound_to_ = source;
  return absl::OkStatus();
}

absl::Status ViewKeeper::Open(const TableSchema& source) {
  SONDE_TRY_SET(const std::optional<std::string> bytes, writer_->state().Get(CheckpointKey()));
  if (bytes.has_value()) {
    checkpoint_ = DecodeCheckpoint(*bytes);
    if (!checkpoint_.has_value()) {
      return absl::DataLossError(fmt::format("The checkpoint of view {} is damaged", name_));
    }
    written_ = *checkpoint_;
    return absl::OkStatus();
  }
  checkpoint_.emplace();
  checkpoint_->families = RulesOf(source);
  return PopulateAgain();
}

// What has changed so far is seen as the rows are.
absl::Status ViewKeeper::PopulateAgain() {
  SONDE_TRY_SET(const RowLog::End end, tables_->engine().log()->FindEnd(source_.table_id, RowRange::All(),
                                                                        tables_->clock().NowMicros()));
  checkpoint_->position = end.frontier;
  checkpoint_->families = RulesOf(*definition_->source());
  checkpoint_->populating_from = "";
  return Flush();
}

bool ViewKeeper::LogReachesBack() const {
  const LogUse* const use = definition_->source()->FindLogUse(kViewLogUse);
  const int64_t kept_from = tables_->clock().NowMicros() - use->retention_micros;
  return checkpoint_->position >= use->start_micros - 1 && checkpoint_->position >= kept_from;
}

absl::StatusOr<bool> ViewKeeper::Follow() {
  SONDE_TRY_SET(
      const ChangedRows changed,
      ReadChangedRows(tables_->engine().log(), source_.table_id, checkpoint_->position,
                      options_.rows_per_step, tables_->clock().NowMicros(), definition_->source_columns));
  for (const std::string& key : changed.deleted) frozen_->Delete(key);
  if (!changed.deleted.empty()) SONDE_TRY(frozen_->Commit());
  SONDE_TRY(Replace({changed.keys.begin(), changed.keys.end()}));
  changed_rows_ += changed.keys.size();
  checkpoint_->position = changed.through;
  const bool is_due = checkpoint_->position - written_.position >= kCheckpointMicrosMax;
  if (!changed.keys.empty() || is_due) SONDE_TRY(Flush());
  return changed.has_more;
}

absl::StatusOr<bool> ViewKeeper::Populate() {
  SONDE_TRY_SET(NextKeys next, FindKeys(*checkpoint_->populating_from));
  SONDE_TRY(Replace(next.keys));
  populated_rows_ += next.keys.size();
  checkpoint_->populating_from = std::move(next.next);
  if (!checkpoint_->populating_from.has_value()) checkpoint_->was_populated = true;
  SONDE_TRY(Flush());
  return checkpoint_->populating_from.has_value();
}

absl::Status ViewKeeper::Replace(const std::vector<std::string>& keys) {
  for (absl::Span<const std::string> rest = keys; frozen_ == nullptr && !rest.empty();) {
    SONDE_TRY_SET(const std::vector<SourceRow> rows, reader_->Read(rest));
    SONDE_TRY(writer_->Replace(rows));
    rest.remove_prefix(rows.size());
  }
  for (size_t first = 0; frozen_ != nullptr && first < keys.size(); first += kFrozenRowsMax)
    SONDE_TRY(ReplaceWithFrozen(absl::MakeConstSpan(keys).subspan(first, kFrozenRowsMax)));
  return absl::OkStatus();
}

bool ViewKeeper::IsPast(const GroupId& group) const {
  const std::optional<int64_t>& retain_micros = definition_->lifetime.retain_micros;
  return retain_micros.has_value() && group.micros < tables_->clock().NowMicros() - *retain_micros;
}

absl::Status ViewKeeper::ReplaceWithFrozen(absl::Span<const std::string> keys) {
  writer_->state().Clear();
  SONDE_TRY_SET(FrozenByRow shares, frozen_->Read(keys));
  const TimesOfRow live = [&shares](std::string_view key) -> TimeRange {
    const auto share = shares.find(key);
    return {.start_micros = share == shares.end() ? 0 : share->second.before_micros};
  };
  const auto is_past = [this](const Contribution& contribution) { return IsPast(contribution.group); };
  while (!keys.empty()) {
    SONDE_TRY_SET(std::vector<SourceRow> rows, reader_->Read(keys, live));
    for (SourceRow& row : rows) {
      std::erase_if(row.contributions, is_past);
      const auto share = shares.find(row.key);
      if (share == shares.end()) continue;
      if (std::erase_if(share->second.contributions, is_past) > 0) {
        // The time stays as long as there are cells that it divides.
        if (share->second.contributions.empty() && row.contributions.empty()) {
          frozen_->Delete(row.key);
        } else {
          frozen_->Put(row.key, share->second);
        }
      }
      SONDE_TRY_SET(const bool go_together, frozen_->Merge(share->second, &row.contributions));
      if (!go_together) ++rows_left_out_before_;
    }
    SONDE_TRY(frozen_->Commit());
    SONDE_TRY(writer_->Replace(rows));
    keys.remove_prefix(rows.size());
  }
  return absl::OkStatus();
}

absl::Status ViewKeeper::KeepExpired(absl::Span<const ExpiredKeeper::Row> rows) {
  if (!outlives_source_) return absl::OkStatus();
  SONDE_TRY_SET(const bool is_ready, Prepare());
  if (!is_ready) return absl::OkStatus();  // the view has not begun
  // A deletion takes what is frozen before it, and nothing that is frozen later.
  SONDE_TRY(WaitForLog());
  SONDE_TRY_SET(const RowLog::End end, tables_->engine().log()->FindEnd(source_.table_id, RowRange::All(),
                                                                        tables_->clock().NowMicros()));
  while (checkpoint_->position < end.frontier) SONDE_TRY(Follow().status());
  SONDE_TRY(Flush());
  for (size_t first = 0; first < rows.size(); first += kFrozenRowsMax)
    SONDE_TRY(Freeze(rows.subspan(first, kFrozenRowsMax)));
  TellProgress();
  return absl::OkStatus();
}

absl::Status ViewKeeper::WaitForLog() const {
  constexpr absl::Duration kPause = absl::Milliseconds(50);
  const int64_t now_micros = tables_->clock().NowMicros();
  const absl::Time end_of_wait = absl::Now() + options_.log_wait_max;
  while (true) {
    SONDE_TRY_SET(const RowLog::End end,
                  tables_->engine().log()->FindEnd(source_.table_id, RowRange::All(), now_micros));
    if (end.frontier >= now_micros || !tables_->engine().traits().is_shared) return absl::OkStatus();
    if (absl::Now() >= end_of_wait) {
      return absl::UnavailableError(
          fmt::format("The change log of table {} is not complete up to now", source_.table));
    }
    absl::SleepFor(kPause);
  }
}

// Moves the time that divides the shares of these rows.
absl::Status ViewKeeper::Freeze(absl::Span<const ExpiredKeeper::Row> rows) {
  writer_->state().Clear();
  std::vector<std::string> keys;
  for (const ExpiredKeeper::Row& row : rows) keys.emplace_back(row.row_key);
  SONDE_TRY_SET(FrozenByRow shares, frozen_->Read(keys));
  std::map<std::string, TimeRange, std::less<>> moved;  // the cells that are to be frozen
  for (const ExpiredKeeper::Row& row : rows) {
    const int64_t before_micros = FreezeBefore(*definition_, row.deletes);
    const auto share = shares.find(row.row_key);
    const int64_t start_micros = share == shares.end() ? 0 : share->second.before_micros;
    if (before_micros > start_micros) moved[std::string(row.row_key)] = {start_micros, before_micros};
  }
  std::erase_if(keys, [&moved](const std::string& key) { return !moved.contains(key); });
  const TimesOfRow between = [&moved](std::string_view key) { return moved.find(key)->second; };
  for (absl::Span<const std::string> rest = keys; !rest.empty();) {
    SONDE_TRY_SET(std::vector<SourceRow> read, reader_->Read(rest, between));
    for (SourceRow& row : read) {
      FrozenShare& share = shares[row.key];
      SONDE_TRY_SET(const bool go_together, frozen_->Merge(share, &row.contributions));
      if (!go_together) ++rows_left_out_before_;
      share.before_micros = moved.find(row.key)->second.end_micros;
      share.contributions = std::move(row.contributions);
      frozen_->Put(row.key, share);
      if (frozen_->waiting_bytes() >= kFrozenCommitBytes) SONDE_TRY(frozen_->Commit());
    }
    rest.remove_prefix(read.size());
  }
  return frozen_->Commit();
}

absl::StatusOr<bool> ViewKeeper::Sweep() {
  const std::optional<int64_t>& retain_micros = definition_->lifetime.retain_micros;
  if (!retain_micros.has_value()) return false;
  const int64_t now_micros = tables_->clock().NowMicros();
  if (!sweeping_from_.has_value()) {
    if (now_micros < next_sweep_micros_) return false;
    sweeping_from_ = "";
    next_sweep_micros_ =
        now_micros + std::clamp(*retain_micros / kSweepsPerRetention, kSweepMicrosMin, kSweepMicrosMax);
  }
  std::vector<std::string> past;
  std::optional<std::string> last;  // of the rows that were looked at
  size_t looked_at = 0;
  SONDE_TRY(writer_->state().Scan(
      {SourceStates({*sweeping_from_, ""})},
      [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
        std::vector<GroupId> groups;
        if (!DecodeGroups(value, &groups))
          return absl::DataLossError("The groups of a row are damaged in a view's state");
        last = std::string(SourceOfStateKey(key));
        if (std::ranges::any_of(groups, [this](const GroupId& group) { return IsPast(group); }))
          past.push_back(*last);
        return ++looked_at < kSweptRowsPerStep && past.size() < options_.rows_per_step;
      }));
  SONDE_TRY(Replace(past));
  const bool is_over = looked_at < kSweptRowsPerStep && past.size() < options_.rows_per_step;
  sweeping_from_ = is_over || !last.has_value() ? std::nullopt : std::optional(Successor(*last));
  return sweeping_from_.has_value();
}

absl::StatusOr<std::vector<std::string>> ListKeptRows(Tables* tables, TableId source, const RowRange& range,
                                                      size_t rows_max) {
  std::set<std::string> keys;
  for (const MaterializedViewRef& view : tables->catalog().ListAllMaterializedViews()) {
    if (view->source.table_id != source) continue;
    SONDE_TRY_SET(const std::vector<std::string> of_view,
                  ListFrozen(StateRows(&tables->engine(), view->workings), range, rows_max));
    keys.insert(of_view.begin(), of_view.end());
  }
  std::vector<std::string> first(keys.begin(), keys.end());
  if (first.size() > rows_max) first.resize(rows_max);
  return first;
}

absl::StatusOr<ViewKeeper::NextKeys> ViewKeeper::FindKeys(const std::string& from) const {
  SONDE_TRY_SET(std::vector<std::string> there, FindKeysThere(from));
  SONDE_TRY_SET(std::vector<std::string> known, FindKeysKnown(from));
  // A list that is full says nothing of what is behind its end.
  std::optional<std::string> end;
  for (const std::vector<std::string>* keys : {&there, &known}) {
    if (keys->size() == options_.rows_per_step && (!end.has_value() || keys->back() < *end))
      end = keys->back();
  }
  NextKeys next;
  std::ranges::set_union(there, known, std::back_inserter(next.keys));
  if (!end.has_value()) return next;
  next.keys.erase(std::ranges::upper_bound(next.keys, *end), next.keys.end());
  next.next = Successor(*end);
  return next;
}

absl::StatusOr<std::vector<std::string>> ViewKeeper::FindKeysThere(const std::string& from) const {
  SONDE_TRY_SET(const std::unique_ptr<RowStream> stream,
                tables_->engine().Scan(source_.table_id, {{from, ""}},
                                       {.hints = {.keys_only = true, .newest_of_row = true}}));
  std::vector<std::string> keys;
  RowPiece piece;
  while (true) {
    SONDE_TRY_SET(const bool more, stream->Next(&piece));
    if (!more) return keys;
    if (!keys.empty() && keys.back() == piece.row_key) continue;
    if (keys.size() == options_.rows_per_step) return keys;
    keys.push_back(piece.row_key);
  }
}

absl::StatusOr<std::vector<std::string>> ViewKeeper::FindKeysKnown(const std::string& from) const {
  std::vector<std::string> keys;
  SONDE_TRY(writer_->state().Scan({SourceStates({from, ""})}, [&](std::string_view key, std::string_view) {
    keys.emplace_back(SourceOfStateKey(key));
    return keys.size() < options_.rows_per_step;
  }));
  return keys;
}

absl::Status ViewKeeper::TellReady() {
  if (view_->state == MaterializedViewRecord::State::kReady || !checkpoint_->was_populated)
    return absl::OkStatus();
  SONDE_TRY_SET(view_,
                tables_->catalog().UpdateMaterializedView(name_, "", [this](MaterializedViewRecord* view) {
                  // Another view may have taken the name.
                  if (view->storage->id == view_->storage->id)
                    view->state = MaterializedViewRecord::State::kReady;
                }));
  return absl::OkStatus();
}

absl::Status ViewKeeper::Flush() {
  if (!checkpoint_.has_value() || *checkpoint_ == written_) return absl::OkStatus();
  writer_->state().Clear();
  writer_->state().Put(CheckpointKey(), EncodeCheckpoint(*checkpoint_));
  SONDE_TRY(writer_->state().Commit());
  written_ = *checkpoint_;
  return absl::OkStatus();
}

void ViewKeeper::TellProgress() {
  applied_micros_ = checkpoint_->position;
  is_populating_ = checkpoint_->populating_from.has_value();
  rows_left_out_ = rows_left_out_before_ + reader_->rows_left_out();
  groups_left_out_ = groups_left_out_before_ + writer_->groups_left_out();
}

ViewProgress ViewKeeper::progress() const {
  return {.applied_micros = applied_micros_,
          .is_populating = is_populating_,
          .populated_rows = populated_rows_,
          .changed_rows = changed_rows_,
          .rows_left_out = rows_left_out_,
          .groups_left_out = groups_left_out_};
}

}  // namespace sonde::sql

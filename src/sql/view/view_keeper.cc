#include "sql/view/view_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "model/names.h"
#include "sql/plan/try.h"
#include "sql/view/changed_rows.h"
#include "sql/view/state_keys.h"
#include "sql/view/view_definitions.h"

namespace sonde::sql {
namespace {

// A checkpoint that has moved by this much is written even if nothing has changed, so that the log reaches back to it.
constexpr int64_t kCheckpointMicrosMax = int64_t{10} * 60 * 1'000'000;

}  // namespace

ViewKeeper::ViewKeeper(Tables* tables, UnloggedWriters* unlogged, MaterializedViewRef view,
                       ViewKeeperOptions options)
    : tables_(tables),
      unlogged_(unlogged),
      name_(view->name),
      source_(view->source),
      view_(std::move(view)),
      options_(options),
      bundles_(&tables->catalog()) {}

absl::StatusOr<bool> ViewKeeper::Step() {
  const TableSchemaRef source = tables_->catalog().FindById(source_.table_id);
  if (source == nullptr) {
    return absl::NotFoundError(fmt::format("Table {} of view {} is gone", source_.table, name_));
  }
  SONDE_TRY_SET(const bool is_logged, StartLogging(*source));
  if (!is_logged) return false;
  SONDE_TRY(Bind(source));
  if (!checkpoint_.has_value()) SONDE_TRY(Open(*source));
  if (ShowsOtherCells(checkpoint_->families, RulesOf(*source)) || !LogReachesBack())
    SONDE_TRY(PopulateAgain());
  checkpoint_->families = RulesOf(*source);
  SONDE_TRY_SET(const bool more_changes, Follow());
  bool more_rows = false;
  // Neither waits for the other: while both have work they take turns, a step each.
  if (checkpoint_->populating_from.has_value() &&
      (!more_changes || std::exchange(populates_next_, !populates_next_))) {
    SONDE_TRY_SET(more_rows, Populate());
  }
  if (!more_changes && !checkpoint_->populating_from.has_value()) SONDE_TRY(TellReady());
  TellProgress();
  return more_changes || more_rows;
}

absl::StatusOr<bool> ViewKeeper::StartLogging(const TableSchema& source) {
  if (source.FindLogUse(kViewLogUse) == nullptr) {
    const bool was_logged = source.IsLogged();
    SONDE_TRY_SET(const TableSchemaRef before, tables_->catalog().Find(source.name));
    const int64_t now_micros = tables_->clock().NowMicros();
    SONDE_TRY(tables_->catalog()
                  .Update(source.name,
                          [now_micros](TableSchema* table) {
                            if (table->FindLogUse(kViewLogUse) != nullptr) return absl::OkStatus();
                            const auto at =
                                std::ranges::lower_bound(table->log_uses, kViewLogUse, {}, &LogUse::name);
                            table->log_uses.insert(
                                at, {.name = std::string(kViewLogUse),
                                     .retention_micros = absl::ToInt64Microseconds(kLogRetention),
                                     .start_micros = now_micros,
                                     .reads_garbage = true});
                            return absl::OkStatus();
                          })
                  .status());
    if (!was_logged) unlogged_->Add(before, absl::Now() + options_.writers_wait_max);
    return false;
  }
  return !unlogged_->MayWrite(source.id);
}

absl::Status ViewKeeper::Bind(const TableSchemaRef& source) {
  if (definition_ != nullptr && definition_->source() == source) return absl::OkStatus();
  SONDE_TRY_SET(
      std::shared_ptr<const ViewDefinition> definition,
      DefineView(view_->query, BindOptionsOfView(&tables_->catalog(), &bundles_, InstanceOfSqlView(name_))));
  if (definition->source()->id != source->id) {
    return absl::NotFoundError(fmt::format("Table {} of view {} is another one", source_.table, name_));
  }
  SONDE_TRY_SET(
      std::unique_ptr<ViewWriter> writer,
      ViewWriter::Create(&tables_->engine(), definition, view_->storage, view_->workings, options_.shape));
  if (reader_ != nullptr) rows_left_out_before_ += reader_->rows_left_out();
  if (writer_ != nullptr) groups_left_out_before_ += writer_->groups_left_out();
  definition_ = std::move(definition);
  reader_ = std::make_unique<ContributionReader>(tables_, definition_, options_.idle_workers);
  writer_ = std::move(writer);
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
  SONDE_TRY_SET(const ChangedRows changed,
                ReadChangedRows(tables_->engine().log(), source_.table_id, checkpoint_->position,
                                options_.rows_per_step, tables_->clock().NowMicros()));
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
  for (absl::Span<const std::string> rest = keys; !rest.empty();) {
    SONDE_TRY_SET(const std::vector<SourceRow> rows, reader_->Read(rest));
    SONDE_TRY(writer_->Replace(rows));
    rest.remove_prefix(rows.size());
  }
  return absl::OkStatus();
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

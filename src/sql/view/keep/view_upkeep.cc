#include "sql/view/keep/view_upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/background.h"
#include "catalog/catalog.h"

namespace sonde::sql {
namespace {

// From here on callers that can write less should (engine.h).
constexpr double kPressure = 0.5;
constexpr char kLeaseName[] = "views";

double Seconds(int64_t micros) { return static_cast<double>(micros) * 1e-6; }

}  // namespace

ViewUpkeep::ViewUpkeep(Tables* tables,
                       std::function<void(const std::string& view, const absl::Status& error)> tell_error,
                       ViewUpkeepOptions options)
    : tables_(tables),
      tell_error_(std::move(tell_error)),
      options_(options),
      lease_(&tables->engine(), kLeaseName, options.renew_lease),
      thread_([this] { Run(); }) {
  tables_->SetExpiredKeeper(this);
}

ViewUpkeep::~ViewUpkeep() {
  tables_->SetExpiredKeeper(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  stops_.SignalAll();
  thread_.join();
}

void ViewUpkeep::Run() {
  WorkBehindRequests();
  while (!IsStopping()) {
    const bool may_keep = MayKeep();
    if (may_keep) TakeViews();
    if (!may_keep || !StepAll()) Rest(options_.idle);
  }
  for (const auto& [id, kept] : views_)
    kept->keeper->Flush().IgnoreError();  // what is not written is done again
}

bool ViewUpkeep::MayKeep() {
  if (tables_->engine().log() == nullptr) return false;
  const uint64_t holding = lease_.holding();
  const bool is_held = lease_.IsHeld();
  if (is_held && holding == holding_) return true;
  // What the keepers have in memory is not what another server has written since.
  if (version_ != 0) {
    std::map<TableId, std::shared_ptr<Kept>> ended;
    const absl::MutexLock lock(&mutex_);
    views_.swap(ended);
    version_ = 0;
  }
  holding_ = holding;
  return is_held;
}

void ViewUpkeep::TakeViews() {
  const uint64_t version = tables_->catalog().MaterializedViewsVersion();
  if (version == version_) return;
  std::map<TableId, std::shared_ptr<Kept>> views;
  for (const MaterializedViewRef& view : tables_->catalog().ListAllMaterializedViews()) {
    std::shared_ptr<Kept>& kept = views[view->storage->id];
    if (const auto at = views_.find(view->storage->id); at != views_.end()) {
      kept = at->second;
      continue;
    }
    kept = std::make_shared<Kept>();
    ViewKeeperOptions keeper = options_.keeper;
    keeper.engine = lease_.engine();
    kept->keeper = std::make_unique<ViewKeeper>(tables_, &unlogged_, view, keeper);
  }
  {
    const absl::MutexLock lock(&mutex_);
    views_.swap(views);
  }
  version_ = version;
  StopLogging();
}

// A table that no view reads from any more is not logged for views.
void ViewUpkeep::StopLogging() {
  // Whether a view has a use of the log of this table.
  const auto is_used = [this](TableId table, std::string_view use) {
    const std::vector<MaterializedViewRef> all = tables_->catalog().ListAllMaterializedViews();
    return std::ranges::any_of(all, [&](const MaterializedViewRef& view) {
      return view->source.table_id == table && (use == kViewLogUse || OutlivesSource(view->query));
    });
  };
  for (const std::string_view use : {kViewLogUse, kExpiredKeeperUse}) {
    for (const TableSchemaRef& table : tables_->catalog().ListAll()) {
      if (table->FindLogUse(use) == nullptr || is_used(table->id, use)) continue;
      const auto stop = [&, id = table->id](TableSchema* schema) {
        // A view may have come meanwhile.
        if (!is_used(id, use))
          std::erase_if(schema->log_uses, [use](const LogUse& of) { return of.name == use; });
        return absl::OkStatus();
      };
      tables_->catalog()
          .Update(table->name, stop)
          .status()
          .IgnoreError();  // the log is trimmed, whoever reads it
    }
  }
}

bool ViewUpkeep::StepAll() {
  bool more = false;
  for (const auto& [id, kept] : views_) {
    if (IsStopping()) return true;
    if (absl::Now() < kept->rests_until) continue;
    if (tables_->WritePressure() >= kPressure) Rest(options_.rest_under_pressure);
    more |= Step(kept.get());
    LookAtLag(kept.get());
  }
  return more;
}

bool ViewUpkeep::Step(Kept* kept) {
  absl::StatusOr<bool> more = false;
  {
    const absl::MutexLock works(&kept->works);
    more = kept->keeper->Step();
  }
  // A view that was deleted meanwhile has no tables any more.
  if (absl::IsNotFound(more.status()) && tables_->catalog().MaterializedViewsVersion() != version_)
    return true;
  NoteEnd(kept, more.status());
  if (more.ok()) return *more;
  kept->rests_until = absl::Now() + (absl::IsUnknown(more.status()) ? options_.rest_after_unknown
                                                                    : options_.rest_after_error);
  return false;
}

void ViewUpkeep::NoteEnd(Kept* kept, const absl::Status& status) {
  bool is_first = false;
  {
    const absl::MutexLock lock(&mutex_);
    is_first = !status.ok() && kept->error.empty();
    kept->error = std::string(status.message());
  }
  if (is_first) tell_error_(kept->keeper->name(), status);
}

absl::Status ViewUpkeep::KeepExpired(const TableSchema& schema, absl::Span<const Row> rows) {
  for (const MaterializedViewRef& view : tables_->catalog().ListAllMaterializedViews()) {
    if (view->source.table_id != schema.id || !OutlivesSource(view->query)) continue;
    std::shared_ptr<Kept> kept;
    {
      const absl::MutexLock lock(&mutex_);
      if (const auto at = views_.find(view->storage->id); at != views_.end()) kept = at->second;
    }
    if (kept == nullptr) return absl::UnavailableError(fmt::format("View {} is not kept yet", view->name));
    const absl::MutexLock works(&kept->works);
    if (absl::Status status = kept->keeper->KeepExpired(rows); !status.ok()) {
      NoteEnd(kept.get(), status);
      return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ViewUpkeep::ListKept(const TableSchema& schema,
                                                              const RowRange& range, size_t rows_max) {
  return ListKeptRows(tables_, schema.id, range, rows_max);
}

void ViewUpkeep::LookAtLag(Kept* kept) {
  const absl::Time now = absl::Now();
  if (now < kept->looked + options_.lag_look) return;
  const int64_t before_micros = std::exchange(kept->lag_micros, LagOf(kept->keeper->progress()));
  const bool is_first_look = kept->looked == absl::InfinitePast();
  kept->looked = now;
  const absl::Duration lag = absl::Microseconds(kept->lag_micros);
  std::string finding;
  if (!is_first_look && lag > options_.lag_noticed && kept->lag_micros >= before_micros) {
    finding = fmt::format(
        "The view is {:.0f} s behind its table and does not come nearer: the table changes faster than the "
        "view is computed. When it is behind by "
        "{:.0f} h, all rows are computed anew",
        Seconds(kept->lag_micros), absl::ToDoubleHours(kLogRetention));
  }
  bool is_new = false;
  {
    const absl::MutexLock lock(&mutex_);
    is_new = !finding.empty() && kept->finding.empty();
    kept->finding = finding;
  }
  if (is_new) tell_error_(kept->keeper->name(), absl::ResourceExhaustedError(finding));
}

int64_t ViewUpkeep::LagOf(const ViewProgress& progress) const {
  if (progress.applied_micros == 0) return 0;
  return std::max<int64_t>(0, tables_->clock().NowMicros() - progress.applied_micros);
}

bool ViewUpkeep::IsStopping() const {
  const absl::MutexLock lock(&mutex_);
  return is_stopping_;
}

void ViewUpkeep::Rest(absl::Duration duration) {
  const absl::MutexLock lock(&mutex_);
  stops_.WaitFor(&mutex_, duration, absl::Condition(&is_stopping_));
}

std::vector<ViewUpkeep::Progress> ViewUpkeep::ListProgress() const {
  std::vector<Progress> list;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, kept] : views_) {
    Progress progress{.view = kept->keeper->name(),
                      .progress = kept->keeper->progress(),
                      .error = kept->error,
                      .finding = kept->finding};
    progress.lag_micros = LagOf(progress.progress);
    list.push_back(std::move(progress));
  }
  return list;
}

std::vector<Figure> ViewUpkeep::Figures() const {
  Figure applied =
      Figure::Gauge("sonde_view_applied_seconds",
                    "The commit time up to which the view has all changes, since 1970; 0: it has not begun.");
  Figure lag = Figure::Gauge("sonde_view_lag_seconds", "How far the view is behind its table.");
  Figure populating =
      Figure::Gauge("sonde_view_populating", "1 while rows that were there are computed; else 0.");
  Figure populated = Figure::Counter("sonde_view_populated_rows_total", "Rows that were populated.");
  Figure changed =
      Figure::Counter("sonde_view_changed_rows_total", "Rows that were computed anew as they had changed.");
  Figure rows =
      Figure::Counter("sonde_view_rows_left_out_total",
                      "How often a row was left out as an expression failed for it or it was too large.");
  Figure groups =
      Figure::Counter("sonde_view_groups_left_out_total",
                      "How often a row of the view was left out as its values could not be computed.");
  Figure behind = Figure::Gauge("sonde_view_cannot_keep_up",
                                "1 if the view is a minute behind and does not come nearer; else 0.");
  Figure failing =
      Figure::Gauge("sonde_view_failing", "1 if the last attempt to keep the view has failed; else 0.");
  for (const Progress& one : ListProgress()) {
    const Figure::Labels labels = {{"view", one.view}};
    applied.Add(Seconds(one.progress.applied_micros), labels);
    lag.Add(Seconds(one.lag_micros), labels);
    populating.Add(one.progress.is_populating ? 1 : 0, labels);
    populated.Add(static_cast<double>(one.progress.populated_rows), labels);
    changed.Add(static_cast<double>(one.progress.changed_rows), labels);
    rows.Add(static_cast<double>(one.progress.rows_left_out), labels);
    groups.Add(static_cast<double>(one.progress.groups_left_out), labels);
    failing.Add(one.error.empty() ? 0 : 1, labels);
    behind.Add(one.finding.empty() ? 0 : 1, labels);
  }
  return {std::move(applied),   std::move(lag),     std::move(populating),
          std::move(populated), std::move(changed), std::move(rows),
          std::move(groups),    std::move(failing), std::move(behind)};
}

}  // namespace sonde::sql

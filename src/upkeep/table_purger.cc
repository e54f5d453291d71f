#include "upkeep/table_purger.h"

#include <string>

namespace sonde {

absl::Status TablePurger::Sweep() {
  const int64_t dead_micros = clock_->NowMicros() - absl::ToInt64Microseconds(options_.keep);
  const std::optional<double> free_share = options_.free_share ? options_.free_share() : std::nullopt;
  // One a sweep: its space comes back later, and the next sweep sees whether that was enough.
  bool wants_space = free_share.has_value() && *free_share < options_.free_share_min;
  absl::Status first;
  uint64_t kept = 0, bytes = 0, purged = 0;
  for (const DeletedTableRef& table : catalog_->ListDeleted()) {
    const TableId id = table->record.schema.id;
    if (table->deleted_micros > dead_micros && !wants_space) {
      ++kept;
      bytes += BytesOf(id);
      continue;
    }
    wants_space = false;
    const absl::Status status = catalog_->Purge(id);
    if (status.ok()) ++purged;
    // NOT_FOUND: it was undeleted, or another has dropped it.
    if (!status.ok() && !absl::IsNotFound(status)) first.Update(status);
  }
  const absl::MutexLock lock(&mutex_);
  kept_ = kept;
  bytes_ = bytes;
  purged_ += purged;
  return first;
}

uint64_t TablePurger::BytesOf(TableId table) const {
  const absl::StatusOr<std::vector<RangeStats>> ranges = engine_->Ranges(table);
  uint64_t bytes = 0;
  if (!ranges.ok()) return bytes;  // it is being dropped
  for (const RangeStats& range : *ranges) bytes += range.bytes;
  return bytes;
}

std::vector<Figure> TablePurger::Figures() const {
  const absl::MutexLock lock(&mutex_);
  return {Figure::Gauge("sonde_deleted_tables", "Deleted tables that UndeleteTable could bring back.")
              .Add(static_cast<double>(kept_)),
          Figure::Gauge("sonde_deleted_table_bytes", "About what they hold on the disk and in memory.")
              .Add(static_cast<double>(bytes_)),
          Figure::Counter("sonde_deleted_tables_purged_total", "Deleted tables that were dropped for good.")
              .Add(static_cast<double>(purged_))};
}

}  // namespace sonde

#include "engine/hbase/snapshots/hbase_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/engine_errors.h"
#include "engine/hbase/log/stored_log.h"

namespace sonde {
namespace {

constexpr int kTriesMax = 5;
constexpr absl::Duration kBetweenTries = absl::Seconds(1);
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(200);
constexpr uint64_t kBytesMin = uint64_t{1} << 20;  // of a table that is there

// Whether the same call may succeed a moment later.
bool IsWorthATry(const absl::Status& status) {
  return !absl::IsAlreadyExists(status) && !absl::IsNotFound(status) && !absl::IsDeadlineExceeded(status) &&
         !absl::IsPermissionDenied(status) && !absl::IsUnimplemented(status);
}

// The status that callers of the store get for a change that HBase's master refused, or of which it did not tell the end.
absl::Status ToStoreStatus(const absl::Status& status) {
  const bool is_known = status.ok() || absl::IsDeadlineExceeded(status) || absl::IsNotFound(status) ||
                        absl::IsAlreadyExists(status) || absl::IsDataLoss(status) ||
                        absl::IsUnknown(status) || absl::IsUnimplemented(status);
  return is_known ? status : absl::UnavailableError(status.message());
}

absl::Status Tell(const Snapshots::RestoreOptions& options, double done) {
  return options.on_progress ? options.on_progress(done) : absl::OkStatus();
}

}  // namespace

std::string HBaseSnapshots::NameIn(std::string_view name) const {
  return fmt::format("{}.{}", store_.space, name);
}

absl::Status HBaseSnapshots::CheckIsThere(TableId table, absl::Time deadline) {
  return client_->tables()->Describe(store_.name_of(table), deadline).status();
}

absl::StatusOr<std::vector<Snapshots::Facts>> HBaseSnapshots::ListNames(absl::Time deadline) {
  const absl::StatusOr<std::vector<hbase::SnapshotFacts>> all = client_->tables()->ListSnapshots(deadline);
  if (!all.ok()) return all.status();
  const std::string prefix = NameIn("");
  std::vector<Facts> own;
  for (const hbase::SnapshotFacts& snapshot : *all) {
    const std::optional<TableId> table = store_.id_of(snapshot.table);
    if (snapshot.table.space != store_.space || !snapshot.name.starts_with(prefix) || !table.has_value())
      continue;
    own.push_back({.name = snapshot.name.substr(prefix.size()), .table = *table});
  }
  std::sort(own.begin(), own.end(), [](const Facts& a, const Facts& b) { return a.name < b.name; });
  return own;
}

absl::StatusOr<std::optional<Snapshots::Facts>> HBaseSnapshots::Find(std::string_view name,
                                                                     absl::Time deadline) {
  absl::StatusOr<std::vector<Facts>> all = ListNames(deadline);
  if (!all.ok()) return all.status();
  for (Facts& facts : *all) {
    if (facts.name == name) return std::move(facts);
  }
  return std::nullopt;
}

absl::Status HBaseSnapshots::Make(std::string_view name, TableId table, absl::Time deadline) {
  if (absl::Status status = CheckSnapshotName(name); !status.ok()) return status;
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  const absl::Time end = std::min(deadline, absl::Now() + kMakeTimeMax);
  if (absl::Status status = CheckIsThere(table, end); !status.ok()) return ToStoreStatus(status);
  absl::StatusOr<std::optional<Facts>> there = Find(name, end);
  if (!there.ok()) return ToStoreStatus(there.status());
  if (there->has_value()) return HasSnapshot(name);
  absl::Status made;
  for (int count = 1;; ++count) {
    made = client_->tables()->Snapshot(NameIn(name), store_.name_of(table), end);
    if (made.ok()) return made;
    // One that is listed is whole, whoever has made it of the tries.
    there = Find(name, end);
    if (there.ok() && there->has_value()) {
      return absl::IsAlreadyExists(made) && count == 1 ? HasSnapshot(name) : absl::OkStatus();
    }
    if (count == kTriesMax || !IsWorthATry(made) || absl::Now() + kBetweenTries >= end)
      return ToStoreStatus(made);
    absl::SleepFor(kBetweenTries);
  }
}

absl::StatusOr<std::vector<Snapshots::Facts>> HBaseSnapshots::List(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  absl::StatusOr<std::vector<Facts>> all = ListNames(deadline);
  if (!all.ok()) return ToStoreStatus(all.status());
  for (Facts& facts : *all) {
    const absl::StatusOr<uint64_t> bytes = store_.bytes_of(facts.table, deadline);
    if (!bytes.ok() && !absl::IsNotFound(bytes.status())) return ToStoreStatus(bytes.status());
    facts.bytes = bytes.ok() ? std::max(*bytes, kBytesMin) : 0;
  }
  return all;
}

absl::Status HBaseSnapshots::Replace(std::string_view name, TableId into, absl::Time deadline) {
  hbase::Tables* const tables = client_->tables();
  const hbase::TableName table = store_.name_of(into);
  absl::Status status = tables->Drop(table, deadline);
  store_.on_replaced(into);
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  status = tables->CloneSnapshot(NameIn(name), table, deadline);
  if (!status.ok()) return status;
  const absl::StatusOr<hbase::TableSchema> made = tables->Describe(table, deadline);
  if (!made.ok()) return made.status();
  const bool is_logged = std::any_of(made->families.begin(), made->families.end(),
                                     [](const auto& family) { return family.name == kLogFamily; });
  if (is_logged) status = tables->DropFamily(table, kLogFamily, deadline);
  store_.on_replaced(into);
  return status;
}

absl::Status HBaseSnapshots::Restore(std::string_view name, TableId into, const RestoreOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  const absl::StatusOr<std::optional<Facts>> there = Find(name, options.deadline);
  if (!there.ok()) return ToStoreStatus(there.status());
  if (!there->has_value()) return NoSnapshot(name);
  const absl::Status table_there = CheckIsThere(into, options.deadline);
  if (absl::IsNotFound(table_there)) {
    const absl::MutexLock lock(&mutex_);
    if (!half_restored_.contains(into)) return table_there;
  } else if (!table_there.ok()) {
    return ToStoreStatus(table_there);
  }
  if (absl::Status status = Tell(options, 0); !status.ok()) return status;
  {
    const absl::MutexLock lock(&mutex_);
    half_restored_.insert(into);
  }
  const absl::Status status = Replace(name, into, options.deadline);
  if (!status.ok()) return ToStoreStatus(status);
  {
    const absl::MutexLock lock(&mutex_);
    half_restored_.erase(into);
  }
  return Tell(options, 1);
}

absl::Status HBaseSnapshots::Optimize(TableId table, const RestoreOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  if (absl::Status status = CheckIsThere(table, options.deadline); !status.ok()) return ToStoreStatus(status);
  if (absl::Status status = Tell(options, 0); !status.ok()) return status;
  const hbase::TableName name = store_.name_of(table);
  absl::Status status = client_->tables()->Compact(name, /*major=*/true, options.deadline);
  if (!status.ok()) return ToStoreStatus(status);
  const auto regions = client_->regions()->All(name, options.deadline);
  if (!regions.ok()) return ToStoreStatus(regions.status());
  for (size_t i = 0; i < regions->size();) {
    const absl::StatusOr<hbase::RegionState> state =
        client_->tables()->StateOf(*(*regions)[i], options.deadline);
    if (!state.ok()) return ToStoreStatus(state.status());
    if (!state->is_compacting) {
      ++i;
      continue;
    }
    status = Tell(options, static_cast<double>(i) / static_cast<double>(regions->size()));
    if (!status.ok()) return status;
    if (absl::Now() + kBetweenLooks >= options.deadline)
      return absl::DeadlineExceededError("The deadline passed while HBase wrote the table's files anew");
    absl::SleepFor(kBetweenLooks);
  }
  return Tell(options, 1);
}

absl::Status HBaseSnapshots::Drop(std::string_view name, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  absl::Status status;
  // After an answer that was lost HBase says that there is none.
  int count = 0;
  do status = client_->tables()->DropSnapshot(NameIn(name), deadline);
  while (absl::IsUnknown(status) && ++count < kTriesMax);
  return absl::IsNotFound(status) ? absl::OkStatus() : ToStoreStatus(status);
}

}  // namespace sonde

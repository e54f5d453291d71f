#include "engine/hbase/table_kinds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/hbase/store_layout.h"

namespace sonde {
namespace {

// How long the master may take to say the kind of a table that was loaded when the server started, and for how long the loaded kind stands after that.
constexpr absl::Duration kAskedAgainMax = absl::Seconds(2);
constexpr absl::Duration kStandsFor = absl::Seconds(30);

}  // namespace

TableKinds::TableKinds(hbase::Client* client, std::string space)
    : client_(client), space_(std::move(space)) {}

absl::Status TableKinds::Load(absl::Time deadline) {
  const absl::StatusOr<std::vector<hbase::TableSchema>> schemas = client_->tables()->List(space_, deadline);
  if (!schemas.ok()) return schemas.status();
  const absl::MutexLock lock(&mutex_);
  for (const hbase::TableSchema& schema : *schemas) {
    if (const auto id = CellsTableId(schema.table); id.has_value())
      known_[*id] = {.storage = StorageOf(schema), .good_until = absl::InfinitePast()};
  }
  return absl::OkStatus();
}

absl::StatusOr<CellStorage> TableKinds::Of(TableId table, absl::Time deadline) {
  const absl::Time now = absl::Now();
  absl::Time asked_until = deadline;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    const auto known = known_.find(table);
    if (known != known_.end()) {
      if (now < known->second.good_until) return known->second.storage;
      asked_until = std::min(deadline, now + kAskedAgainMax);
    }
  }
  const absl::StatusOr<hbase::TableSchema> schema =
      client_->tables()->Describe(CellsTable(space_, table), asked_until);
  const absl::MutexLock lock(&mutex_);
  if (schema.ok()) return (known_[table] = {.storage = StorageOf(*schema)}).storage;
  const auto known = known_.find(table);
  if (absl::IsNotFound(schema.status()) || known == known_.end()) return schema.status();
  known->second.good_until = absl::Now() + kStandsFor;
  return known->second.storage;
}

void TableKinds::Forget(TableId table) {
  const absl::MutexLock lock(&mutex_);
  known_.erase(table);
}

}  // namespace sonde

#include "engine/hbase/settle/settle_leases.h"

#include <fmt/format.h>

#include "base/varint.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/row_edit.h"
#include "engine/hbase/store_layout.h"
#include "engine/hbase/stored_row.h"

namespace sonde {
namespace {

constexpr FamilyId kLeases = 1;
constexpr size_t kWatchedMax = 100'000;  // more are forgotten, and watched anew

}  // namespace

SettleLeases::SettleLeases(hbase::Client* client, std::string space, uint64_t owner)
    : client_(client), space_(std::move(space)), owner_(owner) {}

std::string SettleLeases::BytesOf(const Lease& lease) {
  std::string bytes;
  PutFixed64(&bytes, lease.owner);
  PutFixed64(&bytes, lease.writes);
  PutFixed64(&bytes, static_cast<uint64_t>(lease.settled_millis));
  return bytes + lease.next;
}

absl::StatusOr<SettleLeases::Lease> SettleLeases::LeaseOf(std::string_view bytes) {
  Lease lease;
  uint64_t millis = 0;
  if (!GetFixed64(&bytes, &lease.owner) || !GetFixed64(&bytes, &lease.writes) || !GetFixed64(&bytes, &millis))
    return absl::DataLossError("A lease of a region that is settled is too short");
  lease.settled_millis = static_cast<int64_t>(millis);
  lease.next = std::string(bytes);
  return lease;
}

bool SettleLeases::IsFree(const Place& place, const Lease& lease, absl::Time now) {
  if (lease.owner == 0 || lease.owner == owner_) return true;
  if (watched_.size() >= kWatchedMax) watched_.clear();
  const auto [at, is_new] = watched_.try_emplace(place, Watched{lease, now});
  if (!is_new && at->second.lease != lease) at->second = {lease, now};
  return now - at->second.since >= kLease;
}

template <typename Change>
absl::StatusOr<bool> SettleLeases::Write(const Place& place, const Change& change, absl::Time deadline) {
  const hbase::TableName table = CatalogTable(space_);
  const std::string row_key = fmt::format("settle/{}", CellsTable(space_, place.first).name);
  const StoredChoice choice{.qualifiers = {StoredColumnRange(kLeases, place.second)}};
  bool is_written = false;
  const auto read = [&] { return ReadStoredRow(client_, table, row_key, choice, deadline); };
  const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
    absl::StatusOr<Lease> lease = Lease();
    for (const SeamCell& cell : row.cells()) {
      if (cell.cell.qualifier == place.second) lease = LeaseOf(cell.cell.value);
    }
    if (!lease.ok()) return lease.status();
    is_written = change(&*lease);
    if (!is_written) return Made::kNothing;
    ++lease->writes;
    const std::string_view bytes = edit->bytes.emplace_back(BytesOf(*lease));
    FamilyDelta leases{.family = kLeases};
    leases.puts.push_back({place.second, 0, bytes});
    const absl::Status made = MakeEdit(row_key, {.families = {std::move(leases)}}, row, edit);
    if (!made.ok()) return made;
    return Made::kEdit;
  };
  const absl::Status status = CommitGuarded(client_, table, row_key, read, make, deadline, &conflicts_);
  if (!status.ok()) return status;
  return is_written;
}

absl::StatusOr<std::optional<std::string>> SettleLeases::Take(TableId table, std::string_view region_start,
                                                              absl::Duration pause, absl::Time now,
                                                              absl::Time deadline) {
  const Place place{table, std::string(region_start)};
  std::string next;
  const absl::StatusOr<bool> taken = Write(
      place,
      [&](Lease* lease) {
        const absl::Time settled = absl::FromUnixMillis(lease->settled_millis);
        if (!IsFree(place, *lease, now) || (settled <= now && now - settled < pause)) return false;
        lease->owner = owner_;
        next = lease->next;
        return true;
      },
      deadline);
  if (!taken.ok()) return taken.status();
  return *taken ? std::optional(next) : std::nullopt;
}

absl::StatusOr<bool> SettleLeases::Renew(TableId table, std::string_view region_start, absl::Time deadline) {
  return Write(
      {table, std::string(region_start)}, [&](Lease* lease) { return lease->owner == owner_; }, deadline);
}

absl::Status SettleLeases::Give(TableId table, std::string_view region_start, std::string_view next,
                                absl::Time now, absl::Time deadline) {
  const auto change = [&](Lease* lease) {
    if (lease->owner != owner_) return false;
    lease->owner = 0;
    lease->next = std::string(next);
    // A region that is not whole is gone on with at once.
    if (next.empty()) lease->settled_millis = absl::ToUnixMillis(now);
    return true;
  };
  return Write({table, std::string(region_start)}, change, deadline).status();
}

}  // namespace sonde

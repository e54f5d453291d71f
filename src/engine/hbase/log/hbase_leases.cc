#include "engine/hbase/log/hbase_leases.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/hbase/log/slot.h"

namespace sonde {
namespace {

constexpr char kLeasesRow[] = "leases";
constexpr absl::Duration kCallMax = absl::Seconds(5);

// What a name has, as a slot; an empty one, if it has nothing.
absl::StatusOr<Slot> SlotOf(const Board::Entries& entries, std::string_view name, std::string* value) {
  const auto entry = entries.find(name);
  if (entry == entries.end()) return Slot();
  *value = entry->second.value;
  return DecodeSlot(*value);
}

}  // namespace

HBaseLeases::HBaseLeases(hbase::Client* client, hbase::TableName catalog, HBaseLeasesOptions options)
    : options_(options), board_(client, std::move(catalog), kLeasesRow), owner_(NewSlotOwner()) {}

absl::StatusOr<absl::Duration> HBaseLeases::Hold(std::string_view name, absl::Time deadline) {
  const auto began = std::chrono::steady_clock::now();
  deadline = std::min(deadline, absl::Now() + kCallMax);
  const absl::StatusOr<Board::Entries> entries = board_.Look(deadline);
  if (!entries.ok()) return entries.status();
  std::string value;
  absl::StatusOr<Slot> slot = SlotOf(*entries, name, &value);
  if (!slot.ok()) return slot.status();
  const bool is_anothers =
      slot->owner != owner_ && !value.empty() && !HasEnded(*slot, entries->find(name)->second.unchanged);
  if (is_anothers) return absl::ZeroDuration();
  // No two holdings of a name begin with the same value: others would take them for one that has not changed.
  if (value.empty()) slot->changes = static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  slot->owner = owner_;
  slot->lease = options_.lease;
  ++slot->changes;
  const absl::StatusOr<bool> put = board_.Replace(name, value, EncodeSlot(*slot), deadline);
  if (!put.ok()) return put.status();
  if (!*put) return absl::ZeroDuration();
  const absl::Duration took = absl::FromChrono(std::chrono::steady_clock::now() - began);
  return std::max(options_.held - took, absl::ZeroDuration());
}

absl::Status HBaseLeases::Release(std::string_view name, absl::Time deadline) {
  deadline = std::min(deadline, absl::Now() + kCallMax);
  const absl::StatusOr<Board::Entries> entries = board_.Look(deadline);
  if (!entries.ok()) return entries.status();
  std::string value;
  absl::StatusOr<Slot> slot = SlotOf(*entries, name, &value);
  if (!slot.ok()) return slot.status();
  if (slot->owner != owner_) return absl::OkStatus();
  return board_.Remove(name, value, deadline).status();
}

}  // namespace sonde

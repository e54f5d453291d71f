#include "engine/hbase/log/slot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/random.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr char kFormat = 1;
constexpr std::string_view kNamePrefix = "slot";
constexpr int64_t kSlotMask = kSlotsMax - 1;

}  // namespace

std::string NewSlotOwner() {
  SystemRandom random;
  std::string owner;
  PutFixed64(&owner, random.Next() | 1);  // no zeros
  PutFixed64(&owner, random.Next());
  return owner;
}

std::string EncodeSlot(const Slot& slot) {
  std::string value(1, kFormat);
  value.append(slot.owner.empty() ? std::string(kSlotOwnerBytes, '\0') : slot.owner);
  PutFixed64(&value, slot.changes);
  PutFixed64(&value, static_cast<uint64_t>(slot.low));
  PutFixed32(&value, static_cast<uint32_t>(absl::ToInt64Milliseconds(slot.lease)));
  return value;
}

absl::StatusOr<Slot> DecodeSlot(std::string_view value) {
  Slot slot;
  uint64_t low = 0;
  uint32_t lease_ms = 0;
  std::string_view rest = value;
  bool is_slot = rest.size() > kSlotOwnerBytes && rest.front() == kFormat;
  if (is_slot) {
    slot.owner = std::string(rest.substr(1, kSlotOwnerBytes));
    rest.remove_prefix(1 + kSlotOwnerBytes);
    is_slot = GetFixed64(&rest, &slot.changes) && GetFixed64(&rest, &low) && GetFixed32(&rest, &lease_ms) &&
              rest.empty() && low <= static_cast<uint64_t>(INT64_MAX);
  }
  if (!is_slot) {
    return absl::DataLossError(
        fmt::format("HBase has a slot of change logs that Sonde did not write: '{}'", Printable(value)));
  }
  if (slot.owner == std::string(kSlotOwnerBytes, '\0')) slot.owner.clear();
  slot.low = static_cast<int64_t>(low);
  slot.lease = absl::Milliseconds(lease_ms);
  return slot;
}

std::string SlotName(int number) { return fmt::format("{}{:02}", kNamePrefix, number); }

std::optional<int> SlotNumber(std::string_view name) {
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kNamePrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && number >= 0 && number < kSlotsMax ? std::optional(number) : std::nullopt;
}

bool HasEnded(const Slot& slot, std::chrono::steady_clock::duration unchanged) {
  return slot.owner.empty() || unchanged >= absl::ToChronoNanoseconds(slot.lease);
}

absl::StatusOr<SlotsSeen> LookAtSlots(const Board::Entries& entries) {
  SlotsSeen seen;
  for (const auto& [name, entry] : entries) {
    if (!SlotNumber(name).has_value()) continue;
    const absl::StatusOr<Slot> slot = DecodeSlot(entry.value);
    if (!slot.ok()) return slot.status();
    seen.low_max = std::max(seen.low_max, slot->low);
    if (HasEnded(*slot, entry.unchanged)) continue;
    seen.frontier = std::min(seen.frontier.value_or(slot->low), slot->low);
  }
  return seen;
}

int64_t PositionOf(int slot, int64_t position_min) {
  const int64_t position = (position_min & ~kSlotMask) | slot;
  return position >= position_min ? position : position + kSlotsMax;
}

}  // namespace sonde

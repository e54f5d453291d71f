// What a server says on the board (board.h) of the change logs: up to where its records are complete.
//
// A slot belongs to one server at a time.  Positions of its server's records have the slot's number in their last bits, so that positions
// are unique over all servers.  Its `low` never goes back, whoever has the slot: no record of the slot's servers that is not to be
// seen yet has a position at or below it, or ever will.
//
// Layout of the value: format (1 byte), owner (16 bytes; zeros: nobody), count of changes (8 bytes), low (8 bytes), lease in
// milliseconds (4 bytes); numbers are big-endian.
//
// Pure but for NewSlotOwner: no state, no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/log/board.h"

namespace sonde {

constexpr int kSlotBits = 6;
constexpr int kSlotsMax = 1 << kSlotBits;

struct Slot {
  std::string owner;     // kSlotOwnerBytes; empty: nobody
  uint64_t changes = 0;  // no value comes twice
  int64_t low = 0;
  // The owner counts until the value has stayed the same for so long.
  absl::Duration lease = absl::ZeroDuration();

  bool operator==(const Slot&) const = default;
};
constexpr size_t kSlotOwnerBytes = 16;
// Drawn: no other server has it.
std::string NewSlotOwner();

std::string EncodeSlot(const Slot& slot);
// DATA_LOSS: the value is none.
absl::StatusOr<Slot> DecodeSlot(std::string_view value);

// The name of a slot on the board, and its number; nullopt: the name is no slot's.
std::string SlotName(int number);
std::optional<int> SlotNumber(std::string_view name);

bool HasEnded(const Slot& slot, std::chrono::steady_clock::duration unchanged);

// What the board says of all slots.
struct SlotsSeen {
  // No record will appear at or below it; nullopt: no server has a slot.
  std::optional<int64_t> frontier;
  // Of all slots, with an owner or not.  No frontier was greater when the board was read.
  int64_t low_max = 0;
};
absl::StatusOr<SlotsSeen> LookAtSlots(const Board::Entries& entries);

// The least position of a slot that is at least `position_min`.
int64_t PositionOf(int slot, int64_t position_min);

}  // namespace sonde

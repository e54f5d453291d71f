// How a slot of a bucket is written into a qualifier: the documents' 0000 to 2345, or 1 to 31.
//
// Slots are pieces of one length, counted from the start of their bucket.  A calendar format says where in
// the bucket a slot starts; `index` says which one it is, in as many digits as the last one needs.  All
// formats but kDayOfMonth are of one length, and sort as time does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "series/schema/calendar.h"

namespace sonde::series {

enum class SlotFormat : uint8_t {
  kIndex,          // index    000 to 671
  kDayOfMonth,     // d        1 to 31
  kDay,            // dd       01 to 31
  kDayHourMinute,  // ddhhmm   010000 to 312345
  kHour,           // hh       00 to 23
  kHourMinute,     // hhmm     0000 to 2345
  kSecondOfDay,    // hhmmss   000000 to 235959
  kMinute,         // mm       00 to 59
  kMinuteSecond,   // mmss     0000 to 5959
};

std::string_view SlotFormatName(SlotFormat format);
std::optional<SlotFormat> SlotFormatOfName(std::string_view name);
// All names, separated by ", ".
std::string SlotFormatNames();

// Whether it tells all slots of such buckets apart.
bool SlotFormatFits(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros);
// The most readable one that fits.
SlotFormat DefaultSlotFormat(const BucketWidth& bucket, int64_t slot_micros);

// `offset_micros`: of the slot's start in its bucket.
void AppendSlot(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros, int64_t offset_micros,
                std::string* out);
// The offset; nothing unless AppendSlot writes exactly this text for it.
std::optional<int64_t> ParseSlot(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros,
                                 std::string_view text);

}  // namespace sonde::series

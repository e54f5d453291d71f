#include "series/schema/slot_format.h"

#include <charconv>
#include <iterator>

#include "base/format.h"

namespace sonde::series {
namespace {

// Letters of a pattern: D day of the bucket from 1, h hour, m minute, s second, two digits each.
struct SlotFormatInfo {
  SlotFormat format;
  std::string_view name;
  std::string_view pattern;
  int64_t unit_micros;    // the slot must be a multiple of it
  int64_t bucket_micros;  // the bucket may be so long
};

constexpr SlotFormatInfo kSlotFormats[] = {
    {SlotFormat::kIndex, "index", "", 1, INT64_MAX},
    {SlotFormat::kDayOfMonth, "d", "", kMicrosPerDay, 31 * kMicrosPerDay},
    {SlotFormat::kDay, "dd", "D", kMicrosPerDay, 31 * kMicrosPerDay},
    {SlotFormat::kDayHourMinute, "ddhhmm", "Dhm", kMicrosPerMinute, 31 * kMicrosPerDay},
    {SlotFormat::kHour, "hh", "h", kMicrosPerHour, kMicrosPerDay},
    {SlotFormat::kHourMinute, "hhmm", "hm", kMicrosPerMinute, kMicrosPerDay},
    {SlotFormat::kSecondOfDay, "hhmmss", "hms", kMicrosPerSecond, kMicrosPerDay},
    {SlotFormat::kMinute, "mm", "m", kMicrosPerMinute, kMicrosPerHour},
    {SlotFormat::kMinuteSecond, "mmss", "ms", kMicrosPerSecond, kMicrosPerHour},
};

constexpr bool SlotsAreInEnumOrder() {
  for (size_t i = 0; i < std::size(kSlotFormats); ++i) {
    if (static_cast<size_t>(kSlotFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(SlotsAreInEnumOrder());

const SlotFormatInfo& SlotInfoOf(SlotFormat format) { return kSlotFormats[static_cast<size_t>(format)]; }

int64_t SlotCount(const BucketWidth& bucket, int64_t slot_micros) {
  return (bucket.MicrosMax() + slot_micros - 1) / slot_micros;
}

size_t IndexDigits(const BucketWidth& bucket, int64_t slot_micros) {
  return fmt::formatted_size("{}", SlotCount(bucket, slot_micros) - 1);
}

std::optional<int64_t> ParseDigits(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && text[0] != '-';
  return is_whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string_view SlotFormatName(SlotFormat format) { return SlotInfoOf(format).name; }

std::optional<SlotFormat> SlotFormatOfName(std::string_view name) {
  for (const SlotFormatInfo& info : kSlotFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

std::string SlotFormatNames() {
  std::string names;
  for (const SlotFormatInfo& info : kSlotFormats)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

bool SlotFormatFits(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros) {
  const SlotFormatInfo& info = SlotInfoOf(format);
  return slot_micros % info.unit_micros == 0 && bucket.MicrosMax() <= info.bucket_micros;
}

SlotFormat DefaultSlotFormat(const BucketWidth& bucket, int64_t slot_micros) {
  for (const SlotFormat format :
       {SlotFormat::kMinute, SlotFormat::kMinuteSecond, SlotFormat::kHour, SlotFormat::kHourMinute,
        SlotFormat::kSecondOfDay, SlotFormat::kDayOfMonth, SlotFormat::kDayHourMinute}) {
    if (SlotFormatFits(format, bucket, slot_micros)) return format;
  }
  return SlotFormat::kIndex;
}

void AppendSlot(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros, int64_t offset_micros,
                std::string* out) {
  if (format == SlotFormat::kIndex) {
    fmt::format_to(std::back_inserter(*out), "{:0{}}", offset_micros / slot_micros,
                   IndexDigits(bucket, slot_micros));
    return;
  }
  if (format == SlotFormat::kDayOfMonth) {
    fmt::format_to(std::back_inserter(*out), "{}", offset_micros / kMicrosPerDay + 1);
    return;
  }
  for (const char letter : SlotInfoOf(format).pattern) {
    int64_t number = 0;
    if (letter == 'D') number = offset_micros / kMicrosPerDay + 1;
    if (letter == 'h') number = offset_micros % kMicrosPerDay / kMicrosPerHour;
    if (letter == 'm') number = offset_micros % kMicrosPerHour / kMicrosPerMinute;
    if (letter == 's') number = offset_micros % kMicrosPerMinute / kMicrosPerSecond;
    out->push_back(static_cast<char>('0' + number / 10));
    out->push_back(static_cast<char>('0' + number % 10));
  }
}

std::optional<int64_t> ParseSlot(SlotFormat format, const BucketWidth& bucket, int64_t slot_micros,
                                 std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t offset_micros = 0;
  if (format == SlotFormat::kIndex) {
    const std::optional<int64_t> index = ParseDigits(text);
    if (!index || *index >= SlotCount(bucket, slot_micros)) return std::nullopt;
    offset_micros = *index * slot_micros;
  } else if (format == SlotFormat::kDayOfMonth) {
    const std::optional<int64_t> day = ParseDigits(text);
    if (!day || *day < 1 || *day > 31) return std::nullopt;
    offset_micros = (*day - 1) * kMicrosPerDay;
  } else {
    const std::string_view pattern = SlotInfoOf(format).pattern;
    if (text.size() != 2 * pattern.size()) return std::nullopt;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const std::optional<int64_t> number = ParseDigits(text.substr(2 * i, 2));
      if (!number || (pattern[i] == 'D' && *number == 0)) return std::nullopt;
      if (pattern[i] == 'D') offset_micros += (*number - 1) * kMicrosPerDay;
      if (pattern[i] == 'h') offset_micros += *number * kMicrosPerHour;
      if (pattern[i] == 'm') offset_micros += *number * kMicrosPerMinute;
      if (pattern[i] == 's') offset_micros += *number * kMicrosPerSecond;
    }
  }
  if (offset_micros % slot_micros != 0 || offset_micros >= bucket.MicrosMax()) return std::nullopt;
  std::string again;
  AppendSlot(format, bucket, slot_micros, offset_micros, &again);
  return again == text ? std::optional(offset_micros) : std::nullopt;
}

}  // namespace sonde::series

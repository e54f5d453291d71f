// How a time is written into a row key.
//
// Numbers (epoch_s, epoch_ms, epoch_us) are decimal, left with zeros to a width; reversed they are
// Long.MAX_VALUE (2^63 - 1) minus the number, 19 digits, so that the newest sorts first.  Calendar formats
// are UTC and of one length each.  Every format sorts as time does, and stands for a piece of time (its
// unit): what it cannot say is cut off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "series/schema/calendar.h"

namespace sonde::series {

enum class TimeFormat : uint8_t {
  kEpochSeconds,
  kEpochMillis,
  kEpochMicros,
  kMonthCompact,   // yyyymm             202103
  kMonth,          // yyyy-mm            2021-03
  kIsoWeek,        // yyyy-www           2021-w09 (ISO 8601 year and week)
  kDayCompact,     // yyyymmdd           20210305
  kDay,            // yyyy-mm-dd         2021-03-05
  kHourCompact,    // yyyymmddhh         2021030512
  kHour,           // yyyy-mm-dd-hh      2021-03-05-12
  kMinuteCompact,  // yyyymmddhhmm       202103051204
  kMinute,         // yyyy-mm-dd-hhmm    2021-03-05-1204
  kSecondCompact,  // yyyymmddhhmmss     20210305120433
  kSecond,         // yyyy-mm-dd-hhmmss  2021-03-05-120433
  kMilliCompact,   // yyyymmddhhmmssmmm  20210305120433001
};

// As a declaration names it.
std::string_view TimeFormatName(TimeFormat format);
std::optional<TimeFormat> TimeFormatOfName(std::string_view name);
// All names, separated by ", ".
std::string TimeFormatNames();

bool IsEpochFormat(TimeFormat format);
// The piece of time that one value stands for.
BucketWidth TimeFormatUnit(TimeFormat format);
// The bytes that it takes; of an epoch format the fewest that do until 2286.
int TimeFormatWidthBytes(TimeFormat format);

// The bytes that no delimiter may be: '-' where the format has it.
bool TimeFormatHolds(TimeFormat format, char byte);

// Calendar formats only.  `micros` must be in [kTimeBeginMicros, kTimeEndMicros).
void AppendCalendarTime(TimeFormat format, int64_t micros, std::string* out);
// The start of the piece of time; nothing unless AppendCalendarTime writes exactly this text for it.
std::optional<int64_t> ParseCalendarTime(TimeFormat format, std::string_view text);
// As declarations have times: 2021-03-05, or 2021-03-05-1204 where that is not the start of a day.
std::optional<int64_t> ParseDayOrMinute(std::string_view text);
std::string DayOrMinuteText(int64_t micros);

}  // namespace sonde::series

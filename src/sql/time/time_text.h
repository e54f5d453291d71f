// Dates and timestamps as texts: what CAST and literals take and give.
//
//   *ParseTimestamp("2020-01-31 12:00:00.5 Europe/Rome", absl::UTCTimeZone())
//   TimestampTextIn(zone, micros)    // 2020-01-31 12:00:00.500+01
//
// Source: GoogleSQL's literals of DATE and TIMESTAMP, with microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::sql {

// YYYY-[M]M-[D]D.  OUT_OF_RANGE: `text` is no date ("Invalid date: 'x'").
absl::StatusOr<int64_t> ParseDate(std::string_view text);

// YYYY-[M]M-[D]D, with or without ( |T)[H]H:[M]M:[S]S[.F], with or without a zone: Z, an offset, or a space and a name.
// `zone`: where the text has none.
// OUT_OF_RANGE: `text` is no timestamp ("Invalid timestamp: 'x'"), or leaves the range of timestamps.
absl::StatusOr<int64_t> ParseTimestamp(std::string_view text, const absl::TimeZone& zone);
// The same, but a zone in the text is an error, too.
absl::StatusOr<int64_t> ParseTimestampWithoutZone(std::string_view text, const absl::TimeZone& zone);

// A text as GoogleSQL's errors of dates and times quote it: "a'b", 'a"b'.
std::string QuotedText(std::string_view text);
// As CAST(timestamp AS STRING) in a zone: a fraction of three or six digits if there is one; the offset, in whole minutes.
std::string TimestampTextIn(const absl::TimeZone& zone, int64_t micros);
// In UTC, with six digits always, as errors have it.
std::string TimestampTextWithMicros(int64_t micros);

}  // namespace sonde::sql

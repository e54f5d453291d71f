// Reads dates and timestamps by a format: PARSE_DATE, PARSE_TIMESTAMP.
//
//   *ParseTimestampAs("%d.%m.%Y %H:%M:%E*S", "31.01.2020 12:00:00.5", absl::UTCTimeZone())
//
// What a format does not say is that of 1970-01-01 00:00:00.  Of elements that contradict each other the last one counts.
// Source: GoogleSQL's format elements; those that it hands to the C library are read as glibc does in the locale C.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::sql {

// `zone`: where the text has none.  OUT_OF_RANGE: the text is none of the format, or says no timestamp.
absl::StatusOr<int64_t> ParseTimestampAs(std::string_view format, std::string_view text,
                                         const absl::TimeZone& zone);
// Elements of times of the day are errors.
absl::StatusOr<int64_t> ParseDateAs(std::string_view format, std::string_view text);

// Elements that PARSE_DATE refuses, and that FORMAT_DATE leaves as they are.
constexpr std::string_view kElementsOfTime = "cHIklMPpRrSsTXZz";

}  // namespace sonde::sql

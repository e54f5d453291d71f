// What the functions that put times into buckets share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sql/function/function.h"

namespace sonde::sql {

// An interval as GoogleSQL has it.
struct BucketInterval {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;
};

// INTERVAL count part, `part` in upper case.  OUT_OF_RANGE: it is no interval of GoogleSQL.
absl::StatusOr<BucketInterval> BucketIntervalOf(int64_t count, std::string_view part);
// How many times `months` months after `origin`, a day, the months begin that a day lies in: GoogleSQL's rule.
int64_t BucketOfMonths(int64_t days, int64_t months, int64_t origin);
// The first day of the `months` months that a day lies in, one of which begins at `origin`, a day, too.  Nothing: it
// begins before the first date.
std::optional<int64_t> StartOfMonths(int64_t days, int64_t months, int64_t origin);

// TIMESTAMP_BUCKET over the calendar of a zone (zone_bucket.cc).
std::vector<Overload> TimestampBucketInZoneOverloads();

}  // namespace sonde::sql

// Times as files have them, to microseconds since 1970-01-01T00:00:00Z.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde::series {

class TimeParser {
 public:
  // `format`:
  //   auto (or empty)       RFC 3339: 2021-03-05T12:04:33.5Z, with a blank for the T, an offset such as
  //                         +01:00 (or +00:49:56, of clocks before there were zones) for the Z; without
  //                         seconds; or only the date
  //   epoch_s, epoch_ms, epoch_us, epoch_ns
  //                         a number, before 1970 a negative one; epoch_s may have a fraction
  //   anything with a %     as strptime: %Y %y %m %d %e %H %M %S %f (fraction) %b %B (English months) %z %j
  //                         %%; a blank stands for any blanks, anything else for itself
  // `assume_utc`: a time that names no zone is UTC; otherwise it is refused.
  // INVALID_ARGUMENT: no such format.
  static absl::StatusOr<TimeParser> Create(std::string_view format, bool assume_utc);

  // Nothing when `text` is no such time, or is not in the years 0001 to 9999; Refusal then says why.
  std::optional<int64_t> Parse(std::string_view text) const;
  // INVALID_ARGUMENT.
  absl::Status Refusal(std::string_view text) const;

 private:
  enum class Kind { kAuto, kEpoch, kPattern };
  enum class Problem { kNone, kFormat, kZone, kRange };

  TimeParser(Kind kind, std::string format, int64_t epoch_per_second, bool assume_utc)
      : kind_(kind),
        format_(std::move(format)),
        epoch_per_second_(epoch_per_second),
        assume_utc_(assume_utc) {}
  Problem ParseInto(std::string_view text, int64_t* micros) const;
  Problem ParseAuto(std::string_view text, int64_t* micros) const;
  Problem ParseEpoch(std::string_view text, int64_t* micros) const;
  Problem ParsePattern(std::string_view text, int64_t* micros) const;

  Kind kind_;
  std::string format_;
  int64_t epoch_per_second_ = 1;
  bool assume_utc_ = false;
};

}  // namespace sonde::series

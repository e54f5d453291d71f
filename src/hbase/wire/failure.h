// Why a call to HBase failed, and what a caller does about it.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sonde::hbase {

// What gives the next try a chance.
enum class Remedy : uint8_t {
  kNone,    // the same call fails again
  kWait,    // the server is busy or begins: the same call, later
  kLocate,  // the region or the master may be elsewhere by now
  kReopen,  // the scanner is gone: a new one
};

struct Failure {
  Remedy remedy = Remedy::kNone;
  // Nobody knows whether the call was carried out.  False: it was not.
  bool may_be_done = false;
  absl::StatusCode code = absl::StatusCode::kUnavailable;  // if the call was not carried out
  std::string message;
  absl::Duration wait_min = absl::ZeroDuration();  // asked for by the server
  // Not 0: a cell is larger than this, which is the most that the table takes.  All changes of the call for its region are refused
  // with it, also those without such a cell.
  size_t cell_bytes_max = 0;
};

// What an exception of a Java class means that a server answered with.  `trace` is its message, and perhaps where it was thrown.
Failure FailureOfException(std::string_view class_name, std::string_view trace);

// UNKNOWN: the call changes something (`changes`), and may have been carried out.
absl::Status StatusOf(const Failure& failure, bool changes);

}  // namespace sonde::hbase

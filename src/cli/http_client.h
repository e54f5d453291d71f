// Asks a server of ours over HTTP: for the command line.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

// The body of GET http://ADDRESS/PATH; `address`: HOST:PORT.  UNAVAILABLE: nobody answers there;
// INVALID_ARGUMENT: no such address; an answer other than 200 as the status that it names, or UNKNOWN.
absl::StatusOr<std::string> HttpGet(const std::string& address, const std::string& path);

// For a part of a path or a query.
std::string PercentEncode(std::string_view text);

}  // namespace sonde

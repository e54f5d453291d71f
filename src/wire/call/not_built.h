// The answers to calls and fields that are not built: UNIMPLEMENTED, with the name of the call or field, and
// with the page that lists what is built.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// UNIMPLEMENTED with this text and the page.
absl::Status NotBuilt(std::string_view text);

// UNIMPLEMENTED for a call of no method, whether its service is known or not.  `path` as in rpc::Call.
absl::Status CallNotBuilt(std::string_view path);

}  // namespace sonde

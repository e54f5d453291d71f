// What to answer to what is not built: UNIMPLEMENTED, with the name of the call or field and of the page that
// lists what is.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// UNIMPLEMENTED: `field`, or a value of it, of the call ("ReadRows").
absl::Status FieldNotBuilt(std::string_view field, std::string_view call);
// UNIMPLEMENTED, with a text of its own and the page.
absl::Status NotBuilt(std::string_view text);

// UNIMPLEMENTED: a call that no service has, of built services or of others.  `path`: as of rpc::Call.
absl::Status CallNotBuilt(std::string_view path);

}  // namespace sonde

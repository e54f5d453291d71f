// Errors that name a place of the text, as GoogleSQL writes them: "... [at 1:8]".
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

// INVALID_ARGUMENT: `message`, a space, and the line and column of `position` in `text` as [at L:C].  Lines and
// columns count from 1; a column is a character of UTF-8, and a tab goes on to the next column 8n + 1.
absl::Status ErrorAt(std::string_view text, Position position, std::string_view message);
// `status` with the place behind its message.  Its code and payloads stay.
absl::Status ErrorAt(std::string_view text, Position position, const absl::Status& status);

}  // namespace sonde::sql

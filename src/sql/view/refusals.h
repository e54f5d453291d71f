// What the text of a materialized view's definition may not have, before names and types mean anything.
//
// Source: sql.md 3.3, after production's documentation of continuous materialized views.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

// INVALID_ARGUMENT: "A materialized view cannot have LIMIT [at 1:40]"; UNIMPLEMENTED: what is not built.
absl::Status RefuseInView(const Statement& statement, std::string_view text);

}  // namespace sonde::sql

// How long what a source gives to a view counts: the hints of a definition.
//
//   @{outlive_source=true, retain='5y'} SELECT ...
//
// outlive_source: what a rule of the source forgets goes on counting in the view, and only what is deleted does not.  retain: a group whose
// time, the column `_timestamp`, is longer ago leaves the view.
// Source: sql.md 3.6.
// Errors: INVALID_ARGUMENT: another hint, a value that is none of the hint's, or retain alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

struct ViewLifetime {
  bool outlives_source = false;
  std::optional<int64_t> retain_micros;  // nothing: for ever
};

// The parts of a name with dots between them.
std::string NameOf(const Path& path);

// `text`: that of the definition, of which `query` was parsed.
absl::StatusOr<ViewLifetime> LifetimeOf(const Query& query, std::string_view text);

// Whether a definition that was accepted outlives its source.
bool OutlivesSource(std::string_view text);

}  // namespace sonde::sql

// Values as JSON texts: TO_JSON_STRING.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "model/datum.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/value/type.h"

namespace sonde::sql {

// kPretty: members and elements on lines of their own, two spaces deeper than what they are in.
enum class JsonLayout : uint8_t { kCompact, kPretty };

// Appends `datum`, one of `type`.  Integers beyond 2^53 and numbers that are not finite are strings; BYTES are base64; dates
// and times are strings as in RFC 3339; a struct is an object, and so is a map, whose keys are strings.
// Errors: of Call::facts, where a text becomes large.
absl::Status AppendJson(const Call& call, const Type& type, const Datum& datum, JsonLayout layout,
                        std::string* json);

Function ToJsonStringFunction();

}  // namespace sonde::sql

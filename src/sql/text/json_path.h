// Paths into JSON texts: $.name, $[1], and $."name" (of JSON_VALUE and JSON_QUERY) or $['name'] (of JSON_EXTRACT).
//
// Errors: OUT_OF_RANGE: not a path, in GoogleSQL's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde::sql {

struct JsonPath {
  // Of an object the member of the name, of an array the element of the number: $.1 and $[1] mean the same.
  struct Step {
    std::string name;
    std::optional<uint32_t> index;  // nothing: no element of an array
  };
  std::vector<Step> steps;
};

enum class JsonPathStyle : uint8_t { kDoubleQuotes, kBrackets };

absl::StatusOr<JsonPath> ParseJsonPath(std::string_view text, JsonPathStyle style);

}  // namespace sonde::sql

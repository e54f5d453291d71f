// The members of one JSON object, for objects that strangers wrote: the header and the claims of a token.
//
// What a reader could take in two ways is refused: a member that comes twice, at any depth, bytes that are not UTF-8, anything
// before or after the object, depth beyond kJsonDepthMax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde {

constexpr int kJsonDepthMax = 16;

// A member that is neither a text, nor a whole number of 64 bits with sign, nor a list of texts.
struct OtherJson {};
using FlatJsonValue = std::variant<OtherJson, std::string, int64_t, std::vector<std::string>>;

class FlatJson {
 public:
  // INVALID_ARGUMENT: the text is not what the head of this file says; the message has no part of the text.
  static absl::StatusOr<FlatJson> Read(std::string_view text);

  // Null: there is no such member.
  const FlatJsonValue* Find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, FlatJsonValue>> members_;
};

}  // namespace sonde

// Static tokens: sonde_ID_SECRET, for senders that cannot sign.  Only the digest of a token is kept.
//
// ID is 12 of 0-9 a-f, SECRET the 43 characters of base64url of 32 random bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde {

constexpr std::string_view kStaticTokenPrefix = "sonde_";

struct NewStaticToken {
  std::string id;
  std::string text;  // a secret
};

NewStaticToken MakeStaticToken();

// The id in a static token.  Nothing: `text` has not the form of one.
std::optional<std::string_view> IdOfStaticToken(std::string_view text);

}  // namespace sonde

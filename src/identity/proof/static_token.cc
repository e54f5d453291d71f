#include "identity/proof/static_token.h"

#include <fmt/format.h>

#include <algorithm>

#include "identity/proof/base64_text.h"
#include "identity/proof/digest.h"

namespace sonde {
namespace {

constexpr size_t kTokenIdBytes = 6;
constexpr size_t kTokenSecretBytes = 32;
constexpr size_t kTokenSecretCharacters = 43;

}  // namespace

NewStaticToken MakeStaticToken() {
  NewStaticToken token{.id = HexOf(RandomBytes(kTokenIdBytes)), .text = {}};
  std::string secret = Base64UrlOf(RandomBytes(kTokenSecretBytes));
  token.text = fmt::format("{}{}_{}", kStaticTokenPrefix, token.id, secret);
  Wipe(&secret);
  return token;
}

std::optional<std::string_view> IdOfStaticToken(std::string_view text) {
  constexpr size_t kIdAt = kStaticTokenPrefix.size(), kIdCharacters = 2 * kTokenIdBytes;
  if (text.size() != kIdAt + kIdCharacters + 1 + kTokenSecretCharacters) return std::nullopt;
  if (!text.starts_with(kStaticTokenPrefix) || text[kIdAt + kIdCharacters] != '_') return std::nullopt;
  const std::string_view id = text.substr(kIdAt, kIdCharacters);
  const bool is_hex = std::all_of(id.begin(), id.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!is_hex) return std::nullopt;
  return id;
}

}  // namespace sonde

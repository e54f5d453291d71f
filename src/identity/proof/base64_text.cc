#include "identity/proof/base64_text.h"

#include "absl/strings/escaping.h"

namespace sonde {

// Abseil's reader is lenient.  Only the one spelling comes back as it was.
std::optional<std::string> BytesOfBase64Url(std::string_view text) {
  std::string bytes;
  if (!absl::WebSafeBase64Unescape({text.data(), text.size()}, &bytes)) return std::nullopt;
  if (Base64UrlOf(bytes) != text) return std::nullopt;
  return bytes;
}

std::string Base64UrlOf(std::string_view bytes) {
  return absl::WebSafeBase64Escape({bytes.data(), bytes.size()});
}

std::optional<std::string> BytesOfBase64(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape({text.data(), text.size()}, &bytes)) return std::nullopt;
  if (absl::Base64Escape(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace sonde

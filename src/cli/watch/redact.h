// Takes secrets out of text that goes to others.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// `text` with "[secret]" in the place of tokens of Sonde (sonde_ID_SECRET), signed tokens (three parts of base64url, joined by
// dots, of which the first begins with "eyJ"), what follows `Bearer`, `Basic` and `Token`, and blocks of PEM that hold a private key.
std::string Redact(std::string_view text);

}  // namespace sonde

// A Principal is somebody who has proven who he is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace sonde {

enum class Proof : uint8_t {
  kNone,         // authentication is off, and nobody was asked
  kKey,          // a token that the client signed with a key which Sonde issued
  kToken,        // a static token
  kCertificate,  // the client's certificate
  kSession       // a login of the web page
};

// Returns the name of a proof in the audit log; it is empty for kNone.
constexpr std::string_view NameOf(Proof proof) {
  switch (proof) {
    case Proof::kNone:
      return "";
    case Proof::kKey:
      return "key";
    case Proof::kToken:
      return "token";
    case Proof::kCertificate:
      return "certificate";
    case Proof::kSession:
      return "session";
  }
  return "";
}

struct Principal {
  std::string member;  // as policies name it: "serviceAccount:NAME@sonde.local"; empty: nobody was asked
  std::vector<std::string> groups;  // "group:NAME", those of the configuration that the member is in
  Proof proof = Proof::kNone;
  absl::Time until = absl::InfiniteFuture();  // the proof holds until then
};

}  // namespace sonde

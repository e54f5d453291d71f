// The address of a Bigtable endpoint as people write it, and whether it is reached by TLS.
//
//   127.0.0.1:8086          plain text: a loopback address
//   db.example.com:8086     TLS: any other address
//   https://127.0.0.1:8086  TLS; without a port, 443
//   http://10.0.0.7:8086    plain text
//
// A server's CA (--ca-file) also means TLS, except behind http://.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

struct Endpoint {
  std::string host;  // without brackets
  uint16_t port = 0;
  bool is_tls = false;
  bool is_loopback = false;  // 127.0.0.0/8, ::1, localhost
  bool is_google = false;    // *.googleapis.com

  // HOST:PORT, as gRPC wants it.
  std::string Target() const;
  // The endpoint of the administration: the same, but at Google another host.
  Endpoint ForAdmin() const;
};

// INVALID_ARGUMENT: the text is none of the above, or `has_ca_file` is true behind http://.
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view text, bool has_ca_file);

}  // namespace sonde

#include "rpc/bounds.h"

namespace sonde::rpc {

std::string_view NameOf(Refusal reason) {
  constexpr std::array<std::string_view, static_cast<size_t>(Refusal::kCount)> kNames = {
      "connections",  "peer_connections", "no_files",    "handshake",    "tls_handshake", "tls_handshakes",
      "tls_rate",     "keepalive",        "protocol",    "flood",        "pings",         "resets",
      "headers_time", "header_bytes",     "bad_request", "unknown_path", "calls",         "message_bytes",
      "bytes",        "waiting_bytes",    "slow_body",   "slow_reader",  "deadline"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace sonde::rpc

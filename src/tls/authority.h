// Makes certificates: a CA of one's own, and certificates that it signs, with ECDSA keys over P-256.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::tls {

// A certificate and its key in PEM.
struct Pair {
  std::string certificate;
  std::string key;
};

struct Wanted {
  std::string common_name;
  bool is_client = false;  // else a server's
  // As OpenSSL writes alternative names: "DNS:localhost", "IP:127.0.0.1", "URI:spiffe://example.com/a", "email:a@b.c".
  std::vector<std::string> names;
  absl::Time begin;
  absl::Time end;
};

// INTERNAL: OpenSSL could not make it.
absl::StatusOr<Pair> MakeAuthority(const std::string& common_name, absl::Time begin, absl::Time end);
// INVALID_ARGUMENT: a name cannot be one of a certificate, or `authority` is no pair.
absl::StatusOr<Pair> MakeCertificate(const Pair& authority, const Wanted& wanted);

}  // namespace sonde::tls

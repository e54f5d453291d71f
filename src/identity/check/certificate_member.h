// The member that a client's certificate stands for.
//
// Its name is its SPIFFE URI, else its e-mail address, else its subject.  The configuration says which member has that name;
// without an entry, the member is "principal:spiffe://...", "principal:email:NAME" or "principal:subject:NAME", which no other
// proof gives.
#pragma once

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "identity/authenticator.h"
#include "identity/config/auth_config.h"

namespace sonde {

// The members of the configuration by the names of their certificates.
using CertificateMembers = absl::flat_hash_map<std::pair<CertificateNameKind, std::string>, std::string>;
CertificateMembers MembersByCertificate(const AuthConfig& config);

// INVALID_ARGUMENT: the certificate has two names of the kind that counts, or none, or one that is no allowed text.
absl::StatusOr<std::string> MemberOfCertificate(const PeerCertificate& certificate,
                                                const CertificateMembers& known);

}  // namespace sonde

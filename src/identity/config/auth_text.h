// An authentication file as text, and back.  The keys, all of which may be absent:
//
//   accept_google_accounts: false
//   audiences: ["https://sonde.example.com/"]
//   accounts:
//     - email: ingest@sonde.local
//       keys:
//         - id: 3f0c...
//           algorithm: RS256                     # RS256, ES256, EdDSA
//           created: 2026-11-25T08:00:00Z
//           public_key: |
//             -----BEGIN PUBLIC KEY-----
//             ...
//   tokens:
//     - id: k2mq7f0a91cd
//       sha256: 9f86d0...                        # of the whole token, 64 hexadecimal digits
//       member: serviceAccount:grafana@sonde.local
//       created: 2026-11-25T08:00:00Z
//       expires: 2027-02-23T08:00:00Z            # absent: it does not
//   groups:
//     - {name: writers, members: ["serviceAccount:ingest@sonde.local"]}
//   roles:
//     - {name: projects/p/roles/writeOnly, title: Writes only, permissions: [bigtable.tables.mutateRows]}
//   bindings:
//     - {role: roles/bigtable.user, members: ["group:writers"], project: p}    # without project: the whole server
//   certificates:
//     - {uri: "spiffe://example.com/ingest", member: "serviceAccount:ingest@sonde.local"}   # or email:, or subject:
//   limits:                                                       # the first entry that names a member counts
//     - members: ["group:writers"]                                # absent: whoever is in no entry before
//       reads_per_second: 100                                     # absent: any number
//       writes_per_second: 1000
//       bytes_per_second: 10000000                                # both ways
//       running_calls: 20
//
// Source: admin-security-operations.md, 7.3.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "identity/config/auth_config.h"

namespace sonde {

// INVALID_ARGUMENT with FILE:LINE for each problem, up to yaml_reader.h's kProblemsMax: not YAML; a key that is not above; a
// value that breaks a rule of member_names.h or a bound of auth_config.h; a key, token, account, group or role that comes twice;
// a group or custom role that is not in the file; an account *.gserviceaccount.com without accept_google_accounts.
absl::StatusOr<AuthConfig> ParseAuthText(std::string_view text, std::string_view file);

// ParseAuthText gives the same config again.
std::string WriteAuthText(const AuthConfig& config);

}  // namespace sonde

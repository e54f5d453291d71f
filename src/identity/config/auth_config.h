// The contents of an authentication file (auth.yaml) say who may prove himself with what, which roles he has on the server or on a
// project, and how much he may ask for.  Plain data; auth_text.h reads and writes it, auth_file.h keeps it on disk.
//
// Members are texts as policies have them: "serviceAccount:ingest@sonde.local" (member_names.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "identity/proof/digest.h"
#include "identity/proof/public_key.h"

namespace sonde {

struct AuthKey {
  std::string id;                               // a token's `kid`; no other key or token of the file has it
  absl::Time created;                           // to the second
  std::shared_ptr<const PublicKey> public_key;  // never null
  friend bool operator==(const AuthKey& a, const AuthKey& b) {
    return a.id == b.id && a.created == b.created && a.public_key->algorithm() == b.public_key->algorithm() &&
           a.public_key->pem() == b.public_key->pem();
  }
};

struct AuthAccount {
  std::string email;  // "ingest@sonde.local"; no other account has it
  std::vector<AuthKey> keys;
  std::string Member() const { return "serviceAccount:" + email; }
  bool operator==(const AuthAccount&) const = default;
};

// A static token, of which only the digest is kept.
struct AuthToken {
  std::string id;         // no other key or token of the file has it
  Sha256Digest sha256{};  // of the whole text of the token
  std::string member;
  absl::Time created;                 // to the second
  std::optional<absl::Time> expires;  // likewise; nothing: it does not
  bool operator==(const AuthToken&) const = default;
};

struct AuthGroup {
  std::string name;                  // "writers"; bindings name it "group:writers"
  std::vector<std::string> members;  // no groups
  bool operator==(const AuthGroup&) const = default;
};

struct AuthRole {
  std::string name;  // "projects/P/roles/R"
  std::string title;
  std::vector<std::string> permissions;  // "bigtable.tables.readRows"
  bool operator==(const AuthRole&) const = default;
};

struct AuthBinding {
  std::string role;                    // "roles/bigtable.reader", or the name of an AuthRole
  std::vector<std::string> members;    // of any kind that may be granted something, groups among them
  std::optional<std::string> project;  // nothing: the whole server
  bool operator==(const AuthBinding&) const = default;
};

enum class CertificateNameKind : uint8_t { kUri, kEmail, kSubject };

// Whoever shows a certificate of this name is this member.
struct AuthCertificate {
  CertificateNameKind kind = CertificateNameKind::kUri;
  std::string name;
  std::string member;
  bool operator==(const AuthCertificate&) const = default;
};

// How much each of these members may ask for.  0: any number.
struct AuthLimit {
  std::vector<std::string> members;  // groups among them; empty: whoever is in no entry before
  int64_t reads_per_second = 0;
  int64_t writes_per_second = 0;
  int64_t bytes_per_second = 0;
  int64_t running_calls = 0;
  bool operator==(const AuthLimit&) const = default;
};

struct AuthConfig {
  bool accept_google_accounts = false;  // tokens of accounts *.gserviceaccount.com
  std::vector<std::string> audiences;   // beside Google's two: what `aud` may be
  std::vector<AuthAccount> accounts;
  std::vector<AuthToken> tokens;
  std::vector<AuthGroup> groups;
  std::vector<AuthRole> roles;
  std::vector<AuthBinding> bindings;
  std::vector<AuthCertificate> certificates;
  std::vector<AuthLimit> limits;
  bool operator==(const AuthConfig&) const = default;
};

// Bounds of a file; each is asked for while it is read.
constexpr size_t kAuthFileBytesMax = 16 << 20;
constexpr size_t kAuthAccountsMax = 10'000;
constexpr size_t kAuthKeysPerAccountMax = 10;  // as Google's
constexpr size_t kAuthTokensMax = 10'000;
constexpr size_t kAuthGroupsMax = 1'000;
constexpr size_t kAuthRolesMax = 300;
constexpr size_t kAuthBindingsMax = 1'500;
constexpr size_t kAuthMembersMax = 1'500;  // of a group or a binding
constexpr size_t kAuthPermissionsMax = 1'000;
constexpr size_t kAuthCertificatesMax = 10'000;
constexpr size_t kAuthAudiencesMax = 100;
constexpr size_t kAuthLimitsMax = 1'000;
constexpr int64_t kAuthLimitMax = 1'000'000'000'000;  // of a number of a limit

}  // namespace sonde

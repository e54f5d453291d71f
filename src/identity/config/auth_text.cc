#include "identity/config/auth_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "identity/config/member_names.h"
#include "identity/proof/signed_token.h"
#include "yaml/yaml_reader.h"

namespace sonde {
namespace {

constexpr size_t kIdBytesMax = 64;
constexpr size_t kTitleBytesMax = 256;
constexpr size_t kAudienceBytesMax = 512;

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

bool IsId(std::string_view id) {
  return !id.empty() && id.size() <= kIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::optional<Sha256Digest> DigestOfHex(std::string_view hex) {
  Sha256Digest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < digest.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return digest;
}

class AuthReader {
 public:
  explicit AuthReader(Problems* problems) : problems_(problems) {}

  AuthConfig Read(const YAML::Node& root) {
    const MapReader map(root, "the authentication file",
                        {"accept_google_accounts", "audiences", "accounts", "tokens", "groups", "roles",
                         "bindings", "certificates", "limits"},
                        problems_);
    config_.accept_google_accounts = map.Boolean("accept_google_accounts").value_or(false);
    ReadAudiences(map.Find("audiences"));
    ForEach(map.Find("accounts"), "accounts", kAuthAccountsMax, [&](const auto& node) { ReadAccount(node); });
    ForEach(map.Find("tokens"), "tokens", kAuthTokensMax, [&](const auto& node) { ReadToken(node); });
    ForEach(map.Find("groups"), "groups", kAuthGroupsMax, [&](const auto& node) { ReadGroup(node); });
    ForEach(map.Find("roles"), "roles", kAuthRolesMax, [&](const auto& node) { ReadRole(node); });
    ForEach(map.Find("bindings"), "bindings", kAuthBindingsMax, [&](const auto& node) { ReadBinding(node); });
    ForEach(map.Find("certificates"), "certificates", kAuthCertificatesMax,
            [&](const auto& node) { ReadCertificate(node); });
    ForEach(map.Find("limits"), "limits", kAuthLimitsMax, [&](const auto& node) { ReadLimit(node); });
    return std::move(config_);
  }

 private:
  template <typename Read>
  void ForEach(const YAML::Node& list, std::string_view what, size_t count_max, const Read& read) {
    if (!list.IsDefined()) return;
    if (!list.IsSequence()) {
      problems_->Add(LineOf(list), fmt::format("'{}' must be a list", what));
      return;
    }
    if (list.size() > count_max) {
      problems_->Add(LineOf(list),
                     fmt::format("'{}' has {} entries; allowed are {}", what, list.size(), count_max));
      return;
    }
    for (const YAML::Node& node : list) read(node);
  }

  void Complain(const YAML::Node& node, const absl::Status& status) {
    if (!status.ok()) problems_->Add(LineOf(node), MessageOf(status));
  }

  // Empty, with a complaint: there is none.
  std::string Required(const MapReader& map, std::string_view key, std::string_view what) {
    if (!map.Has(key)) problems_->Add(map.line(), fmt::format("{} has no '{}'", what, key));
    return map.Text(key).value_or("");
  }

  void CheckUnique(std::set<std::string>* known, const std::string& name, int line, std::string_view what) {
    if (!name.empty() && !known->insert(name).second) {
      problems_->Add(line, fmt::format("{} '{}' comes twice", what, Printable(name)));
    }
  }

  std::optional<absl::Time> ReadMoment(const MapReader& map, std::string_view key) {
    const std::optional<std::string> text = map.Text(key);
    if (!text.has_value()) return std::nullopt;
    absl::Time time;
    std::string error;
    if (absl::ParseTime(absl::RFC3339_sec, *text, &time, &error))
      return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
    problems_->Add(
        LineOf(map.Find(key)),
        fmt::format("'{}' is '{}'; it must be a time such as 2026-11-25T08:00:00Z", key, Printable(*text)));
    return std::nullopt;
  }

  absl::Time ReadCreated(const MapReader& map, std::string_view what) {
    if (!map.Has("created")) problems_->Add(map.line(), fmt::format("{} has no 'created'", what));
    return ReadMoment(map, "created").value_or(absl::UnixEpoch());
  }

  void ReadAudiences(const YAML::Node& list) {
    ForEach(list, "audiences", kAuthAudiencesMax, [&](const YAML::Node& node) {
      const std::optional<std::string> audience = TextOf(node, "an audience", problems_);
      if (!audience.has_value()) return;
      if (!IsPrintableText(*audience, kAudienceBytesMax)) {
        problems_->Add(LineOf(node), fmt::format("an audience must be a printable text of up to {} bytes",
                                                 kAudienceBytesMax));
      }
      config_.audiences.push_back(*audience);
    });
  }

  // Complains of an id that is none, or that another key or token has.
  std::string ReadId(const MapReader& map, std::string_view what) {
    std::string id = Required(map, "id", what);
    if (!id.empty() && !IsId(id)) {
      problems_->Add(map.line(), fmt::format("the id '{}' of {} must be 1 to {} letters, digits and -",
                                             Printable(id), what, kIdBytesMax));
    }
    CheckUnique(&ids_, id, map.line(), "the id");
    return id;
  }

  void ReadAccount(const YAML::Node& node) {
    const MapReader map(node, "an account", {"email", "keys"}, problems_);
    AuthAccount account{.email = Required(map, "email", "an account"), .keys = {}};
    if (!account.email.empty()) Complain(node, CheckEmail(account.email));
    CheckUnique(&emails_, account.email, map.line(), "account");
    if (account.email.ends_with(kGoogleAccountSuffix) && !config_.accept_google_accounts) {
      problems_->Add(
          map.line(),
          fmt::format("account '{}' is one of Google's.  Never use a real Google key against a server "
                      "that is not Google's: whoever sees its token can use it at Google.  "
                      "'accept_google_accounts: true' allows it nevertheless",
                      account.email));
    }
    ForEach(map.Find("keys"), "keys", kAuthKeysPerAccountMax,
            [&](const YAML::Node& key) { ReadKey(key, &account); });
    config_.accounts.push_back(std::move(account));
  }

  void ReadKey(const YAML::Node& node, AuthAccount* account) {
    const MapReader map(node, "a key", {"id", "algorithm", "created", "public_key"}, problems_);
    AuthKey key{.id = ReadId(map, "a key"), .created = ReadCreated(map, "a key"), .public_key = nullptr};
    const std::string name = Required(map, "algorithm", "a key");
    const std::string pem = Required(map, "public_key", "a key");
    const std::optional<KeyAlgorithm> algorithm = AlgorithmOfName(name);
    if (!algorithm.has_value()) {
      if (!name.empty()) {
        problems_->Add(LineOf(map.Find("algorithm")),
                       fmt::format("the algorithm is '{}'; known are RS256, ES256, EdDSA", Printable(name)));
      }
      return;
    }
    if (pem.empty()) return;
    absl::StatusOr<std::shared_ptr<const PublicKey>> public_key = PublicKey::FromPem(*algorithm, pem);
    if (!public_key.ok()) {
      problems_->Add(LineOf(map.Find("public_key")), MessageOf(public_key.status()));
      return;
    }
    key.public_key = *std::move(public_key);
    account->keys.push_back(std::move(key));
  }

  void ReadToken(const YAML::Node& node) {
    const MapReader map(node, "a token", {"id", "sha256", "member", "created", "expires"}, problems_);
    AuthToken token{.id = ReadId(map, "a token"), .sha256 = {}, .member = ReadMember(map, "a token")};
    const std::optional<Sha256Digest> digest = DigestOfHex(Required(map, "sha256", "a token"));
    if (digest.has_value()) {
      token.sha256 = *digest;
    } else if (map.Has("sha256")) {
      problems_->Add(map.line(), "'sha256' of a token must be 64 digits of 0-9 a-f");
    }
    token.created = ReadCreated(map, "a token");
    token.expires = ReadMoment(map, "expires");
    config_.tokens.push_back(std::move(token));
  }

  std::string ReadMember(const MapReader& map, std::string_view what) {
    std::string member = Required(map, "member", what);
    if (!member.empty()) Complain(map.Find("member"), CheckMember(member));
    return member;
  }

  std::vector<std::string> ReadMembers(const MapReader& map, std::string_view what, bool with_groups) {
    std::vector<std::string> members;
    if (!map.Has("members")) problems_->Add(map.line(), fmt::format("{} has no 'members'", what));
    ForEach(map.Find("members"), "members", kAuthMembersMax, [&](const YAML::Node& node) {
      const std::optional<std::string> member = TextOf(node, "a member", problems_);
      if (!member.has_value()) return;
      Complain(node, with_groups ? CheckGrantedMember(*member) : CheckMember(*member));
      if (member->starts_with("group:") && !groups_.contains(member->substr(6))) {
        problems_->Add(LineOf(node), fmt::format("'{}' is no group of this file", Printable(*member)));
      }
      members.push_back(*member);
    });
    return members;
  }

  void ReadGroup(const YAML::Node& node) {
    const MapReader map(node, "a group", {"name", "members"}, problems_);
    AuthGroup group{.name = Required(map, "name", "a group"), .members = {}};
    if (!group.name.empty()) Complain(node, CheckGroupName(group.name));
    CheckUnique(&groups_, group.name, map.line(), "group");
    group.members = ReadMembers(map, "a group", /*with_groups=*/false);
    config_.groups.push_back(std::move(group));
  }

  void ReadRole(const YAML::Node& node) {
    const MapReader map(node, "a role", {"name", "title", "permissions"}, problems_);
    AuthRole role{
        .name = Required(map, "name", "a role"), .title = map.Text("title").value_or(""), .permissions = {}};
    if (!role.name.empty() && !IsCustomRoleName(role.name)) {
      problems_->Add(map.line(),
                     fmt::format("role '{}' must be projects/PROJECT/roles/NAME", Printable(role.name)));
    }
    if (!role.title.empty() && !IsPrintableText(role.title, kTitleBytesMax)) {
      problems_->Add(map.line(),
                     fmt::format("the title of a role must be printable, of up to {} bytes", kTitleBytesMax));
    }
    CheckUnique(&roles_, role.name, map.line(), "role");
    ForEach(map.Find("permissions"), "permissions", kAuthPermissionsMax, [&](const YAML::Node& entry) {
      const std::optional<std::string> permission = TextOf(entry, "a permission", problems_);
      if (!permission.has_value()) return;
      Complain(entry, CheckPermissionName(*permission));
      role.permissions.push_back(*permission);
    });
    config_.roles.push_back(std::move(role));
  }

  void ReadBinding(const YAML::Node& node) {
    const MapReader map(node, "a binding", {"role", "members", "project"}, problems_);
    AuthBinding binding{
        .role = Required(map, "role", "a binding"), .members = {}, .project = map.Text("project")};
    if (IsCustomRoleName(binding.role)) {
      if (!roles_.contains(binding.role)) {
        problems_->Add(map.line(), fmt::format("'{}' is no role of this file", Printable(binding.role)));
      }
    } else if (!binding.role.empty() && !IsPredefinedRoleName(binding.role)) {
      problems_->Add(map.line(), fmt::format("role '{}' must be roles/NAME or projects/PROJECT/roles/NAME",
                                             Printable(binding.role)));
    }
    if (binding.project.has_value()) Complain(map.Find("project"), CheckProjectId(*binding.project));
    binding.members = ReadMembers(map, "a binding", /*with_groups=*/true);
    config_.bindings.push_back(std::move(binding));
  }

  void ReadCertificate(const YAML::Node& node) {
    const MapReader map(node, "a certificate", {"uri", "email", "subject", "member"}, problems_);
    AuthCertificate certificate{.member = ReadMember(map, "a certificate")};
    int names = 0;
    for (const auto& [key, kind] :
         {std::pair{"uri", CertificateNameKind::kUri}, std::pair{"email", CertificateNameKind::kEmail},
          std::pair{"subject", CertificateNameKind::kSubject}}) {
      if (!map.Has(key)) continue;
      ++names;
      certificate.kind = kind;
      certificate.name = map.Text(key).value_or("");
      if (!certificate.name.empty() && !IsPrintableText(certificate.name, kMemberBytesMax)) {
        problems_->Add(
            map.line(),
            fmt::format("the name of a certificate must be printable, of up to {} bytes", kMemberBytesMax));
      }
      CheckUnique(&certificates_, fmt::format("{}:{}", key, certificate.name), map.line(), "certificate");
    }
    if (names != 1) {
      problems_->Add(map.line(),
                     fmt::format("a certificate has one of 'uri', 'email', 'subject'; this has {}", names));
    }
    config_.certificates.push_back(std::move(certificate));
  }

  void ReadLimit(const YAML::Node& node) {
    const MapReader map(
        node, "a limit",
        {"members", "reads_per_second", "writes_per_second", "bytes_per_second", "running_calls"}, problems_);
    AuthLimit limit;
    if (map.Has("members")) {
      limit.members = ReadMembers(map, "a limit", /*with_groups=*/true);
      // Without members an entry is for everybody, which an empty list does not say clearly.
      if (limit.members.empty())
        problems_->Add(map.line(), "'members' of a limit is empty: leave it out, which means everybody else");
    }
    limit.reads_per_second = map.Integer("reads_per_second", 1, kAuthLimitMax).value_or(0);
    limit.writes_per_second = map.Integer("writes_per_second", 1, kAuthLimitMax).value_or(0);
    limit.bytes_per_second = map.Integer("bytes_per_second", 1, kAuthLimitMax).value_or(0);
    limit.running_calls = map.Integer("running_calls", 1, kAuthLimitMax).value_or(0);
    config_.limits.push_back(std::move(limit));
  }

  Problems* problems_;
  AuthConfig config_;
  std::set<std::string> ids_, emails_, groups_, roles_, certificates_;
};

// Each text is written in quotes: YAML has texts, such as `no`, that other readers take for something else.
void EmitText(YAML::Emitter* out, std::string_view key, const std::string& value) {
  *out << YAML::Key << std::string(key) << YAML::Value << YAML::DoubleQuoted << value;
}

void EmitTexts(YAML::Emitter* out, std::string_view key, const std::vector<std::string>& values) {
  *out << YAML::Key << std::string(key) << YAML::Value << YAML::BeginSeq;
  for (const std::string& value : values) *out << YAML::DoubleQuoted << value;
  *out << YAML::EndSeq;
}

void EmitMoment(YAML::Emitter* out, std::string_view key, absl::Time moment) {
  EmitText(out, key, absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", moment, absl::UTCTimeZone()));
}

template <typename Entry, typename Emit>
void EmitList(YAML::Emitter* out, std::string_view key, const std::vector<Entry>& entries, const Emit& emit) {
  if (entries.empty()) return;
  *out << YAML::Key << std::string(key) << YAML::Value << YAML::BeginSeq;
  for (const Entry& entry : entries) {
    *out << YAML::BeginMap;
    emit(entry);
    *out << YAML::EndMap;
  }
  *out << YAML::EndSeq;
}

void EmitKey(YAML::Emitter* out, const AuthKey& key) {
  EmitText(out, "id", key.id);
  EmitText(out, "algorithm", std::string(NameOfAlgorithm(key.public_key->algorithm())));
  EmitMoment(out, "created", key.created);
  *out << YAML::Key << "public_key" << YAML::Value << YAML::Literal << key.public_key->pem();
}

void EmitToken(YAML::Emitter* out, const AuthToken& token) {
  EmitText(out, "id", token.id);
  EmitText(out, "sha256", HexOf({reinterpret_cast<const char*>(token.sha256.data()), token.sha256.size()}));
  EmitText(out, "member", token.member);
  EmitMoment(out, "created", token.created);
  if (token.expires.has_value()) EmitMoment(out, "expires", *token.expires);
}

std::string_view KeyOfCertificateKind(CertificateNameKind kind) {
  return kind == CertificateNameKind::kUri     ? "uri"
         : kind == CertificateNameKind::kEmail ? "email"
                                               : "subject";
}

}  // namespace

absl::StatusOr<AuthConfig> ParseAuthText(std::string_view text, std::string_view file) {
  if (text.size() > kAuthFileBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{} has {} bytes; allowed are {}", file, text.size(), kAuthFileBytesMax));
  }
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (root.IsNull()) return AuthConfig{};
    Problems problems(file);
    AuthConfig config = AuthReader(&problems).Read(root);
    if (absl::Status status = problems.ToStatus(); !status.ok()) return status;
    return config;
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file, e.mark.line + 1, e.msg));
  }
}

std::string WriteAuthText(const AuthConfig& config) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  out << YAML::Key << "accept_google_accounts" << YAML::Value << config.accept_google_accounts;
  if (!config.audiences.empty()) EmitTexts(&out, "audiences", config.audiences);
  EmitList(&out, "accounts", config.accounts, [&](const AuthAccount& account) {
    EmitText(&out, "email", account.email);
    EmitList(&out, "keys", account.keys, [&](const AuthKey& key) { EmitKey(&out, key); });
  });
  EmitList(&out, "tokens", config.tokens, [&](const AuthToken& token) { EmitToken(&out, token); });
  EmitList(&out, "groups", config.groups, [&](const AuthGroup& group) {
    EmitText(&out, "name", group.name);
    EmitTexts(&out, "members", group.members);
  });
  EmitList(&out, "roles", config.roles, [&](const AuthRole& role) {
    EmitText(&out, "name", role.name);
    if (!role.title.empty()) EmitText(&out, "title", role.title);
    EmitTexts(&out, "permissions", role.permissions);
  });
  EmitList(&out, "bindings", config.bindings, [&](const AuthBinding& binding) {
    EmitText(&out, "role", binding.role);
    EmitTexts(&out, "members", binding.members);
    if (binding.project.has_value()) EmitText(&out, "project", *binding.project);
  });
  EmitList(&out, "certificates", config.certificates, [&](const AuthCertificate& certificate) {
    EmitText(&out, KeyOfCertificateKind(certificate.kind), certificate.name);
    EmitText(&out, "member", certificate.member);
  });
  EmitList(&out, "limits", config.limits, [&](const AuthLimit& limit) {
    if (!limit.members.empty()) EmitTexts(&out, "members", limit.members);
    for (const auto& [key, number] : {std::pair{"reads_per_second", limit.reads_per_second},
                                      std::pair{"writes_per_second", limit.writes_per_second},
                                      std::pair{"bytes_per_second", limit.bytes_per_second},
                                      std::pair{"running_calls", limit.running_calls}}) {
      if (number > 0) out << YAML::Key << key << YAML::Value << number;
    }
  });
  out << YAML::EndMap;
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace sonde

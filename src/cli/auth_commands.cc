#include "cli/auth_commands.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "audit/audit_log.h"
#include "base/text_table.h"
#include "identity/check/file_authenticator.h"
#include "identity/config/auth_changes.h"
#include "identity/config/auth_edits.h"
#include "identity/config/auth_file.h"
#include "identity/config/member_names.h"
#include "series/schema/calendar.h"

namespace sonde {
namespace {

constexpr char kAuthFileName[] = "auth.yaml";
constexpr int64_t kTokenDaysMax = 3650;
constexpr size_t kHeaderBytesMax = 1 << 16;

absl::StatusOr<std::string> PathOf(const AuthPlace& place) {
  if (place.auth.empty() == place.data_dir.empty()) {
    return absl::InvalidArgumentError(
        "give the authentication file by one of --auth FILE and --data-dir DIR");
  }
  return place.data_dir.empty() ? place.auth
                                : (std::filesystem::path(place.data_dir) / kAuthFileName).string();
}

// For commands that have nothing to change in a file that is not there.
absl::StatusOr<std::string> PathOfFile(const AuthPlace& place) {
  absl::StatusOr<std::string> path = PathOf(place);
  if (path.ok() && access(path->c_str(), F_OK) != 0) {
    return absl::NotFoundError(*path + " does not exist; create-key or create-token makes it");
  }
  return path;
}

// The user of the system who gave the command: "local:NAME", or with a number if it has no name.
std::string LocalUser() {
  const passwd* const entry = getpwuid(geteuid());
  return entry != nullptr ? fmt::format("local:{}", entry->pw_name) : fmt::format("local:{}", geteuid());
}

std::string AuditLogOf(const AuthPlace& place) {
  if (!place.audit_log.empty() || place.data_dir.empty()) return place.audit_log;
  return (std::filesystem::path(place.data_dir) / "audit.log").string();
}

// UpdateAuthFile, and a line of the audit log for each change.
absl::Status UpdateAudited(const AuthPlace& place, const std::string& path,
                           const std::function<absl::Status(AuthConfig*)>& edit) {
  const std::string audit_log = AuditLogOf(place);
  std::unique_ptr<AuditLog> audit;
  if (!audit_log.empty()) {
    absl::StatusOr<std::unique_ptr<AuditLog>> opened = AuditLog::Open(audit_log);
    if (!opened.ok()) return opened.status();
    audit = *std::move(opened);
  }
  std::vector<AuthChange> changes;
  absl::Status status = UpdateAuthFile(path, [&](AuthConfig* config) {
    const AuthConfig before = *config;
    absl::Status edited = edit(config);
    if (edited.ok()) changes = ChangesBetween(before, *config);
    return edited;
  });
  if (!status.ok() || audit == nullptr) return status;
  const std::string user = LocalUser();
  for (const AuthChange& change : changes) {
    status.Update(audit->Write({.kind = AuditEvent::Kind::kChanged,
                                .time = absl::Now(),
                                .principal = user,
                                .method = "sonde auth",
                                .resource = change.what,
                                .cause = change.how}));
  }
  if (status.ok()) return status;
  return absl::UnavailableError(fmt::format("{} is changed, and {} lacks a line of it: {}", path, audit_log,
                                            std::string(status.message())));
}

void SayReload(const std::string& path) {
  fmt::print(stderr, "sonde auth: {} is changed; a server that runs reads it again at SIGHUP\n", path);
}

std::string TextOfTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

void PrintJson(const nlohmann::ordered_json& json) { fmt::print("{}\n", json.dump(2)); }

// Nothing: never.
absl::StatusOr<std::optional<absl::Time>> ParseExpires(const std::string& text, absl::Time now) {
  if (text == "never") return std::nullopt;
  const absl::StatusOr<int64_t> micros = series::ParseDurationMicros(text);
  if (!micros.ok() || *micros < 1'000'000 || *micros > kTokenDaysMax * 86'400'000'000) {
    return absl::InvalidArgumentError(fmt::format(
        "--expires is '{}'; it must be a time from 1s to {}d, such as 90d, or never", text, kTokenDaysMax));
  }
  return now + absl::Microseconds(*micros);
}

absl::Status WriteKey(const std::string& path, const CreateKeyFlags& flags,
                      const std::optional<std::string>& role, NewServiceKey* made) {
  bool is_written = false;
  const absl::Status status = UpdateAudited(flags.place, path, [&](AuthConfig* config) {
    absl::StatusOr<NewServiceKey> key = AddServiceKey(config, flags.name, flags.project, absl::Now());
    if (!key.ok()) return key.status();
    if (role.has_value()) {
      const std::string member = fmt::format("serviceAccount:{}@{}", flags.name, kAccountDomain);
      if (absl::Status bound = AddBinding(config, member, *role, std::nullopt);
          !bound.ok() && !absl::IsAlreadyExists(bound)) {
        return bound;
      }
    }
    if (absl::Status written = WriteSecretFile(flags.out, key->file); !written.ok()) return written;
    is_written = true;
    Wipe(&key->file);
    *made = *std::move(key);
    return absl::OkStatus();
  });
  // A key that no server knows would only mislead.
  if (!status.ok() && is_written) unlink(flags.out.c_str());
  return status;
}

nlohmann::ordered_json JsonOfConfig(const AuthConfig& config, absl::Time now) {
  using Json = nlohmann::ordered_json;
  Json keys = Json::array(), tokens = Json::array(), groups = Json::array(), bindings = Json::array(),
       certificates = Json::array();
  for (const AuthAccount& account : config.accounts) {
    for (const AuthKey& key : account.keys) {
      keys.push_back({{"member", account.Member()},
                      {"id", key.id},
                      {"algorithm", NameOfAlgorithm(key.public_key->algorithm())},
                      {"created", TextOfTime(key.created)}});
    }
  }
  for (const AuthToken& token : config.tokens) {
    const Json expires = token.expires.has_value() ? Json(TextOfTime(*token.expires)) : Json();
    tokens.push_back({{"member", token.member},
                      {"id", token.id},
                      {"created", TextOfTime(token.created)},
                      {"expires", expires},
                      {"expired", token.expires.has_value() && *token.expires <= now}});
  }
  for (const AuthGroup& group : config.groups)
    groups.push_back({{"name", group.name}, {"members", group.members}});
  for (const AuthBinding& binding : config.bindings) {
    const Json project = binding.project.has_value() ? Json(*binding.project) : Json();
    bindings.push_back({{"role", binding.role}, {"project", project}, {"members", binding.members}});
  }
  for (const AuthCertificate& certificate : config.certificates) {
    certificates.push_back({{"name", certificate.name}, {"member", certificate.member}});
  }
  return {{"keys", keys},
          {"tokens", tokens},
          {"groups", groups},
          {"bindings", bindings},
          {"certificates", certificates}};
}

void PrintProofs(const AuthConfig& config, absl::Time now) {
  TextTable table({{"MEMBER"}, {"PROOF"}, {"ID"}, {"CREATED"}, {"EXPIRES"}}, &std::cout);
  for (const AuthAccount& account : config.accounts) {
    if (account.keys.empty()) table.Row({account.Member(), "none", "", "", ""});
    for (const AuthKey& key : account.keys) {
      table.Row({account.Member(), fmt::format("key {}", NameOfAlgorithm(key.public_key->algorithm())),
                 key.id, TextOfTime(key.created), "never"});
    }
  }
  for (const AuthToken& token : config.tokens) {
    std::string expires = token.expires.has_value() ? TextOfTime(*token.expires) : "never";
    if (token.expires.has_value() && *token.expires <= now) expires += " (past)";
    table.Row({token.member, "token", token.id, TextOfTime(token.created), expires});
  }
  for (const AuthCertificate& certificate : config.certificates) {
    table.Row({certificate.member, "certificate", certificate.name, "", ""});
  }
  table.End();
}

void PrintBindings(const AuthConfig& config) {
  TextTable table({{"MEMBER"}, {"ROLE"}, {"ON"}}, &std::cout);
  for (const AuthBinding& binding : config.bindings) {
    for (const std::string& member : binding.members) {
      table.Row(
          {member, binding.role, binding.project.has_value() ? "project " + *binding.project : "server"});
    }
  }
  table.End();
}

using BindingEdit = absl::Status (*)(AuthConfig*, std::string_view, std::string_view,
                                     const std::optional<std::string>&);

absl::Status EditBinding(const BindFlags& flags, BindingEdit edit) {
  const absl::StatusOr<std::string> path = PathOf(flags.place);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string> member = MemberOfArgument(flags.member);
  if (!member.ok()) return member.status();
  const absl::Status status = UpdateAudited(flags.place, *path, [&](AuthConfig* config) {
    return edit(config, *member, flags.role, flags.project);
  });
  if (!status.ok()) return status;
  SayReload(*path);
  if (flags.place.json) {
    nlohmann::ordered_json json = {{"member", *member}, {"role", flags.role}, {"project", nullptr}};
    if (flags.project.has_value()) json["project"] = *flags.project;
    PrintJson(json);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AuthCreateKey(const CreateKeyFlags& flags) {
  const absl::StatusOr<std::string> path = PathOf(flags.place);
  if (!path.ok()) return path.status();
  NewServiceKey key;
  if (absl::Status status = WriteKey(*path, flags, std::nullopt, &key); !status.ok()) return status;
  SayReload(*path);
  const std::string member = fmt::format("serviceAccount:{}@{}", flags.name, kAccountDomain);
  if (flags.place.json) {
    PrintJson({{"member", member}, {"id", key.id}, {"file", flags.out}});
  } else {
    fmt::print("{} has key {} in {}\n", member, key.id, flags.out);
  }
  return absl::OkStatus();
}

absl::Status AuthCreateToken(const CreateTokenFlags& flags) {
  const absl::StatusOr<std::string> path = PathOf(flags.place);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string> member = MemberOfArgument(flags.name);
  if (!member.ok()) return member.status();
  const absl::Time now = absl::Now();
  const absl::StatusOr<std::optional<absl::Time>> expires = ParseExpires(flags.expires, now);
  if (!expires.ok()) return expires.status();
  NewStaticToken token;
  const absl::Status status = UpdateAudited(flags.place, *path, [&](AuthConfig* config) {
    absl::StatusOr<NewStaticToken> made = AddStaticToken(config, *member, *expires, now);
    if (made.ok()) token = *std::move(made);
    return made.status();
  });
  if (!status.ok()) return status;
  SayReload(*path);
  const std::string until = expires->has_value() ? TextOfTime(**expires) : "never";
  if (flags.place.json) {
    nlohmann::ordered_json json = {
        {"member", *member}, {"id", token.id}, {"expires", nullptr}, {"token", token.text}};
    if (expires->has_value()) json["expires"] = until;
    PrintJson(json);
  } else {
    fmt::print(stderr, "sonde auth: token {} of {} expires: {}; it is printed this once\n", token.id, *member,
               until);
    fmt::print("{}\n", token.text);
  }
  Wipe(&token.text);
  return absl::OkStatus();
}

absl::Status AuthList(const AuthPlace& place) {
  const absl::StatusOr<std::string> path = PathOfFile(place);
  if (!path.ok()) return path.status();
  const absl::StatusOr<AuthConfig> config = ReadAuthFile(*path);
  if (!config.ok()) return config.status();
  const absl::Time now = absl::Now();
  if (place.json) {
    PrintJson(JsonOfConfig(*config, now));
    return absl::OkStatus();
  }
  PrintProofs(*config, now);
  std::cout << '\n';
  PrintBindings(*config);
  return absl::OkStatus();
}

absl::Status AuthRevoke(const AuthPlace& place, const std::string& id) {
  const absl::StatusOr<std::string> path = PathOfFile(place);
  if (!path.ok()) return path.status();
  std::string member;
  const absl::Status status = UpdateAudited(place, *path, [&](AuthConfig* config) {
    absl::StatusOr<std::string> revoked = RevokeProof(config, id);
    if (revoked.ok()) member = *std::move(revoked);
    return revoked.status();
  });
  if (!status.ok()) return status;
  SayReload(*path);
  if (place.json) {
    PrintJson({{"member", member}, {"id", id}});
  } else {
    fmt::print("{} of {} is revoked\n", id, member);
  }
  return absl::OkStatus();
}

absl::Status AuthBind(const BindFlags& flags) { return EditBinding(flags, AddBinding); }

absl::Status AuthUnbind(const BindFlags& flags) { return EditBinding(flags, RemoveBinding); }

absl::Status AuthCheck(const AuthPlace& place) {
  const absl::StatusOr<std::string> path = PathOfFile(place);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::unique_ptr<FileAuthenticator>> authenticator = FileAuthenticator::Create(*path);
  if (!authenticator.ok()) return authenticator.status();
  std::string header;
  for (char c; header.size() < kHeaderBytesMax && std::cin.get(c) && c != '\n';) header.push_back(c);
  std::string cause;
  const auto principal = (*authenticator)->Authenticate({.authorization = header}, absl::Now(), &cause);
  Wipe(&header);
  if (!principal.ok()) return absl::UnauthenticatedError(cause);
  const bool is_endless = (*principal)->until == absl::InfiniteFuture();
  if (place.json) {
    nlohmann::ordered_json json = {
        {"member", (*principal)->member}, {"groups", (*principal)->groups}, {"until", nullptr}};
    if (!is_endless) json["until"] = TextOfTime((*principal)->until);
    PrintJson(json);
  } else {
    fmt::print("{}\n", (*principal)->member);
  }
  return absl::OkStatus();
}

absl::Status CreateFirstKey(const std::string& auth_file, const std::string& name, const std::string& role,
                            const std::string& out) {
  NewServiceKey key;
  return WriteKey(auth_file, {.place = {}, .name = name, .out = out}, role, &key);
}

}  // namespace sonde

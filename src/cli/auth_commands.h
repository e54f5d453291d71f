// The work of `sonde auth COMMAND`, once its command line is read.
//
// Each prints its result to stdout, as JSON with `json`, and what there is to say about it to stderr.  A secret is printed by
// AuthCreateToken alone, once.
//
// Errors: those of identity/config/auth_file.h and auth_edits.h; INVALID_ARGUMENT: a text of the command line breaks a rule, which is
// asked before a file is opened.
//
// What a command changes has lines in the audit log (audit/audit_log.h), event `changed`, method `sonde auth`, with the user of the
// system as principal.  Errors: those of AuditLog::Open, before anything is changed.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace sonde {

// The place of the authentication file: one of the two.
struct AuthPlace {
  std::string auth;      // the file
  std::string data_dir;  // the data directory, in which it is auth.yaml
  std::string
      audit_log;  // empty: audit.log of the data directory; nothing is written where no data directory is given
  bool json = false;
};

struct CreateKeyFlags {
  AuthPlace place;
  std::string name;
  std::string out;
  std::string project = "sonde";
};
struct CreateTokenFlags {
  AuthPlace place;
  std::string name;  // of an account, or a member
  std::string expires;
};
struct BindFlags {
  AuthPlace place;
  std::string member;
  std::string role;
  std::optional<std::string> project;
};

absl::Status AuthCreateKey(const CreateKeyFlags& flags);
absl::Status AuthCreateToken(const CreateTokenFlags& flags);
absl::Status AuthList(const AuthPlace& place);
absl::Status AuthRevoke(const AuthPlace& place, const std::string& id);
absl::Status AuthBind(const BindFlags& flags);
absl::Status AuthUnbind(const BindFlags& flags);
// Reads the value of a header `authorization` from stdin and says whom it proves, by the file as it is now.  UNAUTHENTICATED, with the
// cause: nobody.
absl::Status AuthCheck(const AuthPlace& place);

// Makes an account's key file and the authentication file that knows the key, with `role` on the whole server: what
// `sonde init` starts with.  ALREADY_EXISTS: `out` is there.
absl::Status CreateFirstKey(const std::string& auth_file, const std::string& name, const std::string& role,
                            const std::string& out);

}  // namespace sonde

// Proves callers by an authentication file.
//
// A call brings one of: `authorization: Bearer` with a token that the client signed or a static one; `Token` or `Basic` with a static
// one; a client's certificate, which counts only without `authorization`.
//
// Ownership: what config() gives, and the principals, hold on their own.
// Threads: all functions may be called at once.
// Cost: a signed token is verified once and then found by its SHA-256, within 3 us.
// Source: admin-security-operations.md, 7.3.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "identity/authenticator.h"
#include "identity/config/auth_config.h"

namespace sonde {

class AuthGeneration;

class FileAuthenticator final : public Authenticator {
 public:
  // Errors: those of ReadAuthFile (auth_file.h).
  static absl::StatusOr<std::unique_ptr<FileAuthenticator>> Create(std::string path);
  // Without a file: for tests, and for configurations that come from elsewhere.
  static std::unique_ptr<FileAuthenticator> Create(AuthConfig config);

  ~FileAuthenticator() override;

  // Reads the file again, whole or not at all: on an error all stays as it was.  Afterwards no proof counts that the new file does
  // not have, also none that was verified before.  Errors: as Create; FAILED_PRECONDITION: there is no file.
  absl::Status Reload();
  void Replace(AuthConfig config);

  // What is in force: the same pointer until it changes.  It has the roles and bindings, too.
  std::shared_ptr<const AuthConfig> config() const;

  absl::StatusOr<std::shared_ptr<const Principal>> Authenticate(const Credentials& credentials,
                                                                absl::Time now, std::string* cause) override;
  absl::StatusOr<std::shared_ptr<const Principal>> AuthenticateToken(std::string_view token_id,
                                                                     std::string_view token_sha256,
                                                                     absl::Time now,
                                                                     std::string* cause) override;

 private:
  FileAuthenticator(std::string path, AuthConfig config);

  std::shared_ptr<AuthGeneration> generation() const;

  const std::string path_;  // empty: there is no file
  mutable absl::Mutex mutex_;
  std::shared_ptr<AuthGeneration> generation_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde

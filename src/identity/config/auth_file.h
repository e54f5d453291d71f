// An authentication file on disk.
//
// Threads: all functions may be called at once, and by several processes: UpdateAuthFile has them wait for each other.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "identity/config/auth_config.h"

namespace sonde {

// NOT_FOUND: there is no such file.  FAILED_PRECONDITION: others than its owner may do something with it.  INVALID_ARGUMENT: as
// ParseAuthText says.  UNAVAILABLE: it cannot be read, with the system's cause.
absl::StatusOr<AuthConfig> ReadAuthFile(const std::string& path);

// Reads the file (a file that is not there is an empty one), lets `edit` change what it says, and writes it anew: mode 0600, beside
// it as PATH.part, synced, renamed, its directory synced.  When it fails, whatever the cause, the file is as it was.  Comments of
// the file are lost.  Errors: those of ReadAuthFile and `edit`; UNAVAILABLE: it cannot be written.
absl::Status UpdateAuthFile(const std::string& path, const std::function<absl::Status(AuthConfig*)>& edit);

// Writes a file that holds a secret: mode 0600, synced.  ALREADY_EXISTS: there is one.  UNAVAILABLE: it cannot be written.
absl::Status WriteSecretFile(const std::string& path, std::string_view text);

}  // namespace sonde

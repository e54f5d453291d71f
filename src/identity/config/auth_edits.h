// Changes of an authentication file: what the commands `sonde auth` do, in memory.
//
// Errors: INVALID_ARGUMENT: a name breaks its rule (member_names.h).  NOT_FOUND: the name is not in the configuration.
// ALREADY_EXISTS: it is already.  RESOURCE_EXHAUSTED: a bound of auth_config.h is reached.  The configuration is then as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/config/auth_config.h"
#include "identity/proof/service_key.h"
#include "identity/proof/static_token.h"

namespace sonde {

// Adds a key to the account NAME@sonde.local, which it makes if there is none.
absl::StatusOr<NewServiceKey> AddServiceKey(AuthConfig* config, std::string_view name,
                                            std::string_view project, absl::Time now);

// Adds a static token of a member, who need not have an account.  `expires`: nothing: it does not.
absl::StatusOr<NewStaticToken> AddStaticToken(AuthConfig* config, std::string_view member,
                                              std::optional<absl::Time> expires, absl::Time now);

// Removes the key or the token with this id.  Returns the member who had it.
absl::StatusOr<std::string> RevokeProof(AuthConfig* config, std::string_view id);

// Grants a role, on the whole server or on a project.
absl::Status AddBinding(AuthConfig* config, std::string_view member, std::string_view role,
                        const std::optional<std::string>& project);
// Takes it away again.
absl::Status RemoveBinding(AuthConfig* config, std::string_view member, std::string_view role,
                           const std::optional<std::string>& project);

}  // namespace sonde

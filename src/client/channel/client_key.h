// Which key a client shows to an endpoint, as Google's clients find it.
//
// 1. The file that is named (--key-file).
// 2. With TLS alone: the file that GOOGLE_APPLICATION_CREDENTIALS names.
// 3. With TLS alone: ~/.config/gcloud/application_default_credentials.json, if it is there and is an account's key.
//
// A file of another type than service_account is UNIMPLEMENTED where it is named, as its owner would have to be asked for at Google's
// token endpoint; as the default file it counts for nothing.
//
// A key of Google's accounts is shown to Google alone: whoever receives its token can use it at Google for an hour.  No key is shown
// in plain text but on loopback.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/channel/endpoint.h"
#include "identity/proof/signing_key.h"

namespace sonde {

constexpr size_t kKeyFileBytesMax = 64 << 10;

struct KeySources {
  std::string named;                                   // empty: none is named
  std::optional<std::string> application_credentials;  // the variable's value
  std::string default_file;                            // empty: there is no home directory
};

// From the environment of the process.
KeySources KeySourcesOf(const std::string& named_file);

// Null: the client shows no key.  NOT_FOUND, INVALID_ARGUMENT, UNIMPLEMENTED, with the name of the file: it cannot be read, is too
// large, is no key file.  FAILED_PRECONDITION: the key must not be shown to this endpoint.
absl::StatusOr<std::shared_ptr<const SigningKey>> FindClientKey(const KeySources& sources,
                                                                const Endpoint& endpoint);

// A file's bytes.  NOT_FOUND: it cannot be read, with the cause.  INVALID_ARGUMENT: it is larger than `bytes_max`.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t bytes_max);

}  // namespace sonde

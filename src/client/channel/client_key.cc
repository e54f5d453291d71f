#include "client/channel/client_key.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "identity/proof/digest.h"
#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

constexpr char kApplicationCredentials[] = "GOOGLE_APPLICATION_CREDENTIALS";
constexpr char kDefaultFile[] = "gcloud/application_default_credentials.json";

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

absl::StatusOr<std::shared_ptr<const SigningKey>> ReadKey(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSmallFile(path, kKeyFileBytesMax);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::shared_ptr<const SigningKey>> key = SigningKey::FromKeyFile(*text);
  Wipe(&*text);
  if (key.ok()) return key;
  return absl::Status(key.status().code(), fmt::format("{}: {}", path, std::string(key.status().message())));
}

absl::Status CheckMayShow(const SigningKey& key, const std::string& path, const Endpoint& endpoint) {
  if (key.email().ends_with(kGoogleAccountSuffix) && !endpoint.is_google) {
    return absl::FailedPreconditionError(
        fmt::format("{} is a key of Google's, of the account {}: it is not shown to {}, which could use its "
                    "tokens at Google; give --key-file with a key that `sonde auth create-key` made",
                    path, key.email(), endpoint.Target()));
  }
  if (!endpoint.is_tls && !endpoint.is_loopback) {
    return absl::FailedPreconditionError(
        fmt::format("the key {} is not shown to {} without TLS", path, endpoint.Target()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t bytes_max) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  std::string bytes(bytes_max + 1, '\0');
  size_t size = 0;
  if (file != nullptr) size = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return absl::NotFoundError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (size > bytes_max) {
    return absl::InvalidArgumentError(fmt::format("{} has more than {} bytes", path, bytes_max));
  }
  bytes.resize(size);
  return bytes;
}

KeySources KeySourcesOf(const std::string& named_file) {
  KeySources sources{.named = named_file, .application_credentials = Variable(kApplicationCredentials)};
  if (const std::optional<std::string> config = Variable("CLOUDSDK_CONFIG")) {
    sources.default_file = *config + "/application_default_credentials.json";
  } else if (const std::optional<std::string> home = Variable("HOME")) {
    sources.default_file = fmt::format("{}/.config/{}", *home, kDefaultFile);
  }
  return sources;
}

absl::StatusOr<std::shared_ptr<const SigningKey>> FindClientKey(const KeySources& sources,
                                                                const Endpoint& endpoint) {
  std::string path = sources.named;
  if (path.empty() && endpoint.is_tls) path = sources.application_credentials.value_or("");
  if (!path.empty()) {
    absl::StatusOr<std::shared_ptr<const SigningKey>> key = ReadKey(path);
    if (!key.ok()) return key.status();
    if (absl::Status status = CheckMayShow(**key, path, endpoint); !status.ok()) return status;
    return key;
  }
  if (!endpoint.is_tls || sources.default_file.empty()) return nullptr;
  // Nobody has named this file for this endpoint: a key that cannot be used is as good as none.
  absl::StatusOr<std::shared_ptr<const SigningKey>> key = ReadKey(sources.default_file);
  if (!key.ok() || !CheckMayShow(**key, sources.default_file, endpoint).ok()) return nullptr;
  return key;
}

}  // namespace sonde

#include "client/channel/channel.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <map>
#include <utility>

#include "base/clock.h"
#include "client/channel/client_key.h"
#include "client/channel/endpoint.h"
#include "client/channel/token_source.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr std::string_view kCertificateBegin = "-----BEGIN CERTIFICATE-----";

// Adds `authorization` to each call.
class KeyPlugin final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit KeyPlugin(std::shared_ptr<const SigningKey> key) : tokens_(std::move(key), &clock_) {}

  // A token that is held costs nothing, and one is signed once an hour.
  bool IsBlocking() const override { return false; }
  const char* GetType() const override { return "sonde-key"; }
  // Debug texts of gRPC have no token.
  grpc::string DebugString() override { return "KeyPlugin"; }
  grpc::Status GetMetadata(grpc::string_ref service_url, grpc::string_ref /*method*/,
                           const grpc::AuthContext& /*context*/,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    const absl::StatusOr<std::string> token = tokens_.TokenFor({service_url.data(), service_url.size()});
    if (!token.ok()) return {grpc::StatusCode::UNAUTHENTICATED, std::string(token.status().message())};
    metadata->emplace("authorization", "Bearer " + *token);
    return grpc::Status::OK;
  }

 private:
  SystemClock clock_;
  TokenSource tokens_;
};

absl::StatusOr<std::string> ReadRoots(const std::string& ca_file) {
  if (ca_file.empty()) return "";
  absl::StatusOr<std::string> roots = ReadSmallFile(ca_file, kCaFileBytesMax);
  if (roots.ok() && roots->find(kCertificateBegin) == std::string::npos) {
    return absl::InvalidArgumentError(fmt::format("{} has no certificate in PEM", ca_file));
  }
  return roots;
}

std::shared_ptr<grpc::ChannelCredentials> CredentialsFor(const Endpoint& endpoint, const std::string& roots,
                                                         std::shared_ptr<const SigningKey> key) {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (endpoint.is_tls) {
    credentials = grpc::SslCredentials({.pem_root_certs = roots});
  } else if (key != nullptr) {
    // Plain text on loopback; gRPC shows no token on a channel that it takes for insecure.
    credentials = grpc::experimental::LocalCredentials(LOCAL_TCP);
  } else {
    return grpc::InsecureChannelCredentials();
  }
  if (key == nullptr) return credentials;
  const auto level = endpoint.is_tls ? GRPC_PRIVACY_AND_INTEGRITY : GRPC_SECURITY_NONE;
  return grpc::CompositeChannelCredentials(
      credentials,
      grpc::experimental::MetadataCredentialsFromPlugin(std::make_unique<KeyPlugin>(std::move(key)), level));
}

// Why a channel does not come about, as a call learns it: "Ssl handshake failed: ...".
std::string CauseOf(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_wait_for_ready(false);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  google::bigtable::v2::PingAndWarmResponse response;
  return google::bigtable::v2::Bigtable::NewStub(channel)
      ->PingAndWarm(&context, {}, &response)
      .error_message();
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(
    const ChannelOptions& options, const Endpoint& endpoint,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetMaxSendMessageSize(kMessageBytesMax);
  arguments.SetUserAgentPrefix(options.program);
  if (options.is_bare) {
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  }
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(endpoint.Target(), credentials, arguments);
  if (channel->WaitForConnected(std::chrono::system_clock::now() + options.connect_timeout)) return channel;
  const std::string waited =
      fmt::format("at {} (waited {} ms)", endpoint.Target(), options.connect_timeout.count());
  if (!endpoint.is_tls) {
    return absl::UnavailableError(
        fmt::format("no Bigtable server answers {}: start one there, for example with `sonde serve`, or "
                    "correct the endpoint",
                    waited));
  }
  return absl::UnavailableError(
      fmt::format("no Bigtable server answers by TLS {}: {}; --ca-file names the CA of the server's "
                  "certificate, and http://{} asks for plain text",
                  waited, CauseOf(channel), endpoint.Target()));
}

}  // namespace

absl::StatusOr<Channels> OpenChannels(const ChannelOptions& options) {
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(options.endpoint, !options.ca_file.empty());
  if (!endpoint.ok()) return endpoint.status();
  const absl::StatusOr<std::string> roots = ReadRoots(options.ca_file);
  if (!roots.ok()) return roots.status();
  const absl::StatusOr<std::shared_ptr<const SigningKey>> key =
      FindClientKey(KeySourcesOf(options.key_file), *endpoint);
  if (!key.ok()) return key.status();
  const std::shared_ptr<grpc::ChannelCredentials> credentials = CredentialsFor(*endpoint, *roots, *key);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> data = OpenChannel(options, *endpoint, credentials);
  if (!data.ok()) return data.status();
  const Endpoint admin_endpoint = endpoint->ForAdmin();
  if (admin_endpoint.host == endpoint->host) return Channels{.data = *data, .admin = *data};
  absl::StatusOr<std::shared_ptr<grpc::Channel>> admin = OpenChannel(options, admin_endpoint, credentials);
  if (!admin.ok()) return admin.status();
  return Channels{.data = *std::move(data), .admin = *std::move(admin)};
}

}  // namespace sonde

#include "hbase/call/servers.h"

#include <netdb.h>
#include <sys/socket.h>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

namespace sonde::hbase {
namespace {

// A name of a host as the bytes of an address.  May ask the network.
absl::StatusOr<std::string> Resolve(const ServerAddress& server) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &wanted, &found);
  if (error != 0)
    return absl::UnavailableError("The host of " + server.Text() + " has no address: " + gai_strerror(error));
  const absl::Cleanup free = [found] { freeaddrinfo(found); };
  return std::string(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen);
}

}  // namespace

CallResult StartedCall::Wait() {
  const absl::MutexLock lock(&state_->mutex, absl::Condition(&state_->has_ended));
  return std::move(state_->result);
}

absl::StatusOr<std::unique_ptr<Servers>> Servers::Create(ServersOptions options) {
  std::unique_ptr<tls::ClientKeeper> certificates;
  if (options.tls.has_value()) {
    absl::StatusOr<std::unique_ptr<tls::ClientKeeper>> opened =
        tls::ClientKeeper::Open(options.tls->files, absl::Now());
    if (!opened.ok()) return opened.status();
    certificates = *std::move(opened);
  }
  absl::StatusOr<std::unique_ptr<Loop>> loop = Loop::Start();
  if (!loop.ok()) return loop.status();
  return std::unique_ptr<Servers>(new Servers(std::move(options), std::move(certificates), *std::move(loop)));
}

Servers::Servers(ServersOptions options, std::unique_ptr<tls::ClientKeeper> certificates,
                 std::unique_ptr<Loop> loop)
    : options_(std::move(options)), certificates_(std::move(certificates)), loop_(std::move(loop)) {}

Servers::~Servers() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [name, connection] : connections_) connection->Close("The client ends");
}

std::shared_ptr<Connection> Servers::Existing(const ServerAddress& server, const char* service) {
  const absl::MutexLock lock(&mutex_);
  const auto found = connections_.find({server, service});
  if (found == connections_.end() || found->second->is_closed()) return nullptr;
  return found->second;
}

absl::StatusOr<std::shared_ptr<Connection>> Servers::ConnectionTo(const ServerAddress& server,
                                                                  const char* service) {
  if (std::shared_ptr<Connection> existing = Existing(server, service)) return existing;
  const absl::StatusOr<std::string> address = Resolve(server);
  if (!address.ok()) return address.status();
  const absl::MutexLock lock(&mutex_);
  std::erase_if(connections_, [](const auto& one) { return one.second->is_closed(); });
  std::shared_ptr<Connection>& connection = connections_[{server, service}];
  if (connection == nullptr) {  // nobody else was quicker
    ConnectionOptions options{service, options_.user, options_.connect_timeout};
    if (certificates_ != nullptr) {
      options.tls = certificates_->Current(absl::Now());
      options.tls_name = options_.tls->server_name.empty() ? server.host : options_.tls->server_name;
      options.has_answered_by_tls = &has_answered_by_tls_;
    }
    connection = std::make_shared<Connection>(loop_.get(), server.Text(), *address, std::move(options));
  }
  return connection;
}

void Servers::Start(const CallRequest& request, absl::Duration timeout, OnResult on_result) {
  const absl::StatusOr<std::shared_ptr<Connection>> connection =
      ConnectionTo(request.server, request.service);
  if (!connection.ok()) {
    CallResult result;
    result.failure =
        Failure{.remedy = Remedy::kLocate, .message = std::string(connection.status().message())};
    loop_->Post([on_result = std::move(on_result), result = std::move(result)]() mutable {
      std::move(on_result)(std::move(result));
    });
    return;
  }
  (*connection)->Send(request.method, request.parameter, request.cells, timeout, std::move(on_result));
}

StartedCall Servers::Start(const CallRequest& request, absl::Duration timeout) {
  StartedCall call;
  Start(request, timeout, [state = call.state_](CallResult result) {
    const absl::MutexLock lock(&state->mutex);
    state->result = std::move(result);
    state->has_ended = true;
  });
  return call;
}

}  // namespace sonde::hbase

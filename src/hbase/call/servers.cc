#include "hbase/call/servers.h"

#include <netdb.h>
#include <sys/socket.h>

#include "absl/cleanup/cleanup.h"

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

absl::StatusOr<std::unique_ptr<Servers>> Servers::Create(std::string user, absl::Duration connect_timeout) {
  absl::StatusOr<std::unique_ptr<Loop>> loop = Loop::Start();
  if (!loop.ok()) return loop.status();
  return std::unique_ptr<Servers>(new Servers(*std::move(loop), std::move(user), connect_timeout));
}

Servers::Servers(std::unique_ptr<Loop> loop, std::string user, absl::Duration connect_timeout)
    : loop_(std::move(loop)), user_(std::move(user)), connect_timeout_(connect_timeout) {}

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
    ConnectionOptions options{service, user_, connect_timeout_};
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

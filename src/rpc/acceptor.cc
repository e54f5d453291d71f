#include "rpc/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

constexpr int kListenBacklog = 1'024;
constexpr int kAcceptedAtOnceMax = 64;
// Without a descriptor.
constexpr int kRetryMillis = 50;
// A loop whose turn takes longer gets no new connections while there is another.
constexpr milliseconds kTurnTimeMax{100};

// SETTINGS without entries, and GOAWAY with ENHANCE_YOUR_CALM (11) and a word of 20 bytes.
constexpr char kTurnedAwayBytes[] =
    "\0\0\0\4\0\0\0\0\0"
    "\0\0\x1c\7\0\0\0\0\0\0\0\0\0\0\0\0\x0b"
    "too_many_connections";
constexpr std::string_view kTurnedAway{kTurnedAwayBytes, sizeof(kTurnedAwayBytes) - 1};
static_assert(kTurnedAway.size() == 9 + 9 + 8 + 20);

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Whether there is one besides those that are in use.
bool HasDescriptor() {
  const int descriptor = OpenSpare();
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

struct Peer {
  std::string address;
  int port = 0;
  bool is_ipv6 = false;
};

Peer PeerOf(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
      inet_ntop(AF_INET, &ipv6.sin6_addr.s6_addr[12], text.data(), text.size());
      return {text.data(), ntohs(ipv6.sin6_port), false};
    }
    inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
    return {text.data(), ntohs(ipv6.sin6_port), true};
  }
  const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
  inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
  return {text.data(), ntohs(ipv4.sin_port), false};
}

void SetPort(int port, addrinfo* address) {
  if (address->ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address->ai_addr)->sin6_port = htons(static_cast<uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in*>(address->ai_addr)->sin_port = htons(static_cast<uint16_t>(port));
  }
}

// A socket that listens at the address, or -1 and errno.
int ListenAt(const addrinfo& address) {
  const int fd =
      socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (fd < 0) return -1;
  const int yes = 1;
  // Not SO_REUSEPORT: two servers must not share a port.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0 && listen(fd, kListenBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

int PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return PeerOf(address).port;
}

void CloseAtOnce(int descriptor) {
  (void)!send(descriptor, kTurnedAway.data(), kTurnedAway.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(descriptor);
}

}  // namespace

Listeners::~Listeners() {
  for (const int socket : sockets_) close(socket);
}

absl::StatusOr<Listeners> Listeners::Open(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::string name = host;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const int error = getaddrinfo(name.empty() ? nullptr : name.c_str(), "0", &wanted, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(
        fmt::format("There is no address for {}: {}", host, gai_strerror(error)));
  }
  const auto free_found = absl::MakeCleanup([found] { freeaddrinfo(found); });
  Listeners listeners;
  listeners.port_ = port;
  int failure = 0;
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    SetPort(listeners.port_, at);
    const int socket = ListenAt(*at);
    if (socket < 0) {
      // An address that the machine does not have is no fault where there is another.
      failure = errno;
      if (failure == EADDRINUSE) break;
      continue;
    }
    listeners.sockets_.push_back(socket);
    listeners.port_ = PortOf(socket);
  }
  if (listeners.sockets_.empty() || failure == EADDRINUSE) {
    return absl::FailedPreconditionError(
        fmt::format("Cannot listen on {}:{}: {}", host, port, std::generic_category().message(failure)));
  }
  return listeners;
}

Acceptor::Acceptor(Listeners listeners, std::shared_ptr<ServerState> state,
                   std::vector<std::shared_ptr<Loop>> loops)
    : listeners_(std::move(listeners)),
      state_(std::move(state)),
      loops_(std::move(loops)),
      spare_(OpenSpare()),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

Acceptor::~Acceptor() { End(); }

void Acceptor::End() {
  if (!thread_.joinable()) return;
  is_ending_ = true;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  thread_.join();
  state_->is_accepting = false;
  const Listeners closed = std::move(listeners_);
  if (spare_ >= 0) close(spare_);
  close(wake_);
}

void Acceptor::Run() {
  std::vector<pollfd> wanted;
  wanted.push_back({wake_, POLLIN, 0});
  for (const int socket : listeners_.sockets()) wanted.push_back({socket, POLLIN, 0});
  while (!is_ending_) {
    const bool is_accepting = state_->is_accepting;
    // While nothing can be taken, only the word to end is waited for.
    poll(wanted.data(), is_accepting ? wanted.size() : 1, is_accepting ? -1 : kRetryMillis);
    bool has_descriptors = is_accepting || HasDescriptor();
    for (size_t i = 1; i < wanted.size() && !is_ending_; ++i) {
      has_descriptors = AcceptAll(wanted[i].fd) && has_descriptors;
    }
    state_->is_accepting = has_descriptors;
  }
}

bool Acceptor::AcceptAll(int socket) {
  if (spare_ < 0) spare_ = OpenSpare();
  bool has_descriptors = true;
  for (int i = 0; i < kAcceptedAtOnceMax; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int descriptor =
        accept4(socket, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      Take(descriptor, address);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      has_descriptors = false;
      if (!TurnAway(socket)) break;
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    // Else it is of the connection that was to be taken.
  }
  return has_descriptors;
}

bool Acceptor::TurnAway(int socket) {
  if (spare_ < 0) return false;
  close(std::exchange(spare_, -1));
  const int descriptor = accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor >= 0) {
    state_->CountRefusal(Refusal::kNoFiles);
    CloseAtOnce(descriptor);
  }
  spare_ = OpenSpare();
  return descriptor >= 0 && spare_ >= 0;
}

void Acceptor::Take(int descriptor, const sockaddr_storage& address) {
  const Peer peer = PeerOf(address);
  if (!state_->EnterConnection(peer.address)) return CloseAtOnce(descriptor);
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  NextLoop()->Adopt(descriptor, peer.address,
                    peer.is_ipv6 ? fmt::format("[{}]:{}", peer.address, peer.port)
                                 : fmt::format("{}:{}", peer.address, peer.port));
}

Loop* Acceptor::NextLoop() {
  for (size_t i = 0; i < loops_.size(); ++i) {
    Loop* const loop = loops_[next_loop_++ % loops_.size()].get();
    if (loop->TurnTime() < kTurnTimeMax) return loop;
  }
  return loops_[next_loop_++ % loops_.size()].get();
}

}  // namespace sonde::rpc

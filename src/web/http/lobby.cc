#include "web/http/lobby.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace sonde {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How often times are looked at.
constexpr milliseconds kTick{100};
// After an answer that is the last: what the client still sends is thrown away for so long, so that it sees
// the answer and not that the connection was reset.
constexpr milliseconds kDrain{500};
constexpr int kEventsMax = 64;
constexpr int kAcceptedAtOnceMax = 64;

// Without its port.
std::string AddressOf(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr, text.data(),
              text.size());
  }
  return text.data();
}

absl::Status HeadTooLarge() {
  return absl::InvalidArgumentError(
      fmt::format("The first line and the headers have more than {} bytes, the limit", kHeadBytesMax));
}

}  // namespace

Lobby::Lobby(int listening_socket, Options options)
    : options_(std::move(options)),
      listening_socket_(listening_socket),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  epoll_event event{EPOLLIN, {.fd = wake_}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
}

void Lobby::Begin() {
  Listen(true);
  thread_ = std::thread([this] { Run(); });
}

void Lobby::End(std::chrono::milliseconds patience) {
  if (!thread_.joinable()) return;
  Clock::time_point never = Clock::time_point::max();
  cut_at_.compare_exchange_strong(never, Clock::now() + patience);  // unless somebody hurries already
  must_end_ = true;
  Wake();
  thread_.join();
}

void Lobby::HurryEnd() {
  cut_at_ = Clock::now();
  Wake();
}

Lobby::~Lobby() {
  End();
  close(listening_socket_);
  close(wake_);
  close(epoll_);
}

void Lobby::Return(std::unique_ptr<Connection> connection) {
  {
    const absl::MutexLock lock(&mutex_);
    returned_.push_back(std::move(connection));
  }
  Wake();
}

void Lobby::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Lobby::Listen(bool is_listening) {
  if (is_listening == is_listening_) return;
  epoll_event event{EPOLLIN, {.fd = listening_socket_}};
  epoll_ctl(epoll_, is_listening ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listening_socket_, &event);
  is_listening_ = is_listening;
}

void Lobby::Run() {
  std::array<epoll_event, kEventsMax> events;
  while (true) {
    const bool has_times = !guests_.empty() || !is_listening_;
    const int count =
        epoll_wait(epoll_, events.data(), kEventsMax, has_times ? static_cast<int>(kTick.count()) : -1);
    for (int i = 0; i < count; ++i) {
      const int socket = events[static_cast<size_t>(i)].data.fd;
      if (socket == wake_) {
        uint64_t ignored = 0;
        (void)!read(wake_, &ignored, sizeof(ignored));
      } else if (socket == listening_socket_) {
        Accept();
      } else if (const auto guest = guests_.find(socket); guest != guests_.end()) {
        OnReady(guest->second.get());
      }
    }
    TakeReturned();
    if (must_end_ && !is_ending_) EndListening();
    CheckTimes();
    if (is_ending_ && guests_.empty() && served_.empty()) return;
  }
}

void Lobby::EndListening() {
  is_ending_ = true;
  Listen(false);
  shutdown(listening_socket_, SHUT_RDWR);
  std::vector<Guest*> idle;
  for (const auto& [socket, guest] : guests_) {
    if (guest->state == State::kReading || guest->state == State::kHandshake) idle.push_back(guest.get());
  }
  for (Guest* const guest : idle) Remove(guest);
}

void Lobby::Accept() {
  for (int i = 0; i < kAcceptedAtOnceMax; ++i) {
    if (guests_.size() + served_.size() >= options_.connections_max &&
        !MakeRoom(HttpCounts::Cut::kConnections)) {
      return AcceptLater();
    }
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int socket = accept4(listening_socket_, reinterpret_cast<sockaddr*>(&address), &size,
                               SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      // No file is left, perhaps: the next one waits a moment.
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
        MakeRoom(HttpCounts::Cut::kNoFiles);
        AcceptLater();
      }
      return;
    }
    const std::string peer = AddressOf(address);
    if (options_.tls && !handshake_rates_.Take(peer, Clock::now())) {
      options_.counts->AddCut(HttpCounts::Cut::kTlsRate);
      close(socket);
      continue;
    }
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    auto guest = std::make_unique<Guest>();
    guest->connection = std::make_unique<Connection>(socket, peer, options_.tls ? options_.tls() : nullptr);
    if (!guest->connection->is_open()) guest->state = State::kHandshake;
    guest->since = Clock::now();
    epoll_event event{EPOLLIN, {.fd = socket}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
    guests_[socket] = std::move(guest);
    options_.counts->AddConnection();
  }
}

void Lobby::AcceptLater() {
  Listen(false);
  accept_again_ = Clock::now() + kTick;
}

bool Lobby::MakeRoom(HttpCounts::Cut why) {
  Guest* first = nullptr;
  for (const auto& [socket, guest] : guests_) {
    if (guest->state == State::kSending) continue;
    if (first == nullptr || guest->since < first->since) first = guest.get();
  }
  if (first == nullptr) return false;
  options_.counts->AddCut(why);
  Remove(first);
  return true;
}

void Lobby::TakeReturned() {
  std::vector<std::unique_ptr<Connection>> returned;
  {
    const absl::MutexLock lock(&mutex_);
    returned.swap(returned_);
  }
  for (std::unique_ptr<Connection>& connection : returned) {
    const int socket = connection->socket();
    served_.erase(socket);
    auto guest = std::make_unique<Guest>();
    guest->connection = std::move(connection);
    epoll_event event{0, {.fd = socket}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
    Guest* const entered = (guests_[socket] = std::move(guest)).get();
    if (entered->connection->IsSent()) {
      AfterSending(entered);
    } else {
      SetState(entered, State::kSending);
      SendOn(entered);
    }
  }
}

void Lobby::SetState(Guest* guest, State state) {
  guest->state = state;
  guest->has_begun = false;
  guest->searched = 0;
  guest->since = guest->progress = Clock::now();
  guest->sent_bytes = 0;
  const int socket = guest->connection->socket();
  epoll_event event{static_cast<uint32_t>(state == State::kSending ? EPOLLOUT : EPOLLIN), {.fd = socket}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
}

void Lobby::DoHandshake(Guest* guest) {
  Connection& connection = *guest->connection;
  switch (connection.Handshake()) {
    case tls::Stream::State::kOk:
      return SetState(guest, State::kReading);
    case tls::Stream::State::kEnded:
      options_.counts->AddCut(HttpCounts::Cut::kHandshake);
      return Remove(guest);
    case tls::Stream::State::kLater:
      break;
  }
  const int socket = connection.socket();
  epoll_event event{static_cast<uint32_t>(connection.handshake_waits_to_send() ? EPOLLOUT : EPOLLIN),
                    {.fd = socket}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
}

void Lobby::OnReady(Guest* guest) {
  Connection& connection = *guest->connection;
  if (guest->state == State::kHandshake) return DoHandshake(guest);
  if (guest->state == State::kSending) return SendOn(guest);
  if (guest->state == State::kReading) {
    const size_t bytes_max = kHeadBytesMax + kSmallBodyBytesMax + 1;
    const bool is_open = connection.Receive(bytes_max - std::min(bytes_max, connection.unread().size()));
    return Look(guest, !is_open);
  }
  const bool is_open = connection.Receive(kHeadBytesMax);
  connection.Use(connection.unread().size());
  if (!is_open) Remove(guest);
}

void Lobby::Look(Guest* guest, bool is_ended) {
  Connection& connection = *guest->connection;
  if (!guest->has_begun && !connection.unread().empty()) {
    guest->has_begun = true;
    guest->since = Clock::now();
  }
  if (!connection.head) {
    const std::optional<size_t> end = FindHeadEnd(connection.unread(), guest->searched);
    guest->searched = connection.unread().size();
    if (end.value_or(guest->searched) > kHeadBytesMax) return Refuse(guest, 431, HeadTooLarge());
    if (!end) return is_ended ? Remove(guest) : void();
    absl::StatusOr<RequestHead> head = ParseRequestHead(connection.unread().substr(0, *end));
    if (!head.ok()) return Refuse(guest, HttpCodeOf(head.status().code()), head.status());
    connection.Use(*end);
    connection.head = *std::move(head);
  }
  const uint64_t body_bytes = connection.head->body_bytes.value_or(0);
  if (body_bytes > kSmallBodyBytesMax || connection.head->expects_continue ||
      connection.unread().size() >= body_bytes) {
    return Serve(guest);
  }
  if (is_ended) Refuse(guest, 400, absl::InvalidArgumentError("The body ended before its time"));
}

void Lobby::Serve(Guest* guest) {
  const int socket = guest->connection->socket();
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
  served_.insert(socket);
  std::unique_ptr<Connection> connection = std::move(guest->connection);
  guests_.erase(socket);
  options_.serve(std::move(connection));
}

void Lobby::Refuse(Guest* guest, int http_code, const absl::Status& why) {
  options_.counts->AddAnswer(http_code);
  guest->connection->out = options_.refuse(http_code, why);
  guest->connection->closes = true;
  SetState(guest, State::kSending);
  SendOn(guest);
}

void Lobby::SendOn(Guest* guest) {
  const size_t before = guest->connection->out_at;
  if (!guest->connection->Send()) return Remove(guest);
  if (guest->connection->IsSent()) return AfterSending(guest);
  if (guest->connection->out_at == before) return;
  guest->progress = Clock::now();
  guest->sent_bytes += static_cast<int64_t>(guest->connection->out_at - before);
}

void Lobby::AfterSending(Guest* guest) {
  if (guest->connection->closes || is_ending_) {
    guest->connection->EndSending();
    return SetState(guest, State::kDraining);
  }
  SetState(guest, State::kReading);
  Look(guest, false);  // the next request may be here already
}

bool Lobby::IsDue(Guest* guest, Clock::time_point now) {
  const Clock::duration age = now - guest->since;
  switch (guest->state) {
    case State::kHandshake:
      return age >= seconds(kHandshakeSeconds);
    case State::kReading:
      return age >= (guest->has_begun ? seconds(kHeadSeconds) : options_.idle_max);
    case State::kSending:
      return now - guest->progress >= seconds(kStallSeconds) || age >= PatienceFor(guest->sent_bytes);
    case State::kDraining:
      break;
  }
  return age >= kDrain;
}

void Lobby::CheckTimes() {
  const Clock::time_point now = Clock::now();
  if (now < next_check_) return;
  next_check_ = now + kTick;
  std::vector<Guest*> due;
  for (const auto& [socket, guest] : guests_) {
    if (IsDue(guest.get(), now)) due.push_back(guest.get());
  }
  for (Guest* const guest : due) {
    if (guest->state == State::kReading && guest->connection->head) {
      Refuse(guest, 503,
             absl::UnavailableError(fmt::format("The body did not come within {} s", kHeadSeconds)));
    } else {
      if (guest->state == State::kHandshake) options_.counts->AddCut(HttpCounts::Cut::kHandshake);
      if (guest->state == State::kSending) options_.counts->AddCut(HttpCounts::Cut::kSlowReader);
      if (guest->has_begun) options_.counts->AddCut(HttpCounts::Cut::kSlowRequest);
      Remove(guest);
    }
  }
  if (!is_ending_) {
    if (now >= accept_again_) Listen(true);
    return;
  }
  if (now < cut_at_.load()) return;
  for (const int socket : served_) shutdown(socket, SHUT_RDWR);
  while (!guests_.empty()) Remove(guests_.begin()->second.get());
}

void Lobby::Remove(Guest* guest) {
  guests_.erase(guest->connection->socket());  // which closes it
  options_.counts->RemoveConnection();
}

}  // namespace sonde

#include "web/bounded_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

namespace sonde {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kBufferBytes = 4 << 10;
// How often a connection that waits for its next request looks whether the server ends.
constexpr milliseconds kLookInterval{50};
// After an answer that is the last: what the client still sends is thrown away for so long, so that it sees
// the answer and not that the connection was reset.
constexpr milliseconds kDrain{500};

bool WaitFor(int socket, short events, milliseconds patience) {
  pollfd wanted{socket, events, 0};
  const SteadyClock::time_point end = SteadyClock::now() + patience;
  while (true) {
    const auto left =
        std::max(std::chrono::duration_cast<milliseconds>(end - SteadyClock::now()), milliseconds(0));
    const int found = poll(&wanted, 1, static_cast<int>(left.count()));
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

// Whether the other side has closed it, or will send nothing more.
bool IsClosed(int socket) {
  pollfd wanted{socket, POLLRDHUP, 0};
  return poll(&wanted, 1, 0) > 0;  // POLLHUP and POLLERR come unasked
}

void AddressOf(int socket, int (*name)(int, sockaddr*, socklen_t*), std::string* ip, int* port) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (name(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&address);
    inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size());
    *port = ntohs(four->sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(&address);
    inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size());
    *port = ntohs(six->sin6_port);
  }
  *ip = text.data();
}

class Connection final : public httplib::Stream {
 public:
  Connection(int socket, milliseconds read_patience, milliseconds write_patience)
      : socket_(socket), read_patience_(read_patience), write_patience_(write_patience) {}

  bool HasBytes() const { return at_ < end_; }
  void BeginHead() {
    in_head_ = true;
    head_bytes_ = 0;
    head_end_ = SteadyClock::now() + std::chrono::seconds(kHeadSeconds);
  }
  void EndHead() { in_head_ = false; }
  bool in_head() const { return in_head_; }
  bool head_too_large() const { return head_bytes_ > kHeadBytesMax; }

  bool is_readable() const override { return HasBytes() || WaitFor(socket_, POLLIN, read_patience_); }
  bool is_writable() const override { return WaitFor(socket_, POLLOUT, write_patience_); }

  ssize_t read(char* to, size_t size) override {
    if (in_head_) {
      if (head_too_large() || SteadyClock::now() > head_end_) return -1;
      size = std::min(size, kHeadBytesMax + 1 - head_bytes_);
    }
    if (!HasBytes()) {
      if (!is_readable()) return -1;
      if (size >= buffer_.size()) return Receive(to, size);
      const ssize_t got = Receive(buffer_.data(), buffer_.size());
      if (got <= 0) return got;
      at_ = 0;
      end_ = static_cast<size_t>(got);
    }
    const size_t taken = std::min(size, end_ - at_);
    std::memcpy(to, buffer_.data() + at_, taken);
    at_ += taken;
    if (in_head_) {
      head_bytes_ += taken;
      if (head_too_large()) return -1;
    }
    return static_cast<ssize_t>(taken);
  }

  ssize_t write(const char* from, size_t size) override {
    // What the library would answer to a head that it could not read to its end says nothing of why.
    if (in_head_ && head_too_large()) return static_cast<ssize_t>(size);
    return Send(from, size);
  }
  void Answer(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = Send(text.data(), text.size());
      if (sent <= 0) return;
      text.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void Drain() {
    ::shutdown(socket_, SHUT_WR);
    const SteadyClock::time_point end = SteadyClock::now() + kDrain;
    while (SteadyClock::now() < end && WaitFor(socket_, POLLIN, kLookInterval)) {
      if (Receive(buffer_.data(), buffer_.size()) <= 0) return;
    }
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    AddressOf(socket_, getpeername, &ip, &port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    AddressOf(socket_, getsockname, &ip, &port);
  }
  socket_t socket() const override { return socket_; }

 private:
  ssize_t Receive(char* to, size_t size) const {
    ssize_t got = 0;
    do {
      got = recv(socket_, to, size, 0);
    } while (got < 0 && errno == EINTR);
    return got;
  }
  ssize_t Send(const char* from, size_t size) const {
    if (!is_writable()) return -1;
    ssize_t sent = 0;
    do {
      sent = send(socket_, from, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
  }

  const int socket_;
  const milliseconds read_patience_, write_patience_;
  std::array<char, kBufferBytes> buffer_;
  size_t at_ = 0, end_ = 0;  // of what lies in the buffer
  bool in_head_ = false;
  size_t head_bytes_ = 0;  // at most one more than are allowed
  SteadyClock::time_point head_end_;
};

std::string HeadTooLarge() {
  const std::string body = fmt::format(
      "{{\"error\":{{\"code\":431,\"status\":\"INVALID_ARGUMENT\",\"message\":\"The first line and the "
      "headers "
      "have more than {} bytes, the limit\"}}}}\n",
      kHeadBytesMax);
  return fmt::format(
      "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      body.size(), body);
}

}  // namespace

bool BoundedServer::process_and_close_socket(socket_t socket) {
  const auto patience = [](time_t seconds, time_t micros) {
    return std::chrono::duration_cast<milliseconds>(std::chrono::seconds(seconds) +
                                                    std::chrono::microseconds(micros));
  };
  Connection connection(socket, patience(read_timeout_sec_, read_timeout_usec_),
                        patience(write_timeout_sec_, write_timeout_usec_));
  const auto wait_for_request = [&] {
    const SteadyClock::time_point end = SteadyClock::now() + std::chrono::seconds(keep_alive_timeout_sec_);
    while (!connection.HasBytes() && svr_sock_ != INVALID_SOCKET && SteadyClock::now() < end) {
      if (WaitFor(socket, POLLIN, kLookInterval)) return true;
    }
    return connection.HasBytes() && svr_sock_ != INVALID_SOCKET;
  };
  bool ok = false;
  for (size_t left = keep_alive_max_count_; left > 0 && wait_for_request(); --left) {
    bool is_closed = false;
    connection.BeginHead();
    ok = process_request(connection, /*close_connection=*/left == 1, is_closed,
                         [&](httplib::Request& request) {
                           connection.EndHead();
                           request.progress = [socket](uint64_t, uint64_t) { return !IsClosed(socket); };
                         });
    if (connection.in_head()) {
      if (connection.head_too_large()) connection.Answer(HeadTooLarge());
      connection.Drain();
      break;
    }
    if (!ok || is_closed) break;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return ok;
}

}  // namespace sonde

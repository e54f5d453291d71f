#include "web/http/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sonde {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kReceiveBytes = 64 << 10;

bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

absl::Status TooSlow() {
  return absl::UnavailableError(fmt::format(
      "The client was too slow: nothing for {} s, less than {} bytes a second, or more than {} s in all",
      kStallSeconds, kClientBytesPerSecondMin, kClientSecondsMax));
}

}  // namespace

Connection::Clock::duration PatienceFor(int64_t bytes_done) {
  return std::min<Connection::Clock::duration>(
      seconds(kGraceSeconds) + milliseconds(bytes_done * 1'000 / kClientBytesPerSecondMin),
      seconds(kClientSecondsMax));
}

Connection::Connection(int socket, std::string peer, std::shared_ptr<const tls::Context> context)
    : socket_(socket), peer_(std::move(peer)) {
  if (context == nullptr) return;
  tls_ = std::make_unique<tls::Stream>(std::move(context), socket, tls::Stream::kHttp1);
}

Connection::~Connection() {
  tls_.reset();
  close(socket_);
}

void Connection::EndSending() {
  if (tls_ != nullptr) tls_->EndSending();
  shutdown(socket_, SHUT_WR);
}

ssize_t Connection::ReceiveBytes(char* buffer, size_t bytes_max) {
  if (tls_ == nullptr) return recv(socket_, buffer, bytes_max, 0);
  const tls::Stream::Result got = tls_->Receive(buffer, bytes_max);
  if (got.state == tls::Stream::State::kOk) return static_cast<ssize_t>(got.bytes);
  errno = EAGAIN;
  return got.state == tls::Stream::State::kLater ? -1 : 0;
}

ssize_t Connection::SendBytes(const char* bytes, size_t count) {
  if (tls_ == nullptr) return send(socket_, bytes, count, MSG_NOSIGNAL);
  const tls::Stream::Result sent = tls_->Send(bytes, count);
  if (sent.state == tls::Stream::State::kOk) return static_cast<ssize_t>(sent.bytes);
  errno = sent.state == tls::Stream::State::kLater ? EAGAIN : EPIPE;
  return -1;
}

void Connection::Use(size_t bytes) {
  in_at_ += bytes;
  if (in_at_ < in_.size()) return;
  in_.clear();
  in_at_ = 0;
}

bool Connection::Receive(size_t bytes_max) {
  in_.erase(0, in_at_);
  in_at_ = 0;
  std::array<char, kReceiveBytes> buffer;  // larger than most of what comes, so not to be filled with zeros
  while (bytes_max > 0) {
    size_t wanted = std::min(bytes_max, buffer.size());
    // A record is taken whole: the socket would not tell of its rest.
    if (tls_ != nullptr) wanted = std::max(wanted, tls::kRecordBytesMax);
    const ssize_t got = ReceiveBytes(buffer.data(), wanted);
    if (got == 0) return false;
    if (got < 0) return IsLater();
    in_.append(buffer.data(), static_cast<size_t>(got));
    if (static_cast<size_t>(got) < wanted) return true;
    bytes_max -= std::min(bytes_max, static_cast<size_t>(got));
  }
  return true;
}

bool Connection::AwaitHead(Clock::duration patience) {
  if (unread().empty()) {
    pollfd wanted{socket_, POLLIN, 0};
    const auto millis = std::chrono::duration_cast<milliseconds>(patience).count();
    if (poll(&wanted, 1, static_cast<int>(millis)) <= 0 || !Receive(kHeadBytesMax)) return false;
  }
  const std::optional<size_t> end = FindHeadEnd(unread(), 0);
  if (!end || *end > kHeadBytesMax) return false;
  absl::StatusOr<RequestHead> parsed = ParseRequestHead(unread().substr(0, *end));
  if (!parsed.ok()) return false;
  Use(*end);
  head = *std::move(parsed);
  return true;
}

bool Connection::Send() {
  while (!IsSent()) {
    const ssize_t sent = SendBytes(out.data() + out_at, out.size() - out_at);
    if (sent < 0) return IsLater();
    out_at += static_cast<size_t>(sent);
  }
  out.clear();
  out_at = 0;
  return true;
}

absl::Status Connection::WaitFor(short events, int64_t bytes_done, Clock::duration* waited) const {
  const Clock::duration left =
      std::min<Clock::duration>(PatienceFor(bytes_done) - *waited, seconds(kStallSeconds));
  const Clock::time_point begin = Clock::now();
  pollfd wanted{socket_, events, 0};
  int found = 0;
  do {
    const auto patience = std::chrono::duration_cast<milliseconds>(begin + left - Clock::now()).count();
    found = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(patience, 0)));
  } while (found < 0 && errno == EINTR);
  *waited += Clock::now() - begin;
  return found > 0 ? absl::OkStatus() : TooSlow();
}

void Connection::BeginBody() {
  body_waited_ = Clock::duration(0);
  body_bytes_ = 0;
}

absl::StatusOr<size_t> Connection::Read(char* buffer, size_t bytes_max) {
  while (unread().empty()) {
    // Many at once go where they are wanted.
    const bool is_direct = bytes_max >= kReceiveBytes;
    ssize_t got = 0;
    if (is_direct) {
      got = ReceiveBytes(buffer, bytes_max);
      if (got < 0 && !IsLater()) return 0;
    } else {
      const bool is_open = Receive(kReceiveBytes);
      got = unread().empty() && is_open ? -1 : static_cast<ssize_t>(unread().size());
    }
    if (got >= 0) body_bytes_ += got;
    if (got == 0 || (got > 0 && is_direct)) return static_cast<size_t>(got);
    if (got > 0) break;
    if (absl::Status status = WaitFor(POLLIN, body_bytes_, &body_waited_); !status.ok()) return status;
  }
  const size_t bytes = unread().copy(buffer, bytes_max);
  Use(bytes);
  return bytes;
}

absl::Status Connection::SendAll() {
  Clock::duration waited{0};
  while (true) {
    if (!Send()) return absl::UnavailableError("The client is gone");
    if (IsSent()) return absl::OkStatus();
    if (absl::Status status = WaitFor(POLLOUT, static_cast<int64_t>(out_at), &waited); !status.ok()) {
      return status;
    }
  }
}

}  // namespace sonde

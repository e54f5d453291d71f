#include "hbase/call/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sonde::hbase {
namespace {

using Code = absl::StatusCode;

// Reads of one turn, so that a fast server does not keep the loop from the others.
constexpr int kReadsOfTurnMax = 16;
// How a server that speaks TLS alone may answer plain text.  As an answer's length it would be beyond kAnswerBytesMax.
constexpr std::string_view kTlsAlert = "\x15\x03";

CallResult Failed(std::string message, Code code, bool may_be_done, Remedy remedy) {
  CallResult result;
  result.failure =
      Failure{.remedy = remedy, .may_be_done = may_be_done, .code = code, .message = std::move(message)};
  return result;
}

bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(Loop* loop, std::string name, std::string address, ConnectionOptions options)
    : loop_(loop), name_(std::move(name)), address_(std::move(address)), options_(std::move(options)) {
  connect_timer_.connection = this;
  std::string opening = Opening(options_.service, options_.user);
  unsent_bytes_ = opening.size();
  unsent_.push_back({0, std::move(opening)});
}

Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Connection::Send(std::string_view method, std::string_view parameter, std::string_view cells,
                      absl::Duration timeout, OnResult on_result) {
  const size_t bytes = parameter.size() + cells.size();
  // One call is always taken, however large.
  const size_t unsent = unsent_bytes_.load(std::memory_order_relaxed);
  const bool is_full = calls_count_.fetch_add(1, std::memory_order_relaxed) >= kCallsMax ||
                       (unsent > 0 && unsent + bytes > kUnsentBytesMax);
  if (is_full) {
    calls_count_.fetch_sub(1, std::memory_order_relaxed);
    loop_->Post([on_result = std::move(on_result), name = name_]() mutable {
      std::move(on_result)(
          Failed("Too many calls wait for " + name, Code::kUnavailable, false, Remedy::kWait));
    });
    return;
  }
  auto call = std::make_unique<Call>();
  call->connection = this;
  do {
    call->id = next_id_.fetch_add(1, std::memory_order_relaxed) & INT32_MAX;
  } while (call->id == 0);
  call->on_result = std::move(on_result);
  std::string frame = CallFrame(call->id, method, parameter, cells, timeout);
  unsent_bytes_.fetch_add(frame.size(), std::memory_order_relaxed);
  loop_->Post([self = shared_from_this(), call = std::move(call), frame = std::move(frame),
               timeout]() mutable { self->Begin(std::move(call), std::move(frame), timeout); });
}

void Connection::Close(std::string why) {
  loop_->Post([self = shared_from_this(), why = std::move(why)] { self->CloseNow(why); });
}

void Connection::Begin(std::unique_ptr<Call> call, std::string frame, absl::Duration timeout) {
  if (is_closed_) {
    unsent_bytes_.fetch_sub(frame.size(), std::memory_order_relaxed);
    Fail(std::move(call), closed_why_, closed_code_);
    return;
  }
  // A number comes again after two billion calls.
  if (calls_.contains(call->id)) {
    unsent_bytes_.fetch_sub(frame.size(), std::memory_order_relaxed);
    Fail(std::move(call), "A call of the same number waits for " + name_, Code::kUnavailable);
    return;
  }
  call->begun = loop_->now();
  loop_->timers()->Set(call.get(), loop_->now() + absl::ToChronoNanoseconds(std::clamp(
                                                      timeout, absl::Milliseconds(1), absl::Hours(1))));
  unsent_.push_back({call->id, std::move(frame)});
  calls_.emplace(call->id, std::move(call));
  if (descriptor_ < 0) return Connect();
  if (is_connected_) Write();
}

void Connection::Connect() {
  self_ = shared_from_this();
  sockaddr_storage address{};
  std::memcpy(&address, address_.data(), std::min(address_.size(), sizeof(address)));
  descriptor_ = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return CloseNow("No descriptor is left for a connection to " + name_);
  const int one = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(descriptor_, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  last_received_ = loop_->now();
  if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address),
              static_cast<socklen_t>(address_.size())) != 0 &&
      errno != EINPROGRESS) {
    return CloseNow("Connecting to " + name_ + " failed: " + strerror(errno));
  }
  loop_->timers()->Set(&connect_timer_, loop_->now() + absl::ToChronoNanoseconds(options_.connect_timeout));
  events_ = EPOLLOUT;
  loop_->Wait(this, descriptor_, events_, true);
}

void Connection::OnConnected() {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return CloseNow("Connecting to " + name_ + " failed: " + strerror(error));
  if (options_.tls == nullptr) return Open();
  loop_->timers()->Remove(&connect_timer_);
  loop_->timers()->Set(&connect_timer_, loop_->now() + absl::ToChronoNanoseconds(options_.connect_timeout));
  stream_ = std::make_unique<tls::ClientStream>(options_.tls, descriptor_, options_.tls_name);
  Handshake();
}

void Connection::Handshake() {
  const tls::SecureSocket::State state = stream_->Handshake();
  if (state == tls::SecureSocket::State::kEnded)
    return CloseOfTls("The TLS handshake with " + name_ + " failed: ");
  if (state == tls::SecureSocket::State::kOk) return Open();
  WaitFor(stream_->waits_to_send() ? EPOLLOUT : EPOLLIN);
}

void Connection::Open() {
  loop_->timers()->Remove(&connect_timer_);
  is_connected_ = true;
  Write();
}

void Connection::OnReady(uint32_t events) {
  const std::shared_ptr<Connection> self = self_;
  if (!is_connected_) return stream_ == nullptr ? OnConnected() : Handshake();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Read();
  if (!is_closed_ && (events & EPOLLOUT) != 0) Write();
}

void Connection::Write() {
  while (!unsent_.empty()) {
    const Unsent& front = unsent_.front();
    const ssize_t sent = Transmit(std::string_view(front.bytes).substr(front_sent_));
    const bool is_later = sent < 0 && IsLater();
    if (sent < 0 && !is_later) return CloseBroken(/*is_end=*/false);
    // From its first byte on a call goes its way, unless the connection breaks.  TLS may hold a record that the socket did not take.
    if (!is_later || stream_ != nullptr) {
      if (const auto call = calls_.find(front.call); call != calls_.end()) call->second->is_sent = true;
    }
    if (is_later) break;
    front_sent_ += static_cast<size_t>(sent);
    if (front_sent_ < front.bytes.size()) continue;
    unsent_bytes_.fetch_sub(front.bytes.size(), std::memory_order_relaxed);
    front_sent_ = 0;
    unsent_.pop_front();
  }
  WaitForEvents();
}

void Connection::WaitForEvents() {
  WaitFor(EPOLLIN | (unsent_.empty() ? 0u : static_cast<uint32_t>(EPOLLOUT)));
}

void Connection::WaitFor(uint32_t events) {
  if (std::exchange(events_, events) != events) loop_->Wait(this, descriptor_, events, false);
}

ssize_t Connection::Transmit(std::string_view bytes) {
  if (stream_ == nullptr) return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  const tls::SecureSocket::Result sent = stream_->Send(bytes.data(), bytes.size());
  if (sent.state == tls::SecureSocket::State::kOk) return static_cast<ssize_t>(sent.bytes);
  errno = sent.state == tls::SecureSocket::State::kLater ? EAGAIN : EPIPE;
  return -1;
}

ssize_t Connection::Receive() {
  if (stream_ == nullptr) return recv(descriptor_, loop_->receive_buffer(), Loop::kReceiveBytes, 0);
  const tls::SecureSocket::Result got = stream_->Receive(loop_->receive_buffer(), Loop::kReceiveBytes);
  if (got.state == tls::SecureSocket::State::kOk) return static_cast<ssize_t>(got.bytes);
  errno = EAGAIN;
  return got.state == tls::SecureSocket::State::kLater ? -1 : 0;
}

void Connection::CloseBroken(bool is_end) {
  if (stream_ != nullptr) return CloseOfTls("The connection to " + name_ + " broke: ");
  if (!is_end && has_received_) return CloseNow("The connection to " + name_ + " broke: " + strerror(errno));
  CloseNow("The server " + name_ + " closed the connection" +
           (has_received_ ? "" : " before it answered anything, as HBase does where it wants TLS"));
}

void Connection::CloseOfTls(const std::string& what) {
  const tls::ClientStream::Fault fault = stream_->fault();
  const bool is_final = fault.is_settled && !*options_.has_answered_by_tls;
  CloseNow(what + fault.text, is_final ? Code::kFailedPrecondition : Code::kUnavailable);
}

void Connection::Read() {
  for (int reads = 0; reads < kReadsOfTurnMax && !is_closed_; ++reads) {
    const ssize_t got = Receive();
    if (got <= 0) {
      if (got < 0 && IsLater()) return;
      return CloseBroken(/*is_end=*/got == 0);
    }
    last_received_ = loop_->now();
    if (!has_received_ && stream_ == nullptr &&
        std::string_view(loop_->receive_buffer(), static_cast<size_t>(got)).starts_with(kTlsAlert))
      return CloseNow("The server " + name_ + " speaks TLS, and was spoken to in plain text",
                      Code::kFailedPrecondition);
    if (!std::exchange(has_received_, true) && stream_ != nullptr) *options_.has_answered_by_tls = true;
    cutter_.Add({loop_->receive_buffer(), static_cast<size_t>(got)});
    TakeFrames();
    // What has ended TLS is asked for at once: the socket may not tell of it.
    const bool has_ended = stream_ != nullptr && stream_->has_ended();
    if (static_cast<size_t>(got) < Loop::kReceiveBytes && !has_ended) return;
  }
}

void Connection::TakeFrames() {
  while (!is_closed_) {
    absl::StatusOr<std::optional<std::string>> frame = cutter_.Next();
    if (!frame.ok()) return CloseNow(std::string(frame.status().message()), Code::kDataLoss);
    if (!frame->has_value()) return;
    absl::StatusOr<Answer> answer = ParseAnswer(**std::move(frame));
    if (!answer.ok()) return CloseNow(std::string(answer.status().message()), Code::kDataLoss);
    const auto found = calls_.find(answer->call_id());
    if (found == calls_.end()) {
      // An answer that comes too late, or a failure of the whole connection, which has a number that no call has.
      const bool is_of_connection = answer->call_id() > INT32_MAX || answer->call_id() == 0;
      if (!is_of_connection || !answer->failure().has_value()) continue;
      return CloseNow(
          answer->failure()->message + " (Sonde has SIMPLE authentication only: Kerberos is not built)",
          answer->failure()->code);
    }
    const std::unique_ptr<Call> call = std::move(found->second);
    calls_.erase(found);
    loop_->timers()->Remove(call.get());
    calls_count_.fetch_sub(1, std::memory_order_relaxed);
    CallResult result;
    result.failure = answer->failure();
    result.answer = *std::move(answer);
    std::move(call->on_result)(std::move(result));
  }
}

void Connection::OnTimeout(Call* call) {
  const std::shared_ptr<Connection> self = self_;
  const auto found = calls_.find(call->id);
  std::unique_ptr<Call> owned = std::move(found->second);
  calls_.erase(found);
  if (!owned->is_sent) {
    // It must not be sent from now on: its caller is told that nothing was done.
    const auto unsent = std::find_if(unsent_.begin(), unsent_.end(),
                                     [&](const Unsent& one) { return one.call == owned->id; });
    if (unsent != unsent_.end()) {
      unsent_bytes_.fetch_sub(unsent->bytes.size(), std::memory_order_relaxed);
      unsent_.erase(unsent);
    }
  }
  // A server that has sent nothing since is away, also for the other calls, and whatever waits on the way to it must not arrive later.
  const bool is_silent = last_received_ <= owned->begun;
  const std::string why = "The server " + name_ + " did not answer in time";
  Fail(std::move(owned), why, Code::kUnavailable);
  if (is_silent) CloseNow(why);
}

void Connection::Fail(std::unique_ptr<Call> call, const std::string& why, Code code) {
  loop_->timers()->Remove(call.get());
  calls_count_.fetch_sub(1, std::memory_order_relaxed);
  const Remedy remedy = code == Code::kUnavailable ? Remedy::kLocate : Remedy::kNone;
  std::move(call->on_result)(Failed(why, code, call->is_sent, remedy));
}

void Connection::CloseNow(const std::string& why, Code code) {
  if (is_closed_.exchange(true)) return;
  const std::shared_ptr<Connection> self = std::exchange(self_, nullptr);
  closed_why_ = why;
  closed_code_ = code;
  loop_->timers()->Remove(&connect_timer_);
  if (descriptor_ >= 0) {
    if (stream_ != nullptr) stream_->EndSending();
    loop_->Wait(this, descriptor_, 0, false);
    // What the system has not sent yet must not arrive after its callers were told that it is lost, as it would when a cut link comes back.
    const linger none{.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(std::exchange(descriptor_, -1));
  }
  // A call of which only a part was sent cannot be carried out.
  if (!unsent_.empty()) {
    if (const auto call = calls_.find(unsent_.front().call); call != calls_.end())
      call->second->is_sent = false;
  }
  size_t bytes = 0;
  for (const Unsent& one : unsent_) bytes += one.bytes.size();
  unsent_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  unsent_.clear();
  auto calls = std::exchange(calls_, {});
  for (auto& [id, call] : calls) Fail(std::move(call), why, code);
}

}  // namespace sonde::hbase

#include "tls/secure_socket.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

constexpr size_t kSendBytesMax = 1 << 20;

bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

// OpenSSL's own would raise SIGPIPE when the peer has gone.
const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, [](BIO* bio, const char* bytes, int count) {
      const ssize_t sent = send(SocketOf(bio), bytes, static_cast<size_t>(count), MSG_NOSIGNAL);
      BIO_clear_retry_flags(bio);
      if (sent < 0 && IsLater()) BIO_set_retry_write(bio);
      return static_cast<int>(sent);
    });
    BIO_meth_set_read(made, [](BIO* bio, char* bytes, int count) {
      const ssize_t got = recv(SocketOf(bio), bytes, static_cast<size_t>(count), 0);
      BIO_clear_retry_flags(bio);
      if (got < 0 && IsLater()) BIO_set_retry_read(bio);
      return static_cast<int>(got);
    });
    BIO_meth_set_ctrl(
        made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH ? 1 : 0; });
    return made;
  }();
  return method;
}

}  // namespace

SecureSocket::SecureSocket(ssl_ctx_st* context, int socket) : ssl_(SSL_new(context)) {
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(SocketMethod());
  if (bio == nullptr) {  // no memory was left
    has_failed_ = true;
    return;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
}

SecureSocket::~SecureSocket() { SSL_free(ssl_); }

SecureSocket::State SecureSocket::StateOf(int result) {
  waits_to_send_ = false;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_WRITE:
      waits_to_send_ = true;
      return State::kLater;
    case SSL_ERROR_WANT_READ:
      return State::kLater;
    default:
      end_reason_ = ERR_GET_REASON(ERR_peek_error());
      end_text_ = TakeOpensslError();
      return Fail();
  }
}

SecureSocket::Result SecureSocket::Receive(char* buffer, size_t bytes_max) {
  if (has_failed_ || !is_open_) return {State::kEnded};
  size_t bytes = 0;
  while (bytes_max - bytes >= kRecordBytesMax) {
    ERR_clear_error();
    const int wanted = static_cast<int>(std::min<size_t>(bytes_max - bytes, std::numeric_limits<int>::max()));
    const int got = SSL_read(ssl_, buffer + bytes, wanted);
    if (got <= 0) {
      const State state = StateOf(got);
      if (bytes == 0) return {state};
      break;
    }
    bytes += static_cast<size_t>(got);
  }
  return {State::kOk, bytes};
}

SecureSocket::Result SecureSocket::Send(const char* bytes, size_t count) {
  if (has_failed_ || !is_open_) return {State::kEnded};
  size_t sent = 0;
  while (sent < count) {
    ERR_clear_error();
    const int taken = SSL_write(ssl_, bytes + sent, static_cast<int>(std::min(count - sent, kSendBytesMax)));
    if (taken <= 0) {
      const State state = StateOf(taken);
      if (state == State::kEnded && end_reason_ == 0) LookForAlert();
      if (state == State::kEnded || sent == 0) return {state};
      break;
    }
    sent += static_cast<size_t>(taken);
  }
  return {State::kOk, sent};
}

void SecureSocket::LookForAlert() {
  ERR_clear_error();
  char byte = 0;
  const int got = SSL_read(ssl_, &byte, 1);
  if (got <= 0 && SSL_get_error(ssl_, got) == SSL_ERROR_SSL) {
    end_reason_ = ERR_GET_REASON(ERR_peek_error());
    end_text_ = TakeOpensslError();
  }
  ERR_clear_error();
}

void SecureSocket::EndSending() {
  if (has_failed_ || !is_open_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

}  // namespace sonde::tls

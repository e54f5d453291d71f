#include "tls/stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

constexpr size_t kSendBytesMax = 1 << 20;

bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

// OpenSSL's own would raise SIGPIPE when the client has gone.
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

// Names with control characters would mean one thing here and another elsewhere.
bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

PeerCertificate NamesOf(const X509* certificate) {
  PeerCertificate names;
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(text.get(), &bytes);
  names.subject.assign(bytes, static_cast<size_t>(std::max<long>(count, 0)));
  const Owned<GENERAL_NAMES> others(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; others != nullptr && i < sk_GENERAL_NAME_num(others.get()); ++i) {
    const GENERAL_NAME* const other = sk_GENERAL_NAME_value(others.get(), i);
    if (other->type != GEN_URI && other->type != GEN_EMAIL) continue;
    const ASN1_IA5STRING* const value =
        other->type == GEN_URI ? other->d.uniformResourceIdentifier : other->d.rfc822Name;
    const std::string_view name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<size_t>(ASN1_STRING_length(value)));
    if (IsPlain(name)) (other->type == GEN_URI ? names.uris : names.emails).emplace_back(name);
  }
  return names;
}

}  // namespace

Stream::Stream(std::shared_ptr<const Context> context, int socket, Protocol protocol)
    : context_(std::move(context)), ssl_(SSL_new(context_->openssl())), protocol_(protocol) {
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(SocketMethod());
  if (bio == nullptr) {  // no memory was left
    has_failed_ = true;
    return;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_app_data(ssl_, const_cast<char*>(protocol_.name));
  SSL_set_accept_state(ssl_);
}

Stream::~Stream() { SSL_free(ssl_); }

Stream::State Stream::StateOf(int result) {
  waits_to_send_ = false;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_WRITE:
      waits_to_send_ = true;
      return State::kLater;
    case SSL_ERROR_WANT_READ:
      return State::kLater;
    default:
      has_failed_ = true;
      ERR_clear_error();
      return State::kEnded;
  }
}

Stream::State Stream::Handshake() {
  if (is_open_) return State::kOk;
  if (has_failed_) return State::kEnded;
  ERR_clear_error();
  if (const int result = SSL_accept(ssl_); result != 1) return StateOf(result);
  const unsigned char* chosen = nullptr;
  unsigned int chosen_bytes = 0;
  SSL_get0_alpn_selected(ssl_, &chosen, &chosen_bytes);
  if (chosen_bytes == 0 && protocol_.must_be_offered) {
    has_failed_ = true;
    return State::kEnded;
  }
  waits_to_send_ = false;
  is_open_ = true;
  if (const X509* const certificate = SSL_get0_peer_certificate(ssl_))
    peer_certificate_ = NamesOf(certificate);
  return State::kOk;
}

Stream::Result Stream::Receive(char* buffer, size_t bytes_max) {
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

Stream::Result Stream::Send(const char* bytes, size_t count) {
  if (has_failed_ || !is_open_) return {State::kEnded};
  size_t sent = 0;
  while (sent < count) {
    ERR_clear_error();
    const int taken = SSL_write(ssl_, bytes + sent, static_cast<int>(std::min(count - sent, kSendBytesMax)));
    if (taken <= 0) {
      const State state = StateOf(taken);
      if (state == State::kEnded || sent == 0) return {state};
      break;
    }
    sent += static_cast<size_t>(taken);
  }
  return {State::kOk, sent};
}

void Stream::EndSending() {
  if (has_failed_ || !is_open_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

}  // namespace sonde::tls

// Bytes through TLS over a socket that does not block, at either side of a connection (stream.h, client_stream.h).
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace sonde::tls {

// A record's plain bytes.
inline constexpr size_t kRecordBytesMax = 16 << 10;

class SecureSocket {
 public:
  enum class State : unsigned char { kOk, kLater, kEnded };
  struct Result {
    State state;
    size_t bytes = 0;  // for kOk
  };

  SecureSocket(const SecureSocket&) = delete;
  SecureSocket& operator=(const SecureSocket&) = delete;

  // The handshake is over.
  bool is_open() const { return is_open_; }
  // What said kLater last waits until the socket takes bytes; else until some come.
  bool waits_to_send() const { return waits_to_send_; }
  // Nothing comes or goes any more.
  bool has_ended() const { return has_failed_; }

  // After the handshake.  `bytes_max` is at least kRecordBytesMax, so that no plain bytes stay behind, of which the socket
  // would not tell.  kEnded: the peer has ended the stream, or broke TLS's rules.
  Result Receive(char* buffer, size_t bytes_max);
  // After the handshake.  After kLater, or fewer bytes than `count`, the next call must have the rest at its front.
  Result Send(const char* bytes, size_t count);
  // Tells the peer that no more bytes come.
  void EndSending();

 protected:
  // The socket stays its owner's and outlives this.
  SecureSocket(ssl_ctx_st* context, int socket);
  ~SecureSocket();

  State StateOf(int result);
  State Fail() {
    has_failed_ = true;
    return State::kEnded;
  }
  void Open() {
    waits_to_send_ = false;
    is_open_ = true;
  }
  ssl_st* ssl() const { return ssl_; }
  // Why OpenSSL says that the stream has ended: one of its reasons; 0: the peer has gone, or has ended the stream in order.
  int end_reason() const { return end_reason_; }
  const std::string& end_text() const { return end_text_; }

 private:
  // The peer has gone, and may have said why before it did.
  void LookForAlert();

  ssl_st* const ssl_;
  bool is_open_ = false;
  bool waits_to_send_ = false;
  bool has_failed_ = false;
  int end_reason_ = 0;
  std::string end_text_;
};

}  // namespace sonde::tls

// A connection of a client: its socket, its HTTP/2 session, and its calls.
//
// A connection belongs to its loop, which frees it at the end of the turn in which it closed.  Bytes to be
// sent are copied once, into the loop's buffer.  Bytes that the socket does not take stay in the connection's
// own buffer, and until they are gone nothing more is taken from calls.
//
// Threads: the loop's thread only.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rpc/allowance.h"
#include "rpc/headers.h"
#include "rpc/http2.h"
#include "rpc/loop.h"
#include "rpc/server_state.h"
#include "rpc/socket.h"
#include "rpc/stream_call.h"

namespace sonde::rpc {

class Connection final : public LoopConnection, public CallCarrier {
 public:
  using TimePoint = Timer::TimePoint;

  // Takes the descriptor.  `address` is the address that the connection was counted under; `peer` has the
  // port, too.
  Connection(Loop* loop, int descriptor, std::string address, std::string peer);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Loop* loop() const override { return loop_; }
  const std::shared_ptr<CallPeer>& peer() const override { return peer_; }
  bool is_closed() const override { return is_closed_; }

  // -- LoopConnection --
  void OnReady(uint32_t events) override;
  void Flush() override;
  void CheckTimes() override;
  void BeginEnd() override;
  void CloseNow(const absl::Status& why) override;
  void AddCalls(std::vector<LoopCall*>* calls) const override;

  // -- CallCarrier --
  void SubmitHeaders(StreamCall* call, const Metadata& metadata, bool has_message) override;
  void SubmitTrailers(int32_t stream_id, const CallStatus& status, const Metadata& metadata) override;
  void SubmitTrailersOnly(int32_t stream_id, const CallStatus& status, const Metadata& metadata) override;
  void ResumeData(StreamCall* call) override;
  void Reset(int32_t stream_id, uint32_t http2_error) override;
  void OpenWindow(int32_t stream_id, size_t bytes) override;
  void TakeFromWindow(int32_t stream_id, size_t bytes) override;
  void Touch(StreamCall* call) override;
  bool CountWaiting(int64_t bytes) override;

 private:
  // A message has gone to the socket when the connection has sent bytes up to `end`.
  struct Sending {
    uint64_t end;
    int32_t stream_id;
  };

  static const nghttp2_session_callbacks* Callbacks();
  int OnBeginHeaders();
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  // Counts each header, also those that nghttp2 does not let in.  Returns nghttp2's error code if the block
  // is too large; nghttp2 then decodes the rest, as HPACK needs, and neither checks nor tells of it.
  int CountHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  void OnFrameSent(const nghttp2_frame& frame);
  ssize_t ReadData(StreamCall* call, size_t bytes_max, uint32_t* flags);
  void SendData(StreamCall* call, const uint8_t* frame_header, size_t bytes);

  StreamCall* FindCall(int32_t stream_id) const {
    return static_cast<StreamCall*>(nghttp2_session_get_stream_user_data(session_.get(), stream_id));
  }
  void BeginCall(int32_t stream_id);
  void RefuseCall(int32_t stream_id, const RequestHead::Refused& refused);
  void RemoveCall(StreamCall* call);
  void CountPing();
  void CountReset(int32_t stream_id);

  // Goes on with TLS's handshake.  Returns false if it has not succeeded yet.
  bool DoHandshake();
  void EndHandshake();
  bool Receive();
  void FlushSoon();
  bool Send();
  // Makes a message of several frames take turns with others, which would wait behind all of it otherwise.
  void ShareIfLong(StreamCall* call);
  bool SendSome();
  // Fills the loop's buffer with bytes to send.  Returns false if nghttp2 cannot go on.
  bool FillBuffer(std::string* buffer);
  void TellSent();
  void WaitForSocket();
  // Tells the client the reason, and closes when that is sent.
  void GoAway(Refusal reason, uint32_t http2_error, std::string_view why);
  // Tells the client that nothing more comes, and gives it a moment to take what was sent.
  void Linger();
  void Close(const absl::Status& why);
  void CloseFor(Refusal reason, std::string_view why);
  void CheckKeepalive();
  void CheckCalls();
  void TellEnding();
  // Tells the client which calls are the last.
  void SayEnd();

  Loop* const loop_;
  const Socket socket_;
  const std::string address_;
  const std::shared_ptr<CallPeer> peer_;
  Http2Session session_;
  std::vector<StreamCall*> calls_;
  std::vector<StreamCall*> touched_;
  RequestHead head_;           // the block of headers that is coming
  size_t consumed_bytes_ = 0;  // bytes of the connection's window that this Receive has used
  int64_t waiting_bytes_ = 0;

  std::string out_;                   // bytes that the socket did not take
  size_t out_at_ = 0;                 // how much of out_ is sent
  int64_t counted_unsent_bytes_ = 0;  // this connection's part of ServerState's unsent bytes
  std::string* filling_ = nullptr;    // where SendData puts bytes
  size_t fill_bytes_max_ = 0;         // SendData stops at this size
  uint64_t filled_bytes_ = 0;         // since the connection began
  uint64_t sent_bytes_ = 0;
  std::deque<Sending> sending_;
  uint32_t waits_for_ = 0;  // events of epoll

  bool is_in_tls_handshake_ = false;  // counted by ServerState
  bool is_flush_due_ = false;
  bool has_handshake_ = false;  // the client's settings have come
  bool is_going_ = false;       // a last word was submitted, and incoming bytes are not looked at
  bool is_lingering_ = false;
  bool is_ending_ = false;     // BeginEnd was called
  bool has_said_end_ = false;  // SayEnd was called
  bool is_ping_under_way_ = false;
  bool is_closed_ = false;

  const TimePoint began_;
  TimePoint state_since_;  // when is_lingering_ or is_ending_ became true
  TimePoint received_last_;
  TimePoint sent_last_;
  TimePoint idle_since_;
  TimePoint ping_sent_;
  std::optional<TimePoint> headers_since_;
  std::optional<TimePoint> client_ping_last_;
  int client_ping_strikes_ = 0;
  Allowance resets_;
  Allowance header_resets_;
};

}  // namespace sonde::rpc

// A connection of a client: its socket, its HTTP/2 session, and its calls.
//
// Belongs to its loop, which frees it at the end of the turn in which it closed.  What it sends is copied
// once, into the loop's buffer; what the socket does not take stays in one of its own, and until that is gone
// nothing more is taken from calls.
//
// Threads: the loop's.
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

  // Takes the descriptor.  `address` is what it was counted under, `peer` with its port.
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
  // A message has gone when so many bytes of the connection have.
  struct Sending {
    uint64_t end;
    int32_t stream_id;
  };

  static const nghttp2_session_callbacks* Callbacks();
  int OnBeginHeaders();
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  // Each header passes by, also those that nghttp2 does not let in.  Other than 0, for nghttp2: the block is
  // too large; nghttp2 decodes the rest, as HPACK needs, and neither checks nor tells of it.
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

  bool Receive();
  void FlushSoon();
  bool Send();
  // What is sent as several frames takes turns with others; else it would go out before them.
  void ShareIfLong(StreamCall* call);
  bool SendSome();
  // Fills the loop's buffer with what is to be sent.  False: nghttp2 cannot go on.
  bool FillBuffer(std::string* buffer);
  void TellSent();
  void WaitForSocket();
  // Says why, and closes when that is sent.
  void GoAway(Refusal reason, uint32_t http2_error, std::string_view why);
  // The other side is told that nothing more comes, and gets a moment to take what was sent.
  void Linger();
  void Close(const absl::Status& why);
  void CloseFor(Refusal reason, std::string_view why);
  void CheckKeepalive();
  void CheckCalls();
  void TellEnding();
  // Which calls are the last.
  void SayEnd();

  Loop* const loop_;
  const Socket socket_;
  const std::string address_;
  const std::shared_ptr<CallPeer> peer_;
  Http2Session session_;
  std::vector<StreamCall*> calls_;
  std::vector<StreamCall*> touched_;
  RequestHead head_;           // of the block of headers that is coming
  size_t consumed_bytes_ = 0;  // of the connection's window, in this receiving
  int64_t waiting_bytes_ = 0;

  std::string out_;                   // what the socket did not take
  size_t out_at_ = 0;                 // so much of it is sent
  int64_t counted_unsent_bytes_ = 0;  // of the server
  std::string* filling_ = nullptr;    // where SendData puts bytes
  size_t fill_bytes_max_ = 0;         // until there are so many
  uint64_t filled_bytes_ = 0;         // since the connection began
  uint64_t sent_bytes_ = 0;
  std::deque<Sending> sending_;
  uint32_t waits_for_ = 0;  // events of epoll

  bool is_flush_due_ = false;
  bool has_handshake_ = false;  // its settings have come
  bool is_going_ = false;       // a last word was submitted: what comes is not looked at
  bool is_lingering_ = false;
  bool is_ending_ = false;     // BeginEnd
  bool has_said_end_ = false;  // which calls are the last was submitted
  bool is_ping_under_way_ = false;
  bool is_closed_ = false;

  const TimePoint began_;
  TimePoint state_since_;  // of is_lingering_, is_ending_
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

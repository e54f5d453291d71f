// When a connection is over, and who of its client takes too long.
#include <algorithm>
#include <chrono>
#include <utility>

#include "rpc/connection.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

// After the last word: what the client still sends is thrown away, so that it sees that word and no broken
// connection.
constexpr milliseconds kLingerMax{500};
// While much is unsent.
constexpr milliseconds kUnsentPauseMax{5'000};
// A client that is told that no calls are taken any more may have sent some before it knew.
constexpr milliseconds kEndNoticeMax{200};

}  // namespace

void Connection::GoAway(Refusal reason, uint32_t http2_error, std::string_view why) {
  if (std::exchange(is_going_, true)) return;
  loop_->state().CountRefusal(reason);
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), http2_error,
                        reinterpret_cast<const uint8_t*>(why.data()), why.size());
  FlushSoon();
}

void Connection::Linger() {
  is_going_ = is_lingering_ = true;
  state_since_ = loop_->now();
  socket_.EndSending();
  while (!calls_.empty()) {
    StreamCall* const call = calls_.back();
    calls_.pop_back();
    call->Detach(absl::UnavailableError("The connection has ended"));
  }
}

void Connection::Close(const absl::Status& why) {
  if (std::exchange(is_closed_, true)) return;
  loop_->NoteClosed();
  while (!calls_.empty()) {
    StreamCall* const call = calls_.back();
    calls_.pop_back();
    call->Detach(why);
  }
}

void Connection::CloseNow(const absl::Status& why) {
  if (is_closed_) return;
  if (!is_lingering_ && socket_.is_open()) {
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
    (void)Send();
  }
  Close(why);
}

void Connection::CloseFor(Refusal reason, std::string_view why) {
  loop_->state().CountRefusal(reason);
  is_going_ = true;
  if (socket_.is_open()) (void)Send();
  Close(absl::UnavailableError(std::string(why)));
}

void Connection::BeginEnd() {
  if (is_ending_ || is_going_ || is_closed_) return;
  if (!has_handshake_) return CloseNow(absl::UnavailableError("The server ends"));
  is_ending_ = true;
  state_since_ = loop_->now();
  nghttp2_submit_shutdown_notice(session_.get());
  nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
  TellEnding();
  FlushSoon();
}

void Connection::TellEnding() {
  // To end a call takes effect with Flush, so the list stays as it is.
  for (StreamCall* const call : calls_) call->TellServerEnding();
}

void Connection::CheckKeepalive() {
  const ServerOptions& options = loop_->state().options();
  const TimePoint now = loop_->now();
  if (is_ping_under_way_) {
    if (now - ping_sent_ > options.keepalive_time_max) {
      CloseFor(Refusal::kKeepalive, "The client did not answer a ping");
    }
  } else if (now - received_last_ > options.keepalive_pause) {
    is_ping_under_way_ = true;
    ping_sent_ = now;
    nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
    FlushSoon();
  }
}

void Connection::CheckTimes() {
  if (is_closed_) return;
  const ServerOptions& options = loop_->state().options();
  const TimePoint now = loop_->now();
  if (is_lingering_) {
    if (now - state_since_ > kLingerMax) Close(absl::OkStatus());
    return;
  }
  if (is_in_tls_handshake_) {
    if (now - began_ <= options.tls_handshake_time_max) return;
    return CloseFor(Refusal::kTlsHandshake, "The client did not finish TLS's handshake");
  }
  if (!has_handshake_ && now - began_ > options.handshake_time_max) {
    return CloseFor(Refusal::kHandshake, "The client did not begin to speak HTTP/2");
  }
  const milliseconds pause_max = loop_->state().IsMuchUnsent()
                                     ? std::min(kUnsentPauseMax, options.send_pause_max)
                                     : options.send_pause_max;
  if (!out_.empty() && now - sent_last_ > pause_max) {
    return CloseFor(Refusal::kSlowReader, "The client took nothing");
  }
  if (headers_since_.has_value() && now - *headers_since_ > options.headers_time_max) {
    return GoAway(Refusal::kHeadersTime, NGHTTP2_ENHANCE_YOUR_CALM, "headers_without_end");
  }
  CheckKeepalive();
  if (is_closed_) return;
  if (calls_.empty() && now - idle_since_ > options.idle_time_max) BeginEnd();
  CheckCalls();
  if (is_ending_ && now - state_since_ > kEndNoticeMax) SayEnd();
}

void Connection::SayEnd() {
  if (std::exchange(has_said_end_, true)) return;
  TellEnding();  // those that came since
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR, nullptr,
                        0);
  FlushSoon();
}

void Connection::CheckCalls() {
  const TimePoint now = loop_->now();
  // To end a call takes effect with Flush, so the list stays as it is.
  for (StreamCall* const call : calls_) {
    if (call->IsTooSlow(now)) {
      loop_->state().CountRefusal(Refusal::kSlowBody);
      call->End({absl::StatusCode::kCancelled, "The request came too slowly, or its end did not come"});
    } else if (call->KeepsOthersWaiting(now)) {
      const bool is_answer = call->outgoing()->remaining() > 0;
      loop_->state().CountRefusal(is_answer ? Refusal::kSlowReader : Refusal::kSlowBody);
      call->End(loop_->state().Busy(
          is_answer ? "The server is busy: the answer was taken slowly, and others wait for its room"
                    : "The server is busy: the request came slowly, and others wait for its room"));
    } else if (call->IsNotTaken(now)) {
      loop_->state().CountRefusal(Refusal::kSlowReader);
      call->End({absl::StatusCode::kCancelled, "The client took nothing of the answer for too long"});
    }
  }
}

}  // namespace sonde::rpc

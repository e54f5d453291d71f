#include "rpc/connection.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <variant>

namespace sonde::rpc {
namespace {

// A connection is asked for more to send while it has less than this.
constexpr size_t kSendBytesMax = 128 << 10;
// How often one connection receives in one turn, before others have theirs.
constexpr int kReceivesMax = 4;
constexpr int kSendsMax = 4;
// A longer message is sent as several frames.
constexpr size_t kFrameBytesMax = 16 << 10;
// Frames other than data that wait for a client who takes nothing; then nothing more is read of it.
constexpr size_t kQueuedFramesMax = 1'000;
// Besides the first, which may come at any time.
constexpr int kPingStrikesMax = 2;
constexpr auto kTimerMax = std::chrono::hours(24 * 365);

Connection* Self(void* user_data) { return static_cast<Connection*>(user_data); }

bool HasFlag(const nghttp2_frame& frame, uint8_t flag) { return (frame.hd.flags & flag) != 0; }

std::string_view ViewOf(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

const nghttp2_session_callbacks* Connection::Callbacks() {
  static const nghttp2_session_callbacks* const callbacks = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        made,
        [](nghttp2_session*, const nghttp2_frame*, void* self) { return Self(self)->OnBeginHeaders(); });
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes,
                 const uint8_t* value, size_t value_bytes, uint8_t, void* self) {
          return Self(self)->OnHeader(*frame, ViewOf(name, name_bytes), ViewOf(value, value_bytes));
        });
    nghttp2_session_callbacks_set_on_invalid_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes,
                 const uint8_t* value, size_t value_bytes, uint8_t, void* self) {
          return Self(self)->CountHeader(*frame, ViewOf(name, name_bytes), ViewOf(value, value_bytes));
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made,
        [](nghttp2_session*, const nghttp2_frame* frame, void* self) { return Self(self)->OnFrame(*frame); });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made,
        [](nghttp2_session*, uint8_t, int32_t stream_id, const uint8_t* bytes, size_t count, void* self) {
          Self(self)->consumed_bytes_ += count;
          if (StreamCall* const call = Self(self)->FindCall(stream_id)) call->TakeData(ViewOf(bytes, count));
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, int32_t stream_id, uint32_t error, void* self) {
          StreamCall* const call = Self(self)->FindCall(stream_id);
          if (call == nullptr) return 0;
          Self(self)->RemoveCall(call);
          call->Detach(absl::Status(
              CodeOfReset(error), fmt::format("The call was reset with {}", nghttp2_http2_strerror(error))));
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
          Self(self)->OnFrameSent(*frame);
          return 0;
        });
    nghttp2_session_callbacks_set_send_data_callback(made, [](nghttp2_session*, nghttp2_frame*,
                                                              const uint8_t* header, size_t bytes,
                                                              nghttp2_data_source* source, void* self) {
      Self(self)->SendData(static_cast<StreamCall*>(source->ptr), header, bytes);
      // nghttp2 would go on with data as long as there is some.
      return Self(self)->filling_->size() < Self(self)->fill_bytes_max_ ? 0
                                                                        : static_cast<int>(NGHTTP2_ERR_PAUSE);
    });
    return made;
  }();
  return callbacks;
}

Connection::Connection(Loop* loop, int descriptor, std::string address, std::string peer)
    : loop_(loop),
      socket_(descriptor, loop->state().options().tls ? loop->state().options().tls() : nullptr),
      address_(std::move(address)),
      peer_(std::make_shared<CallPeer>(std::move(peer), loop->state().NumberConnection())),
      session_(NewServerSession(loop->state().options(), Callbacks(), this)),
      began_(loop->now()),
      state_since_(began_),
      received_last_(began_),
      sent_last_(began_),
      idle_since_(began_),
      ping_sent_(began_),
      resets_(loop->state().options().resets_at_once_max, loop->state().options().resets_per_second_max,
              began_),
      header_resets_(loop->state().options().header_resets_at_once_max,
                     loop->state().options().header_resets_per_second_max, began_) {
  waits_for_ = EPOLLIN;
  loop_->Wait(this, socket_.descriptor(), waits_for_, /*is_new=*/true);
  if (socket_.is_open()) {
    FlushSoon();
    return;
  }
  is_in_tls_handshake_ = loop_->state().EnterHandshake(address_, began_);
  if (!is_in_tls_handshake_)
    Close(absl::UnavailableError(
        "Too many connections are in TLS's handshake, or of this address were of late"));
}

Connection::~Connection() {
  EndHandshake();
  loop_->state().CountUnsent(-counted_unsent_bytes_);
  loop_->state().LeaveConnection(address_);
}

// ---- What comes in ----

void Connection::OnReady(uint32_t events) {
  if (is_closed_) return;
  if (is_in_tls_handshake_ && !DoHandshake()) return;
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0 && !Receive()) return;
  FlushSoon();
}

bool Connection::DoHandshake() {
  switch (socket_.Handshake()) {
    case Socket::State::kOk:
      break;
    case Socket::State::kLater:
      WaitForSocket();
      return false;
    case Socket::State::kEnded:
      CloseFor(Refusal::kTlsHandshake, "TLS's handshake failed");
      return false;
  }
  EndHandshake();
  if (const PeerCertificate* const certificate = socket_.peer_certificate())
    peer_->certificate = *certificate;
  return true;
}

void Connection::EndHandshake() {
  if (std::exchange(is_in_tls_handshake_, false)) loop_->state().LeaveHandshake();
}

bool Connection::Receive() {
  bool is_open = true;
  for (int i = 0; i < kReceivesMax && is_open; ++i) {
    const Socket::Result got = socket_.Receive(loop_->receive_buffer(), Loop::kReceiveBytes);
    if (got.state == Socket::State::kLater) break;
    if (got.state == Socket::State::kEnded) {
      Close(absl::UnavailableError("The client has closed the connection"));
      return false;
    }
    received_last_ = loop_->now();
    is_ping_under_way_ = false;
    if (is_going_) continue;
    const ssize_t taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const uint8_t*>(loop_->receive_buffer()), got.bytes);
    if (taken < 0) {
      const bool is_flood = taken == NGHTTP2_ERR_FLOODED;
      const bool is_http2 = taken != NGHTTP2_ERR_BAD_CLIENT_MAGIC;
      CloseFor(is_flood   ? Refusal::kFlood
               : is_http2 ? Refusal::kProtocol
                          : Refusal::kHandshake,
               nghttp2_strerror(static_cast<int>(taken)));
      is_open = false;
    }
    if (got.bytes < Loop::kReceiveBytes) break;
  }
  // Also of calls that have ended with the connection.
  for (StreamCall* const call : touched_) {
    if (call->IsAttached()) call->CountBytes();
  }
  touched_.clear();
  if (is_open && consumed_bytes_ > 0) nghttp2_session_consume_connection(session_.get(), consumed_bytes_);
  consumed_bytes_ = 0;
  return is_open;
}

int Connection::OnBeginHeaders() {
  if (is_going_) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  headers_since_ = loop_->now();
  head_.Begin();
  return 0;
}

int Connection::OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  const int error = CountHeader(frame, name, value);
  if (error == 0 && frame.headers.cat == NGHTTP2_HCAT_REQUEST) head_.Add(name, value);
  return error;
}

int Connection::CountHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
  if (head_.Count(name, value) <= loop_->state().options().header_bytes_hard_max) return 0;
  headers_since_.reset();  // OnFrame does not come
  Reset(frame.hd.stream_id, NGHTTP2_ENHANCE_YOUR_CALM);
  if (header_resets_.Take(loop_->now())) {
    loop_->state().CountRefusal(Refusal::kHeaderBytes);
  } else {
    GoAway(Refusal::kHeaderBytes, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_large_headers");
  }
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int Connection::OnFrame(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      headers_since_.reset();
      if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) BeginCall(frame.hd.stream_id);
      [[fallthrough]];
    case NGHTTP2_DATA:
      if (!HasFlag(frame, NGHTTP2_FLAG_END_STREAM)) break;
      if (StreamCall* const call = FindCall(frame.hd.stream_id)) call->TakeEnd();
      break;
    case NGHTTP2_SETTINGS:
      if (!HasFlag(frame, NGHTTP2_FLAG_ACK)) has_handshake_ = true;
      break;
    case NGHTTP2_PING:
      if (!HasFlag(frame, NGHTTP2_FLAG_ACK)) {
        CountPing();
      } else if (is_ending_) {
        SayEnd();  // what was sent before it knew is here
      }
      break;
    case NGHTTP2_RST_STREAM:
      CountReset(frame.hd.stream_id);
      break;
    default:
      break;
  }
  return 0;
}

void Connection::BeginCall(int32_t stream_id) {
  ServerState& state = loop_->state();
  auto result = head_.End(state.options(), loop_->wall_now());
  if (const auto* refused = std::get_if<RequestHead::Refused>(&result)) {
    return RefuseCall(stream_id, *refused);
  }
  CallHead& head = std::get<CallHead>(result);
  if (has_said_end_) return Reset(stream_id, NGHTTP2_REFUSED_STREAM);
  const Method* const method = state.router().Find(head.path);
  if (method == nullptr) {
    state.CountRefusal(Refusal::kUnknownPath);
    const auto find_metadata = [&head](std::string_view name) { return head.metadata.Find(name); };
    const PeerCertificate* const certificate =
        peer_->certificate.has_value() ? &*peer_->certificate : nullptr;
    const UnknownCall unknown{head.path, peer_->name, peer_->NameOfCall(stream_id), certificate,
                              find_metadata};
    return SubmitTrailersOnly(stream_id, state.router().AnswerUnknown(unknown), Metadata());
  }
  if (head.deadline <= loop_->wall_now()) {
    state.CountRefusal(Refusal::kDeadline);
    return SubmitTrailersOnly(stream_id, {absl::StatusCode::kDeadlineExceeded, "The deadline has passed"},
                              Metadata());
  }
  if (!loop_->CountCall()) {
    state.CountRefusal(Refusal::kCalls);
    return SubmitTrailersOnly(stream_id, state.Busy("The server is busy: too many calls are under way"),
                              Metadata());
  }
  const absl::Duration left = head.deadline - loop_->wall_now();
  auto* const call = new StreamCall(this, stream_id, std::move(head), method);
  nghttp2_session_set_stream_user_data(session_.get(), stream_id, call);
  call->place = calls_.size();
  calls_.push_back(call);
  if (left < absl::FromChrono(kTimerMax)) {
    loop_->timers()->Set(call, loop_->now() + absl::ToChronoNanoseconds(left));
  }
  call->Begin();
}

void Connection::RefuseCall(int32_t stream_id, const RequestHead::Refused& refused) {
  loop_->state().CountRefusal(refused.reason);
  if (refused.http_status != nullptr) {
    SubmitHttpAnswer(session_.get(), stream_id, refused.http_status, refused.status);
    return FlushSoon();
  }
  Metadata encodings;
  if (refused.names_encodings) encodings.Append("grpc-accept-encoding", "identity");
  SubmitTrailersOnly(stream_id, refused.status, encodings);
}

void Connection::RemoveCall(StreamCall* call) {
  calls_.back()->place = call->place;
  calls_[call->place] = calls_.back();
  calls_.pop_back();
  if (calls_.empty()) idle_since_ = loop_->now();
}

void Connection::AddCalls(std::vector<LoopCall*>* calls) const {
  calls->insert(calls->end(), calls_.begin(), calls_.end());
}

void Connection::CountPing() {
  const TimePoint now = loop_->now();
  const bool is_early = client_ping_last_.has_value() &&
                        now - *client_ping_last_ < loop_->state().options().client_ping_pause_min;
  client_ping_last_ = now;
  if (is_early && ++client_ping_strikes_ > kPingStrikesMax) {
    GoAway(Refusal::kPings, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings");
  }
}

void Connection::CountReset(int32_t stream_id) {
  const StreamCall* const call = FindCall(stream_id);
  if (call == nullptr || call->IsEnded()) return;
  if (!resets_.Take(loop_->now())) GoAway(Refusal::kResets, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_resets");
}

void Connection::OpenWindow(int32_t stream_id, size_t bytes) {
  if (bytes <= static_cast<size_t>(kStreamWindowBytes)) return;
  const auto window = static_cast<int32_t>(std::min<size_t>(bytes + kStreamWindowBytes, INT32_MAX));
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, stream_id, window);
  FlushSoon();
}

void Connection::TakeFromWindow(int32_t stream_id, size_t bytes) {
  nghttp2_session_consume_stream(session_.get(), stream_id, bytes);
  FlushSoon();
}

void Connection::Touch(StreamCall* call) {
  if (!std::exchange(call->is_touched, true)) touched_.push_back(call);
}

bool Connection::CountWaiting(int64_t bytes) {
  waiting_bytes_ += bytes;
  return bytes <= 0 || waiting_bytes_ <= loop_->state().options().waiting_bytes_per_connection_max;
}

// ---- What goes out ----

void Connection::SubmitHeaders(StreamCall* call, const Metadata& metadata, bool has_message) {
  nghttp2_data_provider messages;
  messages.source.ptr = call;
  messages.read_callback = [](nghttp2_session*, int32_t, uint8_t*, size_t bytes_max, uint32_t* flags,
                              nghttp2_data_source* source, void* self) {
    return Self(self)->ReadData(static_cast<StreamCall*>(source->ptr), bytes_max, flags);
  };
  SubmitAnswerHeaders(session_.get(), call->stream_id(), metadata, has_message ? &messages : nullptr);
  if (has_message) ShareIfLong(call);
  FlushSoon();
}

void Connection::SubmitTrailers(int32_t stream_id, const CallStatus& status, const Metadata& metadata) {
  SubmitAnswerTrailers(session_.get(), stream_id, status, metadata);
  FlushSoon();
}

void Connection::SubmitTrailersOnly(int32_t stream_id, const CallStatus& status, const Metadata& metadata) {
  rpc::SubmitTrailersOnly(session_.get(), stream_id, status, metadata);
  FlushSoon();
}

void Connection::ResumeData(StreamCall* call) {
  nghttp2_session_resume_data(session_.get(), call->stream_id());
  ShareIfLong(call);
  FlushSoon();
}

void Connection::ShareIfLong(StreamCall* call) {
  if (call->outgoing()->remaining() <= kFrameBytesMax || std::exchange(call->shares, true)) return;
  nghttp2_extpri in_turns;
  in_turns.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY;
  in_turns.inc = 1;
  nghttp2_session_change_extpri_stream_priority(session_.get(), call->stream_id(), &in_turns,
                                                /*ignore_client_signal=*/1);
}

void Connection::Reset(int32_t stream_id, uint32_t http2_error) {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream_id, http2_error);
  FlushSoon();
}

ssize_t Connection::ReadData(StreamCall* call, size_t bytes_max, uint32_t* flags) {
  const size_t remaining = call->outgoing()->remaining();
  if (remaining == 0) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (remaining > bytes_max) return static_cast<ssize_t>(bytes_max);
  if (call->EndsAfterMessage()) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    call->SubmitTrailers();
  }
  return static_cast<ssize_t>(remaining);
}

void Connection::SendData(StreamCall* call, const uint8_t* frame_header, size_t bytes) {
  constexpr size_t kFrameHeaderBytes = 9;
  filling_->append(ViewOf(frame_header, kFrameHeaderBytes));
  call->outgoing()->CopyTo(bytes, filling_);
  if (call->outgoing()->remaining() > 0) {
    call->NoteTaken();
  } else {
    sending_.push_back({filled_bytes_ + filling_->size(), call->stream_id()});
  }
}

void Connection::OnFrameSent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY && frame.goaway.error_code != NGHTTP2_NO_ERROR && !is_going_) {
    loop_->state().CountRefusal(Refusal::kProtocol);
  }
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  client_ping_last_.reset();
  client_ping_strikes_ = 0;
  // The answer is whole, and the request is not: the client need not go on with it.
  if (HasFlag(frame, NGHTTP2_FLAG_END_STREAM) &&
      nghttp2_session_get_stream_remote_close(session_.get(), frame.hd.stream_id) == 0) {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR);
  }
}

void Connection::FlushSoon() {
  if (is_closed_ || is_in_tls_handshake_ || std::exchange(is_flush_due_, true)) return;
  loop_->FlushLater(this);
}

void Connection::Flush() {
  is_flush_due_ = false;
  if (is_closed_ || is_lingering_) return;
  if (!Send()) return Close(absl::UnavailableError("The client has closed the connection"));
  TellSent();
  const bool is_done = out_.empty() && nghttp2_session_want_write(session_.get()) == 0;
  if (is_done && (is_going_ || nghttp2_session_want_read(session_.get()) == 0)) Linger();
  if (!is_closed_) WaitForSocket();
}

bool Connection::Send() {
  const bool is_open = SendSome();
  const auto unsent = static_cast<int64_t>(out_.size());
  if (unsent != counted_unsent_bytes_) loop_->state().CountUnsent(unsent - counted_unsent_bytes_);
  counted_unsent_bytes_ = unsent;
  return is_open;
}

bool Connection::SendSome() {
  for (int i = 0; i < kSendsMax; ++i) {
    const bool is_rest = !out_.empty();
    std::string* const buffer = is_rest ? &out_ : loop_->send_buffer();
    if (!is_rest) {
      buffer->clear();
      if (!FillBuffer(buffer)) return false;
      if (buffer->empty()) return true;
      sent_last_ = loop_->now();  // from now on it is waited for
    }
    size_t at = is_rest ? out_at_ : 0;
    const Socket::Result sent = socket_.Send(buffer->data() + at, buffer->size() - at);
    if (sent.state == Socket::State::kEnded) return false;
    if (sent.bytes > 0) sent_last_ = loop_->now();
    sent_bytes_ += sent.bytes;
    at += sent.bytes;
    if (at < buffer->size()) {
      if (!is_rest) out_.swap(*buffer);
      out_at_ = at;
      return true;
    }
    if (is_rest) out_ = std::string();
  }
  FlushSoon();  // others have their turn
  return true;
}

bool Connection::FillBuffer(std::string* buffer) {
  filling_ = buffer;
  fill_bytes_max_ = loop_->state().IsMuchUnsent() ? 1 : kSendBytesMax;
  while (buffer->size() < fill_bytes_max_) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_.get(), &bytes);
    if (count < 0) return false;
    if (count == 0) break;
    buffer->append(ViewOf(bytes, static_cast<size_t>(count)));
  }
  filled_bytes_ += buffer->size();
  return true;
}

void Connection::TellSent() {
  while (!sending_.empty() && sending_.front().end <= sent_bytes_) {
    const int32_t stream_id = sending_.front().stream_id;
    sending_.pop_front();
    if (StreamCall* const call = FindCall(stream_id)) call->OnSent();
  }
}

void Connection::WaitForSocket() {
  uint32_t events = is_in_tls_handshake_ && socket_.handshake_waits_to_send() ? EPOLLOUT : EPOLLIN;
  if (!out_.empty()) {
    events |= EPOLLOUT;
    const bool has_enough =
        is_going_ || nghttp2_session_get_outbound_queue_size(session_.get()) > kQueuedFramesMax;
    if (has_enough) events = EPOLLOUT;
  }
  if (std::exchange(waits_for_, events) != events) {
    loop_->Wait(this, socket_.descriptor(), events, /*is_new=*/false);
  }
}

}  // namespace sonde::rpc

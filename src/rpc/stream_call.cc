#include "rpc/stream_call.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>

namespace sonde::rpc {
namespace {

// A shorter message is counted only when a part of it is still missing after what has come was looked at.
constexpr size_t kCountedAtOnceBytesMin = 64 << 10;
constexpr int64_t kBodyBytesPerSecondMin = 8 << 10;
constexpr int64_t kAwaitedBytesPerSecondMin = 1 << 20;

int64_t NanosOf(Timer::TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

absl::Status ToStatus(const CallStatus& status) { return absl::Status(status.code, status.message); }

void AppendMetadata(std::string_view name, std::string_view value, Metadata* metadata) {
  if (!IsMetadataName(name)) return;
  if (IsBinaryName(name)) {
    metadata->Append(name, EncodeBinary(value));
  } else if (IsMetadataValue(value)) {
    metadata->Append(name, value);
  }
}

}  // namespace

std::string CallPeer::NameOfCall(int32_t stream_id) const {
  return fmt::format("{:x}-{:x}", connection, stream_id);
}

void OutgoingMessage::Set(Message message) {
  message_ = std::move(message);
  const size_t bytes = message_.bytes();
  prefix_ = {0, static_cast<char>(bytes >> 24), static_cast<char>(bytes >> 16), static_cast<char>(bytes >> 8),
             static_cast<char>(bytes)};
  prefix_at_ = piece_ = piece_at_ = 0;
  remaining_ = MessageReader::kPrefixBytes + bytes;
}

void OutgoingMessage::Clear() { *this = OutgoingMessage(); }

void OutgoingMessage::CopyTo(size_t bytes, std::string* out) {
  remaining_ -= bytes;
  const size_t of_prefix = std::min(bytes, prefix_.size() - prefix_at_);
  out->append(prefix_.data() + prefix_at_, of_prefix);
  prefix_at_ += of_prefix;
  bytes -= of_prefix;
  while (bytes > 0) {
    std::string& piece = message_.pieces_[piece_];
    const size_t of_piece = std::min(bytes, piece.size() - piece_at_);
    out->append(piece, piece_at_, of_piece);
    piece_at_ += of_piece;
    bytes -= of_piece;
    if (piece_at_ < piece.size()) continue;
    piece = std::string();
    piece_at_ = 0;
    ++piece_;
  }
}

StreamCall::StreamCall(CallCarrier* connection, int32_t stream_id, CallHead head, const Method* method)
    : loop_(connection->loop()),
      connection_(connection),
      stream_id_(stream_id),
      method_(method),
      peer_(connection->peer()),
      head_(std::move(head)),
      came_(loop_->wall_now()),
      receiving_since_(loop_->now()),
      received_last_(loop_->now()) {}

StreamCall::~StreamCall() = default;

template <typename Tell>
void StreamCall::WithHandler(const Tell& tell) {
  if (finished_ || handler_ == nullptr) return;
  is_in_handler_ = true;
  tell(handler_.get());
  is_in_handler_ = false;
  if (std::exchange(goes_on_, false) && !is_reading_) Resume();
}

absl::Duration StreamCall::NotTakenFor() const {
  const int64_t since = waiting_since_nanos_.load(std::memory_order_relaxed);
  if (since == 0) return absl::ZeroDuration();
  return absl::Nanoseconds(std::max<int64_t>(NanosOf(std::chrono::steady_clock::now()) - since, 0));
}

void StreamCall::AddInitialMetadata(std::string_view name, std::string_view value) {
  AppendMetadata(name, value, &initial_metadata_);
}

void StreamCall::AddTrailingMetadata(std::string_view name, std::string_view value) {
  AppendMetadata(name, value, &trailing_metadata_);
}

void StreamCall::Write(Message message) {
  posted_message_ = std::move(message);
  Ask(CallStep::kWrite);
}

void StreamCall::Finish(CallStatus status) {
  posted_status_ = std::move(status);
  posted_with_message_ = false;
  Ask(CallStep::kFinish);
}

void StreamCall::WriteAndFinish(Message message, CallStatus status) {
  posted_message_ = std::move(message);
  posted_status_ = std::move(status);
  posted_with_message_ = true;
  Ask(CallStep::kFinish);
}

void StreamCall::Ask(CallStep step) {
  if (loop_->IsCurrent()) {
    Apply(step);
  } else {
    loop_->Post(this, step);
  }
}

void StreamCall::Apply(CallStep step) {
  switch (step) {
    case CallStep::kAdmit:
      if (!is_waiting_) return;
      is_waiting_ = false;
      is_admitted_ = true;
      GoOn();
      return BuryIfOver();
    case CallStep::kReadNext:
      ++reads_asked_;
      return GoOn();
    case CallStep::kWrite:
      return StartWrite(std::move(posted_message_));
    case CallStep::kFinish:
      finished_ = true;
      DropRequest();
      if (!is_over_) {
        SetEnd(std::move(posted_status_));
        if (posted_with_message_) SetOutgoing(std::move(posted_message_));
        StartEnd();
      }
      return BuryIfOver();
  }
}

void StreamCall::MakeHandler() {
  if (handler_ != nullptr || finished_) return;
  handler_ = method_->make(this);
}

void StreamCall::Begin() {
  if (method_->client_streams) MakeHandler();
}

void StreamCall::TakeData(std::string_view bytes) {
  if (is_over_ || finished_) return;
  received_last_ = loop_->now();
  received_bytes_ += static_cast<int64_t>(bytes.size());
  if (is_held_) {
    held_.append(bytes);
  } else {
    Read(bytes);
  }
  if (!is_over_ && !finished_) connection_->Touch(this);
}

void StreamCall::Read(std::string_view bytes) {
  const size_t bytes_there = bytes.size();
  is_reading_ = true;
  ReadOn(bytes);
  is_reading_ = false;
  // Where several messages may come, as much may follow as was read, so that what waits is never more than
  // the window.
  if (!method_->client_streams || connection_ == nullptr) return;
  connection_->TakeFromWindow(stream_id_, is_held_ ? bytes_there - held_.size() : bytes_there);
}

void StreamCall::ReadOn(std::string_view bytes) {
  while (!is_over_ && !finished_) {
    switch (reader_.Next(&bytes)) {
      case MessageReader::Step::kMore:
        return;
      case MessageReader::Step::kBroken:
        return Refuse(Refusal::kBadRequest,
                      {absl::StatusCode::kInternal,
                       reader_.flags() == 1 ? "A message is compressed, and the headers name no compression"
                                            : "The bytes of a message do not begin as gRPC's do"});
      case MessageReader::Step::kLength:
        if (OnPrefix()) break;
        is_held_ = true;
        held_.assign(bytes);
        return;
      case MessageReader::Step::kMessage:
        OnWholeMessage();
        break;
    }
  }
}

bool StreamCall::OnPrefix() {
  const size_t length = reader_.length();
  if (has_message_ && !method_->client_streams) {
    Refuse(Refusal::kBadRequest, {absl::StatusCode::kUnimplemented,
                                  fmt::format("{} takes one message, and there is another", head_.path)});
    return true;
  }
  if (length > method_->request_bytes_max) {
    Refuse(Refusal::kMessageBytes,
           {absl::StatusCode::kResourceExhausted,
            fmt::format("Received message larger than max ({} vs. {})", length, method_->request_bytes_max)});
    return true;
  }
  if (method_->client_streams && reads_asked_ == 0) return false;
  MakeHandler();
  is_waiting_ = true;
  Handler::Room room = Handler::Room::kTake;
  WithHandler([&](Handler* handler) { room = handler->OnLength(length); });
  if (room == Handler::Room::kWait && is_waiting_ && !finished_) return false;
  is_waiting_ = is_admitted_ = false;
  if (!finished_) TakeIn();
  return true;
}

void StreamCall::TakeIn() {
  const size_t length = reader_.length();
  if (length >= kCountedAtOnceBytesMin &&
      !Charge(static_cast<int64_t>(held_.size() + message_.size() + length))) {
    return;
  }
  reader_.MakeRoom();
  receiving_since_ = received_last_ = loop_->now();
  received_bytes_ = 0;
  // A message that is the only one may come in one go.
  if (!request_ended_ && !method_->client_streams) {
    connection_->OpenWindow(stream_id_, length + MessageReader::kPrefixBytes);
  }
}

void StreamCall::OnWholeMessage() {
  has_message_ = true;
  if (!method_->client_streams) {
    message_ = reader_.Take();
    return;
  }
  --reads_asked_;
  WithHandler([&](Handler* handler) { handler->OnMessage(reader_.Take()); });
}

void StreamCall::GoOn() {
  if (is_in_handler_) {
    goes_on_ = true;
  } else {
    Resume();
  }
}

void StreamCall::Resume() {
  if (!is_held_ || is_waiting_ || is_over_ || finished_) return;
  if (std::exchange(is_admitted_, false)) {
    TakeIn();
  } else if (reads_asked_ == 0) {
    return;
  }
  is_held_ = false;
  const std::string held = std::exchange(held_, {});
  Read(held);
  if (request_ended_ && !is_held_) OnRequestEnd();
  if (connection_ != nullptr) CountBytes();
}

void StreamCall::TakeEnd() {
  request_ended_ = true;
  if (!is_held_) OnRequestEnd();
}

void StreamCall::OnRequestEnd() {
  if (is_over_ || finished_ || std::exchange(has_told_end_, true)) return;
  if (!reader_.IsBetweenMessages()) {
    Refuse(Refusal::kBadRequest,
           {absl::StatusCode::kInternal, "The request ended in the middle of a message"});
  } else if (method_->client_streams) {
    WithHandler([](Handler* handler) { handler->OnHalfClose(); });
  } else if (!has_message_) {
    Refuse(Refusal::kBadRequest, {absl::StatusCode::kUnimplemented,
                                  fmt::format("{} takes one message, and there is none", head_.path)});
  } else {
    if (charged_bytes_ > 0) Charge(0);
    has_delivered_ = true;
    WithHandler([&](Handler* handler) { handler->OnMessage(std::move(message_)); });
  }
}

void StreamCall::CountBytes() {
  is_touched = false;
  if (is_over_ || finished_) return;
  const size_t of_message = reader_.HasRoom() ? reader_.length() : 0;
  if (!Charge(static_cast<int64_t>(held_.size() + message_.size() + of_message))) return;
  const int64_t more = static_cast<int64_t>(held_.size()) - charged_held_bytes_;
  if (more == 0) return;
  charged_held_bytes_ += more;
  if (!connection_->CountWaiting(more)) {
    Refuse(Refusal::kWaitingBytes,
           loop_->state().Busy("The server is busy: too much of this connection waits to be let in"));
  }
}

bool StreamCall::Charge(int64_t bytes) {
  const int64_t more = bytes - charged_bytes_;
  if (more > 0 && !loop_->state().TakeBytes(more)) {
    Refuse(Refusal::kBytes,
           loop_->state().Busy("The server is busy: too many bytes of requests are coming in"));
    return false;
  }
  if (more < 0) loop_->state().GiveBytes(-more);
  charged_bytes_ = bytes;
  return true;
}

void StreamCall::DropRequest() {
  if (connection_ != nullptr && charged_held_bytes_ != 0) connection_->CountWaiting(-charged_held_bytes_);
  charged_held_bytes_ = 0;
  if (charged_bytes_ > 0) Charge(0);
  reader_.Drop();
  message_.Clear();
  held_ = std::string();
}

bool StreamCall::IsNotTaken(TimePoint now) const {
  const int64_t since = waiting_since_nanos_.load(std::memory_order_relaxed);
  return outgoing_.remaining() > 0 && since != 0 &&
         NanosOf(now) - since > std::chrono::nanoseconds(loop_->state().options().message_pause_max).count();
}

bool StreamCall::IsComingIn() const {
  if (request_ended_ || is_over_ || finished_ || is_held_) return false;
  return !method_->client_streams || !reader_.IsBetweenMessages();
}

bool StreamCall::IsReceivingSlowerThan(int64_t bytes_per_second, std::chrono::milliseconds pause,
                                       TimePoint now) const {
  return now - receiving_since_ >
         pause + std::chrono::milliseconds(received_bytes_ * 1'000 / bytes_per_second);
}

bool StreamCall::IsSendingSlowerThan(int64_t bytes_per_second, std::chrono::milliseconds pause,
                                     TimePoint now) const {
  const int64_t sent_bytes = outgoing_bytes_ - static_cast<int64_t>(outgoing_.remaining());
  return now - sending_since_ > pause + std::chrono::milliseconds(sent_bytes * 1'000 / bytes_per_second);
}

bool StreamCall::IsTooSlow(TimePoint now) const {
  const auto pause_max = loop_->state().options().body_pause_max;
  return IsComingIn() &&
         (now - received_last_ > pause_max || IsReceivingSlowerThan(kBodyBytesPerSecondMin, pause_max, now));
}

bool StreamCall::KeepsOthersWaiting(TimePoint now) const {
  if (finished_ || handler_ == nullptr) return false;
  const std::chrono::milliseconds pause = loop_->state().options().awaited_pause_max;
  const bool is_slow =
      (IsComingIn() && IsReceivingSlowerThan(kAwaitedBytesPerSecondMin, pause, now)) ||
      (outgoing_.remaining() > 0 && IsSendingSlowerThan(kAwaitedBytesPerSecondMin, pause, now));
  return is_slow && handler_->IsAwaited();
}

void StreamCall::Refuse(Refusal reason, CallStatus status) {
  loop_->state().CountRefusal(reason);
  End(std::move(status));
}

void StreamCall::SetOutgoing(Message message) {
  outgoing_.Set(std::move(message));
  outgoing_bytes_ = static_cast<int64_t>(outgoing_.remaining());
  sending_since_ = loop_->now();
  NoteTaken();
}

void StreamCall::StartWrite(Message message) {
  is_writing_ = true;
  if (is_over_) return loop_->TellNotWrittenLater(this);
  SetOutgoing(std::move(message));
  if (headers_submitted_) {
    connection_->ResumeData(this);
  } else {
    SubmitHeaders(/*has_message=*/true);
  }
}

void StreamCall::StartEnd() {
  const bool has_message = outgoing_.remaining() > 0;
  if (!headers_submitted_ && !has_message && initial_metadata_.empty()) {
    is_over_ = true;
    loop_->timers()->Remove(this);
    return connection_->SubmitTrailersOnly(stream_id_, end_, trailing_metadata_);
  }
  if (!headers_submitted_) {
    SubmitHeaders(has_message);
  } else if (has_message) {
    connection_->ResumeData(this);
  }
  if (!has_message) SubmitTrailers();
}

void StreamCall::SubmitHeaders(bool has_message) {
  headers_submitted_ = true;
  connection_->SubmitHeaders(this, initial_metadata_, has_message);
}

void StreamCall::SubmitTrailers() {
  is_over_ = true;
  loop_->timers()->Remove(this);
  // A handler that has not finished may still be adding to its own metadata.
  connection_->SubmitTrailers(stream_id_, end_, finished_ ? trailing_metadata_ : Metadata());
}

void StreamCall::NoteTaken() { waiting_since_nanos_.store(NanosOf(loop_->now()), std::memory_order_relaxed); }

void StreamCall::OnSent() {
  waiting_since_nanos_.store(0, std::memory_order_relaxed);
  if (!std::exchange(is_writing_, false)) return;
  WithHandler([](Handler* handler) { handler->OnWriteDone(true); });
}

void StreamCall::TellNotWritten() {
  if (!std::exchange(is_writing_, false)) return;
  waiting_since_nanos_.store(0, std::memory_order_relaxed);
  WithHandler([](Handler* handler) { handler->OnWriteDone(false); });
}

void StreamCall::TellServerEnding() {
  if (method_->client_streams || has_delivered_)
    WithHandler([](Handler* handler) { handler->OnServerEnding(); });
}

std::optional<RunningCall> StreamCall::Describe() const {
  if (finished_) return std::nullopt;
  return RunningCall{.name = name(),
                     .path = head_.path,
                     .peer = peer(),
                     .caller = handler_ == nullptr ? std::string() : handler_->Caller(),
                     .came = came_,
                     .routing = FindMetadata("x-goog-request-params").value_or(""),
                     .request_id = FindMetadata("x-request-id").value_or("")};
}

void StreamCall::End(CallStatus status) {
  if (is_over_) return;
  const absl::Status why = ToStatus(status);
  DropRequest();
  SetEnd(std::move(status));
  if (outgoing_.HasBegun() && outgoing_.remaining() > 0) {
    // Trailers cannot follow half a message.
    is_over_ = true;
    loop_->timers()->Remove(this);
    // Clients know by the first of the two codes that they may ask again.
    connection_->Reset(stream_id_,
                       end_.code == absl::StatusCode::kUnavailable ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL);
  } else if (headers_submitted_) {
    outgoing_.Clear();
    SubmitTrailers();
  } else {
    outgoing_.Clear();
    is_over_ = true;
    loop_->timers()->Remove(this);
    connection_->SubmitTrailersOnly(stream_id_, end_, finished_ ? trailing_metadata_ : Metadata());
  }
  Cancel(why);
}

void StreamCall::Cancel(const absl::Status& why) {
  cancelled_.store(true, std::memory_order_release);
  WithHandler([&](Handler* handler) { handler->OnCancel(why); });
  TellNotWritten();
}

void StreamCall::Detach(const absl::Status& why) {
  const bool was_over = std::exchange(is_over_, true);
  loop_->timers()->Remove(this);
  DropRequest();
  outgoing_.Clear();
  connection_ = nullptr;
  if (!was_over) Cancel(why);
  BuryIfOver();
}

bool StreamCall::IsHandlerDone() const {
  if (handler_ == nullptr || finished_) return true;
  // Nobody works for it.
  return !method_->client_streams && !has_delivered_ && !is_waiting_;
}

void StreamCall::BuryIfOver() {
  if (is_buried_ || connection_ != nullptr || !IsHandlerDone()) return;
  is_buried_ = true;
  loop_->Bury(this);
}

}  // namespace sonde::rpc

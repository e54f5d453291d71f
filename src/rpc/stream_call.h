// A call: what its stream has brought, what is to be sent in it, and what its handler is told.
//
// A call belongs to a loop, which frees it when its stream is closed and its handler has finished, in either
// order.
//
// Threads: the functions of Call may be called as Call says; all others only on the loop's thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rpc/bounds.h"
#include "rpc/call.h"
#include "rpc/headers.h"
#include "rpc/loop.h"
#include "rpc/message_reader.h"

namespace sonde::rpc {

// The unsent rest of a message, its prefix included.
class OutgoingMessage {
 public:
  void Set(Message message);
  // Drops the bytes that were not copied yet.
  void Clear();
  size_t remaining() const { return remaining_; }
  bool HasBegun() const { return piece_at_ > 0 || piece_ > 0 || prefix_at_ > 0; }
  // Appends the next `bytes`, at most remaining(), to *out.  Frees pieces that are used up.
  void CopyTo(size_t bytes, std::string* out);

 private:
  Message message_;
  std::array<char, MessageReader::kPrefixBytes> prefix_{};
  size_t prefix_at_ = 0;
  size_t piece_ = 0;
  size_t piece_at_ = 0;
  size_t remaining_ = 0;
};

// The facts about a connection that its calls keep, as they may outlive it.
struct CallPeer {
  CallPeer(std::string peer, uint64_t connection) : name(std::move(peer)), connection(connection) {}

  // Call::name of the call of a stream.
  std::string NameOfCall(int32_t stream_id) const;

  const std::string name;
  const uint64_t connection;                   // ServerState::NumberConnection
  std::optional<PeerCertificate> certificate;  // set before the first call
  std::atomic<int64_t> tally = 0;
};

class StreamCall;

// A connection as its calls see it.  Submitted answers take effect when the connection is flushed.
class CallCarrier {
 public:
  virtual Loop* loop() const = 0;
  virtual const std::shared_ptr<CallPeer>& peer() const = 0;

  virtual void SubmitHeaders(StreamCall* call, const Metadata& metadata, bool has_message) = 0;
  virtual void SubmitTrailers(int32_t stream_id, const CallStatus& status, const Metadata& metadata) = 0;
  // Submits headers and trailers in one.
  virtual void SubmitTrailersOnly(int32_t stream_id, const CallStatus& status, const Metadata& metadata) = 0;
  virtual void ResumeData(StreamCall* call) = 0;
  virtual void Reset(int32_t stream_id, uint32_t http2_error) = 0;
  // Lets `bytes` of a stream come in all in all.
  virtual void OpenWindow(int32_t stream_id, size_t bytes) = 0;
  // Tells that `bytes` were read, so that as many more may come.
  virtual void TakeFromWindow(int32_t stream_id, size_t bytes) = 0;
  // Lets CountBytes be called after the incoming bytes were handled.
  virtual void Touch(StreamCall* call) = 0;
  // Counts bytes that begin to wait to be let in, or (if negative) that end to.  Returns false if too many
  // wait.
  virtual bool CountWaiting(int64_t bytes) = 0;

 protected:
  ~CallCarrier() = default;
};

class StreamCall final : public Call, public LoopCall {
 public:
  using TimePoint = Timer::TimePoint;

  StreamCall(CallCarrier* connection, int32_t stream_id, CallHead head, const Method* method);
  ~StreamCall() override;

  // -- Call --
  std::string_view path() const override { return head_.path; }
  std::optional<std::string> FindMetadata(std::string_view name) const override {
    return head_.metadata.Find(name);
  }
  std::vector<std::string> MetadataValues(std::string_view name) const override {
    return head_.metadata.Values(name);
  }
  absl::Time deadline() const override { return head_.deadline; }
  const std::string& peer() const override { return peer_->name; }
  std::string name() const override { return peer_->NameOfCall(stream_id_); }
  const PeerCertificate* peer_certificate() const override {
    return peer_->certificate.has_value() ? &*peer_->certificate : nullptr;
  }
  std::atomic<int64_t>& connection_tally() const override { return peer_->tally; }
  bool IsCancelled() const override { return cancelled_.load(std::memory_order_acquire); }
  absl::Duration NotTakenFor() const override;
  void Admit() override { Ask(CallStep::kAdmit); }
  void ReadNext() override { Ask(CallStep::kReadNext); }
  void AddInitialMetadata(std::string_view name, std::string_view value) override;
  void AddTrailingMetadata(std::string_view name, std::string_view value) override;
  void Write(Message message) override;
  void Finish(CallStatus status) override;
  void WriteAndFinish(Message message, CallStatus status) override;

  // -- what comes in --
  // All headers have come.  A method that takes several messages gets its handler now.
  void Begin();
  void TakeData(std::string_view bytes);
  void TakeEnd();
  // Called after a part of the connection's bytes: counts the bytes in memory, or ends the call.
  void CountBytes();
  // IsTooSlow: the message comes too slowly in any case.  KeepsOthersWaiting: it comes or goes slowly while
  // others wait for its room.
  bool IsTooSlow(TimePoint now) const;
  bool KeepsOthersWaiting(TimePoint now) const;
  // Whether the client takes nothing of the message that was written for it.
  bool IsNotTaken(TimePoint now) const;

  // -- what goes out --
  OutgoingMessage* outgoing() { return &outgoing_; }
  // Whether the trailers follow when outgoing() is sent.
  bool EndsAfterMessage() const { return has_end_; }
  void SubmitTrailers();
  // NoteTaken: some bytes of outgoing() were taken.  OnSent: all bytes of a message have gone.
  void NoteTaken();
  void OnSent();

  // -- its end --
  // The stream is closed.  A handler that has not finished is told `why`.
  void Detach(const absl::Status& why);

  // -- LoopCall --
  void Apply(CallStep step) override;
  void TellNotWritten() override;
  void OnDeadline() override { End({absl::StatusCode::kDeadlineExceeded, "The deadline has passed"}); }
  std::optional<RunningCall> Describe() const override;
  void End(CallStatus status) override;

  void TellServerEnding();

  int32_t stream_id() const { return stream_id_; }
  bool IsAttached() const { return connection_ != nullptr; }
  bool HasRequestEnded() const { return request_ended_; }
  bool IsEnded() const { return is_over_; }
  Loop* loop() const { return loop_; }

  // These belong to the connection.
  size_t place = 0;         // index among the connection's calls
  bool is_touched = false;  // data came since CountBytes
  bool shares = false;      // its frames take turns with those of other calls

 private:
  void Ask(CallStep step);
  // Runs `tell` with the handler, unless it has finished.
  template <typename Tell>
  void WithHandler(const Tell& tell);
  void MakeHandler();
  void Read(std::string_view bytes);
  void ReadOn(std::string_view bytes);
  // Returns false if the message may not be read on for now.
  bool OnPrefix();
  void TakeIn();
  void OnWholeMessage();
  void OnRequestEnd();
  // Resume reads on what was held back, if it may.  GoOn does so after a function of the handler.
  void Resume();
  void GoOn();
  void Refuse(Refusal reason, CallStatus status);
  // Returns false if there is no room; the call is over then.
  bool Charge(int64_t bytes);
  void DropRequest();

  void SetOutgoing(Message message);
  void StartWrite(Message message);
  void SetEnd(CallStatus status) {
    end_ = std::move(status);
    has_end_ = true;
  }
  void StartEnd();
  void SubmitHeaders(bool has_message);
  void Cancel(const absl::Status& why);
  bool IsHandlerDone() const;
  void BuryIfOver();
  bool IsComingIn() const;
  bool IsReceivingSlowerThan(int64_t bytes_per_second, std::chrono::milliseconds pause, TimePoint now) const;
  bool IsSendingSlowerThan(int64_t bytes_per_second, std::chrono::milliseconds pause, TimePoint now) const;

  Loop* const loop_;
  CallCarrier* connection_;  // null: the stream is closed
  const int32_t stream_id_;
  const Method* const method_;
  const std::shared_ptr<CallPeer> peer_;
  CallHead head_;
  const absl::Time came_;
  std::unique_ptr<Handler> handler_;
  std::atomic<bool> cancelled_ = false;
  bool finished_ = false;  // the handler is done
  bool is_over_ = false;   // the end was submitted, or the stream is closed
  bool is_buried_ = false;

  // Incoming messages.
  MessageReader reader_;
  MessageBytes message_;  // for a method that takes one: kept until the client has said that no other follows
  std::string held_;      // bytes behind the place where the reader waits
  int64_t charged_bytes_ = 0;       // bytes charged to the server
  int64_t charged_held_bytes_ = 0;  // bytes charged to the connection
  TimePoint receiving_since_;       // since when a message may come
  TimePoint received_last_;
  int64_t received_bytes_ = 0;  // since receiving_since_
  bool request_ended_ = false;
  bool has_message_ = false;  // a message has come
  bool is_waiting_ = false;   // waits for Admit
  bool is_admitted_ = false;
  bool is_held_ = false;  // the reader is at a message that may not come in yet
  bool has_told_end_ = false;
  bool has_delivered_ = false;  // message_ was given to the handler
  bool is_in_handler_ = false;
  bool is_reading_ = false;
  bool goes_on_ = false;  // GoOn is due after the handler's function
  int64_t reads_asked_ = 0;

  // Outgoing messages.  These five belong to the answering thread until they are written or finished.
  Metadata initial_metadata_;
  Metadata trailing_metadata_;
  Message posted_message_;
  CallStatus posted_status_;
  bool posted_with_message_ = false;  // kFinish comes with posted_message_

  OutgoingMessage outgoing_;
  int64_t outgoing_bytes_ = 0;  // its size before any of it was sent
  TimePoint sending_since_;
  CallStatus end_;
  bool has_end_ = false;
  bool headers_submitted_ = false;
  bool is_writing_ = false;                       // OnWriteDone is due
  std::atomic<int64_t> waiting_since_nanos_ = 0;  // steady clock; 0: nothing is to be taken
};

}  // namespace sonde::rpc

// A thread with its connections.  It waits for sockets, deadlines and the steps that other threads ask for,
// and does all that is due.
//
// Each turn of the loop reads and handles what has come, does what other threads posted, looks at deadlines,
// and then lets each connection that has something to send write once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rpc/call.h"
#include "rpc/server_state.h"
#include "rpc/timer_wheel.h"

namespace sonde::rpc {

class Loop;

// The steps that other threads ask of a call.  The loop does them in the order in which they were asked for.
enum class CallStep : uint8_t { kAdmit, kReadNext, kWrite, kFinish };

// A call as its loop sees it.  As a timer, it is due at its deadline.  Threads: the loop's.
class LoopCall : public Timer {
 public:
  virtual ~LoopCall() = default;

  virtual void Apply(CallStep step) = 0;
  // Tells the handler that its messages will not be sent.
  virtual void TellNotWritten() = 0;
  virtual void OnDeadline() = 0;
  // Nothing: its handler has finished.
  virtual std::optional<RunningCall> Describe() const = 0;
  // Ends the call here, whatever its handler does, and tells the handler.  A call that has ended stays as it is.
  virtual void End(CallStatus status) = 0;
};

// A connection as its loop sees it.  Threads: the loop's.
class LoopConnection {
 public:
  virtual ~LoopConnection() = default;

  virtual bool is_closed() const = 0;
  // The socket has `events` of epoll.
  virtual void OnReady(uint32_t events) = 0;
  virtual void Flush() = 0;
  virtual void CheckTimes() = 0;
  // Takes no more calls, and closes when it has none.
  virtual void BeginEnd() = 0;
  // Sends as much of the queued bytes as the socket takes, and closes.
  virtual void CloseNow(const absl::Status& why) = 0;
  // Appends the connection's calls.
  virtual void AddCalls(std::vector<LoopCall*>* calls) const = 0;
};

// Makes a connection that was accepted, and takes its descriptor.  `address` is the address that it was
// counted under; `peer` has the port, too.
using MakeConnection = std::unique_ptr<LoopConnection> (*)(Loop* loop, int descriptor, std::string address,
                                                           std::string peer);

class Loop {
 public:
  using TimePoint = Timer::TimePoint;
  struct Posted {
    LoopCall* call;
    CallStep step;
  };

  // Starts the thread.  RESOURCE_EXHAUSTED: there is no descriptor for it.
  static absl::StatusOr<std::shared_ptr<Loop>> Start(std::shared_ptr<ServerState> state, MakeConnection make);
  // Waits for the last call.  BeginEnd must have been called.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // -- any thread --
  bool IsCurrent() const;
  // Asks for a step of a call.  While an AnswersTogether lives on this thread, the step waits for its end.
  void Post(LoopCall* call, CallStep step);
  void PostAll(const std::vector<Posted>& steps);
  // Takes a connection that was accepted and counted (ServerState::EnterConnection).
  void Adopt(int descriptor, std::string address, std::string peer);
  // Runs `task` on the loop's thread, soon.  Returns false, and runs nothing, if the loop has ended.
  bool Do(absl::AnyInvocable<void()> task);
  // How long the current turn has gone on; zero while the loop waits.
  std::chrono::nanoseconds TurnTime() const;
  // Takes no more calls.  Cancels the remaining ones at `cancel_at`.
  void BeginEnd(TimePoint cancel_at);
  // Returns false if calls are left at `until`.
  bool WaitForEnd(absl::Time until);
  // The number of calls whose handlers have not finished.
  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }

  // -- the loop's thread --
  ServerState& state() const { return *state_; }
  TimePoint now() const { return now_; }
  absl::Time wall_now() const { return wall_now_; }
  TimerWheel* timers() { return &timers_; }
  char* receive_buffer() { return receive_buffer_.get(); }
  static constexpr size_t kReceiveBytes = 64 << 10;
  std::string* send_buffer() { return &send_buffer_; }
  bool is_ending() const { return is_ending_; }
  // Calls of all connections.
  std::vector<LoopCall*> Calls() const;

  // Counts a call that begins.  Returns false if too many are under way.
  bool CountCall();
  // Frees the call at the end of the turn.
  void Bury(LoopCall* call) { buried_.push_back(call); }
  void TellNotWrittenLater(LoopCall* call) { not_written_.push_back(call); }
  // Notes that a connection has closed; it is freed at the end of the turn.
  void NoteClosed() { has_closed_ = true; }
  // Lets the connection send at the end of the turn.
  void FlushLater(LoopConnection* connection) { to_flush_.push_back(connection); }
  // Sets the events that a socket is waited for: `events` of epoll, 0 for none.
  void Wait(LoopConnection* connection, int descriptor, uint32_t events, bool is_new) const;

 private:
  Loop(std::shared_ptr<ServerState> state, MakeConnection make, int epoll, int wake);
  void Run();
  int WaitMillis() const;
  void TakePosted();
  void TellNotWritten();
  void FlushAll();
  void CheckTimes();
  void FreeOver();
  void Wake() const;

  const std::shared_ptr<ServerState> state_;
  const MakeConnection make_connection_;
  const int epoll_;
  const int wake_;
  const std::unique_ptr<char[]> receive_buffer_;
  std::string send_buffer_;
  TimePoint now_;
  absl::Time wall_now_;
  TimerWheel timers_;
  TimePoint next_tick_;
  std::vector<std::unique_ptr<LoopConnection>> connections_;
  std::vector<LoopConnection*> to_flush_, flushing_;
  std::vector<LoopCall*> buried_, not_written_;
  std::vector<Posted> steps_;  // taken over from posted_
  int64_t calls_begun_ = 0;    // in this turn
  int64_t calls_ended_ = 0;
  bool has_closed_ = false;  // a connection has closed in this turn
  bool is_ending_ = false;
  TimePoint cancel_at_ = TimePoint::max();
  std::atomic<int64_t> calls_ = 0;
  std::atomic<int64_t> turn_began_nanos_ = 0;
  std::thread thread_;

  mutable absl::Mutex mutex_;
  std::vector<Posted> posted_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_asleep_ ABSL_GUARDED_BY(mutex_) = false;  // the thread sleeps and must be woken
  std::atomic<int> waking_ = 0;  // number of threads that have posted and still write to wake_
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sonde::rpc

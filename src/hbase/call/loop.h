// The thread that sends and receives for all connections to a cluster: it waits for sockets and deadlines, and does what other threads
// ask it for.
//
// The loop of src/rpc is a server's: it accepts connections and knows calls of gRPC.  This one shares its timers (rpc/timer_wheel.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rpc/timer_wheel.h"

namespace sonde::hbase {

class LoopTimer : public rpc::Timer {
 public:
  virtual ~LoopTimer() = default;
  // Its time has come.  It may free this.
  virtual void OnDue() = 0;
};

class LoopSocket {
 public:
  virtual ~LoopSocket() = default;
  // The socket has `events` of epoll.
  virtual void OnReady(uint32_t events) = 0;
};

class Loop {
 public:
  using TimePoint = rpc::Timer::TimePoint;
  using Task = absl::AnyInvocable<void() &&>;

  // Starts the thread.  RESOURCE_EXHAUSTED: there is no descriptor for it.
  static absl::StatusOr<std::unique_ptr<Loop>> Start();
  // Runs the tasks that were posted, and ends the thread.  No timer may be left.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // -- any thread --
  // Runs `task` on the loop's thread, soon, in the order of the calls.
  void Post(Task task) ABSL_LOCKS_EXCLUDED(mutex_);

  // -- the loop's thread --
  TimePoint now() const { return now_; }
  rpc::TimerWheel* timers() { return &timers_; }
  // Sets which events of epoll a socket is waited for; 0: none, and the loop forgets the socket.
  void Wait(LoopSocket* socket, int descriptor, uint32_t events, bool is_new);
  static constexpr size_t kReceiveBytes = size_t{256} << 10;
  char* receive_buffer() { return receive_buffer_.get(); }

 private:
  Loop(int epoll, int wake);
  void Run();
  // Returns false when the loop ends.
  bool RunTasks() ABSL_LOCKS_EXCLUDED(mutex_);

  const int epoll_;
  const int wake_;
  const std::unique_ptr<char[]> receive_buffer_;
  TimePoint now_;
  rpc::TimerWheel timers_;
  std::vector<LoopSocket*> forgotten_;  // since the events of this turn were taken

  absl::Mutex mutex_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde::hbase

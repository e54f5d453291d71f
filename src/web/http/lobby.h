// Where connections are while nobody works for them: until a request has come, and while its answer is taken.
//
// One thread waits for all connections, so that a client that is idle, slow, or takes its answer slowly,
// costs no thread.  A request is handed over when its head has come, with its body if that is small.  An
// unfinished head is bounded in bytes and time.  When there are as many connections as there may be, a new
// one takes the place of the connection that has been idle, or at its request, for the longest time.
//
// Threads: Return may be called by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tls/handshake_rates.h"
#include "web/http/connection.h"
#include "web/http/http_counts.h"

namespace sonde {

// From its first byte on.
constexpr int kHeadSeconds = 10;
// Of TLS, from the beginning of the connection on.
constexpr int kHandshakeSeconds = 10;
// Such a body is waited for here.
constexpr size_t kSmallBodyBytesMax = 16 << 10;

class Lobby {
 public:
  struct Options {
    size_t connections_max = 1'000;
    std::chrono::seconds idle_max{60};
    // The certificate of a connection that begins now; must not wait.  Empty: no TLS is spoken.
    std::function<std::shared_ptr<const tls::Context>()> tls;
    // Gets each connection whose `head` is to be answered; gives it to Return afterwards, with what is still
    // to be sent.  Must not wait.
    std::function<void(std::unique_ptr<Connection>)> serve;
    // The bytes of the answer to what is no request.
    std::function<std::string(int http_code, const absl::Status& why)> refuse;
    HttpCounts* counts = nullptr;  // must outlive the lobby
  };

  // Takes the socket, which listens and does not block; nobody is let in before Begin.
  Lobby(int listening_socket, Options options);
  // As End.
  ~Lobby();

  void Begin();
  // Takes no new connections, and waits for those that are served, whose clients are cut off after `patience`.
  void End(std::chrono::milliseconds patience = std::chrono::seconds(kStallSeconds));
  // Any thread: cuts clients off now, where another thread waits in End.
  void HurryEnd();

  void Return(std::unique_ptr<Connection> connection);
  // Whether connections are to be returned as soon as may be.
  bool ends() const { return must_end_; }

 private:
  using Clock = Connection::Clock;

  enum class State : uint8_t { kHandshake, kReading, kSending, kDraining };
  struct Guest {
    std::unique_ptr<Connection> connection;
    State state = State::kReading;
    bool has_begun = false;      // kReading: something has come
    Clock::time_point since;     // of the state, or (of a request that has begun) of its first byte
    Clock::time_point progress;  // kSending: when something was taken last
    int64_t sent_bytes = 0;      // kSending
    size_t searched = 0;         // kReading: so many bytes are not the whole head
  };

  void Run();
  void Accept();
  void AcceptLater();
  // Makes room for one more, which `why` says; false: nobody can go.
  bool MakeRoom(HttpCounts::Cut why);
  void TakeReturned();
  void OnReady(Guest* guest);
  void DoHandshake(Guest* guest);
  // A request may be whole; `is_ended`: nothing more comes.
  void Look(Guest* guest, bool is_ended);
  void Refuse(Guest* guest, int http_code, const absl::Status& why);
  void SendOn(Guest* guest);
  void AfterSending(Guest* guest);
  void Serve(Guest* guest);
  void SetState(Guest* guest, State state);
  bool IsDue(Guest* guest, Clock::time_point now);
  void CheckTimes();
  void Remove(Guest* guest);
  void Listen(bool is_listening);
  void EndListening();
  void Wake() const;

  const Options options_;
  const int listening_socket_;
  const int epoll_;
  const int wake_;
  bool is_listening_ = false;
  tls::HandshakeRates handshake_rates_{tls::kHandshakesAtOnceMax, tls::kHandshakesPerSecondMax};
  Clock::time_point accept_again_;  // when it is not listening
  Clock::time_point next_check_;
  bool is_ending_ = false;
  std::unordered_map<int, std::unique_ptr<Guest>> guests_;  // by socket
  std::unordered_set<int> served_;                          // sockets

  std::atomic<bool> must_end_ = false;
  std::atomic<Clock::time_point> cut_at_ =
      Clock::time_point::max();  // when those that are served are cut off
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> returned_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sonde

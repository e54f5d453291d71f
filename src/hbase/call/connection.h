// One connection to one service of one of HBase's servers, on which many calls are under way at once.
//
// Every call ends exactly once, at the latest when its time is up.  A connection that breaks ends all its calls, and is not used
// again: ask for another one (servers.h).
//
// Threads: Send by any; the rest happens on the loop's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "hbase/call/loop.h"
#include "hbase/wire/failure.h"
#include "hbase/wire/frames.h"
#include "tls/client_stream.h"

namespace sonde::hbase {

// What came of a call: an answer, or a failure.
struct CallResult {
  std::optional<Failure> failure;
  Answer answer;  // without a failure
};
// Runs on the loop's thread, and must not wait.
using OnResult = absl::AnyInvocable<void(CallResult) &&>;

// Bounds of a connection.  A call beyond them fails at once, and was not sent.
constexpr size_t kCallsMax = 10'000;
constexpr size_t kUnsentBytesMax = size_t{256} << 20;

struct ConnectionOptions {
  std::string service;  // "ClientService"
  std::string user;
  absl::Duration connect_timeout = absl::Seconds(3);   // and that of TLS's handshake after it
  std::shared_ptr<const tls::ClientContext> tls = {};  // null: plain text
  std::string tls_name = {};                           // for which the server's certificate must be
  // Whether any server has answered over TLS yet, with this one's settings.  Until then a fault of TLS is one of the settings, and
  // no call is tried again; later it is one of that server.  Not null with `tls`, and outlives the loop.
  std::atomic<bool>* has_answered_by_tls = nullptr;
};

class Connection final : public LoopSocket, public std::enable_shared_from_this<Connection> {
 public:
  // `address` is a sockaddr of its family; `name` stands for the server in messages.  `loop` must outlive the connection.
  Connection(Loop* loop, std::string name, std::string address, ConnectionOptions options);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // -- any thread --
  // Sends a call.  `timeout` is when it ends without an answer; the server is told of it, too.
  void Send(std::string_view method, std::string_view parameter, std::string_view cells,
            absl::Duration timeout, OnResult on_result);
  // No call can succeed any more.
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }
  // Ends all calls: `why` becomes their failure.
  void Close(std::string why);

 private:
  struct Call final : LoopTimer {
    void OnDue() override { connection->OnTimeout(this); }
    Connection* connection = nullptr;
    uint32_t id = 0;
    Loop::TimePoint begun;
    bool is_sent = false;  // as a whole, or in part and the rest follows
    OnResult on_result;
  };
  struct Unsent {
    uint32_t call = 0;  // 0: the opening
    std::string bytes;
  };
  struct ConnectTimer final : LoopTimer {
    void OnDue() override {
      connection->CloseNow((connection->stream_ == nullptr ? "No connection to " : "No TLS with ") +
                           connection->name_ + " within its time");
    }
    Connection* connection = nullptr;
  };

  void OnReady(uint32_t events) override;
  void Begin(std::unique_ptr<Call> call, std::string frame, absl::Duration timeout);
  void Connect();
  void OnConnected();
  void Open();
  void Handshake();
  void CloseOfTls(const std::string& what);
  void Write();
  void Read();
  // As send and recv: -1 with errno, 0 at the end.
  ssize_t Transmit(std::string_view bytes);
  ssize_t Receive();
  // Closes after Transmit or Receive has failed, or the end has come.
  void CloseBroken(bool is_end);
  void TakeFrames();
  void OnTimeout(Call* call);
  void CloseNow(const std::string& why, absl::StatusCode code = absl::StatusCode::kUnavailable);
  // Ends a call that has no answer.
  void Fail(std::unique_ptr<Call> call, const std::string& why, absl::StatusCode code);
  void WaitForEvents();
  void WaitFor(uint32_t events);

  Loop* const loop_;
  const std::string name_;
  const std::string address_;
  const ConnectionOptions options_;
  std::atomic<uint32_t> next_id_ = 1;
  std::atomic<size_t> unsent_bytes_ = 0;
  std::atomic<size_t> calls_count_ = 0;
  std::atomic<bool> is_closed_ = false;

  // Of the loop's thread.
  std::shared_ptr<Connection> self_;  // while the loop may tell of the socket
  int descriptor_ = -1;
  bool is_connected_ = false;  // calls may be sent
  bool has_received_ = false;
  std::unique_ptr<tls::ClientStream> stream_;  // null: plain text, or not connected yet
  uint32_t events_ = 0;
  std::string closed_why_;
  absl::StatusCode closed_code_ = absl::StatusCode::kUnavailable;
  ConnectTimer connect_timer_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Call>> calls_;
  std::deque<Unsent> unsent_;
  size_t front_sent_ = 0;  // bytes of unsent_.front()
  Loop::TimePoint last_received_;
  FrameCutter cutter_;
};

}  // namespace sonde::hbase

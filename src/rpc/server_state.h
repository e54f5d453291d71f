// The state that the loops of a server share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rpc/bounds.h"
#include "rpc/call.h"
#include "tls/handshake_rates.h"

namespace sonde::rpc {

// Threads: all functions may be called at once.
class ServerState {
 public:
  ServerState(ServerOptions options, Router router)
      : options_(std::move(options)),
        router_(std::move(router)),
        handshake_rates_(options_.tls_handshakes_of_peer_at_once_max,
                         options_.tls_handshakes_of_peer_per_second_max) {}

  const ServerOptions& options() const { return options_; }
  const Router& router() const { return router_; }

  void CountRefusal(Refusal reason) {
    refused_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

  // Counts a connection of this address.  Returns false, and counts the refusal, if there are too many.
  bool EnterConnection(const std::string& address);
  void LeaveConnection(const std::string& address);

  // A number that no connection has had, of this server or one before it: it counts on from the time in microseconds at the start, and
  // there are fewer than a million connections a second.
  uint64_t NumberConnection() { return next_connection_.fetch_add(1, std::memory_order_relaxed); }

  // Counts a connection of this address that begins TLS's handshake.  Returns false, and counts the refusal, if the address has begun
  // too many of late, or if too many connections are at it.
  bool EnterHandshake(const std::string& address, std::chrono::steady_clock::time_point now) {
    if (!handshake_rates_.Take(address, now)) {
      CountRefusal(Refusal::kTlsRate);
      return false;
    }
    if (handshakes_.fetch_add(1, std::memory_order_relaxed) < options_.tls_handshakes_max) return true;
    LeaveHandshake();
    CountRefusal(Refusal::kTlsHandshakes);
    return false;
  }
  void LeaveHandshake() { handshakes_.fetch_sub(1, std::memory_order_relaxed); }

  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // Loops call it once a turn, with the number of calls that have come and of calls that have gone.
  void CountCalls(int64_t begun, int64_t ended) {
    begun_.fetch_add(begun, std::memory_order_relaxed);
    calls_.fetch_add(begun - ended, std::memory_order_relaxed);
  }

  // Takes room for a message.  Returns false if there is none.
  bool TakeBytes(int64_t bytes) {
    const int64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before == 0 || before + bytes <= options_.bytes_max) return true;
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void GiveBytes(int64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  void CountUnsent(int64_t bytes) { unsent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  bool IsMuchUnsent() const {
    return unsent_bytes_.load(std::memory_order_relaxed) > options_.unsent_bytes_max;
  }

  // Makes an UNAVAILABLE status with the options' details.
  CallStatus Busy(std::string message) const {
    return {absl::StatusCode::kUnavailable, std::move(message),
            options_.busy_details ? options_.busy_details() : std::string()};
  }

  ServerFacts facts() const;

  std::atomic<bool> is_accepting = true;

 private:
  const ServerOptions options_;
  const Router router_;
  tls::HandshakeRates handshake_rates_;
  std::array<std::atomic<int64_t>, static_cast<size_t>(Refusal::kCount)> refused_{};
  std::atomic<uint64_t> next_connection_ = static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  std::atomic<int64_t> accepted_ = 0;
  std::atomic<int64_t> connections_ = 0;
  std::atomic<int64_t> handshakes_ = 0;
  std::atomic<int64_t> calls_ = 0;
  std::atomic<int64_t> begun_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> unsent_bytes_ = 0;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, int64_t> peers_ ABSL_GUARDED_BY(mutex_);  // connections by address
};

}  // namespace sonde::rpc

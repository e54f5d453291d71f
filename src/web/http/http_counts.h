// The counts of the HTTP port, for /metrics.
//
// Threads: all functions may be called at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/figure.h"

namespace sonde {

class HttpCounts {
 public:
  // Why a connection was ended without an answer, or in the midst of one.
  enum class Cut : uint8_t {
    kConnections,  // another one took its place: there were as many as there may be
    kNoFiles,      // ... or no descriptor was left
    kHandshake,    // TLS's handshake failed, or was not over in time
    kTlsRate,      // its address began too many handshakes of TLS of late
    kSlowRequest,  // the head of a request did not come in time
    kSlowReader,   // the client did not take its answer
    kBrokenOff,    // an answer that was made as it was sent could not be finished
    kCount
  };

  void AddConnection() {
    accepted_.fetch_add(1, std::memory_order_relaxed);
    connections_.fetch_add(1, std::memory_order_relaxed);
  }
  void RemoveConnection() { connections_.fetch_sub(1, std::memory_order_relaxed); }
  void AddAnswer(int http_code);
  void AddCut(Cut why) { cuts_[static_cast<size_t>(why)].fetch_add(1, std::memory_order_relaxed); }

  std::vector<Figure> Figures() const;

 private:
  static constexpr int kCodeMin = 100, kCodeMax = 599;

  std::atomic<int64_t> connections_ = 0;
  std::atomic<int64_t> accepted_ = 0;
  std::array<std::atomic<int64_t>, kCodeMax - kCodeMin + 1> answers_{};
  std::array<std::atomic<int64_t>, static_cast<size_t>(Cut::kCount)> cuts_{};
};

}  // namespace sonde

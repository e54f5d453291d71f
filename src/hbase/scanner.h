// A scanner that is open on a server: one call at a time, and none is needed to keep it: its lease is renewed while nobody asks.
//
// Threads: not for several.  The lease is renewed on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "hbase/call/servers.h"
#include "hbase/wire/read_messages.h"

namespace sonde::hbase {

class Scanner {
 public:
  // The lease of a scanner is renewed for so long without a call; then the server may forget it.
  static constexpr absl::Duration kRenewedMax = absl::Hours(1);

  // `id` and `lease` are as the answer to the opening call says.
  Scanner(Servers* servers, ServerAddress server, uint64_t id, absl::Duration lease);
  // Tells the server, unless it has closed the scanner by itself.
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Asks for the next rows.  Their answer must be taken before the next call.
  void Ask(const ScanBounds& bounds, absl::Duration timeout);
  bool has_asked() const { return has_asked_; }
  // Waits for the answer.
  CallResult Take();
  // The server has no more rows for it, or does not know it.
  void NoteClosed() { is_closed_ = true; }

 private:
  class Line;

  Servers* const servers_;
  const ServerAddress server_;
  const uint64_t id_;
  uint64_t sequence_ = 0;
  bool has_asked_ = false;
  bool is_closed_ = false;
  const std::shared_ptr<Line> line_;
};

}  // namespace sonde::hbase

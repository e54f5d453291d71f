// The interface by which Tables tells an observer of every access to rows.  keyviz draws maps of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "model/cell.h"

namespace sonde {

enum class AccessKind : uint8_t { kRead, kWrite };

struct AccessedRow {
  std::string_view row_key;
  uint64_t bytes = 0;  // qualifiers and values of the cells that went in or out
  uint32_t rows =
      1;  // it stands for so many rows like it, of a long scan; 0: it says only where an error was
};

// A part of a request's accesses.
struct AccessPart {
  AccessKind kind = AccessKind::kRead;
  absl::Span<const AccessedRow> rows;  // in the order of the request; the views hold during the call
  uint64_t cells = 0;                  // exactly how many went in (as mutations) or out
  // Told once a request: how long it took; for a read, until its first row.
  std::optional<int64_t> latency_micros;
  uint32_t errors = 0;  // how many rows failed; 1 for a read that failed
};

// A read of a whole table, from its first key to its last.
struct FullScan {
  int64_t rows = 0;    // that were looked at
  std::string caller;  // the client: its program and address, as far as they are known
};

// Measures how long something has taken.
class AccessTimer {
 public:
  int64_t Micros() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Is told of accesses.  Threads: all functions may be called at once, by the threads that serve requests.
// They must neither block nor fail.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  virtual void OnAccess(TableId table, const AccessPart& part) = 0;
  virtual void OnFullScan(TableId table, const FullScan& scan) = 0;
  // Returns the keys that divide the table's load into parts, each worth a tablet of its own; ascending.
  // Returns none if there is little load, or if it has not lasted for minutes.
  virtual std::vector<std::string> TabletStarts(TableId table) = 0;
};

}  // namespace sonde

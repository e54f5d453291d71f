// How far the settling of a data directory has come, in words, for who waits for it.
//
// Threads: not for several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sonde {

// On a terminal one line is written over and over; elsewhere there is a line now and then, for logs.
class SettlingProgress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // cells_total: those that are to settle, about; none: nobody knows.  Starts at `now`.
  SettlingProgress(bool terminal, std::optional<uint64_t> cells_total, Time now)
      : terminal_(terminal), cells_total_(cells_total), last_(now) {}

  // Returns the text to write after a step; nothing if the last text is not long ago.
  std::string AfterStep(uint64_t cells_settled, Time now);
  // Likewise, when `what` begins, of which no steps are told; always on a terminal, elsewhere only if there
  // was progress to tell before.
  std::string Begin(const std::string& what);
  // Ends the line, if there is one.
  std::string End();

 private:
  std::string Line(const std::string& text);

  const bool terminal_;
  const std::optional<uint64_t> cells_total_;
  Time last_;
  bool shown_ = false;
};

}  // namespace sonde

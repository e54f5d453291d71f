// What the conformance suite needs to know of an engine.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "engine/engine.h"

namespace sonde {

// One place where an engine keeps its data, empty when it is made.
struct EngineUnderTest {
  // Opens the engine.  Called again after the engine of the call before has ended: a restart.
  std::function<std::unique_ptr<Engine>()> open;
  // Whether cells and records are there again after a restart.
  bool persistent = false;
  // No copy of the engine can be made as a directory: tests of these are skipped.  Its sizes of ranges are coarse, and may be late.  An engine
  // that says nothing here and lacks one fails all tests.
  bool is_partial = false;
  // Positions of its log are of the clock, and greater than asked for; its frontier follows the clock, some seconds later, and nothing else;
  // it forgets records by their age alone.
  bool logs_by_clock = false;
  // Makes the engine move its data to where it rests (flush, compact, settle), when it has such a place.
  std::function<void(Engine&)> flush_or_compact;
  // Of a persistent one: makes a copy of one table, as RocksEngine::Checkpoint; where a copy can be made, which
  // is not there yet; and opens it.
  std::function<absl::Status(Engine&, TableId, const std::string& directory)> checkpoint;
  std::string checkpoint_directory;
  std::function<std::unique_ptr<Engine>()> open_checkpoint;
};

// A parameter of the suite: makes a fresh EngineUnderTest for every test.
struct EngineSource {
  std::string name;  // part of the tests' names: letters and digits
  // What it draws comes from `seed`.
  std::function<EngineUnderTest(uint64_t seed)> make;
};

inline void PrintTo(const EngineSource& source, std::ostream* out) { *out << source.name; }

}  // namespace sonde

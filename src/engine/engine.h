// What Sonde asks of whatever keeps the cells, so that a map in memory, RocksDB and a distributed store all
// fit: rows and records, and, where the store has them, a change log, snapshots and sizes of ranges.
// docs/architecture.md, "The engine".
//
// Above the engine, once: names, limits, garbage-collection visibility, filters, the order of mutations.
// Below: durability.
//
// Threads: all functions may be called at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "engine/range_sizes.h"
#include "engine/record_store.h"
#include "engine/row_log.h"
#include "engine/row_store.h"
#include "engine/snapshots.h"
#include "metrics/figure.h"

namespace sonde {

// What a caller may do better when it knows it.
struct EngineTraits {
  bool waits_for_network = false;  // calls wait for other machines, so a thread that must not wait makes none
  bool commits_many_rows = true;   // changes of many rows cost about one wait for the disk
  bool is_shared = false;          // other servers read and write the same tables and records
};

class Engine : public RowStore, public RecordStore {
 public:
  virtual ~Engine() = default;

  virtual EngineTraits traits() const = 0;

  // What not every engine has; null: this one does not.  The same all the time, and there as long as the
  // engine is.
  virtual RowLog* log() = 0;
  virtual Snapshots* snapshots() = 0;
  virtual RangeSizes* range_sizes() = 0;

  // How close it is to refusing writes as UNAVAILABLE: 0 at ease, 1 when it may.  From 0.5 on, whoever can
  // should write less.  Cheap.
  virtual double WritePressure() const = 0;

  // What the engine tells of itself: its memory, its files, its work in the background.  What cannot be told
  // now is left out.  Cheap enough for once a second.
  virtual std::vector<Figure> Figures() const = 0;

  // OK while writes go on; else why they have stopped: until the store is opened again, or for now.  Writes
  // nothing that is read, and may wait for as long as a write.
  virtual absl::Status CheckWrites() = 0;
};

}  // namespace sonde

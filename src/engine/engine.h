// The interface of the stores that keep cells, so that a map in memory, RocksDB and a distributed store all
// fit: rows and records, and, if the store has them, a change log, snapshots and sizes of ranges.
// docs/architecture.md, "The engine".
//
// The layers above the engine do this work once for all engines: names, limits, garbage-collection
// visibility, filters, the order of mutations.  The engine's work is durability.
//
// Threads: all functions may be called at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/leases.h"
#include "engine/range_sizes.h"
#include "engine/record_store.h"
#include "engine/row_log.h"
#include "engine/row_store.h"
#include "engine/snapshots.h"
#include "metrics/figure.h"

namespace sonde {

// Facts by which a caller chooses what to do.
struct EngineTraits {
  bool waits_for_network = false;  // calls wait for other machines, so a thread that must not wait makes none
  bool commits_many_rows = true;   // changes of many rows cost about one wait for the disk
  bool is_shared = false;          // other servers read and write the same tables and records
};

class Engine : public RowStore, public RecordStore {
 public:
  virtual ~Engine() = default;

  virtual EngineTraits traits() const = 0;

  // Parts that not every engine has; null: this engine has no such part.  A part does not change, and lives
  // as long as the engine.
  virtual RowLog* log() = 0;
  virtual Snapshots* snapshots() = 0;
  virtual RangeSizes* range_sizes() = 0;
  // Leases between the servers that share a store; null also: the store has one server.
  virtual Leases* leases() { return nullptr; }

  // How close the engine is to refusing writes as UNAVAILABLE: 0 at ease, 1 when it may refuse them.  From
  // 0.5 on, callers that can write less should.  Cheap.
  virtual double WritePressure() const = 0;

  // Figures about the engine's memory, its files, and its work in the background.  Figures that are not known
  // now are left out.  Cheap enough for once a second.
  virtual std::vector<Figure> Figures() const = 0;

  // OK while writes go on.  An error says why they have stopped: for now, or until the store is opened again.
  // It writes nothing that is read, and may wait for as long as a write.  DEADLINE_EXCEEDED: `deadline` has
  // passed.
  virtual absl::Status CheckWrites(absl::Time deadline = absl::InfiniteFuture()) = 0;
};

}  // namespace sonde

// The figures of the embedded engine (engine/engine.h, Figures): RocksDB's own figures of the cells'
// database, the memory that each user of the budget takes, settling, garbage collection and scrubbing.
#pragma once

#include <vector>

#include "engine/rocks/files/scrubber.h"
#include "engine/rocks/settle/settling.h"
#include "engine/rocks/settle/settling_schedule.h"
#include "engine/rocks/store/cell_store.h"
#include "metrics/figure.h"

namespace sonde {

// The memory and files of the cells' database, its work in the background, and the causes that held writes
// up.
std::vector<Figure> FiguresOfDatabase(const CellStore& store);

// Settled and waiting cells, cells that garbage collection took away, and space that was given back.
std::vector<Figure> FiguresOfSettling(const CellStore& store, const Settling& settling,
                                      const SettlingSchedule& schedule);

std::vector<Figure> FiguresOfScrubbing(const ScrubProgress& progress);

}  // namespace sonde

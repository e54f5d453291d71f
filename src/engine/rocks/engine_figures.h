// What the embedded engine tells of itself (engine/engine.h, Figures): RocksDB's own figures of the cells'
// database, the memory that each user of the budget takes, settling, garbage collection and scrubbing.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/rocks/cell_store.h"
#include "engine/rocks/scrubber.h"
#include "engine/rocks/settling.h"
#include "metrics/figure.h"

namespace sonde {

// Of the memory and files of the cells' database, its work in the background, and what held writes up.
std::vector<Figure> FiguresOfDatabase(const CellStore& store);

// What has settled, what waits, and what garbage collection took away.  `last_visit_seconds`: since 1970,
// when all pages had been visited the last time; 0: not yet.
std::vector<Figure> FiguresOfSettling(const CellStore& store, const Settling& settling,
                                      int64_t last_visit_seconds);

std::vector<Figure> FiguresOfScrubbing(const ScrubProgress& progress);

}  // namespace sonde

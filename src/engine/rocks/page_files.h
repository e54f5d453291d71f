// Copies the pages of a table, as they are, into files that a database takes in as a whole.
//
// A page and its entry in the directory do not say which table they are of: their keys do.  So a copy for another
// table has other keys and the same values, and no cell is decoded.  The heads of the source must hold no cells.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/rocks/settle/settling.h"
#include "engine/rocks/store/cell_store.h"
#include "model/cell.h"

namespace sonde {

struct PageFiles {
  // Paths, in the order of their keys; no two files overlap.
  std::vector<std::string> pages;
  std::vector<std::string> directory;
  PageTotals totals;
};

struct PageFilesOptions {
  std::string directory;  // which exists, and where the files come
  uint64_t file_bytes_max = uint64_t{64} << 20;
  // Asked before anything is written whether there is room for so many bytes of pages.  May be null.
  std::function<absl::Status(uint64_t bytes)> check_room = nullptr;
  // Told how much of the pages is copied, in [0, 1].  An error ends the copying with that status.  May be null.
  std::function<absl::Status(double done)> on_progress = nullptr;
};

// Copies the pages of table `from` in `source` into files for table `into` of `target`.  Every page is compared with its
// checksums.  All files are on the disk when this returns.  Memory: a block and an index of each of two files, and a page;
// a page of kLargeBytes or more takes its place in the target's room.  DATA_LOSS: a page is damaged, missing, or not the one
// that the directory names.  Errors of the disk; the files that were made until then stay.
absl::StatusOr<PageFiles> WritePageFiles(const CellStore& source, TableId from, const CellStore& target,
                                         TableId into, const PageFilesOptions& options);

}  // namespace sonde

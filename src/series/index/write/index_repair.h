// The index of a series compared with its rows, and completed from them.
//
// Threads: one.  Others may write points meanwhile; these are in the index by themselves.
// A declared series (`index: yes`) is given as it is stored; its points are read, of all versions.
// Errors: those of the tables; DATA_LOSS: a row of the series that its record does not explain.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/known/known_series.h"

namespace sonde::series {

struct IndexReport {
  bool is_whole = false;
  bool is_given_up = false;
  int64_t rows = 0;  // of the series
  int64_t entities = 0;
  int64_t missing_entities = 0;  // that the index lacks, though they have rows
  int64_t missing_rows = 0;      // whose day or field the index lacks, of other entities
  int64_t idle_entities =
      0;  // of the index, that have no row: their points were never acknowledged, or are deleted
  std::vector<std::string> problems;  // damaged cells, and the first of what is missing
  // Whether the series is found by the index wherever that is asked.
  bool is_sound() const { return problems.empty() && missing_entities == 0 && missing_rows == 0; }
};

struct IndexProgress {
  std::function<void(const IndexReport& so_far)> tell;  // now and then
};

// Reads all rows of the series.  It keeps 40 bytes an entity (of a declared series, some 60), and a bit for each day of each.
absl::StatusOr<IndexReport> CheckIndex(const KnownSeries& series, TableAccess* tables,
                                       const IndexProgress& progress = {});

// The same, writes what is missing, and notes that the index has all.  `is_alone`: nobody else uses the store; then damaged
// cells are deleted, and what they had is written anew, and tails of a declared series are sealed.  FAILED_PRECONDITION: cells are damaged, and others may use the store;
// or writers pass over the series, since it has too many entities for them; or another declaration was stored meanwhile.
absl::StatusOr<IndexReport> RebuildIndex(const KnownSeries& series, TableAccess* tables, const Clock& clock,
                                         bool is_alone, const IndexProgress& progress = {});

}  // namespace sonde::series

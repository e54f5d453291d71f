// Rows of a table as JSON that is made while it is taken, so that an answer takes a part of itself in memory.
//
//   {"rows": [{"key": "...", "cells": [{"family": ..., "qualifier": ..., "time_micros": ..., "value": ...,
//   "bytes": ...}], "cells_count": 1}], "next": "..."}
//
// Where the rows have a meaning, "series" comes first, with its name.  A row that the series writes then has "tags": {...} behind its key, and a cell of it
// "points": [{"time_micros": ..., "values": {...}}].
//
// The answer shows the first kCellsPerRowShown cells of a row and the first kValueBytesShown bytes of a
// value.  `next` is the key to go on from, or null.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "table/row_reader.h"
#include "web/row_meaning.h"

namespace sonde {

class RowsAnswer {
 public:
  // `reader` gives one row more than `rows_max`, and may give rows in parts.
  // `meaning`: null where they have none.
  RowsAnswer(std::unique_ptr<RowReader> reader, int64_t rows_max,
             std::unique_ptr<RowMeaning> meaning = nullptr)
      : reader_(std::move(reader)), rows_max_(rows_max), meaning_(std::move(meaning)) {}

  // Looks for the first row: what is wrong with the question is known then.
  absl::Status Begin();
  // As HttpResponse::stream; Begin comes before it.
  absl::StatusOr<bool> Next(std::string* part);

 private:
  // Takes the next step of the reader in.  False: the answer has ended.
  absl::StatusOr<bool> TakeStep(std::string* part);
  void WriteCells(std::string* part);
  // What a cell of the row at hand means.
  void AddPoints(const FilterCell& one, nlohmann::ordered_json* json);
  // Opens the row at hand.
  void BeginRow(std::string* part);

  const std::unique_ptr<RowReader> reader_;
  const int64_t rows_max_;
  const std::unique_ptr<RowMeaning> meaning_;
  bool has_meaning_ = false;  // the row at hand
  std::optional<RowReader::Step> first_step_;
  bool has_begun_ = false;
  bool in_row_ = false;     // a row is open in the text
  bool has_cells_ = false;  // the reader's cells are not all looked at
  bool ends_row_ = false;   // ... and are the last of their row
  size_t cell_ = 0;         // the first that is not
  size_t cells_shown_ = 0;  // of the row
  size_t cells_count_ = 0;  // of the row
  int64_t rows_ = 0;
  size_t bytes_ = 0;  // of all rows, about
};

}  // namespace sonde

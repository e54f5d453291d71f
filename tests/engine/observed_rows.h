// Rows as a test holds them: gathered from a stream, or told by the model; and how the two are compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "model/cell.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

struct ObservedCell {
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
  bool operator==(const ObservedCell&) const = default;
};

struct ObservedRow {
  std::string row_key;
  std::map<FamilyId, std::vector<ObservedCell>> families;
  bool operator==(const ObservedRow&) const = default;
};

// For messages: one line a row, long values cut.
std::string Describe(const ObservedRow& row);
std::string Describe(const std::vector<ObservedRow>& rows);
std::string Describe(const ReadHints& hints);
std::string Describe(const std::vector<RowRange>& ranges);

// Takes pieces and gathers them into rows.  Add answers INTERNAL when a piece breaks what RowStream and
// Engine::Scan promise: the order of rows, families, cells; ranges; pieces without cells.
class RowGatherer {
 public:
  RowGatherer(std::vector<RowRange> ranges, bool reverse) : ranges_(std::move(ranges)), reverse_(reverse) {}

  absl::Status Add(const RowPiece& piece);
  const std::vector<ObservedRow>& rows() const { return rows_; }

 private:
  absl::Status StartRow(const std::string& row_key);

  const std::vector<RowRange> ranges_;
  const bool reverse_;
  std::vector<ObservedRow> rows_;
  FamilyId family_ = 0;       // of the last piece
  bool is_row_over_ = false;  // so the last piece said
};

// Scans to the end.  An error of the engine as it is; INTERNAL as above.
absl::StatusOr<std::vector<ObservedRow>> ScanRows(Engine* engine, TableId table, std::vector<RowRange> ranges,
                                                  Engine::ScanOptions options = {});

// The row as Update's `decide` sees it; INTERNAL when it breaks what Engine::Update promises.
absl::StatusOr<ObservedRow> ObserveRow(std::string_view row_key, const std::vector<RowFamily>& row);

// What a reader is left with that wants `hints` and nothing else: the definition of every hint.
std::vector<ObservedRow> FilterRows(const std::vector<ObservedRow>& rows, const ReadHints& hints);

// INTERNAL, with the difference, unless `observed` is part of `truth` and all of what `hints` ask for is
// there. Both in the order of the scan.
absl::Status CheckRows(const std::vector<ObservedRow>& truth, const std::vector<ObservedRow>& observed,
                       const ReadHints& hints);

}  // namespace sonde

// The rules of ReadRowsResponse.CellChunk, straight from the comments of bigtable.proto and as strict as they
// are: what cells a stream of chunks says, or that it breaks the rules.  Slow and simple; a test's judge.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace sonde {

struct MergedCell {
  std::string row_key;
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
  std::string label;  // the first one; Bigtable gives a cell no more

  bool operator==(const MergedCell&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const MergedCell& cell);
};

class ReferenceMerger {
 public:
  explicit ReferenceMerger(bool reversed = false) : reversed_(reversed) {}

  // False: the chunk breaks the rules; the merger is of no further use.
  [[nodiscard]] bool Add(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);
  // False: the stream may not end here.
  [[nodiscard]] bool End() const { return !row_key_.has_value(); }

  // Of the rows that were committed.
  const std::vector<MergedCell>& cells() const { return cells_; }

 private:
  bool StartsWell(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk);

  const bool reversed_;
  std::vector<MergedCell> cells_;
  std::vector<MergedCell> row_;  // of the row in progress
  std::optional<std::string> row_key_;
  std::optional<std::string> family_;
  std::optional<std::string> qualifier_;
  std::optional<std::string> last_row_key_;
  size_t split_bytes_ = 0;  // of the cell in progress; 0: none is
};

}  // namespace sonde

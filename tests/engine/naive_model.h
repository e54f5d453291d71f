// What a table should hold, told as simply as can be: one flat map of cells.  Written from the comments of
// model/mutation.h, without a look at any engine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/mutation.h"
#include "model/row_range.h"
#include "observed_rows.h"

namespace sonde {

class NaiveTable {
 public:
  void Apply(std::string_view row_key, const RowDelta& delta);
  void DropFamily(FamilyId family);
  void DropRange(const RowRange& range);

  // The rows of `ranges`, in the order of a scan.
  std::vector<ObservedRow> Rows(const std::vector<RowRange>& ranges = {RowRange::All()},
                                bool reverse = false) const;
  // Without families when there is no such row.
  ObservedRow Row(std::string_view row_key) const;

 private:
  struct Position {
    std::string row_key;
    FamilyId family = 0;
    std::string qualifier;
    int64_t timestamp_micros = 0;
    bool operator<(const Position& other) const;
  };
  std::map<Position, std::string> cells_;
};

}  // namespace sonde

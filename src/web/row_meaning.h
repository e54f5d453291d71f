// What the rows of a table mean, where it holds a declared series: for pages that show rows.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

// A point that a cell has, or has a part of.
struct MeantPoint {
  int64_t time_micros = 0;
  std::vector<std::pair<std::string, std::string>> values;  // by name of the field, as text
};

class RowMeaning {
 public:
  virtual ~RowMeaning() = default;
  virtual const std::string& series() const = 0;
  // The row of the cells that come.  The values of its tags, by name; nothing: the series has no such key.
  virtual std::optional<std::vector<std::pair<std::string, std::string>>> TakeKey(
      std::string_view row_key) = 0;
  // The points of a cell of that row, by time; none: the series has no such cell.
  virtual std::vector<MeantPoint> PointsOf(std::string_view family, std::string_view qualifier,
                                           int64_t timestamp_micros, std::string_view value) = 0;
};

// Of the table projects/P/instances/I/tables/T; null: it holds no declared series.
using FindRowMeaning = std::function<std::unique_ptr<RowMeaning>(std::string_view table_name)>;

}  // namespace sonde

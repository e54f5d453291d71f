// The counts as a picture: time across, keys down.
//
// Threads: a HeatMap is plain data; the functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "keyviz/access_counts.h"
#include "keyviz/history.h"
#include "keyviz/key_sample.h"
#include "keyviz/partition.h"
#include "model/row_range.h"

namespace sonde {

enum class HeatMetric : uint8_t {
  kOps,
  kReads,
  kWrites,
  kBytes,
  kReadBytes,
  kWriteBytes,
  kLatency,     // microseconds, the mean of a request
  kLatencyMax,  // microseconds
  kErrors,
};
// "ops", "reads", ...; nullopt: none is called so.
std::optional<HeatMetric> HeatMetricOf(std::string_view name);
std::string_view NameOf(HeatMetric metric);
const std::vector<HeatMetric>& AllHeatMetrics();

struct HeatMapRequest {
  TableId table = 0;
  // [start, end), since 1970.  The map may begin a little earlier and end a little later.
  int64_t start_seconds = 0;
  int64_t end_seconds = 0;
  RowRange keys;              // all of them when it is ["", "")
  size_t columns_max = 1000;  // positive
  size_t rows_max = 1000;     // positive
  // The starts of the map's rows, so that it can lie beside another one; the first is keys.start.  Empty: rows are as
  // the division of that time has them.
  std::vector<std::string> row_starts = {};
};

class HeatMap {
 public:
  static constexpr size_t kColumnsMax = 1000;
  static constexpr size_t kRowsMax = 1000;

  int64_t start_seconds = 0;
  int64_t column_seconds = 1;
  size_t columns = 0;
  // Row i is of the keys in [axis.start(i), row_end(i)).  The first and the last are those of the request.
  std::vector<std::string> row_starts;
  std::string keys_end;
  std::vector<double> row_keys;      // about how many distinct keys each row has
  std::vector<AccessCounts> counts;  // of columns * rows(), column after column

  size_t rows() const { return row_starts.size(); }
  const std::string& row_end(size_t row) const { return row + 1 < rows() ? row_starts[row + 1] : keys_end; }
  const AccessCounts& at(size_t column, size_t row) const { return counts[column * rows() + row]; }
};

double ValueOf(const AccessCounts& counts, HeatMetric metric);

// The finest tier that still has the whole of a time that begins so; else the coarsest.
size_t TierFrom(int64_t start_seconds, int64_t now_seconds);

// From that tier.  `axis`: the rows to draw, if there are not too many; `keys`: for row_keys.  Those are of
// now: a map of the past takes the last division and the keys of its own time.  Errors: AccessHistory::Read.
absl::StatusOr<HeatMap> BuildHeatMap(const AccessHistory& history, const HeatMapRequest& request,
                                     int64_t now_seconds, const Partition& axis, const KeySample& keys);

}  // namespace sonde

// The numbers of some points of one series: what aggregates and changes work on.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "series/key/field_codec.h"
#include "series/query/query.h"
#include "series/query/work_check.h"

namespace sonde::series {

// Stands where a point has no value of a field: fields never hold it.
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
inline bool IsNumber(double value) { return !std::isnan(value); }

struct Numbers {
  std::vector<int64_t> times_micros;  // ascending
  struct Column {
    std::vector<double> values;  // one a time; of texts, 0 for each that is there
    // What ints have more than their values: one a time, or none where doubles say all of them exactly.
    std::vector<int16_t> rests;
    bool is_text = false;
    bool is_int = false;

    ExactNumber At(size_t index) const { return {values[index], rests.empty() ? int16_t{0} : rests[index]}; }
    // values[index] has been set.
    void SetRest(size_t index, int16_t rest) {
      if (rest != 0) rests.resize(values.size());
      if (!rests.empty()) rests[index] = rest;
    }
  };
  std::vector<Column> columns;  // one a field

  void Clear() {
    times_micros.clear();
    for (Column& column : columns) {
      column.values.clear();
      column.rests.clear();
    }
  }
  // Points of the same fields, behind these; times need not ascend then.
  void Append(const Numbers& other);
  // Points of one time stay in their order.  An error of `check` ends it.
  absl::Status SortByTime(WorkCheck* check);
};

// The values of one series, batch by batch and by time ascending, become their changes.
class ChangesOfSeries {
 public:
  // Replaces the values of `numbers`.  Of ints, differences are ints, and rates doubles.
  void Apply(Change change, Numbers* numbers);

 private:
  struct Before {
    ExactNumber number{kNoNumber};
    int64_t time_micros = 0;
  };
  std::vector<Before> before_;  // one a field
};

}  // namespace sonde::series

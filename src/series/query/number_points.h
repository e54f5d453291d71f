// The points of a row whose values came as numbers: what RowPoints is for cells, for those that calculate.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/query/numbers.h"
#include "series/schema/schema.h"

namespace sonde::series {

class NumberPoints {
 public:
  // Whether rows of `schema` can be read so: the fields are numbers, in columns of their own of one family.
  static bool CanRead(const SeriesSchema& schema, const std::vector<size_t>& fields);

  // CanRead(schema, fields).  `schema` must outlive this.
  NumberPoints(const SeriesSchema& schema, std::vector<size_t> fields);

  // Makes a read of rows in `ranges`, with which Read finds all points in [from, to).
  NumberRead MakeRead(int64_t from_micros, int64_t to_micros, std::vector<RowRange> ranges) const;

  // Replaces *numbers by the points in [from, to) that `row` has.  `key`: its key, decoded.  DATA_LOSS: a
  // cell that this declaration never writes.
  absl::Status Read(const NumberRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros,
                    Numbers* numbers);

 private:
  void JoinTimes(absl::Span<const NumberRow::Part> parts, std::vector<int64_t>* times) const;
  absl::Status AddPart(const NumberRow::Part& part, const std::vector<int64_t>& times,
                       Numbers::Column* column);
  // Replaces all of *out.
  absl::Status ReadValues(const NumberRow::Part& part, const Field& field, Numbers::Column* out) const;

  const SeriesSchema& schema_;
  const std::vector<size_t> fields_;
  // Of what is read: the field of each column, and which of fields_ are that one.
  struct Column {
    size_t field = 0;
    std::vector<size_t> places;
  };
  std::vector<Column> columns_;
  std::vector<NumberRow::Part> parts_;  // in [from, to)
  Numbers::Column of_part_;             // of a part that lacks some of the times
};

}  // namespace sonde::series

// The points of a row whose values came as numbers: what RowPoints is for cells, for those that calculate.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/table_access.h"
#include "rows/batch.h"
#include "series/key/key_codec.h"
#include "series/schema/schema.h"

namespace sonde::series {

// Not for several threads.
class NumberPoints {
 public:
  // Whether rows of `schema` can be read so: the fields are numbers, in columns of their own of one family.
  // `witnesses`, whose values do not matter, may be texts.
  static bool CanRead(const SeriesSchema& schema, const std::vector<size_t>& fields,
                      const std::vector<size_t>& witnesses = {});

  // CanRead(schema, fields, witnesses).  `schema` must outlive this.
  // `gives_whole`: numbers of a kDouble field that are whole may come as kInt64, if doubles say them exactly.
  NumberPoints(const SeriesSchema& schema, std::vector<size_t> fields, bool gives_whole = false,
               const std::vector<size_t>& witnesses = {});

  // Makes a read of rows in `ranges`, with which Read finds all points in [from, to).
  NumberRead MakeRead(int64_t from_micros, int64_t to_micros, std::vector<RowRange> ranges) const;

  // Appends to batch->columns, of the points in [from, to) that `row` has: a column of their times (kTime),
  // and one a field (kInt64, kDouble).  Each time comes once; times ascend, or unless `ascending` may as well
  // descend: then nothing is copied that lies as it is wanted.  Sets batch->rows; where it is 0, nothing is
  // appended.  The columns view `row`, and this until the next call.  `key`: the row's key, decoded.
  // DATA_LOSS: a cell that this declaration never writes.
  absl::Status Read(const NumberRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros,
                    bool ascending, rows::Batch* batch);

 private:
  // A column that is read: its field, and which of fields_ are that one.
  struct Column {
    size_t field = 0;
    std::vector<size_t> places;             // none: it is a witness
    rows::Column held{ColumnType::kInt64};  // values that cannot be viewed
    ColumnView values;                      // of the row at hand
  };

  bool HaveSharedTimes() const;
  absl::Status ReadShared(bool ascending);
  absl::Status ReadJoined();
  // Values of `field`, in their order or turned around; they view `values` or *held.
  absl::StatusOr<ColumnView> Take(const ColumnView& values, const Field& field, bool turns,
                                  rows::Column* held) const;

  const SeriesSchema& schema_;
  const std::vector<size_t> fields_;
  const bool gives_whole_;
  std::vector<Column> columns_;
  std::vector<NumberRow::Part> parts_;  // in [from, to)
  std::vector<int64_t> held_times_;     // that cannot be viewed
  absl::Span<const int64_t> times_;
  rows::Column of_part_;  // of a part that lacks some of the times
};

}  // namespace sonde::series

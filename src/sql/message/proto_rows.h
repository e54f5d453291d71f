// Writes rows as the bytes of google.bigtable.v2.ProtoRows, without message objects.
//
//   ProtoRowsWriter writer({TypeKind::kBytes, TypeKind::kInt64});
//   for (size_t row = 0; row < batch.rows; ++row) writer.Append(batch, row);
//   Send(writer.Take());
//
// Shape: ProtoRows has a Value a column, row after row.  A NULL is a Value without a kind; no Value has a type.
//   Maps are arrays of pairs, by ascending keys; structs are arrays of their fields.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rows/batch.h"
#include "sql/message/backward_bytes.h"
#include "sql/value/type.h"

namespace sonde::sql {

class ProtoRowsWriter {
 public:
  explicit ProtoRowsWriter(std::vector<Type> types) : types_(std::move(types)) {}

  void Append(const rows::Batch& batch, size_t row);

  size_t bytes() const { return bytes_.size(); }
  size_t rows() const { return rows_; }
  // Where the last row begins, or began when the bytes were taken.
  size_t bytes_before_last_row() const { return last_row_at_; }
  // The bytes so far; none are left.
  std::string Take() {
    rows_ = 0;
    return std::exchange(bytes_, std::string());
  }
  // Begins with a row that was taken before.
  void PutBack(std::string row) {
    bytes_ = std::move(row);
    rows_ = 1;
    last_row_at_ = 0;
  }

 private:
  const std::vector<Type> types_;
  std::string bytes_;
  BackwardBytes row_;  // the one that is written
  size_t rows_ = 0;
  size_t last_row_at_ = 0;
};

}  // namespace sonde::sql

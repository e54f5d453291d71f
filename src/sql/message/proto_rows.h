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

#include "model/datum.h"
#include "rows/batch.h"
#include "sql/message/backward_bytes.h"
#include "sql/value/type.h"

namespace sonde::sql {

class ProtoRowsWriter {
 public:
  // What a writer has to know of a type.
  struct Form {
    TypeKind kind = TypeKind::kInt64;
    std::vector<Form>
        inside;  // of an array its element; of a struct its fields; of a map its key and its value
    // The most that a field of such a Value takes, without the bytes of texts and the items of arrays and maps.
    size_t bytes_max = 0;
    // Of a struct without arrays, maps and structs: its fields that are texts.
    std::vector<size_t> texts;
    bool is_flat = false;  // it is such a struct
  };

  explicit ProtoRowsWriter(const std::vector<Type>& types);

  void Append(const rows::Batch& batch, size_t row);

  size_t bytes() const { return bytes_.size(); }
  size_t rows() const { return rows_; }
  // The bytes so far; none are left.
  std::string Take() {
    rows_ = 0;
    return std::exchange(bytes_, std::string());
  }

 private:
  std::vector<Form> forms_;  // of the columns
  std::string bytes_;
  std::vector<Datum> row_;  // the one that is written
  BackwardBytes room_;      // for its bytes
  size_t rows_ = 0;
};

// Writes the same rows in other bytes: the length of the first value takes one byte more, as protobuf lets a varint have
// bytes that add nothing.  So rows get another checksum.  False: a length of five bytes, the longest that all readers take, is
// there already, and the rows stay as they are.  `rows`: at least one.
bool LengthenFirstLength(std::string* rows);

}  // namespace sonde::sql

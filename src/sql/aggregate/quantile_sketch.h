// Some of many values, from which their quantiles are told, about.
//
// Shape: levels of buffers.  A value in level i stands for 2^i values.  A buffer that is full is sorted, and every other
//   value of it goes one level up; which half goes, alternates.  Up to kBufferValues values quantiles are exact; of more,
//   the rank of each is wrong by a part of levels / (2 * kBufferValues) at most, and mostly by far less.
// Ownership: values are copied.
// Threads: not for several threads.
// Source: Munro, Paterson: Selection and sorting with limited storage (1980).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "model/datum.h"
#include "sql/value/type.h"

namespace sonde::sql {

// A value that holds its bytes.
struct HeldDatum {
  Datum datum;       // of strings and lists the kind only
  std::string text;  // of strings and lists their bytes (datum_bytes.h)

  static HeldDatum Of(const Type& type, const Datum& datum);
  // The value, in the arena.
  Datum Get(const Type& type, Arena* arena) const;
};

class QuantileSketch {
 public:
  static constexpr size_t kBufferValues = 2'048;

  // `datum` is of a type that is ordered, of which no value holds others, and not NULL.
  void Add(const Type& type, const Datum& datum);
  void Merge(const Type& type, const QuantileSketch& other);

  uint64_t count() const { return count_; }
  // The values of which 0, 1 / n, ..., 1 of all are not greater: n + 1 values; none if there was no value.
  std::vector<Datum> Quantiles(const Type& type, size_t n, Arena* arena) const;

  size_t HeldBytes() const { return held_bytes_; }
  void Save(const Type& type, std::string* bytes) const;
  // False: the bytes are none that Save made.
  bool Load(const Type& type, std::string_view* bytes);

 private:
  struct Level {
    std::vector<HeldDatum> values;
    bool keeps_odd = false;
  };

  void Put(size_t level, HeldDatum value);
  void Compact(size_t level);

  uint64_t count_ = 0;
  size_t held_bytes_ = 0;
  std::vector<Level> levels_;
};

}  // namespace sonde::sql

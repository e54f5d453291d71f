// One value of any type in 16 bytes: what arrays, structs and maps are made of.
//
// Shape, by `kind`; which type of SQL it is, somebody else knows:
//   integer  ints, booleans (0, 1), days and microseconds since 1970-01-01, numbers of enums
//   number   floating-point numbers
//   data     `size` bytes of a string
//   items    `size` values of a list: the elements of an array; the fields of a struct; the keys and values of a
//            map in turn (size is twice its entries), by keys ascending, each key once
// Ownership: a datum views its bytes and items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "base/arena.h"

namespace sonde {

struct Datum {
  enum class Kind : uint8_t { kInt, kDouble, kBytes, kList };

  static Datum Missing() { return {}; }
  static Datum Int(int64_t integer) {
    Datum datum;
    datum.integer = integer;
    datum.is_there = true;
    return datum;
  }
  static Datum Double(double number) {
    Datum datum;
    datum.kind = Kind::kDouble;
    datum.number = number;
    datum.is_there = true;
    return datum;
  }
  // At most 4 GiB.
  static Datum Bytes(std::string_view bytes) {
    Datum datum;
    datum.kind = Kind::kBytes;
    datum.data = bytes.data();
    datum.size = static_cast<uint32_t>(bytes.size());
    datum.is_there = true;
    return datum;
  }
  static Datum List(absl::Span<const Datum> items) {
    Datum datum;
    datum.kind = Kind::kList;
    datum.items = items.data();
    datum.size = static_cast<uint32_t>(items.size());
    datum.is_there = true;
    return datum;
  }

  std::string_view bytes() const { return {data, size}; }
  absl::Span<const Datum> list() const { return {items, size}; }

  union {
    int64_t integer = 0;
    double number;
    const char* data;
    const Datum* items;
  };
  uint32_t size = 0;
  Kind kind = Kind::kInt;
  bool is_there = false;  // false: NULL, whatever the kind
};
static_assert(sizeof(Datum) == 16);

// A copy that views nothing but what `arena` has.
Datum CopyTo(Arena* arena, const Datum& datum);

}  // namespace sonde

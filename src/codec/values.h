// Columns of values, which are any byte strings.  Each column has the form that takes the fewest bits.
//
// Layout: 1 byte of form, then (integers: codec/integers.h; numbers are varints):
//   0 constant     the one value: length, bytes
//   1 big-endian   width in bytes, 1 byte (1 to 8); integers
//   2 double bits  integers (a double's order, see below); exceptions
//   3 double       decimals, 1 byte; integers: value * 10^decimals; exceptions
//   4 decimal text the style: decimals, decimals_min, digits_min, 1 byte each (codec/decimal.h); integers;
//                  exceptions
//   5 dictionary   count; strings; integers, each the index of a string; more frequent strings come first
//   6 strings      codec/strings.h
//   7 texts        codec/texts.h
//
//   exceptions     count; if it is not 0: integers, the index of each exception, ascending; strings.  The
//                  integer of an exception means nothing.
//
// Doubles are IEEE 754, big-endian.  In form 3 a value is its integer, as a double, divided by 10^decimals.
// The division is exact (source: ALP, SIGMOD 2024, but with one correctly rounded division in place of two
// multiplications).  In form 2 a double's integer is its bits; for a negative double it is the bits without
// the sign, negated.
//
// Every form is checked as it is made: a value that would not come back byte by byte is an exception.
// Readers return false for damaged bytes; they never read or write outside what they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/number_bytes.h"
#include "codec/decimal.h"
#include "codec/integers.h"
#include "codec/strings.h"
#include "codec/texts.h"

namespace sonde::codec {

// Appends the column.  There must be at least one value, and at most kColumnBytesMax bytes in all.
void EncodeValues(absl::Span<const std::string_view> values, std::string* out);

enum class NumberKind : uint8_t { kNone, kInt64, kDouble };

// A column that is read.  Views the bytes; not for several threads.
class ValueColumn {
 public:
  // Takes a column of `count` >= 1 values, which must be all of `bytes`.
  [[nodiscard]] bool Parse(std::string_view bytes, size_t count);

  size_t size() const { return count_; }
  // Decodes values [begin, end) to out[0] and on; end <= size().  They view the column's bytes, this object,
  // or *arena.
  [[nodiscard]] bool Decode(size_t begin, size_t end, ByteArena* arena, std::string_view* out);

  // Bytes of decoded data that is kept.
  size_t KeptBytes() const;

  // How the values can be read as numbers, if all of them are numbers that are written so: as ints, which are
  // exactly they, or as doubles.  Decimal texts are ints where none of them has a point.
  NumberKind NumbersIn(NumberBytes written) const;
  // Numbers [begin, end) to out[0] and on.  NumbersIn(written) is kInt64.
  [[nodiscard]] bool DecodeInts(NumberBytes written, size_t begin, size_t end, int64_t* out);
  // NumbersIn(written) is kDouble.  *are_nearest: whether each is the double that is next to its text, which
  // those of more than 2^53 in digits may not be; else *out means nothing.
  [[nodiscard]] bool DecodeDoubles(NumberBytes written, size_t begin, size_t end, double* out,
                                   bool* are_nearest);

 private:
  enum class Form : uint8_t {
    kConstant = 0,
    kBigEndian = 1,
    kDoubleBits = 2,
    kDouble = 3,
    kDecimalText = 4,
    kDictionary = 5,
    kStrings = 6,
    kTexts = 7,
  };
  friend class ValueEncoder;

  struct Exceptions {
    std::vector<int64_t> indexes;
    std::string bytes;
    std::vector<std::string_view> values;
  };

  bool ParseExceptions(std::string_view* in);
  bool DecodeWords(size_t begin, size_t end, uint64_t* out);
  bool DecodeDigits(size_t begin, size_t end, int64_t* out, int* decimals);
  bool DecodeDecimals(size_t begin, size_t end, ByteArena* arena, std::string_view* out);
  template <typename Take>
  void TakeExceptions(size_t begin, size_t end, const Take& take) const;

  Form form_ = Form::kConstant;
  size_t count_ = 0;
  std::string_view constant_;
  unsigned width_ = 0;
  int decimals_ = 0;
  DecimalStyle style_;
  IntegerColumn integers_;
  std::unique_ptr<Exceptions> exceptions_;
  std::string_view packed_strings_;  // the packed strings, until they are unpacked
  std::unique_ptr<TextColumn> texts_;
  std::unique_ptr<std::string> bytes_;
  std::vector<std::string_view> strings_;
  std::vector<int64_t> scratch_;
  std::vector<uint64_t> words_;
};

}  // namespace sonde::codec

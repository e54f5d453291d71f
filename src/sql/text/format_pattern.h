// The pattern of FORMAT: texts, and between them what becomes of the arguments: "%-10s|%'d%%".
//
// Errors: OUT_OF_RANGE, in GoogleSQL's words: a fault of the pattern, arguments of other types, too few or many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/value/type.h"

namespace sonde::sql {

// What FORMAT gives at most, in bytes; and the most that a width may be.
constexpr int64_t kFormattedBytesMax = 1 << 20;

// How one value is written: %[flags][width][.precision]specifier.
struct FormatSpec {
  char specifier = '\0';
  bool is_left = false;          // -
  bool has_plus = false;         // +
  bool has_space = false;        // a space in the place of +
  bool is_alternative = false;   // #
  bool is_zero_padded = false;   // 0
  bool is_grouped = false;       // '
  int width = 0;                 // at least so many characters; 0: any number
  std::optional<int> precision;  // digits, or at most so many characters
};

struct FormatPattern {
  struct Piece {
    std::string before;  // the text before it
    FormatSpec spec;
    std::optional<size_t>
        width_argument;  // * in the place of the width.  Numbers of arguments count from 0, the pattern left out
    std::optional<size_t> precision_argument;
    size_t argument = 0;
  };
  std::vector<Piece> pieces;
  std::string after;
};

// `types`: of the arguments behind the pattern.
absl::StatusOr<FormatPattern> ParseFormatPattern(std::string_view pattern, absl::Span<const Type> types);
// Sets a precision that an argument gave.  A negative one is none.
absl::Status SetFormatPrecision(int64_t precision, FormatSpec* spec);
// Sets a width that an argument gave.  A negative one means the left side.
absl::Status SetFormatWidth(int64_t width, FormatSpec* spec);
absl::Status FormattedTooLong();

}  // namespace sonde::sql

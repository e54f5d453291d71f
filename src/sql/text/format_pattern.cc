#include "sql/text/format_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/function/utf8.h"

namespace sonde::sql {
namespace {

// No FLOAT64 has more digits behind the point.
constexpr int kFractionDigitsMax = 1074;

// Reads digits; what does not fit is the largest number.
int64_t NumberFrom(std::string_view digits) {
  int64_t number = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(number, int64_t{10}, &number) ||
        __builtin_add_overflow(number, digit - '0', &number)) {
      return INT64_MAX;
    }
  }
  return number;
}

// One % and what belongs to it, as written.
struct Directive {
  std::string_view flags;
  std::string_view width;
  std::string_view precision;  // with its point
  std::string_view specifier;  // one character
};

class PatternReader {
 public:
  PatternReader(std::string_view pattern, absl::Span<const Type> types)
      : pattern_(pattern), types_(types), rest_(pattern) {}

  absl::StatusOr<FormatPattern> Read() {
    if (static_cast<int64_t>(pattern_.size()) > kFormattedBytesMax) return FormattedTooLong();
    std::string text;
    while (!rest_.empty()) {
      const size_t percent = rest_.find('%');
      text.append(rest_.substr(0, percent));
      if (percent == std::string_view::npos) break;
      rest_.remove_prefix(percent + 1);
      const std::optional<Directive> directive = TakeDirective();
      if (!directive.has_value()) return InvalidPattern();
      if (directive->specifier == "%") {
        if (directive->specifier.data() != directive->flags.data()) return InvalidPattern();
        text += '%';
        continue;
      }
      FormatPattern::Piece piece;
      piece.before = std::exchange(text, {});
      if (absl::Status status = ReadPiece(*directive, &piece); !status.ok()) return status;
      read_.pieces.push_back(std::move(piece));
    }
    read_.after = std::move(text);
    if (next_argument_ != types_.size()) return WrongCount();
    return std::move(read_);
  }

 private:
  // Takes the longest flags, width and precision after which one more character is there.
  std::optional<Directive> TakeDirective() {
    const auto end_of = [this](std::string_view set, size_t from) {
      return std::min(rest_.find_first_not_of(set, from), rest_.size());
    };
    const auto end_of_number = [&](size_t from) {
      return from < rest_.size() && rest_[from] == '*' ? from + 1 : end_of("0123456789", from);
    };
    const size_t flags_end = end_of("-+ #'0", 0);
    const size_t width_end = end_of_number(flags_end);
    const bool has_point = width_end < rest_.size() && rest_[width_end] == '.';
    size_t end = has_point ? end_of_number(width_end + 1) : width_end;
    if (end == rest_.size() || rest_[end] == '\n') {
      if (end == 0) return std::nullopt;
      --end;
    }
    const auto part = [&](size_t from, size_t to) {
      from = std::min(from, end);
      return rest_.substr(from, std::min(to, end) - from);
    };
    Directive directive{part(0, flags_end), part(flags_end, width_end), part(width_end, end),
                        rest_.substr(end)};
    directive.specifier = directive.specifier.substr(0, CharacterBytes(directive.specifier));
    rest_.remove_prefix(end + directive.specifier.size());
    return directive;
  }

  absl::Status ReadPiece(const Directive& directive, FormatPattern::Piece* piece) {
    FormatSpec& spec = piece->spec;
    spec.specifier = directive.specifier.front();
    spec.is_left = directive.flags.find('-') != std::string_view::npos;
    spec.has_plus = directive.flags.find('+') != std::string_view::npos;
    spec.has_space = directive.flags.find(' ') != std::string_view::npos;
    spec.is_alternative = directive.flags.find('#') != std::string_view::npos;
    spec.is_zero_padded = directive.flags.find('0') != std::string_view::npos;
    spec.is_grouped = directive.flags.find('\'') != std::string_view::npos;
    if (absl::Status status = ReadWidth(directive.width, piece); !status.ok()) return status;
    if (absl::Status status = ReadPrecision(directive.precision, piece); !status.ok()) return status;
    piece->argument = next_argument_++;
    if (piece->argument >= types_.size()) return absl::OkStatus();
    return CheckArgument(directive.specifier, piece->argument);
  }

  absl::Status ReadWidth(std::string_view width, FormatPattern::Piece* piece) {
    if (width == "*") return TakeCount(&piece->width_argument);
    const int64_t number = NumberFrom(width);
    if (number > kFormattedBytesMax) {
      return absl::OutOfRangeError(
          fmt::format("Width {} exceeds the maximum supported output width of FORMAT. Limit: {}", number,
                      kFormattedBytesMax));
    }
    piece->spec.width = static_cast<int>(number);
    return absl::OkStatus();
  }

  absl::Status ReadPrecision(std::string_view precision, FormatPattern::Piece* piece) {
    if (precision.empty()) return absl::OkStatus();
    if (precision == ".*") return TakeCount(&piece->precision_argument);
    return SetFormatPrecision(NumberFrom(precision.substr(1)), &piece->spec);
  }

  // A * takes an argument, an INT64.
  absl::Status TakeCount(std::optional<size_t>* argument) {
    *argument = next_argument_++;
    if (**argument >= types_.size() || types_[**argument].Is(TypeKind::kInt64)) return absl::OkStatus();
    return WrongType(**argument, "integer");
  }

  absl::Status CheckArgument(std::string_view specifier, size_t argument) const {
    const Type& type = types_[argument];
    const auto check = [&](bool is_right, std::string_view expected) {
      return is_right ? absl::OkStatus() : WrongType(argument, expected);
    };
    switch (specifier.size() == 1 ? specifier.front() : '\0') {
      case 'd':
      case 'i':
      case 'o':
      case 'x':
      case 'X':
        return check(type.Is(TypeKind::kInt64), "integer");
      case 'u':
        return check(false, "UINT");
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        return check(type.IsFloat(), "FLOAT64");
      case 's':
        return check(type.Is(TypeKind::kString), "STRING");
      case 'p':
      case 'P':
        return check(false, "PROTO or JSON");
      case 't':
      case 'T':
        return absl::OkStatus();
      default:
        return absl::OutOfRangeError(fmt::format(
            "Invalid format specifier character \"{}\" in FORMAT string: \"{}\"", specifier, pattern_));
    }
  }

  // Arguments count from 1 here, and the pattern is the first.
  absl::Status WrongType(size_t argument, std::string_view expected) const {
    return absl::OutOfRangeError(fmt::format("Invalid type for argument {} to FORMAT; Expected {}; Got {}",
                                             argument + 2, expected, types_[argument].ToString()));
  }

  absl::Status InvalidPattern() const {
    return absl::OutOfRangeError(fmt::format("Invalid FORMAT string: \"{}\"", pattern_));
  }

  absl::Status WrongCount() const {
    return absl::OutOfRangeError(fmt::format(
        "Too {} arguments to FORMAT for pattern \"{}\"; Expected {}; Got {}",
        next_argument_ > types_.size() ? "few" : "many", pattern_, next_argument_ + 1, types_.size() + 1));
  }

  const std::string_view pattern_;
  const absl::Span<const Type> types_;
  std::string_view rest_;
  size_t next_argument_ = 0;
  FormatPattern read_;
};

}  // namespace

absl::StatusOr<FormatPattern> ParseFormatPattern(std::string_view pattern, absl::Span<const Type> types) {
  return PatternReader(pattern, types).Read();
}

absl::Status SetFormatPrecision(int64_t precision, FormatSpec* spec) {
  int64_t most = kFormattedBytesMax;
  const char specifier = spec->specifier;
  if (specifier == 'e' || specifier == 'E' || specifier == 'f' || specifier == 'F') most = kFractionDigitsMax;
  if (specifier == 'g' || specifier == 'G') most = INT32_MAX;
  if (precision > most) return absl::OutOfRangeError(fmt::format("Precision value is too big{}", most));
  if (precision < 0) {
    spec->precision.reset();
    return absl::OkStatus();
  }
  // %g writes no zeros at the end.
  if (specifier == 'g' || specifier == 'G') precision = std::min<int64_t>(precision, kFractionDigitsMax);
  spec->precision = static_cast<int>(precision);
  return absl::OkStatus();
}

absl::Status SetFormatWidth(int64_t width, FormatSpec* spec) {
  if (width > kFormattedBytesMax || width < -kFormattedBytesMax) return FormattedTooLong();
  spec->is_left = spec->is_left || width < 0;
  spec->width = static_cast<int>(width < 0 ? -width : width);
  return absl::OkStatus();
}

absl::Status FormattedTooLong() {
  return absl::OutOfRangeError(
      fmt::format("Output string too long while evaluating FORMAT; limit {}", kFormattedBytesMax));
}

}  // namespace sonde::sql

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/text/format_pattern.h"
#include "sql/text/format_text.h"
#include "sql/text/functions.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// The last pattern of a call, parsed.
class FormatState : public CallState {
 public:
  absl::StatusOr<const FormatPattern*> Get(std::string_view text, absl::Span<const Type> types) {
    if (!is_parsed_ || text_ != text) {
      absl::StatusOr<FormatPattern> pattern = ParseFormatPattern(text, types);
      if (!pattern.ok()) return pattern.status();
      pattern_ = *std::move(pattern);
      text_ = text;
      is_parsed_ = true;
    }
    return &pattern_;
  }

 private:
  bool is_parsed_ = false;
  std::string text_;
  FormatPattern pattern_;
};

// One row of a call.
class RowFormatter {
 public:
  // `values`: the arguments behind the pattern.
  RowFormatter(Call& call, absl::Span<const ColumnView> values, size_t row)
      : call_(call), values_(values), row_(row) {}

  // Nothing: the row is NULL, because an argument that has to be there is.
  absl::StatusOr<std::optional<std::string>> Format(const FormatPattern& pattern) {
    for (const FormatPattern::Piece& piece : pattern.pieces) {
      if (static_cast<int64_t>(text_.size()) > kFormattedBytesMax) return FormattedTooLong();
      text_ += piece.before;
      const absl::StatusOr<bool> is_there = AppendPiece(piece);
      if (!is_there.ok()) return is_there.status();
      if (!*is_there) return std::nullopt;
    }
    text_ += pattern.after;
    if (static_cast<int64_t>(text_.size()) > kFormattedBytesMax) return FormattedTooLong();
    return std::move(text_);
  }

 private:
  Datum ValueOf(size_t argument) const { return DatumAt(values_[argument], row_); }

  absl::StatusOr<bool> AppendPiece(const FormatPattern::Piece& piece) {
    FormatSpec spec = piece.spec;
    if (piece.width_argument.has_value()) {
      const Datum width = ValueOf(*piece.width_argument);
      if (!width.is_there) return false;
      if (absl::Status status = SetFormatWidth(width.integer, &spec); !status.ok()) return status;
    }
    if (piece.precision_argument.has_value()) {
      const Datum precision = ValueOf(*piece.precision_argument);
      if (!precision.is_there) return false;
      if (absl::Status status = SetFormatPrecision(precision.integer, &spec); !status.ok()) return status;
    }
    return AppendArgument(spec, call_.argument_type(piece.argument + 1), ValueOf(piece.argument));
  }

  absl::StatusOr<bool> AppendArgument(const FormatSpec& spec, const Type& type, const Datum& value) {
    if (spec.specifier == 't' || spec.specifier == 'T') {
      if (value.is_there && type.IsText()) {
        if (absl::Status status = AskForRoom(call_, value.size); !status.ok()) return status;
      }
      AppendFormattedText(spec, spec.specifier == 't' ? PlainText(type, value) : LiteralText(type, value),
                          &text_);
      return true;
    }
    if (!value.is_there) return false;
    if (type.Is(TypeKind::kInt64)) {
      AppendFormattedInteger(spec, value.integer, &text_);
    } else if (type.IsFloat()) {
      AppendFormattedNumber(spec, value.number, &text_);
    } else {
      // As GoogleSQL has it, %s writes a string up to its first NUL.
      const std::string_view string = value.bytes();
      if (absl::Status status = AskForRoom(call_, string.size()); !status.ok()) return status;
      AppendFormattedText(spec, string.substr(0, string.find('\0')), &text_);
    }
    return true;
  }

  Call& call_;
  const absl::Span<const ColumnView> values_;
  const size_t row_;
  std::string text_;
};

absl::StatusOr<std::optional<std::string>> FormatRow(Call& call, absl::Span<const ColumnView> arguments,
                                                     absl::Span<const Type> types, size_t row) {
  const ColumnView& patterns = arguments[0];
  if (!patterns.IsThere(row)) return std::nullopt;
  const absl::StatusOr<const FormatPattern*> pattern =
      call.state<FormatState>().Get(patterns.bytes()[patterns.PlaceOf(row)], types);
  if (!pattern.ok()) return pattern.status();
  return RowFormatter(call, arguments.subspan(1), row).Format(**pattern);
}

ColumnView FormatRows(Call& call, absl::Span<const ColumnView> arguments) {
  std::vector<Type> types;
  for (size_t i = 1; i < arguments.size(); ++i) types.push_back(call.argument_type(i));
  auto* const texts = call.arena()->New<std::string_view>(call.rows());
  auto* const there = call.arena()->New<uint8_t>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    const absl::StatusOr<std::optional<std::string>> text = FormatRow(call, arguments, types, row);
    if (!text.ok()) call.Fail(row, text.status());
    there[row] = text.ok() && text->has_value();
    texts[row] = there[row] ? call.arena()->Copy(**text) : std::string_view();
  }
  return ColumnView::OfBytes({texts, call.rows()}, there);
}

}  // namespace

std::vector<Function> FormatFunctions() {
  return {
      {.name = "FORMAT",
       .overloads = {Scalar("(STRING, ANY...) -> STRING", FormatRows)},
       .meaning = "The first argument, with the others in the places that it names as C's printf does: %d %i "
                  "%o %x %X for integers, %f %F %e %E "
                  "%g %G for floating-point numbers, %s for strings, %t for any value as text, %T for any "
                  "value as a literal, %% for a percent "
                  "sign.  Flags are - + # 0 ' and a space; ' groups digits; * takes a width or precision "
                  "from an argument.",
       .examples = {"FORMAT('date: %s, n = %05d', 'Jan', 42)", "FORMAT(\"%'d and %.2f\", 1234567, 1.5)",
                    "FORMAT('%t %T', [1, 2], 'text')"}},
  };
}

}  // namespace sonde::sql

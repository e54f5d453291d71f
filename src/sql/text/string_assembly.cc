#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/text/string_families.h"

namespace sonde::sql {
namespace {

using Assembled = absl::StatusOr<std::string_view>;

// GoogleSQL's bound on what REPEAT, LPAD and RPAD give.
constexpr size_t kAssembledBytesMax = 1 << 20;

std::string_view ConcatenateRow(Call& call, absl::Span<const ColumnView> arguments, size_t row) {
  size_t bytes = 0;
  for (const ColumnView& argument : arguments) bytes += argument.bytes()[argument.PlaceOf(row)].size();
  if (absl::Status status = AskForRoom(call, bytes); !status.ok()) {
    call.Fail(row, std::move(status));
    return "";
  }
  char* const text = call.arena()->New<char>(bytes);
  char* end = text;
  for (const ColumnView& argument : arguments) {
    const std::string_view part = argument.bytes()[argument.PlaceOf(row)];
    if (!part.empty()) std::memcpy(end, part.data(), part.size());
    end += part.size();
  }
  return {text, bytes};
}

ColumnView Concatenate(Call& call, absl::Span<const ColumnView> arguments) {
  auto* const texts = call.arena()->New<std::string_view>(call.rows());
  auto* const there = call.arena()->New<uint8_t>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    there[row] = std::all_of(arguments.begin(), arguments.end(),
                             [row](const ColumnView& argument) { return argument.IsThere(row); });
    texts[row] = there[row] ? ConcatenateRow(call, arguments, row) : std::string_view();
  }
  return ColumnView::OfBytes({texts, call.rows()}, there);
}

// Writes `pattern` again and again, and of it a part at last, until `bytes` are written.
char* WriteRepeated(std::string_view pattern, size_t bytes, char* to) {
  if (bytes == 0) return to;
  if (pattern.size() == 1) {
    std::memset(to, pattern.front(), bytes);
    return to + bytes;
  }
  size_t written = std::min(pattern.size(), bytes);
  std::memcpy(to, pattern.data(), written);
  while (written < bytes) {
    const size_t more = std::min(written, bytes - written);
    std::memcpy(to + written, to, more);
    written += more;
  }
  return to + bytes;
}

Assembled RepeatText(Call& call, std::string_view text, int64_t count) {
  if (count < 0) return absl::OutOfRangeError("Second argument (repeat count) for REPEAT cannot be negative");
  if (text.empty() || count == 0) return "";
  if (static_cast<uint64_t>(count) > kAssembledBytesMax / text.size()) {
    return absl::OutOfRangeError("Output of REPEAT exceeds max allowed output size of 1MB");
  }
  const size_t bytes = text.size() * static_cast<size_t>(count);
  char* const repeated = call.arena()->New<char>(bytes);
  WriteRepeated(text, bytes, repeated);
  return std::string_view(repeated, bytes);
}

enum class PadAt : uint8_t { kLeft, kRight };

// `text` with so many bytes of `pattern`, repeated, at one side.
template <PadAt kAt>
Assembled PadWith(Call& call, std::string_view text, std::string_view pattern, size_t pad_bytes) {
  const size_t bytes = text.size() + pad_bytes;
  if (bytes > kAssembledBytesMax) {
    return absl::OutOfRangeError("Output of LPAD/RPAD exceeds max allowed output size of 1MB");
  }
  char* const padded = call.arena()->New<char>(bytes);
  char* end = padded;
  if (kAt == PadAt::kLeft) end = WriteRepeated(pattern, pad_bytes, end);
  if (!text.empty()) std::memcpy(end, text.data(), text.size());
  if (kAt == PadAt::kRight) WriteRepeated(pattern, pad_bytes, end + text.size());
  return std::string_view(padded, bytes);
}

absl::Status CheckPad(int64_t length, std::string_view pattern) {
  if (length < 0) {
    return absl::OutOfRangeError("Second argument (output size) for LPAD/RPAD cannot be negative");
  }
  if (static_cast<uint64_t>(length) > kAssembledBytesMax) {
    return absl::OutOfRangeError("Output of LPAD/RPAD exceeds max allowed output size of 1MB");
  }
  if (pattern.empty()) {
    return absl::OutOfRangeError("Third argument (pad pattern) for LPAD/RPAD cannot be empty");
  }
  return absl::OkStatus();
}

template <PadAt kAt>
Assembled PadBytes(Call& call, std::string_view bytes, int64_t length, std::string_view pattern) {
  if (absl::Status status = CheckPad(length, pattern); !status.ok()) return status;
  const auto size = static_cast<size_t>(length);
  if (size <= bytes.size()) return bytes.substr(0, size);
  return PadWith<kAt>(call, bytes, pattern, size - bytes.size());
}

template <PadAt kAt>
Assembled PadString(Call& call, std::string_view text, int64_t length, std::string_view pattern) {
  if (absl::Status status = CheckPad(length, pattern); !status.ok()) return status;
  const auto wanted = static_cast<size_t>(length);
  const size_t characters = CountCharacters(text);
  if (wanted <= characters) {
    const std::string_view cut = text.substr(0, BytesOfFirst(text, wanted));
    if (cut.size() > kAssembledBytesMax) {
      return absl::OutOfRangeError("Output of LPAD/RPAD exceeds max allowed output size of 1MB");
    }
    return cut;
  }
  const size_t pattern_characters = CountCharacters(pattern);
  const size_t times = (wanted - characters) / pattern_characters;
  const size_t rest = BytesOfFirst(pattern, (wanted - characters) % pattern_characters);
  return PadWith<kAt>(call, text, pattern, times * pattern.size() + rest);
}

template <PadAt kAt>
Assembled PadBytesWithSpace(Call& call, std::string_view bytes, int64_t length) {
  return PadBytes<kAt>(call, bytes, length, " ");
}
template <PadAt kAt>
Assembled PadStringWithSpace(Call& call, std::string_view text, int64_t length) {
  return PadString<kAt>(call, text, length, " ");
}

template <PadAt kAt>
std::vector<Overload> PadOverloads() {
  return {Scalar("(STRING, INT64, [STRING]) -> STRING",
                 KernelByCount<2, RowKernel<PadStringWithSpace<kAt>>, RowKernel<PadString<kAt>>>),
          Scalar("(BYTES, INT64, [BYTES]) -> BYTES",
                 KernelByCount<2, RowKernel<PadBytesWithSpace<kAt>>, RowKernel<PadBytes<kAt>>>)};
}

Assembled ReverseBytes(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, bytes.size()); !status.ok()) return status;
  char* const reversed = call.arena()->New<char>(bytes.size());
  std::reverse_copy(bytes.begin(), bytes.end(), reversed);
  return std::string_view(reversed, bytes.size());
}

Assembled ReverseString(Call& call, std::string_view text) {
  if (IsAscii(text)) return ReverseBytes(call, text);
  if (absl::Status status = AskForRoom(call, text.size()); !status.ok()) return status;
  char* const reversed = call.arena()->New<char>(text.size());
  char* start = reversed + text.size();
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = CharacterBytes(rest);
    start -= bytes;
    std::memcpy(start, rest.data(), bytes);
    rest.remove_prefix(bytes);
  }
  return std::string_view(reversed, text.size());
}

}  // namespace

std::vector<Function> StringAssemblyFunctions() {
  return {
      {.name = "CONCAT",
       .overloads = {Scalar("(STRING, STRING...) -> STRING", Concatenate),
                     Scalar("(BYTES, BYTES...) -> BYTES", Concatenate)},
       .meaning = "The arguments one after the other.  NULL if one of them is NULL.",
       .examples = {"CONCAT('T.P.', ' ', 'Bar')"}},
      {.name = "REPEAT",
       .overloads = {Scalar("(STRING, INT64) -> STRING", RowKernel<RepeatText>),
                     Scalar("(BYTES, INT64) -> BYTES", RowKernel<RepeatText>)},
       .meaning = "A value as many times as the second argument says, one after the other; at most 1 MiB.",
       .examples = {"REPEAT('abc', 3)"}},
      {.name = "LPAD",
       .overloads = PadOverloads<PadAt::kLeft>(),
       .meaning = "A value with a pattern, repeated, before it, so that it has the length of the second "
                  "argument; cut to this length "
                  "if it is longer.  The pattern is a space where none is given.",
       .examples = {"LPAD('abc', 5)", "LPAD('abc', 8, 'def')"}},
      {.name = "RPAD",
       .overloads = PadOverloads<PadAt::kRight>(),
       .meaning = "As LPAD, with the pattern behind the value.",
       .examples = {"RPAD('abc', 8, 'def')"}},
      {.name = "REVERSE",
       .overloads = {Scalar("(STRING) -> STRING", RowKernel<ReverseString>),
                     Scalar("(BYTES) -> BYTES", RowKernel<ReverseBytes>)},
       .meaning = "The characters or bytes of a value in reverse order.",
       .examples = {"REVERSE('abc')"}},
  };
}

}  // namespace sonde::sql

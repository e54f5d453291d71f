#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/cast/conversion_families.h"
#include "sql/cast/functions.h"
#include "sql/function/bounds.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/function/utf8_check.h"
#include "sql/text/byte_texts.h"

namespace sonde::sql {
namespace {

// --- Numbers as Bigtable keeps them in cells.

// The bytes as a number, the most significant one first.
template <typename Number>
absl::StatusOr<Number> BigEndian(std::string_view function, std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) {
    return absl::OutOfRangeError(
        fmt::format("{} takes {} bytes, but the value has {}", function, sizeof(Number), bytes.size()));
  }
  Number number = 0;
  for (const char byte : bytes) number = static_cast<Number>(number << 8 | static_cast<unsigned char>(byte));
  return number;
}

absl::StatusOr<int64_t> ToInt64(Call&, std::string_view bytes) {
  const absl::StatusOr<uint64_t> bits = BigEndian<uint64_t>("TO_INT64", bytes);
  if (!bits.ok()) return bits.status();
  return static_cast<int64_t>(*bits);
}
absl::StatusOr<double> ToFloat64(Call&, std::string_view bytes) {
  const absl::StatusOr<uint64_t> bits = BigEndian<uint64_t>("TO_FLOAT64", bytes);
  if (!bits.ok()) return bits.status();
  return std::bit_cast<double>(*bits);
}
absl::StatusOr<double> ToFloat32(Call&, std::string_view bytes) {
  const absl::StatusOr<uint32_t> bits = BigEndian<uint32_t>("TO_FLOAT32", bytes);
  if (!bits.ok()) return bits.status();
  return std::bit_cast<float>(*bits);
}

// --- Code points.

bool IsCodePoint(int64_t code) { return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff); }
// A NULL makes the result NULL, whatever the other codes are.
bool HasNullCode(absl::Span<const Datum> codes) {
  return std::any_of(codes.begin(), codes.end(), [](const Datum& code) { return !code.is_there; });
}
absl::Status BadCodePoint(int64_t code) {
  return absl::OutOfRangeError(fmt::format("Invalid codepoint {}", code));
}

absl::StatusOr<std::string_view> Character(Call& call, int64_t code) {
  if (!IsCodePoint(code)) return BadCodePoint(code);
  std::string text;
  AppendCharacter(static_cast<CodePoint>(code), &text);
  return call.arena()->Copy(text);
}

absl::StatusOr<std::optional<std::string_view>> StringOfCodePoints(Call& call,
                                                                   absl::Span<const Datum> codes) {
  if (absl::Status status = AskForRoom(call, codes.size()); !status.ok()) return status;
  std::string text;
  if (HasNullCode(codes)) return std::optional<std::string_view>();
  for (const Datum& code : codes) {
    if (!IsCodePoint(code.integer)) return BadCodePoint(code.integer);
    AppendCharacter(static_cast<CodePoint>(code.integer), &text);
  }
  return std::optional<std::string_view>(call.arena()->Copy(text));
}

absl::StatusOr<std::optional<std::string_view>> BytesOfCodePoints(Call& call, absl::Span<const Datum> codes) {
  if (HasNullCode(codes)) return std::optional<std::string_view>();
  if (absl::Status status = AskForRoom(call, codes.size()); !status.ok()) return status;
  char* const bytes = call.arena()->New<char>(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i].integer < 0 || codes[i].integer > 255) {
      return absl::OutOfRangeError(fmt::format("Invalid ASCII value {}", codes[i].integer));
    }
    bytes[i] = static_cast<char>(codes[i].integer);
  }
  return std::optional<std::string_view>(std::string_view(bytes, codes.size()));
}

absl::StatusOr<absl::Span<const Datum>> CodePointsOfString(Call& call, std::string_view text) {
  const size_t count = CountCharacters(text);
  if (absl::Status status = AskForRoom(call, count * sizeof(Datum)); !status.ok()) return status;
  Datum* const codes = call.arena()->New<Datum>(count);
  for (size_t i = 0; i < count; ++i) codes[i] = Datum::Int(TakeCharacter(&text));
  return absl::Span<const Datum>(codes, count);
}

absl::StatusOr<absl::Span<const Datum>> CodePointsOfBytes(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, bytes.size() * sizeof(Datum)); !status.ok()) return status;
  Datum* const codes = call.arena()->New<Datum>(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) codes[i] = Datum::Int(static_cast<unsigned char>(bytes[i]));
  return absl::Span<const Datum>(codes, bytes.size());
}

// --- Texts of digits.

template <std::string (*kConvert)(std::string_view)>
absl::StatusOr<std::string_view> Encode(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, 2 * bytes.size()); !status.ok()) return status;
  return call.arena()->Copy(kConvert(bytes));
}

template <absl::StatusOr<std::string> (*kConvert)(std::string_view)>
absl::StatusOr<std::string_view> Decode(Call& call, std::string_view text) {
  if (absl::Status status = AskForRoom(call, text.size()); !status.ok()) return status;
  const absl::StatusOr<std::string> bytes = kConvert(text);
  if (!bytes.ok()) return bytes.status();
  return call.arena()->Copy(*bytes);
}

absl::StatusOr<std::string_view> SafeString(Call& call, std::string_view bytes) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  if (IsUtf8(bytes)) return bytes;
  if (absl::Status status = AskForRoom(call, kReplacement.size() * bytes.size()); !status.ok()) return status;
  std::string text;
  while (!bytes.empty()) {
    const size_t valid = ValidUtf8Bytes(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    text += kReplacement;
    bytes.remove_prefix(1);
  }
  return call.arena()->Copy(text);
}

absl::StatusOr<int64_t> Error(Call&, std::optional<std::string_view> message) {
  if (!message.has_value()) return absl::OutOfRangeError("ERROR function called with NULL value");
  return absl::OutOfRangeError(std::string(*message));
}

Function One(std::string name, std::string_view signature, Kernel kernel, std::string meaning,
             std::string example) {
  return {.name = std::move(name),
          .overloads = {Scalar(signature, kernel)},
          .meaning = std::move(meaning),
          .examples = {std::move(example)}};
}

std::vector<Function> NumbersOfCells() {
  return {
      One("TO_INT64", "(BYTES) -> INT64", RowKernel<ToInt64>,
          "The number that 8 bytes hold, the most significant one first.  Other lengths are an error.",
          R"(TO_INT64(b'\x00\x00\x00\x00\x00\x00\x00\x2a'))"),
      One("TO_FLOAT64", "(BYTES) -> FLOAT64", RowKernel<ToFloat64>,
          "The number of IEEE 754 that 8 bytes hold, the most significant one first.  Other lengths are an "
          "error.",
          R"(TO_FLOAT64(b'\x3f\xf8\x00\x00\x00\x00\x00\x00'))"),
      One("TO_FLOAT32", "(BYTES) -> FLOAT32", RowKernel<ToFloat32>,
          "The number of IEEE 754 that 4 bytes hold, the most significant one first.  Other lengths are an "
          "error.",
          R"(TO_FLOAT32(b'\x3f\xc0\x00\x00'))"),
  };
}

std::vector<Function> CodePoints() {
  return {
      One("CHR", "(INT64) -> STRING", RowKernel<Character>, "The character of a code point of Unicode.",
          "CHR(65)"),
      One("CODE_POINTS_TO_STRING", "(ARRAY<INT64>) -> STRING", RowKernel<StringOfCodePoints>,
          "The text of these code points of Unicode.  NULL if one of them is NULL.",
          "CODE_POINTS_TO_STRING([65, 233])"),
      One("CODE_POINTS_TO_BYTES", "(ARRAY<INT64>) -> BYTES", RowKernel<BytesOfCodePoints>,
          "The bytes of these numbers from 0 to 255.  NULL if one of them is NULL.",
          "CODE_POINTS_TO_BYTES([65, 255])"),
      {.name = "TO_CODE_POINTS",
       .overloads = {Scalar("(STRING) -> ARRAY<INT64>", RowKernel<CodePointsOfString>),
                     Scalar("(BYTES) -> ARRAY<INT64>", RowKernel<CodePointsOfBytes>)},
       .meaning = "The code points of the characters of a text, or the numbers of bytes.",
       .examples = {"TO_CODE_POINTS('aé')"}},
      One("SAFE_CONVERT_BYTES_TO_STRING", "(BYTES) -> STRING", RowKernel<SafeString>,
          "The bytes as text, with a replacement character for each byte that is not part of a character in "
          "UTF-8.",
          R"(SAFE_CONVERT_BYTES_TO_STRING(b'a\xff'))"),
  };
}

std::vector<Function> DigitTexts() {
  return {
      One("TO_BASE32", "(BYTES) -> STRING", RowKernel<Encode<ToBase32>>, "The bytes as text in base 32.",
          "TO_BASE32(b'abcde')"),
      One("FROM_BASE32", "(STRING) -> BYTES", RowKernel<Decode<FromBase32>>,
          "The bytes of a text in base 32.", "FROM_BASE32('MFRGGZDF')"),
      One("TO_BASE64", "(BYTES) -> STRING", RowKernel<Encode<ToBase64>>, "The bytes as text in base 64.",
          "TO_BASE64(b'abc')"),
      One("FROM_BASE64", "(STRING) -> BYTES", RowKernel<Decode<FromBase64>>,
          "The bytes of a text in base 64.", "FROM_BASE64('YWJj')"),
      One("TO_HEX", "(BYTES) -> STRING", RowKernel<Encode<ToHex>>,
          "The bytes as text of two hexadecimal digits each.", R"(TO_HEX(b'\x0a\xff'))"),
      One("FROM_HEX", "(STRING) -> BYTES", RowKernel<Decode<FromHex>>,
          "The bytes of a text of hexadecimal digits.", "FROM_HEX('0aff')"),
  };
}

}  // namespace

std::vector<Function> ConversionFunctions() {
  std::vector<Function> all = NumbersOfCells();
  for (auto* const part : {CodePoints, DigitTexts, HashFunctions}) {
    for (Function& function : part()) all.push_back(std::move(function));
  }
  Function error = One("ERROR", "(STRING) -> INT64", RowKernel<Error>,
                       "Ends the statement with an error of this text.", "ERROR('no such sensor')");
  error.is_volatile = true;
  all.push_back(std::move(error));
  return all;
}

}  // namespace sonde::sql

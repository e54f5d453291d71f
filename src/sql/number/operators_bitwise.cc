#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/binary_kernel.h"
#include "sql/function/bounds.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"

namespace sonde::sql {
namespace {

struct BitwiseOp {
  using In = int64_t;
  using Out = int64_t;
  static constexpr bool kMayFail = false;
};
struct And : BitwiseOp {
  static int64_t Value(int64_t a, int64_t b) { return a & b; }
};
struct Or : BitwiseOp {
  static int64_t Value(int64_t a, int64_t b) { return a | b; }
};
struct Xor : BitwiseOp {
  static int64_t Value(int64_t a, int64_t b) { return a ^ b; }
};

// Of each byte by itself.
template <typename Op>
absl::StatusOr<std::string_view> OfEachByte(Call& call, std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return absl::OutOfRangeError(
        fmt::format("Bitwise binary operator for BYTES requires equal length of the inputs. Got "
                    "{} bytes on the left hand side and {} bytes on the right hand side.",
                    a.size(), b.size()));
  }
  if (absl::Status status = AskForRoom(call, a.size()); !status.ok()) return status;
  char* const result = call.arena()->New<char>(a.size());
  for (size_t i = 0; i < a.size(); ++i) result[i] = static_cast<char>(Op::Value(a[i], b[i]));
  return std::string_view(result, a.size());
}

int64_t NotInt(Call&, int64_t number) { return ~number; }
absl::StatusOr<std::string_view> NotBytes(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, bytes.size()); !status.ok()) return status;
  char* const result = call.arena()->New<char>(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) result[i] = static_cast<char>(~bytes[i]);
  return std::string_view(result, bytes.size());
}

absl::Status NegativeShift() { return absl::OutOfRangeError("Bitwise shift by negative offset."); }

absl::StatusOr<int64_t> ShiftLeft(Call&, int64_t number, int64_t bits) {
  if (bits < 0) return NegativeShift();
  return bits >= 64 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(number) << bits);
}

// No copies of the sign come in.
absl::StatusOr<int64_t> ShiftRight(Call&, int64_t number, int64_t bits) {
  if (bits < 0) return NegativeShift();
  return bits >= 64 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(number) >> bits);
}

// The bytes are one number, the most significant bits first.  Positive: to the left.
absl::StatusOr<std::string_view> ShiftBytes(Call& call, std::string_view bytes, int64_t bits, bool is_left) {
  if (bits < 0) return NegativeShift();
  if (absl::Status status = AskForRoom(call, bytes.size()); !status.ok()) return status;
  char* const result = call.arena()->New<char>(bytes.size());
  const auto size = static_cast<int64_t>(bytes.size());
  const auto at = [&](int64_t place) -> unsigned {
    return place < 0 || place >= size ? 0 : static_cast<unsigned char>(bytes[static_cast<size_t>(place)]);
  };
  const int64_t whole = bits / 8;
  const auto rest = static_cast<unsigned>(bits % 8);
  for (int64_t i = 0; i < size; ++i) {
    // Beyond the bytes there are zeros; `whole` may be far beyond.
    const unsigned byte = whole >= size ? 0
                          : is_left     ? at(i + whole) << rest | at(i + whole + 1) >> (8 - rest)
                                        : at(i - whole) >> rest | at(i - whole - 1) << (8 - rest);
    result[i] = static_cast<char>(byte);
  }
  return std::string_view(result, bytes.size());
}

absl::StatusOr<std::string_view> ShiftBytesLeft(Call& call, std::string_view bytes, int64_t bits) {
  return ShiftBytes(call, bytes, bits, /*is_left=*/true);
}
absl::StatusOr<std::string_view> ShiftBytesRight(Call& call, std::string_view bytes, int64_t bits) {
  return ShiftBytes(call, bytes, bits, /*is_left=*/false);
}

}  // namespace

std::vector<Function> BitwiseOperators() {
  return {
      {.name = "$bitwise_not",
       .overloads = {Scalar("(INT64) -> INT64", RowKernel<NotInt>),
                     Scalar("(BYTES) -> BYTES", RowKernel<NotBytes>)},
       .meaning = "The value with each bit turned over.",
       .examples = {"~5"}},
      {.name = "$bitwise_and",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<And>),
                     Scalar("(BYTES, BYTES) -> BYTES", RowKernel<OfEachByte<And>>)},
       .meaning = "The bits that both values have.  BYTES must be of the same length.",
       .examples = {"12 & 10"}},
      {.name = "$bitwise_or",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<Or>),
                     Scalar("(BYTES, BYTES) -> BYTES", RowKernel<OfEachByte<Or>>)},
       .meaning = "The bits that one of the values has, or both.  BYTES must be of the same length.",
       .examples = {"12 | 10"}},
      {.name = "$bitwise_xor",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<Xor>),
                     Scalar("(BYTES, BYTES) -> BYTES", RowKernel<OfEachByte<Xor>>)},
       .meaning = "The bits in which the values differ.  BYTES must be of the same length.",
       .examples = {"12 ^ 10"}},
      {.name = "$shift_left",
       .overloads = {Scalar("(INT64, INT64) -> INT64", RowKernel<ShiftLeft>),
                     Scalar("(BYTES, INT64) -> BYTES", RowKernel<ShiftBytesLeft>)},
       .meaning = "The bits moved towards the most significant one; zeros come in.",
       .examples = {"1 << 4", "1 << 64"}},
      {.name = "$shift_right",
       .overloads = {Scalar("(INT64, INT64) -> INT64", RowKernel<ShiftRight>),
                     Scalar("(BYTES, INT64) -> BYTES", RowKernel<ShiftBytesRight>)},
       .meaning =
           "The bits moved towards the least significant one; zeros come in, also for negative numbers.",
       .examples = {"-1 >> 1"}},
  };
}

}  // namespace sonde::sql

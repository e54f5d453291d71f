// How Prometheus writes texts, numbers and durations in messages and answers.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde::promql {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

// A text in double quotes, with the escapes of Go; bytes that are no UTF-8 are written as \xHH.
std::string Quoted(std::string_view text);
// One sign in single quotes; U+FFFD stands for what is no sign.
std::string QuotedSign(char32_t sign);
// "U+0041 'A'".
std::string NamedSign(char32_t sign);

// The shortest digits that read as `value`, without an exponent.
std::string PlainNumber(double value);
// Go's %g: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
std::string GeneralNumber(double value);
// Go's ParseFloat, without underscores; nothing where the text is no number.  What is too large is infinite.
std::optional<double> ReadFloat(std::string_view text);

// "1h30m"; years and weeks only where nothing is left, milliseconds last.
std::string DurationText(int64_t nanos);
// INVALID_ARGUMENT: the text is no duration, or longer than 2^63 ns.
absl::StatusOr<int64_t> ParseDurationNanos(std::string_view text);

// The message of a status.
std::string_view TextOfError(const absl::Status& status);

// Whether every byte is part of UTF-8.
bool IsUtf8(std::string_view text);
// One sign of `text` from `position`, and its bytes; U+FFFD and one byte where it is no UTF-8.
struct Sign {
  char32_t code = 0;
  size_t bytes = 0;
};
Sign SignAt(std::string_view text, size_t position);
// A name that is written without quotes: [A-Za-z_][A-Za-z0-9_]*.
bool IsPlainLabelName(std::string_view name);

// "LINE:COLUMN" of a byte of a query, both from 1, columns in bytes.
std::string PlaceText(std::string_view query, size_t position);

}  // namespace sonde::promql

#include "series/schema/time_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes.h"
#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

constexpr std::string_view kDirectives = "YymdeHMSfbBzj%";
constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr int kFractionDigitsMax = 9;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes `min` to `max` digits from the front.
bool TakeNumber(std::string_view* text, int min, int max, int* number) {
  int count = 0;
  *number = 0;
  while (count < max && count < static_cast<int>(text->size()) && IsDigit((*text)[count])) {
    *number = *number * 10 + ((*text)[count++] - '0');
  }
  text->remove_prefix(count);
  return count >= min;
}

bool TakeSign(std::string_view* text, char sign) {
  if (text->empty() || text->front() != sign) return false;
  text->remove_prefix(1);
  return true;
}

// The digits behind the point, as microseconds; what is finer is cut off, and `is_cut` says whether it was
// more than nothing.
bool TakeFraction(std::string_view* text, int* micros, bool* is_cut = nullptr) {
  int count = 0;
  *micros = 0;
  for (; count < static_cast<int>(text->size()) && IsDigit((*text)[count]); ++count) {
    const int digit = (*text)[count] - '0';
    if (count < 6) *micros = *micros * 10 + digit;
    if (count >= 6 && digit > 0 && is_cut != nullptr) *is_cut = true;
  }
  for (int i = count; i < 6; ++i) *micros *= 10;
  text->remove_prefix(count);
  return count > 0 && count <= kFractionDigitsMax;
}

// Z, +hh:mm:ss (clocks before there were zones), +hh:mm, +hhmm or +hh.
bool TakeOffset(std::string_view* text, int64_t* offset_micros) {
  if (TakeSign(text, 'Z') || TakeSign(text, 'z')) return true;
  const bool is_minus = !text->empty() && text->front() == '-';
  if (!TakeSign(text, '+') && !TakeSign(text, '-')) return false;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  if (!TakeNumber(text, 2, 2, &hours) || hours > 23) return false;
  const bool has_colon = TakeSign(text, ':');
  if (has_colon || (!text->empty() && IsDigit(text->front()))) {
    if (!TakeNumber(text, 2, 2, &minutes) || minutes > 59) return false;
  }
  if (has_colon && TakeSign(text, ':')) {
    if (!TakeNumber(text, 2, 2, &seconds) || seconds > 59) return false;
  }
  *offset_micros = (hours * kMicrosPerHour + minutes * kMicrosPerMinute + seconds * kMicrosPerSecond) *
                   (is_minus ? -1 : 1);
  return true;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// The whole English name, or its first three letters.
bool TakeMonth(std::string_view* text, int* month) {
  const auto starts_with = [&](std::string_view name) {
    return text->size() >= name.size() &&
           std::equal(name.begin(), name.end(), text->begin(), [](char a, char b) { return a == Lower(b); });
  };
  for (size_t i = 0; i < kMonths.size(); ++i) {
    for (const std::string_view name : {kMonths[i], kMonths[i].substr(0, 3)}) {
      if (!starts_with(name)) continue;
      text->remove_prefix(name.size());
      *month = static_cast<int>(i) + 1;
      return true;
    }
  }
  return false;
}

// The parts of a time that a pattern has found.
struct Parts {
  CivilTime civil;
  std::optional<int> day_of_year;
  std::optional<int64_t> offset_micros;
};

bool TakeDirective(char directive, std::string_view* text, Parts* parts) {
  CivilTime& civil = parts->civil;
  int number = 0;
  switch (directive) {
    case 'Y':
      return TakeNumber(text, 4, 4, &civil.year);
    case 'y':
      if (!TakeNumber(text, 2, 2, &number)) return false;
      civil.year = number + (number < 70 ? 2000 : 1900);
      return true;
    case 'm':
      return TakeNumber(text, 1, 2, &civil.month);
    case 'd':
      return TakeNumber(text, 1, 2, &civil.day);
    case 'e':
      while (TakeSign(text, ' ')) {
      }
      return TakeNumber(text, 1, 2, &civil.day);
    case 'H':
      return TakeNumber(text, 1, 2, &civil.hour);
    case 'M':
      return TakeNumber(text, 1, 2, &civil.minute);
    case 'S':
      return TakeNumber(text, 1, 2, &civil.second);
    case 'f':
      return TakeFraction(text, &civil.micros);
    case 'b':
    case 'B':
      return TakeMonth(text, &civil.month);
    case 'j':
      if (!TakeNumber(text, 1, 3, &number) || number < 1) return false;
      parts->day_of_year = number;
      return true;
    case 'z': {
      int64_t offset_micros = 0;
      if (!TakeOffset(text, &offset_micros)) return false;
      parts->offset_micros = offset_micros;
      return true;
    }
    default:
      return TakeSign(text, '%');
  }
}

}  // namespace

absl::StatusOr<TimeParser> TimeParser::Create(std::string_view format, bool assume_utc) {
  const std::string text(format);
  if (format.empty() || format == "auto") return TimeParser(Kind::kAuto, "auto", 1, assume_utc);
  if (format == "epoch_s") return TimeParser(Kind::kEpoch, text, 1, true);
  if (format == "epoch_ms") return TimeParser(Kind::kEpoch, text, 1'000, true);
  if (format == "epoch_us") return TimeParser(Kind::kEpoch, text, 1'000'000, true);
  if (format == "epoch_ns") return TimeParser(Kind::kEpoch, text, 1'000'000'000, true);
  bool has_directive = false;
  for (size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at + 2)) {
    has_directive = true;
    const std::string_view directive = format.substr(at + 1, 1);
    if (directive.empty() || kDirectives.find(directive[0]) == std::string_view::npos) {
      return absl::InvalidArgumentError(fmt::format(
          "time format '{}': no such directive '%{}'; allowed: %Y %y %m %d %e %H %M %S %f %b %B %z %j %%",
          Printable(format), directive));
    }
    if (at + 2 >= format.size()) break;
  }
  if (has_directive) return TimeParser(Kind::kPattern, text, 1, assume_utc);
  return absl::InvalidArgumentError(
      fmt::format("time format '{}'; allowed: auto, epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern such "
                  "as '%b %d %Y'",
                  Printable(format)));
}

std::optional<int64_t> TimeParser::Parse(std::string_view text) const {
  int64_t micros = 0;
  if (ParseInto(text, &micros) != Problem::kNone) return std::nullopt;
  return micros;
}

absl::Status TimeParser::Refusal(std::string_view text) const {
  int64_t micros = 0;
  switch (ParseInto(text, &micros)) {
    case Problem::kZone:
      return absl::InvalidArgumentError(fmt::format(
          "time '{}' names no zone; declare time: {{ zone: UTC }} (or say --zone UTC) if it is UTC",
          Printable(text)));
    case Problem::kRange:
      return absl::InvalidArgumentError(
          fmt::format("time '{}' is not in the years 0001 to 9999", Printable(text)));
    case Problem::kFormat:
    case Problem::kNone:
      break;
  }
  return absl::InvalidArgumentError(fmt::format("time '{}' is not {}", Printable(text),
                                                kind_ == Kind::kAuto
                                                    ? "as in RFC 3339, such as 2021-03-05T12:04:00Z"
                                                    : fmt::format("as in '{}'", format_)));
}

TimeParser::Problem TimeParser::ParseInto(std::string_view text, int64_t* micros) const {
  Problem problem = Problem::kNone;
  switch (kind_) {
    case Kind::kAuto:
      problem = ParseAuto(text, micros);
      break;
    case Kind::kEpoch:
      problem = ParseEpoch(text, micros);
      break;
    case Kind::kPattern:
      problem = ParsePattern(text, micros);
      break;
  }
  if (problem != Problem::kNone) return problem;
  return *micros < kTimeBeginMicros || *micros >= kTimeEndMicros ? Problem::kRange : Problem::kNone;
}

TimeParser::Problem TimeParser::ParseAuto(std::string_view text, int64_t* micros) const {
  CivilTime civil;
  if (!TakeNumber(&text, 4, 4, &civil.year) || !TakeSign(&text, '-') ||
      !TakeNumber(&text, 2, 2, &civil.month) || !TakeSign(&text, '-') ||
      !TakeNumber(&text, 2, 2, &civil.day)) {
    return Problem::kFormat;
  }
  bool has_zone = false;
  int64_t offset_micros = 0;
  if (!text.empty()) {
    if (!TakeSign(&text, 'T') && !TakeSign(&text, ' ') && !TakeSign(&text, 't')) return Problem::kFormat;
    if (!TakeNumber(&text, 2, 2, &civil.hour) || !TakeSign(&text, ':') ||
        !TakeNumber(&text, 2, 2, &civil.minute)) {
      return Problem::kFormat;
    }
    if (TakeSign(&text, ':')) {
      if (!TakeNumber(&text, 2, 2, &civil.second)) return Problem::kFormat;
      if (TakeSign(&text, '.') && !TakeFraction(&text, &civil.micros)) return Problem::kFormat;
    }
    if (!text.empty()) {
      has_zone = true;
      if (!TakeOffset(&text, &offset_micros) || !text.empty()) return Problem::kFormat;
    }
  }
  if (!has_zone && !assume_utc_) return Problem::kZone;
  const std::optional<int64_t> time = MicrosFromCivil(civil);
  if (!time) return civil.year < 1 ? Problem::kRange : Problem::kFormat;
  *micros = *time - offset_micros;
  return Problem::kNone;
}

TimeParser::Problem TimeParser::ParseEpoch(std::string_view text, int64_t* micros) const {
  const bool is_minus = !text.empty() && text.front() == '-';
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return Problem::kRange;
  if (error != std::errc()) return Problem::kFormat;
  text.remove_prefix(end - text.data());
  int fraction_micros = 0;
  bool is_cut = false;
  if (!text.empty()) {
    if (epoch_per_second_ != 1 || !TakeSign(&text, '.') || !TakeFraction(&text, &fraction_micros, &is_cut) ||
        !text.empty()) {
      return Problem::kFormat;
    }
  }
  const int64_t seconds = number / epoch_per_second_;
  if (seconds < kTimeBeginMicros / kMicrosPerSecond || seconds >= kTimeEndMicros / kMicrosPerSecond) {
    return Problem::kRange;
  }
  if (epoch_per_second_ > kMicrosPerSecond) {
    const int64_t per_micro = epoch_per_second_ / kMicrosPerSecond;
    *micros = FloorMicros(number, per_micro) / per_micro;
  } else {
    *micros = number * (kMicrosPerSecond / epoch_per_second_);
    // The fraction of a negative number goes further back.  Parts finer than a microsecond are rounded down.
    *micros += is_minus ? -fraction_micros - (is_cut ? 1 : 0) : fraction_micros;
  }
  return Problem::kNone;
}

TimeParser::Problem TimeParser::ParsePattern(std::string_view text, int64_t* micros) const {
  Parts parts;
  for (size_t i = 0; i < format_.size(); ++i) {
    if (format_[i] == ' ') {
      if (text.empty() || text.front() != ' ') return Problem::kFormat;
      while (TakeSign(&text, ' ')) {
      }
    } else if (format_[i] == '%') {
      if (!TakeDirective(format_[++i], &text, &parts)) return Problem::kFormat;
    } else if (!TakeSign(&text, format_[i])) {
      return Problem::kFormat;
    }
  }
  if (!text.empty()) return Problem::kFormat;
  if (!parts.offset_micros && !assume_utc_) return Problem::kZone;
  const std::optional<int64_t> time = MicrosFromCivil(parts.civil);
  if (!time) return parts.civil.year < 1 ? Problem::kRange : Problem::kFormat;
  *micros = *time - parts.offset_micros.value_or(0);
  if (parts.day_of_year) *micros += (*parts.day_of_year - 1) * kMicrosPerDay;
  return Problem::kNone;
}

}  // namespace sonde::series

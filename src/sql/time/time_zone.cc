#include "sql/time/time_zone.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/time/civil_time.h"
#include "sql/time/calendar.h"

namespace sonde::sql {
namespace {

constexpr int kOffsetMinutesMax = 14 * 60;
constexpr size_t kNameBytesMax = 64;

bool IsDigitOfOffset(char c) { return c >= '0' && c <= '9'; }

// One or two digits.
std::optional<int> TakeNumber(std::string_view* text) {
  if (text->empty() || !IsDigitOfOffset(text->front())) return std::nullopt;
  int number = 0;
  for (int i = 0; i < 2 && !text->empty() && IsDigitOfOffset(text->front()); ++i) {
    number = number * 10 + (text->front() - '0');
    text->remove_prefix(1);
  }
  return number;
}

bool MayBeZoneName(std::string_view name) {
  if (name.size() > kNameBytesMax || std::isalpha(static_cast<unsigned char>(name[0])) == 0) return false;
  // Files of the database that are no zones of their own.
  for (const std::string_view prefix : {"localtime", "posix", "right/"}) {
    if (name.substr(0, prefix.size()) == prefix) return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+' || c == '/';
  });
}

// Whether the tz database has such a name.  Others never reach the library: it would take a path for a file, and it
// remembers each name that it ever heard.
bool IsZoneName(std::string_view name) {
  if (!MayBeZoneName(name)) return false;
  const char* const directory = std::getenv("TZDIR");
  const std::string file =
      fmt::format("{}/{}", directory == nullptr ? "/usr/share/zoneinfo" : directory, name);
  return access(file.c_str(), R_OK) == 0;
}

}  // namespace

std::optional<absl::TimeZone> ZoneOfOffset(std::string_view text) {
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const bool is_negative = text.front() == '-';
  text.remove_prefix(1);
  const std::optional<int> hours = TakeNumber(&text);
  if (!hours.has_value()) return std::nullopt;
  std::optional<int> minutes = 0;
  if (!text.empty()) {
    if (text.front() == ':') text.remove_prefix(1);
    minutes = TakeNumber(&text);
  }
  if (!minutes.has_value() || *minutes > 59 || !text.empty()) return std::nullopt;
  const int offset = *hours * 60 + *minutes;
  if (offset > kOffsetMinutesMax) return std::nullopt;
  return absl::FixedTimeZone((is_negative ? -offset : offset) * 60);
}

absl::StatusOr<absl::TimeZone> FindTimeZone(std::string_view name) {
  if (name.empty()) return absl::OutOfRangeError("Invalid empty time zone");
  const bool is_from_utc =
      name.size() > 3 && name.substr(0, 3) == "UTC" && (name[3] == '+' || name[3] == '-');
  if (name == "UTC") return absl::UTCTimeZone();
  if (const std::optional<absl::TimeZone> zone = ZoneOfOffset(is_from_utc ? name.substr(3) : name))
    return *zone;
  absl::TimeZone zone;
  if (is_from_utc || !IsZoneName(name) || !absl::LoadTimeZone(std::string(name), &zone)) {
    return absl::OutOfRangeError(fmt::format("Invalid time zone: {}", name));
  }
  return zone;
}

LocalClock::LocalClock(const absl::TimeZone& zone) : zone_(zone) {
  is_utc_ = zone == absl::UTCTimeZone();
  if (is_utc_) return;
  is_fixed_ = zone.name().substr(0, 6) == "Fixed/";
  to_ = from_;  // no time has been asked for
}

void LocalClock::Load(int64_t micros) {
  const absl::Time time = absl::FromUnixMicros(micros);
  offset_ = int64_t{zone_.At(time).offset} * kMicrosPerSecond;
  if (is_fixed_) {
    from_ = std::numeric_limits<int64_t>::min();
    to_ = std::numeric_limits<int64_t>::max();
    return;
  }
  // The library counts the changes of four centuries ahead.  Later ones it knows, but does not list.
  static const int64_t kListedUntil = DaysOf(2400, 1, 1) * kMicrosPerDay;
  from_ = micros;
  to_ = micros + 1;
  if (micros >= kListedUntil) return;
  const auto time_of = [this](const absl::TimeZone::CivilTransition& change) {
    const absl::TimeZone::TimeInfo info = zone_.At(change.to);
    return absl::ToUnixMicros(info.kind == absl::TimeZone::TimeInfo::UNIQUE ? info.pre : info.trans);
  };
  absl::TimeZone::CivilTransition change;
  to_ = zone_.NextTransition(time, &change) ? std::min(time_of(change), kListedUntil) : kListedUntil;
  // The library looks at whole seconds; a change at `time` itself is the one before what comes behind it.
  from_ = zone_.PrevTransition(time + absl::Seconds(1), &change) ? time_of(change)
                                                                 : std::numeric_limits<int64_t>::min();
}

int64_t LocalClock::Midnight(int64_t days) const {
  if (is_utc_) return days * kMicrosPerDay;
  return absl::ToUnixMicros(zone_.At(absl::CivilSecond(absl::CivilDay(1970, 1, 1) + days)).pre);
}

}  // namespace sonde::sql

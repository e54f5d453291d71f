#include "promql/http/api_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "promql/syntax/parser.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

// How Go's time package writes the least and the greatest times of Prometheus' clients.
constexpr std::string_view kLeastTime = "-292273086-05-16T16:47:06Z";
constexpr std::string_view kGreatestTime = "292277025-08-18T07:12:54.999999999Z";

absl::Status NoTime(std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("cannot parse {} to a valid timestamp", Quoted(text)));
}

// The sign between two _, in hexadecimal digits; nothing where it is none.
std::optional<std::string> SignOfHex(std::string_view digits) {
  constexpr uint32_t kSignMax = 0x10FFFF;
  constexpr size_t kDigitsMax = 6;
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  const bool is_sign = error == std::errc() && end == digits.data() + digits.size() && !digits.empty() &&
                       digits.size() <= kDigitsMax && code <= kSignMax && (code < 0xD800 || code > 0xDFFF);
  if (!is_sign) return std::nullopt;
  std::string sign;
  if (code < 0x80) {
    sign.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    sign.push_back(static_cast<char>(0xC0 | code >> 6));
  } else if (code < 0x10000) {
    sign.push_back(static_cast<char>(0xE0 | code >> 12));
    sign.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
  } else {
    sign.push_back(static_cast<char>(0xF0 | code >> 18));
    sign.push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    sign.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
  }
  if (code >= 0x80) sign.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  return sign;
}

}  // namespace

absl::StatusOr<ApiForm> ApiForm::Read(series::IngestService* service, const HttpRequest& request,
                                      HttpBody* body) {
  ApiForm form;
  const bool is_form =
      request.method == "POST" &&
      request.Header("content-type").value_or("").starts_with("application/x-www-form-urlencoded");
  if (is_form) {
    absl::StatusOr<Admission::Place> place = service->Admit(request);
    if (!place.ok()) return place.status();
    const absl::StatusOr<std::string> text = series::ReadBody(body, &*place);
    if (!text.ok()) return text.status();
    // A # ends the query of a target, and nothing in a form.
    form.values_ = ParseQueryOfTarget("?" + absl::StrReplaceAll(*text, {{"#", "%23"}}));
  }
  for (const auto& [name, value] : request.query) form.values_.emplace(name, value);
  return form;
}

std::string ApiForm::Text(const std::string& name) const {
  const auto found = values_.lower_bound(name);
  return found == values_.end() || found->first != name ? std::string() : found->second;
}

std::vector<std::string> ApiForm::All(const std::string& name) const {
  std::vector<std::string> result;
  const auto [begin, end] = values_.equal_range(name);
  for (auto at = begin; at != end; ++at) result.push_back(at->second);
  return result;
}

absl::StatusOr<int64_t> ApiForm::TimeOr(const std::string& name, int64_t usual_millis) const {
  const std::string text = Text(name);
  if (text.empty()) return usual_millis;
  absl::StatusOr<int64_t> millis = ParseApiTime(text);
  if (millis.ok()) return millis;
  return InvalidParameter(name, absl::InvalidArgumentError(fmt::format("invalid time value for '{}': {}",
                                                                       name, TextOfError(millis.status()))));
}

absl::StatusOr<size_t> ApiForm::Limit() const {
  const std::string text = Text("limit");
  if (text.empty()) return 0;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  std::string why;
  if (error == std::errc::result_out_of_range) {
    why = fmt::format("strconv.Atoi: parsing {}: value out of range", Quoted(text));
  } else if (error != std::errc() || end != digits.data() + digits.size()) {
    why = fmt::format("strconv.Atoi: parsing {}: invalid syntax", Quoted(text));
  } else if (limit < 0) {
    why = "limit must be non-negative";
  }
  if (!why.empty()) return InvalidParameter("limit", absl::InvalidArgumentError(why));
  return static_cast<size_t>(limit);
}

absl::StatusOr<int64_t> ParseApiTime(std::string_view text) {
  if (const std::optional<double> seconds = ReadFloat(text)) {
    double whole = 0;
    const double part = std::modf(*seconds, &whole);
    const double millis = whole * 1'000 + std::round(part * 1'000);
    if (!(std::fabs(millis) <= static_cast<double>(kApiMillisMax))) return NoTime(text);
    return static_cast<int64_t>(millis);
  }
  if (text == kLeastTime) return -kApiMillisMax;
  if (text == kGreatestTime) return kApiMillisMax;
  absl::Time time;
  std::string error;
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E*S%Ez", std::string(text), &time, &error)) return NoTime(text);
  // The parser takes words for infinite times, too.
  const int64_t millis = absl::ToUnixMillis(time);
  if (millis < -kApiMillisMax || millis > kApiMillisMax) return NoTime(text);
  return millis;
}

absl::StatusOr<int64_t> ParseApiDuration(std::string_view text) {
  if (const std::optional<double> seconds = ReadFloat(text)) {
    const double nanos = *seconds * static_cast<double>(kNanosPerSecond);
    if (std::isnan(nanos) || std::fabs(nanos) >= 9223372036854775808.0) {
      return absl::InvalidArgumentError(
          fmt::format("cannot parse {} to a valid duration. It overflows int64", Quoted(text)));
    }
    return static_cast<int64_t>(nanos);
  }
  absl::StatusOr<int64_t> nanos = ParseDurationNanos(text);
  if (nanos.ok()) return nanos;
  return absl::InvalidArgumentError(fmt::format("cannot parse {} to a valid duration", Quoted(text)));
}

std::string UnescapeLabelName(std::string_view name) {
  constexpr std::string_view kPrefix = "U__";
  if (!name.starts_with(kPrefix)) return std::string(name);
  std::string result;
  for (std::string_view rest = name.substr(kPrefix.size()); !rest.empty();) {
    if (rest[0] != '_') {
      result.push_back(rest[0]);
      rest.remove_prefix(1);
      continue;
    }
    const size_t end = rest.find('_', 1);
    if (end == std::string_view::npos) return std::string(name);
    if (end == 1) {
      result.push_back('_');
    } else {
      const std::optional<std::string> sign = SignOfHex(rest.substr(1, end - 1));
      if (!sign) return std::string(name);
      result += *sign;
    }
    rest.remove_prefix(end + 1);
  }
  return result;
}

absl::Status InvalidParameter(std::string_view name, const absl::Status& status) {
  return absl::InvalidArgumentError(
      fmt::format("invalid parameter {}: {}", Quoted(name), TextOfError(status)));
}

absl::StatusOr<std::vector<std::vector<Matcher>>> ParseMatchers(const std::vector<std::string>& texts) {
  std::vector<std::vector<Matcher>> result;
  for (const std::string& text : texts) {
    absl::StatusOr<std::vector<Matcher>> matchers = ParseSelector(text);
    if (!matchers.ok()) return absl::InvalidArgumentError(matchers.status().message());
    const bool has_any = std::any_of(matchers->begin(), matchers->end(),
                                     [](const Matcher& matcher) { return !matcher.Matches(""); });
    if (!has_any) {
      return absl::InvalidArgumentError("match[] must contain at least one non-empty matcher");
    }
    result.push_back(*std::move(matchers));
  }
  return result;
}

}  // namespace sonde::promql

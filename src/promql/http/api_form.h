// The parameters of a request of Prometheus' API: those of its URL, and of its form if it is a POST, which come first.
//
// Errors: INVALID_ARGUMENT in Prometheus' words, without the name of the parameter; InvalidParameter adds it.
// Threads: const functions may be called by several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/syntax/matcher.h"
#include "series/http/ingest_service.h"
#include "web/http/http_message.h"

namespace sonde::promql {

// Of a form: sets of variables are long.
constexpr size_t kFormBytesMax = size_t{10} << 20;
// Times on both sides of 1970 that may be asked for; some 290,000 years.
constexpr int64_t kApiMillisMax = 9'200'000'000'000'000;

class ApiForm {
 public:
  // The body counts with those of all requests while it is read.  UNAVAILABLE: there is no room for it now.
  static absl::StatusOr<ApiForm> Read(series::IngestService* service, const HttpRequest& request,
                                      HttpBody* body);

  // The first value of the name; empty: there is none.
  std::string Text(const std::string& name) const;
  std::vector<std::string> All(const std::string& name) const;
  // `usual`: where the parameter is missing or empty.  The error has the name.
  absl::StatusOr<int64_t> TimeOr(const std::string& name, int64_t usual_millis) const;
  // 0: no limit.  The error has the name.
  absl::StatusOr<size_t> Limit() const;

 private:
  std::multimap<std::string, std::string> values_;
};

// Milliseconds since 1970 of seconds or RFC 3339.
absl::StatusOr<int64_t> ParseApiTime(std::string_view text);
// Nanoseconds of seconds or of a duration such as 1h30m.
absl::StatusOr<int64_t> ParseApiDuration(std::string_view text);
// A name of a label in a path, where U__ begins one that has other signs than letters, digits and _.
std::string UnescapeLabelName(std::string_view name);

// invalid parameter "NAME": TEXT
absl::Status InvalidParameter(std::string_view name, const absl::Status& status);

// Selectors of match[], each with a condition that does not hold for the empty text.
absl::StatusOr<std::vector<std::vector<Matcher>>> ParseMatchers(const std::vector<std::string>& texts);

}  // namespace sonde::promql

// Reads the parameters of a request's URL: each known, in its limits, or the answer says what is allowed.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "web/http/http_message.h"

namespace sonde {

// Row keys as text that can be read, written in a URL and taken back: printable ASCII as it is, a backslash
// doubled, other bytes as \xNN.
std::string KeyToText(std::string_view key);
// INVALID_ARGUMENT: a backslash that begins nothing of the above.  Bytes that are not ASCII stand for
// themselves.
absl::StatusOr<std::string> KeyFromText(std::string_view text);

class QueryReader {
 public:
  // The request must outlive it.
  explicit QueryReader(const HttpRequest& request) : request_(request) {}

  int64_t Int(const std::string& name, int64_t usual, int64_t least, int64_t most);
  std::string Text(const std::string& name, size_t bytes_max);
  std::string Key(const std::string& name);

  // Notes the caller's own objection to a value.
  void Refuse(absl::Status status) { Fail(std::move(status)); }

  // The first thing that was wrong, a parameter that nobody asked for included: INVALID_ARGUMENT.
  absl::Status Finish();

 private:
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const HttpRequest& request_;
  std::set<std::string> known_;
  absl::Status status_;
};

}  // namespace sonde

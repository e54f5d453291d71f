// A request of the HTTP port and its answer, in words that do not depend on the library below.
//
// Threads: a request and its answer belong to the thread that calls the handler.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "access/permission.h"
#include "base/byte_source.h"
#include "identity/authenticator.h"
#include "identity/principal.h"
#include "work/request_tag.h"

namespace sonde {

struct HttpRequest {
  std::string method;                             // GET, POST, ...; a HEAD comes as GET
  std::string path;                               // decoded
  std::string target_path;                        // as it came, with %XX: a %2F separates nothing
  std::map<std::string, std::string> parts;       // what stood for the {names} of the route's path
  std::multimap<std::string, std::string> query;  // what follows the '?', decoded
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones are a list, with commas
  std::string peer;                            // the client's address, without its port
  const PeerCertificate* peer_certificate =
      nullptr;     // of the client, as long as its request; null: it showed none
  RequestTag tag;  // for the lines of logs that belong to it
  // Whether the client has closed the connection, or its side of it; a system call.  Any thread may ask while
  // the handler runs.  Unset: nobody can tell.
  std::function<bool()> is_client_gone;
  // Who has proven to be the caller.  Null: authentication is off, or the route is open.
  std::shared_ptr<const Principal> principal;
  // For handlers that learn only from the body which resource is asked for: PERMISSION_DENIED if the caller lacks the permission on
  // `resource`.  Only while the handler runs.  Unset: there is no access control.
  std::function<absl::Status(Permission permission, std::string_view resource)> check_access;
  // Counts bytes of the request's body and of its answer against the caller's limits, as long as the request is there.  Unset: nobody
  // counts.
  std::function<void(size_t bytes)> count_bytes;
  // For handlers that learn only from the body that the request writes: counts a write against the caller's limits.
  // RESOURCE_EXHAUSTED: the rate of writes is reached.  Unset: nobody counts.
  std::function<absl::Status()> count_write;

  // nullopt when it is not there.
  std::optional<std::string> Query(const std::string& name) const;
  std::optional<std::string> Header(const std::string& lower_case_name) const;
  // The value of a cookie; the first one of this name.
  std::optional<std::string> Cookie(std::string_view name) const;
  // The caller in words: program and address.
  std::string Caller() const;
};

// For work that is of use only while the client waits: CANCELLED once it has gone.  May be asked as often as
// one likes, by any thread, while the handler runs: it looks every kClientLookMillis.  Unset where nobody can
// tell.
constexpr int64_t kClientLookMillis = 20;
std::function<absl::Status()> InterruptedWhenGone(const HttpRequest& request);

// Parses a target's query, behind its '?': NAME=VALUE pairs with '&' between them.  The first '=' ends the
// name, a '+' is a blank, %XX a byte; a name without '=' has an empty value.
std::multimap<std::string, std::string> ParseQueryOfTarget(std::string_view target);

// A path as a target has it, with %XX undone.
std::string DecodePath(std::string_view path);

// The body of a request, read as it comes.  Its framing and its content coding are undone already (all but
// the route's own); limits count what comes out.
class HttpBody {
 public:
  // `source`: the body, as request_body.h says.
  HttpBody(ByteSource source, size_t bytes_max) : source_(std::move(source)), bytes_max_(bytes_max) {}

  // Gives `take` the body piece by piece; its error is the answer.  Once.  Only after OK it is known that the
  // body has come whole: nothing of it may be acknowledged, nor kept, before.  RESOURCE_EXHAUSTED: more than
  // the route allows; INVALID_ARGUMENT: the body ended early or is not in its coding; UNAVAILABLE: it came
  // too slowly.
  absl::Status Read(const std::function<absl::Status(std::string_view bytes)>& take);
  // All of it.
  // `make_room` is asked before it takes more memory, for how much that would be in all; not OK ends the
  // read.
  absl::StatusOr<std::string> ReadAll(const std::function<absl::Status(size_t bytes)>& make_room = nullptr);

  // Whether it was read to its end.
  bool complete() const { return complete_; }

 private:
  const ByteSource source_;
  const size_t bytes_max_;
  bool complete_ = false;
};

struct HttpResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // besides those that every answer carries
  // If set, it makes the body instead: appends the next part to `*part`, false after the last one.  An error
  // breaks the connection off, as the head has gone out already.
  std::function<absl::StatusOr<bool>(std::string* part)> stream;
};

// The HTTP code that says the same: INVALID_ARGUMENT 400, NOT_FOUND 404, RESOURCE_EXHAUSTED 413 (of a
// request's body) or else 429, UNAVAILABLE 503, ...
int HttpCodeOf(absl::StatusCode code);

// The nearest code to an answer's: HttpCodeOf backwards; 2xx and 3xx are OK.
absl::StatusCode CodeOfHttp(int http_code);

// {"error": {"code": 404, "status": "NOT_FOUND", "message": "..."}}; of 503, and of a rate that is used up, with Retry-After.
HttpResponse ErrorResponse(const absl::Status& status);
HttpResponse ErrorResponse(int http_code, std::string_view status_name, std::string_view message);

}  // namespace sonde

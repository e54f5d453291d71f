// Which request a line of a log belongs to: by the client's words where it has some, else by the server's.
//
// An id is the client's `x-request-id` if that is an id (IsRequestId), else a name that the server gives.  A trace is the trace id of
// the client's W3C `traceparent` (https://www.w3.org/TR/trace-context/), if that is one.
//
// A RequestScope says for which request its thread works.  The server's log asks it for each line (server/process/server_log.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

struct RequestTag {
  std::string id = {};
  std::string trace = {};  // 32 hexadecimal digits; empty: the client told none
};

inline constexpr size_t kRequestIdBytesMax = 128;

// 1 to kRequestIdBytesMax letters, digits and -_.:/+=@ , so that it needs no escape in any log.
bool IsRequestId(std::string_view text);

// The trace id; empty: it is no `traceparent`.
std::string_view TraceIdOf(std::string_view traceparent);

// `own`: the server's name of the request.
RequestTag MakeRequestTag(std::string_view x_request_id, std::string_view traceparent, std::string own);

// While it lives, its thread works for a request.  Scopes nest, and end in the order of a stack on their thread; the innermost counts.
class RequestScope {
 public:
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

  virtual RequestTag tag() const = 0;
  // Of the thread that asks; nothing: it works for no request.
  static std::optional<RequestTag> Current();

 protected:
  RequestScope();
  ~RequestScope();

 private:
  const RequestScope* const outer_;
};

}  // namespace sonde

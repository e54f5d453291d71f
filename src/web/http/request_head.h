// The first line and the headers of a request, as RFC 9112 wants them: from bytes to an HttpRequest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "web/http/http_message.h"

namespace sonde {

constexpr size_t kHeadBytesMax = 64 << 10;

struct RequestHead {
  HttpRequest request;        // without parts and peer
  bool is_head_only = false;  // a HEAD: the answer has no body
  bool is_http_1_0 = false;
  bool keeps_open = false;  // another request may follow on the connection
  // How the body is framed: so many bytes, or chunks; without either there is none.
  std::optional<uint64_t> body_bytes;
  bool is_chunked = false;
  bool expects_continue = false;  // the client waits with its body for "100 Continue"

  bool HasBody() const { return is_chunked || body_bytes.value_or(0) > 0; }
};

// Both are parts of the line; the value has no blanks around it.
struct HeaderLine {
  std::string_view name;
  std::string_view value;
};

// `line`: a header, or a trailer, without its line end.  INVALID_ARGUMENT: it is none, or has a control
// character.
absl::StatusOr<HeaderLine> ParseHeaderLine(std::string_view line);

// Where the empty line ends that ends the head, which `bytes` begin with, behind empty lines, each a CR LF.
// Nothing: it has not come yet.  `searched`: so many of the bytes had it not, when they were all that there
// was.
std::optional<size_t> FindHeadEnd(std::string_view bytes, size_t searched = 0);

// `head`: up to FindHeadEnd.  INVALID_ARGUMENT: no request of HTTP/1.1 or 1.0, or one that others might read
// differently: a line that does not end as it should, a target that names no host, Host or another header
// that stands once coming twice, a body with two lengths.  `request` has a Host of the target's where the
// target names one; none, or an empty one, where HTTP/1.1 came without, which is for CheckHostAndOrigin to
// refuse.  UNIMPLEMENTED: a transfer coding other than chunked.
absl::StatusOr<RequestHead> ParseRequestHead(std::string_view head);

}  // namespace sonde

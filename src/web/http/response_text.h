// An answer as the bytes of HTTP/1.1.
#pragma once

#include <string>

#include "web/http/http_message.h"

namespace sonde {

struct ResponseForm {
  bool is_http_1_0 = false;
  bool is_head_only = false;  // of a HEAD
  bool closes = false;        // no further request is answered on the connection
};

// The first line and the headers, up to the empty line: the answer's own, and those that tell the browser not
// to guess types, not to be framed, and to load nothing from elsewhere.  A body that is streamed comes in
// chunks, or (HTTP/1.0) ends with the connection.
std::string ResponseHead(const HttpResponse& response, const ResponseForm& form);

}  // namespace sonde

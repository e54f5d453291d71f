// The library's server, with a bound on what comes before a request's body: the library itself takes any
// number of header lines, and buffers a line of any length before it looks at it.
//
// A head (first line and headers) of more than kHeadBytesMax is answered with 431 and a JSON error, one that
// takes longer than kHeadSeconds is cut off, and neither is read further.  A connection whose head could not
// be read is closed: what follows is no next request.
//
// Request::progress, which the library leaves to clients, tells a handler whether the client still waits:
// false once it has closed the connection or its side of it.
#pragma once

#include <httplib.h>

#include <cstddef>

namespace sonde {

constexpr size_t kHeadBytesMax = 64 << 10;
constexpr int kHeadSeconds = 10;

class BoundedServer final : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace sonde

// nghttp2 as this server uses it: sessions with its settings, and the headers of answers.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "rpc/bounds.h"
#include "rpc/call.h"
#include "rpc/headers.h"

namespace sonde::rpc {

struct EndSession {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
using Http2Session = std::unique_ptr<nghttp2_session, EndSession>;

// The bytes that a stream's sender may have under way before it is let in (HTTP/2's own default).
constexpr int32_t kStreamWindowBytes = 65'535;
// The window of a connection.  Its bytes are taken at once and bounded elsewhere, so the window only has to
// hold what is under way on a long line.
constexpr int32_t kConnectionWindowBytes = 8 << 20;

// Makes a server's session, with its settings submitted.
Http2Session NewServerSession(const ServerOptions& options, const nghttp2_session_callbacks* callbacks,
                              void* user_data);

// The functions below submit the parts of an answer, each for a stream of a session.  They copy all
// arguments.

// Submits ":status 200", the content type, and metadata.  Messages follow from `provider`, if there is one.
void SubmitAnswerHeaders(nghttp2_session* session, int32_t stream_id, const Metadata& metadata,
                         const nghttp2_data_provider* provider);
// Submits the status, and metadata.
void SubmitAnswerTrailers(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                          const Metadata& metadata);
// Submits headers and trailers in one: an answer without messages.
void SubmitTrailersOnly(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                        const Metadata& metadata);
// Submits an answer to a request that is not gRPC.  `http_status` must live as long as the program.
void SubmitHttpAnswer(nghttp2_session* session, int32_t stream_id, std::string_view http_status,
                      const CallStatus& status);

}  // namespace sonde::rpc

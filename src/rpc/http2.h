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

// What a stream's sender may have under way before it is let in (HTTP/2's own default).
constexpr int32_t kStreamWindowBytes = 65'535;
// Bytes of a connection are taken at once, and counted elsewhere: this only has to be as much as is under way
// on a long line.
constexpr int32_t kConnectionWindowBytes = 8 << 20;

// A server's side of a connection, its settings submitted.
Http2Session NewServerSession(const ServerOptions& options, const nghttp2_session_callbacks* callbacks,
                              void* user_data);

// What an answer consists of, each for a stream of a session; all is copied.

// ":status 200", the content type, and metadata; messages follow from `provider`, if there is one.
void SubmitAnswerHeaders(nghttp2_session* session, int32_t stream_id, const Metadata& metadata,
                         const nghttp2_data_provider* provider);
// The status, and metadata.
void SubmitAnswerTrailers(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                          const Metadata& metadata);
// Both in one: an answer without messages.
void SubmitTrailersOnly(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                        const Metadata& metadata);
// To what is not gRPC; `http_status` must be there for good.
void SubmitHttpAnswer(nghttp2_session* session, int32_t stream_id, std::string_view http_status,
                      const CallStatus& status);

}  // namespace sonde::rpc

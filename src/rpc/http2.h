// nghttp2 as this server uses it: sessions with its settings, and the headers of answers.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "rpc/call.h"
#include "rpc/headers.h"
#include "rpc/server.h"

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

// Headers to be submitted.  Names and values are copied then, but for those that are there for good.
class HeaderList {
 public:
  // For good: "content-type".
  void AddStatic(std::string_view name, std::string_view value) {
    Add(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
  }
  void Add(std::string_view static_name, std::string_view value) {
    Add(static_name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME);
  }
  // Must be there until the list is submitted.
  void AddAll(const Metadata& metadata) {
    metadata.ForEach(
        [this](std::string_view name, std::string_view value) { Add(name, value, NGHTTP2_NV_FLAG_NONE); });
  }

  const nghttp2_nv* data() const { return headers_.data(); }
  size_t size() const { return headers_.size(); }

 private:
  void Add(std::string_view name, std::string_view value, uint8_t flags) {
    headers_.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                        reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(),
                        value.size(), flags});
  }

  absl::InlinedVector<nghttp2_nv, 12> headers_;
};

// ":status 200" and the content type.
void AddAnswerBegin(HeaderList* headers);
// grpc-status and what belongs to it.  `message` and `details` are places for what is made here, and must be
// there until the list is submitted.
void AddStatus(const CallStatus& status, std::string* message, std::string* details, HeaderList* headers);

}  // namespace sonde::rpc

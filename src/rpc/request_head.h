// The headers of a request as they come, one by one, and what they come to.
//
// A connection has one, which it uses again for each block of headers: there is one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "rpc/call.h"
#include "rpc/headers.h"
#include "rpc/server.h"
#include "rpc/stream_call.h"

namespace sonde::rpc {

class RequestHead {
 public:
  // Why there is no call.
  struct Refused {
    Refusal reason;
    CallStatus status;
    const char* http_status = nullptr;  // not gRPC at all: "415"
    bool names_encodings = false;       // the client is to know which compression may be used
    bool is_reset = false;              // it gets no answer
  };

  void Begin();
  // What is beyond `bytes_hard_max` is not kept.
  void Add(std::string_view name, std::string_view value, size_t bytes_hard_max);
  // All are there.
  std::variant<CallHead, Refused> End(const ServerOptions& options, absl::Time now);

 private:
  std::string path_;
  Metadata metadata_;
  size_t bytes_ = 0;
  bool is_post_ = false;
  bool is_grpc_ = false;
  bool takes_trailers_ = false;
  std::string timeout_;
  std::string encoding_;
};

}  // namespace sonde::rpc

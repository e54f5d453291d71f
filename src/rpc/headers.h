// What the headers of a gRPC call say: pure functions of gRPC's wire rules (PROTOCOL-HTTP2.md of gRPC), and
// the metadata of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rpc/bounds.h"
#include "rpc/call.h"

namespace sonde::rpc {

// The value of grpc-timeout: up to eight digits and one of H M S m u n.  Nothing: it is not that.
std::optional<absl::Duration> ParseTimeout(std::string_view value);

// "application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8".
bool IsGrpcContentType(std::string_view value);

// grpc-message: what is not printable ASCII, and %, as %XX.
std::string PercentEncoded(std::string_view message);

// Metadata whose name ends in "-bin" travels as base64; it is sent without padding and taken with or without.
bool IsBinaryName(std::string_view name);
std::string EncodeBinary(std::string_view bytes);
std::optional<std::string> DecodeBinary(std::string_view text);

// Names and values that may be sent as metadata: lower-case names that gRPC and HTTP/2 do not use themselves,
// and printable values.
bool IsMetadataName(std::string_view name);
bool IsMetadataValue(std::string_view value);

// Why a call is over whose stream was reset with this error code of HTTP/2.
absl::StatusCode CodeOfReset(uint32_t http2_error);

// Names and values in the order in which they came, in one piece of memory.  Names may repeat.
class Metadata {
 public:
  // What each entry counts beside its bytes (RFC 9113, 6.5.2).
  static constexpr size_t kEntryBytes = 32;

  void Append(std::string_view name, std::string_view value);
  void Clear() { block_.clear(); }
  bool empty() const { return block_.empty(); }
  void ForEach(absl::FunctionRef<void(std::string_view name, std::string_view value)> visit) const;

  // The values of a name as they came: those of "-bin" names, which may be lists divided by commas, each one
  // and decoded; what is not base64 is left out.
  std::vector<std::string> Values(std::string_view name) const;
  // All values, joined by commas; of a "-bin" name the first.
  std::optional<std::string> Find(std::string_view name) const;

 private:
  std::string block_;  // of each: two lengths of four bytes, the name, the value
};

// What the headers of a request came to.
struct CallHead {
  std::string path;
  Metadata metadata;
  absl::Time deadline = absl::InfiniteFuture();
};

// The headers of a request as they come, one by one, and what they come to.  A connection has one, which it
// uses again for each block of headers, also for trailers, which are only counted: there is one at a time.
class RequestHead {
 public:
  // Why there is no call.
  struct Refused {
    Refusal reason;
    CallStatus status;
    const char* http_status = nullptr;  // not gRPC at all: "415"
    bool names_encodings = false;       // the client is to know which compression may be used
  };

  void Begin();
  // One more is there, whether or not it is added.  Returns the bytes of all, as HTTP/2 counts them.
  size_t Count(std::string_view name, std::string_view value);
  // One that was counted.
  void Add(std::string_view name, std::string_view value);
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

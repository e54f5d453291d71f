// The headers of a gRPC call: pure functions for gRPC's wire rules (source: PROTOCOL-HTTP2.md of gRPC), and
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

// Parses grpc-timeout: up to eight digits and one of H M S m u n.  Returns nothing for any other value.
std::optional<absl::Duration> ParseTimeout(std::string_view value);

// Whether it is "application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8".
bool IsGrpcContentType(std::string_view value);

// Encodes grpc-message: bytes that are not printable ASCII, and %, become %XX.
std::string PercentEncoded(std::string_view message);

// Metadata whose name ends in "-bin" travels as base64.  It is sent without padding, and taken with or
// without.
bool IsBinaryName(std::string_view name);
std::string EncodeBinary(std::string_view bytes);
std::optional<std::string> DecodeBinary(std::string_view text);

// Whether a name or value may be sent as metadata.  A name must be in lower case and not used by gRPC or
// HTTP/2 themselves; a value must be printable.
bool IsMetadataName(std::string_view name);
bool IsMetadataValue(std::string_view value);

// Returns the status code of a call whose stream was reset with this error code of HTTP/2.
absl::StatusCode CodeOfReset(uint32_t http2_error);

// Names and values in the order in which they came, in one piece of memory.  Names may repeat.  Not for
// several threads.
class Metadata {
 public:
  // The bytes that an entry counts beside its own (RFC 9113, 6.5.2).
  static constexpr size_t kEntryBytes = 32;

  void Append(std::string_view name, std::string_view value);
  void Clear() { block_.clear(); }
  bool empty() const { return block_.empty(); }
  void ForEach(absl::FunctionRef<void(std::string_view name, std::string_view value)> visit) const;

  // Returns the values of a name in the order in which they came.  A value of a "-bin" name may be a list
  // divided by commas; each element is decoded, and those that are not base64 are left out.
  std::vector<std::string> Values(std::string_view name) const;
  // Returns all values joined by commas; for a "-bin" name the first.
  std::optional<std::string> Find(std::string_view name) const;

 private:
  std::string block_;  // by entry: two lengths of four bytes, the name, the value
};

// A call that its request headers describe.
struct CallHead {
  std::string path;
  Metadata metadata;
  absl::Time deadline = absl::InfiniteFuture();
};

// Reads the headers of a request, one by one, and makes a call of them.  Each connection has one RequestHead
// and uses it again for each block of headers, as blocks come one at a time.  Trailers are only counted.  Not
// for several threads.
class RequestHead {
 public:
  // The reason why the headers make no call.
  struct Refused {
    Refusal reason;
    CallStatus status;
    const char* http_status = nullptr;  // for a request that is not gRPC at all: "415"
    bool names_encodings = false;       // the answer names the compressions that may be used
  };

  void Begin();
  // Counts a header, whether or not it is added.  Returns the bytes of all headers so far, as HTTP/2 counts
  // them.
  size_t Count(std::string_view name, std::string_view value);
  // Adds a header that was counted.
  void Add(std::string_view name, std::string_view value);
  // Ends the block.
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

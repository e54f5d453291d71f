// Channels to Bigtable endpoints: plain text or TLS, and with the key of an account if there is one.
//
// Over TLS the endpoint's certificate must hold for its host, by the CA of --ca-file or by gRPC's roots
// (GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, the system's).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace grpc {
class Channel;
}

namespace sonde {

constexpr size_t kCaFileBytesMax = 1 << 20;

struct ChannelOptions {
  std::string endpoint;           // as endpoint.h reads it
  std::string ca_file;            // PEM; empty: gRPC's roots
  std::string key_file;           // empty: as client_key.h says
  std::string program = "sonde";  // what the server is told asks
  std::chrono::milliseconds connect_timeout{5'000};
  // For benchmarks: the channel has a connection of its own, tries no call again, and has the least of gRPC's own parts, which are a
  // seventh of the client's instructions in a unary call.
  bool is_bare = false;
};

struct Channels {
  std::shared_ptr<grpc::Channel> data;
  std::shared_ptr<grpc::Channel> admin;  // the same as `data`, but at Google another
};

// Waits until the endpoint answers.  INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED, FAILED_PRECONDITION: an option is not what it must
// be (endpoint.h, client_key.h), or the CA's file has no certificate.  UNAVAILABLE: nothing answered within connect_timeout, with the
// cause that gRPC knows.
absl::StatusOr<Channels> OpenChannels(const ChannelOptions& options);

}  // namespace sonde

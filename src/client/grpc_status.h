// gRPC's statuses as Abseil's: the only place where one becomes the other.
#pragma once

#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// The same code; the message is "<what>: <the server's message>".  A code that Abseil does not know is
// UNKNOWN.
absl::Status FromGrpcStatus(const grpc::Status& status, std::string_view what);
absl::Status FromRpcStatus(const google::rpc::Status& status, std::string_view what);

// Whether the same call may succeed later: UNAVAILABLE and DEADLINE_EXCEEDED.
bool IsTransient(const absl::Status& status);

// The wait that the server asks for (google.rpc.RetryInfo among the details); none when it asks for none.
std::optional<std::chrono::milliseconds> RetryDelay(const grpc::Status& status);
std::optional<std::chrono::milliseconds> RetryDelay(const google::rpc::Status& status);

}  // namespace sonde

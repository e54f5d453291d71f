#include "client/grpc_status.h"

#include <fmt/format.h>
#include <google/rpc/error_details.pb.h>

#include <algorithm>
#include <string>

namespace sonde {
namespace {

absl::Status MakeStatus(int code, std::string_view what, const std::string& message) {
  if (code == 0) return absl::OkStatus();
  const std::string reason = message.empty() ? "the server gave no reason" : message;
  const bool known = code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return absl::Status(known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
                      what.empty() ? reason : fmt::format("{}: {}", what, reason));
}

}  // namespace

absl::Status FromGrpcStatus(const grpc::Status& status, std::string_view what) {
  return MakeStatus(static_cast<int>(status.error_code()), what, status.error_message());
}

absl::Status FromRpcStatus(const google::rpc::Status& status, std::string_view what) {
  return MakeStatus(status.code(), what, status.message());
}

bool IsTransient(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

std::optional<std::chrono::milliseconds> RetryDelay(const grpc::Status& status) {
  google::rpc::Status details;
  if (status.error_details().empty() || !details.ParseFromString(status.error_details())) return std::nullopt;
  return RetryDelay(details);
}

std::optional<std::chrono::milliseconds> RetryDelay(const google::rpc::Status& status) {
  // A Duration's own limit, so that the sum below cannot overflow.
  constexpr int64_t kSecondsMax = 315'576'000'000;
  for (const google::protobuf::Any& detail : status.details()) {
    google::rpc::RetryInfo info;
    if (!detail.Is<google::rpc::RetryInfo>() || !detail.UnpackTo(&info)) continue;
    const int64_t seconds = std::clamp<int64_t>(info.retry_delay().seconds(), 0, kSecondsMax);
    const int64_t nanos = std::clamp<int64_t>(info.retry_delay().nanos(), 0, 999'999'999);
    return std::chrono::milliseconds(seconds * 1000 + (nanos + 999'999) / 1'000'000);
  }
  return std::nullopt;
}

}  // namespace sonde

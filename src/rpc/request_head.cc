#include "rpc/request_head.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::rpc {
namespace {

constexpr size_t kPathBytesMax = 1'024;
constexpr size_t kShownBytesMax = 64;

}  // namespace

void RequestHead::Begin() {
  path_.clear();
  metadata_ = Metadata();
  bytes_ = 0;
  is_post_ = is_grpc_ = takes_trailers_ = false;
  timeout_.clear();
  encoding_.clear();
}

void RequestHead::Add(std::string_view name, std::string_view value, size_t bytes_hard_max) {
  bytes_ += name.size() + value.size() + Metadata::kEntryBytes;
  if (bytes_ > bytes_hard_max) return;
  if (name == ":path") {
    path_ = value;
  } else if (name == ":method") {
    is_post_ = value == "POST";
  } else if (name == "content-type") {
    is_grpc_ = IsGrpcContentType(value);
  } else if (name == "te") {
    takes_trailers_ = value == "trailers";
  } else if (name == "grpc-timeout") {
    timeout_ = value;
  } else if (name == "grpc-encoding") {
    encoding_ = value;
  } else if (!name.starts_with(':') && name != "grpc-accept-encoding" && name != "accept-encoding") {
    metadata_.Append(name, value);
  }
}

std::variant<CallHead, RequestHead::Refused> RequestHead::End(const ServerOptions& options, absl::Time now) {
  using Code = absl::StatusCode;
  if (bytes_ > options.header_bytes_hard_max) {
    Refused refused{Refusal::kHeaderBytes, {Code::kResourceExhausted}};
    refused.is_reset = true;
    return refused;
  }
  if (!is_post_) {
    return Refused{Refusal::kBadRequest, {Code::kInternal, "The method of a gRPC call is POST"}, "405"};
  }
  if (!is_grpc_) {
    return Refused{Refusal::kBadRequest,
                   {Code::kInternal, "The content type of a gRPC call begins with application/grpc"},
                   "415"};
  }
  if (bytes_ > options.header_bytes_max) {
    return Refused{
        Refusal::kHeaderBytes,
        {Code::kResourceExhausted, fmt::format("The headers of a call may have {} bytes, and have {}",
                                               options.header_bytes_max, bytes_)}};
  }
  if (path_.size() > kPathBytesMax) {
    return Refused{Refusal::kBadRequest,
                   {Code::kInvalidArgument, fmt::format("The path of a call may have {} bytes, and has {}",
                                                        kPathBytesMax, path_.size())}};
  }
  if (!takes_trailers_) {
    return Refused{Refusal::kBadRequest, {Code::kInternal, "The header 'te: trailers' is missing"}};
  }
  if (!encoding_.empty() && encoding_ != "identity") {
    return Refused{
        Refusal::kBadRequest,
        {Code::kUnimplemented, fmt::format("Messages may not be compressed, and grpc-encoding is '{}'",
                                           encoding_.substr(0, kShownBytesMax))},
        nullptr,
        /*names_encodings=*/true};
  }
  CallHead head;
  if (!timeout_.empty()) {
    const std::optional<absl::Duration> timeout = ParseTimeout(timeout_);
    if (!timeout.has_value()) {
      return Refused{Refusal::kBadRequest,
                     {Code::kInternal, fmt::format("grpc-timeout is up to eight digits and a unit, not '{}'",
                                                   timeout_.substr(0, kShownBytesMax))}};
    }
    head.deadline = now + *timeout;
  }
  head.path = std::move(path_);
  head.metadata = std::move(metadata_);
  return head;
}

}  // namespace sonde::rpc

#include "wire/call/grpc_status.h"

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>

#include <atomic>

#include "base/admission.h"
#include "wire/call/data_target.h"

namespace sonde {
namespace {

// Clients that were refused together must not come back together: each is told another delay.
constexpr uint32_t kRetryMillisMin = 50;
constexpr uint32_t kRetryMillisSpread = 101;
// A client that sends a large request once more costs the server as much as one whose request it takes.
constexpr uint32_t kLaterMillisMin = 500;
constexpr uint32_t kLaterMillisSpread = 1'001;

google::rpc::RetryInfo NextRetryInfo(bool later) {
  static std::atomic<uint32_t> next = 0;
  constexpr uint32_t kStride = 37;  // no factor of the spread: every delay comes up
  const uint32_t offset =
      next.fetch_add(kStride, std::memory_order_relaxed) % (later ? kLaterMillisSpread : kRetryMillisSpread);
  const uint32_t millis = (later ? kLaterMillisMin : kRetryMillisMin) + offset;
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(millis / 1'000);
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(millis % 1'000) * 1'000'000);
  return info;
}

}  // namespace

rpc::CallStatus ToCallStatus(const absl::Status& status) {
  if (status.ok()) return {};
  google::rpc::Status details;
  ToProto(status, &details);
  if (details.details().empty()) return {status.code(), std::string(status.message())};
  return {status.code(), std::string(status.message()), details.SerializeAsString()};
}

void ToProto(const absl::Status& status, google::rpc::Status* out) {
  out->set_code(static_cast<int>(status.code()));
  if (!status.ok()) out->set_message(std::string(status.message()));
  bool may_try_again = absl::IsUnavailable(status), later = false;
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& payload) {
    if (type_url == kTryAgainPayload) {
      may_try_again = true;
      return;
    }
    if (type_url == kTryLaterPayload) {
      later = true;
      return;
    }
    if (type_url == kNoTablePayload) return;
    google::protobuf::Any* detail = out->add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
  });
  if (may_try_again) out->add_details()->PackFrom(NextRetryInfo(later));
}

void AddDetail(const google::protobuf::Message& detail, absl::Status* status) {
  status->SetPayload("type.googleapis.com/" + detail.GetDescriptor()->full_name(),
                     absl::Cord(absl::string_view(detail.SerializeAsString())));
}

}  // namespace sonde

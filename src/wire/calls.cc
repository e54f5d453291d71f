#include "wire/calls.h"

#include <fmt/format.h>
#include <google/bigtable/v2/response_params.pb.h>

#include "absl/time/clock.h"
#include "wire/schemas.h"

namespace sonde {

grpc::ByteBuffer ToByteBuffer(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  grpc::Slice slice(
      owned->data(), owned->size(), [](void* string) { delete static_cast<std::string*>(string); }, owned);
  return grpc::ByteBuffer(&slice, 1);
}

absl::Time DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return absl::InfiniteFuture();
  return absl::FromChrono(deadline);
}

void AddServerHeaders(grpc::CallbackServerContext* context, absl::Time request_came) {
  static const std::string cluster = [] {
    google::bigtable::v2::ResponseParams params;
    params.set_zone_id("local");
    params.set_cluster_id(kClusterId);
    return params.SerializeAsString();
  }();
  const int64_t millis = absl::ToInt64Milliseconds(absl::Now() - request_came);
  context->AddInitialMetadata("server-timing", fmt::format("gfet4t7; dur={}", millis));
  context->AddInitialMetadata("x-goog-ext-425905942-bin", cluster);
}

absl::Status Overloaded() {
  return absl::UnavailableError("The server is busy: too much is waiting; go on from here");
}

void ListReactor::Answer(absl::Status status, std::vector<grpc::ByteBuffer> messages) {
  if (!status.ok() || messages.empty()) {
    Finish(ToGrpc(status));
    return;
  }
  messages_ = std::move(messages);
  WriteNext();
}

void ListReactor::WriteNext() {
  const grpc::ByteBuffer* message = &messages_[written_++];
  if (written_ == messages_.size()) {
    StartWriteAndFinish(message, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    StartWrite(message);
  }
}

void ListReactor::OnWriteDone(bool ok) {
  if (!ok) {
    if (written_ < messages_.size()) Finish(grpc::Status::CANCELLED);
    return;
  }
  if (written_ < messages_.size()) WriteNext();
}

}  // namespace sonde

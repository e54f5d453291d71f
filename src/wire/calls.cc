#include "wire/calls.h"

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

absl::Status Overloaded() {
  return absl::UnavailableError("The server has too many requests waiting; nothing was done, try again");
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

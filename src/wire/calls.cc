#include "wire/calls.h"

#include <fmt/format.h>
#include <google/bigtable/v2/response_params.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "wire/data_target.h"
#include "wire/request_parts.h"
#include "wire/schemas.h"

namespace sonde {
namespace {

// In memory, of a message or string in a request: about the least, as what it says is counted by itself.
constexpr int64_t kPartBytes = 64;

RequestParts PartsOf(const google::protobuf::Descriptor& type, grpc::ByteBuffer* bytes) {
  grpc::ProtoBufferReader reader(bytes);
  return CountParts(type, &reader, kRequestPartsMax);
}

absl::Status Parse(grpc::ByteBuffer* bytes, Admission::Place* place, google::protobuf::Message* message) {
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  if (bytes->Length() > kUncountedBytesMax) {
    const RequestParts parts = PartsOf(type, bytes);
    if (parts.count > kRequestPartsMax) {
      return absl::InvalidArgumentError(
          fmt::format("Too many messages and strings in the {}: its {} bytes have {} or more; limit {}",
                      type.full_name(), bytes->Length(), parts.count, kRequestPartsMax));
    }
    const int64_t grown_bytes = place->bytes() + static_cast<int64_t>(parts.count) * kPartBytes;
    if (absl::Status status = place->Resize(grown_bytes); !status.ok()) return status;
  }
  grpc::ProtoBufferReader reader(bytes);
  if (message->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
  if (PartsOf(type, bytes).is_deep) {
    return absl::InvalidArgumentError(fmt::format(
        "The {} is nested too deep: its messages may be {} deep, a row filter {}", type.full_name(),
        google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit(), kFilterDepthMax));
  }
  return absl::InvalidArgumentError("The request is not a " + type.full_name());
}

std::string NameOfRequest(int64_t bytes) { return fmt::format("A request of {} bytes", bytes); }

grpc::Slice ToSlice(std::string bytes) {
  auto* owned = new std::string(std::move(bytes));
  return grpc::Slice(
      owned->data(), owned->size(), [](void* string) { delete static_cast<std::string*>(string); }, owned);
}

}  // namespace

absl::Status ParseRequest(grpc::ByteBuffer* bytes, Admission::Place* place,
                          google::protobuf::Message* message) {
  absl::Status status = Parse(bytes, place, message);
  bytes->Clear();
  return status;
}

absl::Status TakeLargeRoom(const grpc::ByteBuffer& bytes, const grpc::CallbackServerContext* context,
                           LargeRoom* room, Admission::Place* place) {
  if (room == nullptr || !IsLarge(bytes) || place->large()->bytes() > 0) return absl::OkStatus();
  const auto size = static_cast<int64_t>(bytes.Length());
  absl::StatusOr<LargeRoom::Place> large =
      room->Take(NameOfRequest(size), kLargeWriteCopies * size,
                 {.deadline = DeadlineOf(*context), .held_bytes = size, .gone = [context] {
                    return context->IsCancelled();
                  }});
  if (!large.ok()) return large.status();
  *place->large() = *std::move(large);
  place->large()->MarkWrite();
  return absl::OkStatus();
}

absl::StatusOr<Admission::Place> Admit(const CallKind& kind, std::string_view method,
                                       grpc::ByteBuffer* request) {
  const size_t bytes = request->Length();
  absl::Status status;
  if (bytes > kind.request_bytes_max) {
    status = absl::InvalidArgumentError(
        fmt::format("A request of {} may have {} bytes, and has {}", method, kind.request_bytes_max, bytes));
  } else if (kind.large_room != nullptr && IsLarge(*request)) {
    const auto size = static_cast<int64_t>(bytes);
    status = kind.large_room->Check(NameOfRequest(size), kLargeWriteCopies * size);
  }
  const auto admit = [&] {
    const auto size = static_cast<int64_t>(bytes);
    return kind.large_room != nullptr && IsLarge(*request) ? kind.admission->AdmitLarge(size)
                                                           : kind.admission->Admit(size + kind.held_bytes);
  };
  absl::StatusOr<Admission::Place> place = status.ok() ? admit() : absl::StatusOr<Admission::Place>(status);
  if (!place.ok()) request->Clear();
  return place;
}

grpc::ByteBuffer ToByteBuffer(std::string bytes) {
  const grpc::Slice slice = ToSlice(std::move(bytes));
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer ToByteBuffer(std::vector<std::string> blocks) {
  std::vector<grpc::Slice> slices;
  slices.reserve(blocks.size());
  for (std::string& block : blocks) slices.push_back(ToSlice(std::move(block)));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::Time DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return absl::InfiniteFuture();
  return absl::FromChrono(deadline);
}

std::string ServerTiming(absl::Duration took) {
  const absl::Duration millis = absl::Ceil(took, absl::Milliseconds(1));
  return fmt::format("gfet4t7; dur={}", std::max<int64_t>(1, absl::ToInt64Milliseconds(millis)));
}

void AddServerMetadata(grpc::CallbackServerContext* context, absl::Time request_came,
                       const absl::Status& status) {
  static const std::string cluster = [] {
    google::bigtable::v2::ResponseParams params;
    params.set_zone_id("local");
    params.set_cluster_id(kClusterId);
    return params.SerializeAsString();
  }();
  context->AddInitialMetadata("server-timing", ServerTiming(absl::Now() - request_came));
  if (status.GetPayload(kNoTablePayload).has_value()) return;
  constexpr char kCluster[] = "x-goog-ext-425905942-bin";
  context->AddInitialMetadata(kCluster, cluster);
  context->AddTrailingMetadata(kCluster, cluster);
}

absl::Status Overloaded() {
  return absl::UnavailableError("The server is busy: too much is waiting; go on from here");
}

void ListReactor::Answer(absl::Status status, std::vector<grpc::ByteBuffer> messages,
                         Admission::Place place) {
  place_ = std::move(place);
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

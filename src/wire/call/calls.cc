#include "wire/call/calls.h"

#include <fmt/format.h>
#include <google/bigtable/v2/response_params.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "wire/call/cluster.h"
#include "wire/call/data_target.h"
#include "wire/call/ended_call.h"
#include "wire/call/request_parts.h"

namespace sonde {
namespace {

// In memory, of a message or string in a request: about the least, as what it says is counted by itself.
constexpr int64_t kPartBytes = 64;

RequestParts PartsOf(const google::protobuf::Descriptor& type, std::string_view bytes) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  return CountParts(type, &in, kRequestPartsMax);
}

absl::Status Parse(std::string_view bytes, Admission::Place* place, google::protobuf::Message* message) {
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  if (bytes.size() > kUncountedBytesMax) {
    const RequestParts parts = PartsOf(type, bytes);
    if (parts.count > kRequestPartsMax) {
      return absl::InvalidArgumentError(
          fmt::format("Too many messages and strings in the {}: its {} bytes have {} or more; limit {}",
                      type.full_name(), bytes.size(), parts.count, kRequestPartsMax));
    }
    const int64_t grown_bytes = place->bytes() + static_cast<int64_t>(parts.count) * kPartBytes;
    if (absl::Status status = place->Resize(grown_bytes); !status.ok()) return status;
  }
  if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  if (PartsOf(type, bytes).is_deep) {
    return absl::InvalidArgumentError(fmt::format(
        "The {} is nested too deep: its messages may be {} deep, a row filter {}", type.full_name(),
        google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit(), kFilterDepthMax));
  }
  return absl::InvalidArgumentError("The request is not a " + type.full_name());
}

// `method`: "google.bigtable.v2.Bigtable.ReadRows".
ProfileFields ProfileFieldsOf(const std::string& method) {
  const auto* const found = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(method);
  return found == nullptr ? ProfileFields() : ProfileFields(*found->input_type());
}

std::string NameOfRequest(int64_t bytes) { return fmt::format("A request of {} bytes", bytes); }

}  // namespace

absl::Status ParseRequest(rpc::MessageBytes* bytes, Admission::Place* place,
                          google::protobuf::Message* message) {
  absl::Status status = Parse(bytes->view(), place, message);
  bytes->Clear();
  return status;
}

absl::Status CheckLength(const CallKind& kind, std::string_view method, size_t bytes) {
  if (bytes > kind.request_bytes_max) {
    return absl::InvalidArgumentError(
        fmt::format("A request of {} may have {} bytes, and has {}", method, kind.request_bytes_max, bytes));
  }
  const auto size = static_cast<int64_t>(bytes);
  if (kind.IsLarge(bytes)) return kind.large_room->Check(NameOfRequest(size), kLargeWriteCopies * size);
  // A smaller request is there at once, or soon.
  return bytes > kUncountedBytesMax ? kind.admission->Check(size + kind.held_bytes) : absl::OkStatus();
}

std::string ServerTiming(absl::Duration took) {
  const absl::Duration millis = absl::Ceil(took, absl::Milliseconds(1));
  return fmt::format("gfet4t7; dur={}", std::max<int64_t>(1, absl::ToInt64Milliseconds(millis)));
}

void AddServerMetadata(rpc::Call* call, absl::Time request_came, const absl::Status& status) {
  static const std::string cluster = [] {
    google::bigtable::v2::ResponseParams params;
    params.set_zone_id("local");
    params.set_cluster_id(kClusterId);
    return params.SerializeAsString();
  }();
  call->AddInitialMetadata("server-timing", ServerTiming(absl::Now() - request_came));
  if (!status.ok() && status.GetPayload(kNoTablePayload).has_value()) return;
  constexpr char kCluster[] = "x-goog-ext-425905942-bin";
  call->AddInitialMetadata(kCluster, cluster);
  call->AddTrailingMetadata(kCluster, cluster);
}

absl::Status Overloaded() {
  return absl::UnavailableError("The server is busy: too much is waiting; go on from here");
}

RequestHandler::~RequestHandler() {
  // A client that has gone while it sent something large: to give its place back takes a while.
  if (place_.large()->bytes() == 0) return;
  const bool is_taken = method_.kind.large_waiters->Submit([place = std::move(place_)] {});
  (void)is_taken;  // else it was given back here
}

rpc::Handler::Room RequestHandler::OnLength(size_t bytes) {
  if (absl::Status status = CheckLength(method_.kind, method_.name, bytes); !status.ok()) {
    End(status, rpc::Message());
    return Room::kTake;
  }
  if (!method_.kind.IsLarge(bytes)) return Room::kTake;
  const auto size = static_cast<int64_t>(bytes);
  absl::StatusOr<Admission::Place> place = method_.kind.admission->AdmitLarge(size);
  if (!place.ok()) {
    End(place.status(), rpc::Message());
    return Room::kTake;
  }
  place_ = *std::move(place);
  is_large_ = true;
  method_.kind.large_waiters->Submit(call_->deadline(), [this, size](const absl::Status& turn) {
    turn.ok() ? WaitForRoom(size) : End(turn, rpc::Message());
  });
  return Room::kWait;
}

void RequestHandler::WaitForRoom(int64_t bytes) {
  absl::StatusOr<LargeRoom::Place> large = method_.kind.large_room->Take(
      NameOfRequest(bytes), kLargeWriteCopies * bytes,
      {.deadline = call_->deadline(), .wait_max = kLargeWaitMax, .gone = [this] {
         return call_->IsCancelled();
       }});
  if (!large.ok()) return End(large.status(), rpc::Message());
  *place_.large() = *std::move(large);
  call_->Admit();
}

void RequestHandler::OnMessage(rpc::MessageBytes message) {
  const absl::StatusOr<Priority> priority =
      method_.profile_fields.Admit(method_.kind.profiles, method_.kind.use, message.view());
  if (!priority.ok()) return End(priority.status(), rpc::Message());
  priority_ = *priority;
  if (is_large_) {
    place_.large()->MarkWrite();
    return method_.answer(CallEnd(this), std::move(message), std::move(place_));
  }
  absl::StatusOr<Admission::Place> place = Admit(method_.kind, message);
  if (!place.ok()) return End(place.status(), rpc::Message());
  method_.answer(CallEnd(this), std::move(message), *std::move(place));
}

void RequestHandler::Count(const absl::Status& status, size_t answer_bytes) {
  AddServerMetadata(call_, came_, status);
  EndCall(*call_,
          {.method = method_.name,
           .status = status,
           .came = came_,
           .cost = {.queued = queued_, .bytes = static_cast<int64_t>(answer_bytes)}},
          method_.metrics);
}

void RequestHandler::End(const absl::Status& status, rpc::Message message) {
  Count(status, message.bytes());
  if (!status.ok()) return call_->Finish(ToCallStatus(status));
  call_->WriteAndFinish(std::move(message), {});
}

void RequestHandler::End(const absl::Status& status, std::vector<rpc::Message> messages,
                         Admission::Place place) {
  size_t bytes = 0;
  for (const rpc::Message& message : messages) bytes += message.bytes();
  Count(status, bytes);
  if (!status.ok() || messages.empty()) return call_->Finish(ToCallStatus(status));
  place_ = std::move(place);
  messages_ = std::move(messages);
  WriteNext();
}

void RequestHandler::WriteNext() {
  rpc::Message message = std::move(messages_[written_++]);
  if (written_ == messages_.size()) {
    call_->WriteAndFinish(std::move(message), {});
  } else {
    call_->Write(std::move(message));
  }
}

void RequestHandler::OnWriteDone(bool ok) {
  ok ? WriteNext() : call_->Finish({absl::StatusCode::kCancelled});
}

void Service::Add(std::string_view method, const CallKind& kind, AnswerRequest answer) {
  ProfileFields fields = ProfileFieldsOf(fmt::format("{}.{}", name_, method));
  Add(method, [of_calls = RequestMethod{method, kind, metrics_, std::move(answer), std::move(fields)}](
                  rpc::Call* call) { return std::make_unique<RequestHandler>(call, &of_calls); });
}

void Service::Add(std::string_view method, std::function<std::unique_ptr<rpc::Handler>(rpc::Call*)> make) {
  router_->Add(fmt::format("/{}/{}", name_, method),
               {.request_bytes_max = kMessageBytesMax, .make = std::move(make)});
}

}  // namespace sonde

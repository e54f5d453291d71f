#include "wire/health_service.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "wire/call/grpc_status.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

constexpr size_t kHealthRequestBytesMax = 4 << 10;
// The memory of a watch, with its call.
constexpr int64_t kWatchBytes = 4 << 10;

// HealthCheckResponse.ServingStatus.
enum class Health : uint8_t { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

absl::StatusOr<std::string> ServiceOf(const rpc::MessageBytes& request) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.view().data(), static_cast<int>(request.size()))) {
    return absl::InvalidArgumentError("The request is not a grpc.health.v1.HealthCheckRequest");
  }
  std::string service;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == 1 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      service = field.length_delimited();
    }
  }
  return service;
}

bool IsKnownService(std::string_view service) {
  return service.empty() ||
         std::find(kServiceNames.begin(), kServiceNames.end(), service) != kServiceNames.end();
}

rpc::Message HealthMessage(Health health) {
  google::protobuf::UnknownFieldSet fields;
  fields.AddVarint(1, static_cast<uint64_t>(health));
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

class HealthCheck final : public rpc::Handler {
 public:
  HealthCheck(rpc::Call* call, const HealthState* state) : call_(call), state_(state) {}

  void OnMessage(rpc::MessageBytes message) override {
    const absl::StatusOr<std::string> service = ServiceOf(message);
    if (!service.ok()) return call_->Finish(ToCallStatus(service.status()));
    if (IsKnownService(*service)) {
      const Health health = state_->is_serving() ? Health::kServing : Health::kNotServing;
      return call_->WriteAndFinish(HealthMessage(health), {});
    }
    call_->Finish(
        {absl::StatusCode::kNotFound, fmt::format("There is no service '{}'", Printable(*service))});
  }

 private:
  rpc::Call* const call_;
  const HealthState* const state_;
};

// The thread that drains the server writes beside the loop's.  So a call that is being written is finished only when that message
// has gone, or will not go.
class HealthWatch final : public rpc::Handler, public HealthListener {
 public:
  HealthWatch(rpc::Call* call, HealthState* state, Admission* watches)
      : call_(call), state_(state), watches_(watches) {}
  ~HealthWatch() override { state_->Leave(this); }

  void OnMessage(rpc::MessageBytes message) override {
    const absl::StatusOr<std::string> service = ServiceOf(message);
    if (!service.ok()) return call_->Finish(ToCallStatus(service.status()));
    absl::StatusOr<Admission::Place> place = watches_->Admit(kWatchBytes);
    if (!place.ok()) return call_->Finish(ToCallStatus(place.status()));
    place_ = *std::move(place);
    if (IsKnownService(*service)) return state_->Enter(this);
    const absl::MutexLock lock(&mutex_);
    wanted_ = Health::kServiceUnknown;
    Go();
  }
  void TellServing(bool is_serving) override {
    const absl::MutexLock lock(&mutex_);
    wanted_ = is_serving ? Health::kServing : Health::kNotServing;
    Go();
  }
  void OnWriteDone(bool ok) override {
    (void)ok;
    const absl::MutexLock lock(&mutex_);
    is_writing_ = false;
    Go();
  }
  void OnCancel(const absl::Status& why) override { End({why.code()}); }
  void OnServerEnding() override {
    End(ToCallStatus(absl::UnavailableError("The server is ending; try again")));
  }

 private:
  void End(rpc::CallStatus status) {
    const absl::MutexLock lock(&mutex_);
    if (!end_.has_value()) end_ = std::move(status);
    Go();
  }
  // Does the next step that is due, if the message before has gone.
  void Go() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_writing_ || is_finished_) return;
    if (end_.has_value()) {
      is_finished_ = true;
      return call_->Finish(*std::move(end_));
    }
    if (!wanted_.has_value() || wanted_ == told_) return;
    told_ = wanted_;
    is_writing_ = true;
    call_->Write(HealthMessage(*told_));
  }

  rpc::Call* const call_;
  HealthState* const state_;
  Admission* const watches_;
  Admission::Place place_;
  absl::Mutex mutex_;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Health> wanted_ ABSL_GUARDED_BY(mutex_);
  std::optional<Health> told_ ABSL_GUARDED_BY(mutex_);
  std::optional<rpc::CallStatus> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void HealthState::StopServing() {
  const absl::MutexLock lock(&mutex_);
  if (!std::exchange(is_serving_, false)) return;
  for (HealthListener* const listener : listeners_) listener->TellServing(false);
}

void HealthState::Enter(HealthListener* listener) {
  const absl::MutexLock lock(&mutex_);
  listeners_.insert(listener);
  listener->TellServing(is_serving_);
}

void HealthState::Leave(HealthListener* listener) {
  const absl::MutexLock lock(&mutex_);
  listeners_.erase(listener);
}

bool HealthState::is_serving() const {
  const absl::MutexLock lock(&mutex_);
  return is_serving_;
}

void AddHealthService(HealthState* state, Admission* watches, rpc::Router* router) {
  router->Add("/grpc.health.v1.Health/Check",
              {.request_bytes_max = kHealthRequestBytesMax,
               .make = [state](rpc::Call* call) { return std::make_unique<HealthCheck>(call, state); }});
  router->Add("/grpc.health.v1.Health/Watch",
              {.request_bytes_max = kHealthRequestBytesMax, .make = [state, watches](rpc::Call* call) {
                 return std::make_unique<HealthWatch>(call, state, watches);
               }});
}

}  // namespace sonde
